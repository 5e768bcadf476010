import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../support/helpers.ts';
import { opened } from '../support/opened.ts';
import { faultCase, LONG } from './case.ts';
import { newExpectedLines } from './expected-lines.ts';
import { ledger, memoryMb } from './setup.ts';
import type { Dialect } from './sql/attacks.ts';
import {
  type Bombs,
  EXPRESSIONS,
  GROWING,
  HELD,
  LIKES,
  MEMORY,
  PLANS,
  RESULTS,
  TIME,
} from './sql/bombs.ts';
import { ENDS } from './sql/ends.ts';
import { type Answer, CALLER, type Harness, withHarness } from './sql/harness.ts';
import { type Translator, withTranslator } from './sql/translator.ts';

const TIMEOUT_MS = 1000;
/** How long others may be kept waiting on a machine that does little else. */
const PATIENCE_MS = 90_000;
/** A query that goes on for 15 s after its time ends the service (docs/install.md): by then it was answered, or nobody will answer. */
const LATE_MS = 30_000;
const MEMORY_MB = 256;
/** For queries that are to fill it. */
const SMALL_MB = 128;
/** What the process may take beside the engine's memory: the JSON of an answer, several times, and what the allocator keeps. */
const SLACK_MB = 400;
/** A bomb that is not contained ends the service then, not the machine. */
const BOUND = ['prlimit', '--data=8000000000'];
const LINES = LONG ? 50_000 : 10_000;
const SETTINGS = {
  TAILPOND_QUERY_TIMEOUT: `${TIMEOUT_MS}ms`,
  TAILPOND_MEMORY: `${MEMORY_MB}MB`,
  TAILPOND_LOG_LEVEL: 'info',
  // On a busy machine one value of a bomb may take longer than the 15 s after which a query that goes on ends the service.
  TAILPOND_TEST_WAITS: 'queryGrace=60s',
};
/** So many statements of one project run at a time; all others wait, and their time goes by. */
const ABREAST = 2;
/** No answer says this. */
const NEVER = /INTERNAL/;
/** Nor do answers to queries over odd values: the engine refuses these only when it runs. */
const UNFIT = /INTERNAL|The statement cannot be run/;
/** A bomb may be answered with these; anything else is a fault of the service. */
const ALLOWED = [
  '200 ',
  '400 SQL_INVALID',
  '400 RESULT_TOO_LARGE',
  '400 QUERY_TOO_LARGE',
  '503 OVERLOADED',
  '504 QUERY_TIMEOUT',
];
const DIALECTS: readonly Dialect[] = ['bigquery', 'duckdb'];

interface Bomb {
  readonly what: string;
  readonly sql: string;
  readonly dialect: Dialect;
}

/** The service, and the translator that says which bombs it is asked at all. */
interface Targets {
  readonly harness: Harness;
  readonly translated: Translator;
}

describe("callers' SQL: bombs", () => {
  const translator = opened<Translator>(withTranslator);

  describe('that have a second', () => {
    const harness = opened<Harness>((action) => serving(SETTINGS, action));
    const targets = () => ({ harness: harness(), translated: translator() });

    faultCase(
      'S13b',
      'numbers, times and texts at the ends of what there is fail no query',
      () => drop(targets(), inOne(sampled(ENDS)), ABREAST, UNFIT),
      { timeoutMs: 900_000 },
    );

    describe('over many lines', () => {
      before(function () {
        this.timeout(300_000);
        return load(harness());
      });

      faultCase('S06a', 'joins take no memory beside the engine’s own', () =>
        drop(targets(), inBoth(MEMORY.joins)),
      );

      faultCase('S06s', 'groups and sorted rows take no memory beside the engine’s own', () =>
        drop(targets(), inBoth(MEMORY.groups)),
      );

      faultCase('S06k', 'long texts take no memory beside the engine’s own', () =>
        drop(targets(), inBoth(MEMORY.texts)),
      );

      faultCase('S06l', 'long lists take no memory beside the engine’s own', () =>
        drop(targets(), inBoth(MEMORY.lists)),
      );

      faultCase(
        'S06m',
        'steps that each enlarge the last take no memory beside the engine’s own',
        () => drop(targets(), inBoth(MEMORY.steps)),
      );

      faultCase('S06b', '20 of all these at a time take no memory beside the engine’s own', () =>
        drop(
          targets(),
          Object.values(MEMORY)
            .flatMap(inBoth)
            .filter((_, n) => LONG || n % 3 === 0),
          20,
        ),
      );

      faultCase('S07', 'long work is ended, or refused where it could not be', () =>
        drop(targets(), inBoth(TIME), ABREAST),
      );

      faultCase('S07b', 'long patterns of LIKE are ended, or refused where they could not be', () =>
        drop(targets(), inBoth(LIKES), ABREAST),
      );

      // In the short form every second one, in the two dialects by turns.
      const long = inOne(PLANS.long).filter((_, n) => LONG || n % 4 === 0 || n % 4 === 3);
      faultCase(
        'S09',
        `${long.length} statements that are long in the planning are refused`,
        () => drop(targets(), long, ABREAST),
        { timeoutMs: 900_000 },
      );

      faultCase(
        'S09b',
        'statements whose parts stand deep in each other are planned, or refused',
        () => drop(targets(), inOne(tenth(PLANS.deep)), ABREAST),
        { timeoutMs: 900_000 },
      );

      faultCase('S09c', 'statements of very many parts are planned, or refused', () =>
        drop(targets(), inOne(PLANS.large), ABREAST),
      );

      faultCase('S10', 'an answer that is too large is refused, and does not hold up others', () =>
        drop(targets(), inBoth(RESULTS), ABREAST),
      );

      faultCase('S11', 'expressions that are long in the making or the matching', () =>
        drop(targets(), inBoth(EXPRESSIONS)),
      );
    });
  });

  describe('that have a minute', () => {
    const harness = opened<Harness>((action) =>
      serving(
        { ...SETTINGS, TAILPOND_QUERY_TIMEOUT: '60s', TAILPOND_MEMORY: `${SMALL_MB}MB` },
        action,
      ),
    );
    before(function () {
      this.timeout(300_000);
      return load(harness());
    });

    faultCase(
      'S06i',
      'a query that takes more memory as it runs is ended before its time',
      async () => {
        for (const [name, sql] of Object.entries(GROWING)) {
          const before = memoryMb(harness().service, 'VmRSS');
          forgetPeak(harness());
          await endsForMemory(harness(), name, sql);
          const mb = memoryMb(harness().service, 'VmHWM') - before;
          expect(mb, name).to.be.below(SMALL_MB + SLACK_MB);
        }
      },
    );

    const held = Object.entries({ ...GROWING, ...HELD });
    for (const [n, id] of ['S06h', 'S06n', 'S06o', 'S06p', 'S06q', 'S06r'].entries()) {
      const [name = '', sql = ''] = held[n] ?? [];
      faultCase(id, `memory is given back after ${name}`, async () => {
        const mb: number[] = [];
        for (let run = 0; run < 3; run++) {
          await endsForMemory(harness(), name, sql);
          mb.push(memoryMb(harness().service, 'VmRSS'));
        }
        // Where it is not, each run takes more than the engine may have; else they differ by some 40 MB.
        expect((mb[2] ?? 0) - (mb[0] ?? 0), `${mb}`).to.be.below(1.5 * SMALL_MB);
      });
    }
  });
});

async function endsForMemory(harness: Harness, name: string, sql: string): Promise<void> {
  const answer = await harness.ask({ sql, dialect: 'bigquery', way: 'json' });
  expect(answer.code, `${name}: ${shown(answer)}`).to.equal('QUERY_TOO_LARGE');
}

/** All in the long form; in the short one the first hundred, and one of 23 others. */
function sampled(bombs: Bombs): Bombs {
  return LONG
    ? bombs
    : Object.fromEntries(Object.entries(bombs).filter((_, n) => n < 100 || n % 23 === 0));
}

/** All in the long form; in the short one, one of ten. */
function tenth(bombs: Bombs): Bombs {
  return LONG ? bombs : Object.fromEntries(Object.entries(bombs).filter((_, n) => n % 10 === 0));
}

function inBoth(bombs: Bombs): Bomb[] {
  return Object.entries(bombs).flatMap(([name, sql]) =>
    DIALECTS.map((dialect) => ({ what: `${name} (${dialect})`, sql, dialect })),
  );
}

/** In the short form, each in one of the dialects. */
function inOne(bombs: Bombs): Bomb[] {
  return inBoth(bombs).filter((_, n) => LONG || n % 4 === 0 || n % 4 === 3);
}

/** Runs `action` on a service of little memory. */
function serving(
  env: Record<string, string>,
  action: (harness: Harness) => Promise<void>,
): Promise<void> {
  return withHarness(0, { env, inside: BOUND }, action);
}

/** Adds many lines of the caller. */
async function load({ data, service }: Harness): Promise<void> {
  const before = await eventually(async () => (await ledger(service)).rows);
  const folder = join(data, 'logs', 'edge_logs');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'many.ndjson'), lines().join(''));
  await eventually(async () => expect((await ledger(service)).rows).to.equal(before + LINES));
}

function lines(): string[] {
  const expectedLines = newExpectedLines('many');
  return Array.from({ length: LINES }, (_, n) => {
    const text = Array.from({ length: 8 }, (_unused, i) =>
      ((n + 1) * 2654435761 * (i + 1)).toString(36),
    );
    const line = JSON.parse(expectedLines.line());
    const timestamp = new Date(Date.UTC(2026, 7, 21, 12, 0, 20, n % 1000) + n).toISOString();
    const metadata = { request: { path: `/rest/${n % 100}`, method: 'GET' }, list: text };
    const event_message = text.join(' ').repeat(4);
    return `${JSON.stringify({ ...line, timestamp, project: CALLER.project, event_message, metadata })}\n`;
  });
}

/** Asks all that are not refused, `abreast` at a time, while lines come in and others ask. */
async function drop(
  { harness, translated }: Targets,
  bombs: readonly Bomb[],
  abreast = 1,
  never = NEVER,
): Promise<void> {
  const { service } = harness;
  const faults: string[] = [];
  const tally = new Map<string, number>();
  const count = (got: string) => tally.set(got, (tally.get(got) ?? 0) + 1);
  const heavy: { what: string; mb: number; lateMs: number }[] = [];
  /** The engine is asked once for all statements that are the same to it, since most differ by dialect in nothing. */
  const accepted = new Map<string, Bomb>();
  for (const bomb of bombs) {
    const found = await translated(bomb.sql, bomb.dialect);
    count(found.refused === null ? 'not refused' : 'refused');
    if (found.refused === null) accepted.set(found.key, bomb);
    else if (found.unclear) faults.push(`${bomb.what}: ${found.unclear}`);
  }
  const queue = [...accepted.values()];
  const idleMb = memoryMb(service, 'VmRSS');
  const worker = async () => {
    for (let bomb = queue.shift(); bomb; bomb = queue.shift()) {
      const { what, sql, dialect } = bomb;
      forgetPeak(harness);
      const began = performance.now();
      const signal = AbortSignal.timeout(TIMEOUT_MS * abreast + LATE_MS);
      const answer = await harness
        .ask({ sql, dialect, way: 'json', signal })
        .catch((error: Error) => error);
      const lateMs = performance.now() - began - TIMEOUT_MS;
      const got = answer instanceof Error ? `${answer}` : `${answer.status} ${answer.code}`;
      count(got);
      if (process.env.TAILPOND_TEST_TELL) console.log(`${got}: ${what}: ${shown(answer)}`);
      if (!ALLOWED.includes(got) || never.test(shown(answer)))
        faults.push(`${what}: ${got} ${shown(answer)}`);
      const { exitCode, signalCode } = service.child;
      if (exitCode !== null || signalCode !== null) {
        const last = service.log.filter(({ level }) => Number(level) >= 50).slice(-3);
        faults.push(
          `${what}: the service ended with ${exitCode ?? signalCode}: ${JSON.stringify(last)} ${service.errors.slice(-5)}`,
        );
        return;
      }
      const mb = memoryMb(service, 'VmHWM') - idleMb;
      heavy.push({ what, mb, lateMs });
      if (mb > MEMORY_MB + SLACK_MB) faults.push(`${what}: ${mb.toFixed(0)} MB more than idle`);
    }
  };
  await meanwhile(harness, faults, () =>
    Promise.all(Array.from({ length: abreast }, worker)).then(() => {}),
  );
  const most = heavy.toSorted((a, b) => b.mb - a.mb)[0];
  const latest = heavy.toSorted((a, b) => b.lateMs - a.lateMs)[0];
  console.log(
    `      ${JSON.stringify([...tally])}; most memory: ${most?.mb.toFixed(0)} MB above idle, ${most?.what}; latest: ${latest?.lateMs.toFixed(0)} ms after its time, ${latest?.what}`,
  );
  expect(faults.join('\n')).to.equal('');
}

function shown(answer: Answer | Error): string {
  return answer instanceof Error ? '' : answer.text.slice(0, 300);
}

/** The highest mark of memory begins anew. */
function forgetPeak({ service }: Harness) {
  try {
    writeFileSync(`/proc/${service.child.pid}/clear_refs`, '5');
  } catch {
    // It may have ended, which is told otherwise.
  }
}

/** Until `action` ends lines are written and the process, the store and a saved query are asked; then the lines must be there. */
async function meanwhile(
  { data, service }: Harness,
  faults: string[],
  action: () => Promise<void>,
): Promise<void> {
  const before = await eventually(async () => (await ledger(service, 'auth_logs')).rows);
  const file = join(data, 'logs', 'auth_logs', 'meanwhile.ndjson');
  const expectedLines = newExpectedLines('meanwhile');
  const slowest = { livez: 0, saved: 0, stored: 0 };
  let written = 0;
  let over = false;
  const saved = `/api/endpoints/query/logs.all?${new URLSearchParams(CALLER)}`;
  const ended = () => service.child.exitCode !== null || service.child.signalCode !== null;
  const timed = async (what: keyof typeof slowest, ask: () => Promise<unknown>) => {
    const began = performance.now();
    await ask();
    slowest[what] = Math.max(slowest[what], performance.now() - began);
  };
  const asking = (async () => {
    while (!over && !ended()) {
      appendFileSync(file, expectedLines.line('auth_logs'));
      written++;
      await timed('livez', async () =>
        expect((await fetch(`${service.url}/livez`)).status).to.equal(200),
      );
      // Where the engine has no memory left for a moment, one try may fail; the time says how many did.
      await timed('saved', () =>
        eventually(async () => {
          const { status, body } = await service.get(saved);
          expect(status, JSON.stringify(body)).to.equal(200);
        }, PATIENCE_MS),
      );
      await timed('stored', () =>
        eventually(
          async () => expect((await ledger(service, 'auth_logs')).rows).to.equal(before + written),
          PATIENCE_MS,
        ),
      );
      await delay(50);
    }
  })().catch((error) => faults.push(`meanwhile: ${error}`));
  await action().finally(() => {
    over = true;
  });
  await asking;
  console.log(
    `      meanwhile, at most, ms: ${JSON.stringify(slowest, (_, n) => (typeof n === 'number' ? Math.round(n) : n))}`,
  );
}
