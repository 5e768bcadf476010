import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../support/helpers.ts';
import { faultCase, LONG } from './case.ts';
import { newExpectedLines } from './expected-lines.ts';
import { ledger, memoryMb } from './setup.ts';
import {
  type Bombs,
  EXPRESSIONS,
  GROWING,
  HELD,
  MEMORY,
  PLANS,
  RESULTS,
  TIME,
} from './sql/bombs.ts';
import { ENDS } from './sql/ends.ts';
import { type Answer, CALLER, type Harness, withHarness } from './sql/harness.ts';

const TIMEOUT_MS = 1000;
/** How long others may be kept waiting on a machine that does little else. */
const PATIENCE_MS = 90_000;
/** A query that goes on for 15 s after its time ends the service (docs/install.md): by then it was answered, or nobody will answer. */
const LATE_MS = 30_000;
const MEMORY_MB = 256;
/** What the process may take beside the engine's memory: the JSON of an answer, several times, and what the allocator keeps. */
const SLACK_MB = 400;
/** A bomb that is not contained ends the service then, not the machine. */
const BOUND = ['prlimit', '--data=8000000000'];
const LINES = LONG ? 50_000 : 10_000;
const SETTINGS = {
  TAILPOND_QUERY_TIMEOUT: `${TIMEOUT_MS}ms`,
  TAILPOND_MEMORY: `${MEMORY_MB}MB`,
  TAILPOND_LOG_LEVEL: 'info',
};
/** What no answer says. */
const NEVER = /INTERNAL/;
/** The same of queries over odd values: as this is told what the engine refuses only when it runs. */
const UNFIT = /INTERNAL|The statement cannot be run/;
/** What a bomb may be answered with; anything else is a fault of the service. */
const ALLOWED = [
  '200 ',
  '400 SQL_INVALID',
  '400 RESULT_TOO_LARGE',
  '400 QUERY_TOO_LARGE',
  '503 OVERLOADED',
  '504 QUERY_TIMEOUT',
];

describe("callers' SQL: bombs", () => {
  faultCase('S06a', 'what takes memory beside the engine’s own: one after the other', () =>
    loaded((harness) => drop(harness, MEMORY)),
  );

  faultCase('S06b', 'what takes memory beside the engine’s own: 20 at a time', () =>
    loaded((harness) => drop(harness, MEMORY, 20)),
  );

  faultCase('S06c', 'what takes memory for as long as it runs is ended before its time', () =>
    loaded(
      async (harness) => {
        for (const [name, sql] of Object.entries(GROWING)) {
          const before = memoryMb(harness.service, 'VmRSS');
          forgetPeak(harness);
          const answer = await harness.ask({ sql, dialect: 'bigquery', way: 'json' });
          expect(answer.code, `${name}: ${shown(answer)}`).to.equal('QUERY_TOO_LARGE');
          const mb = memoryMb(harness.service, 'VmHWM') - before;
          expect(mb, name).to.be.below(MEMORY_MB + SLACK_MB);
        }
      },
      { TAILPOND_QUERY_TIMEOUT: '30s' },
    ),
  );

  faultCase('S06h', 'what held memory when it was ended gives it back', () =>
    loaded(
      async (harness) => {
        for (const [name, sql] of Object.entries({ ...GROWING, ...HELD })) {
          const mb: number[] = [];
          for (let n = 0; n < 5; n++) {
            const answer = await harness.ask({ sql, dialect: 'bigquery', way: 'json' });
            expect(answer.code, `${name}: ${shown(answer)}`).to.equal('QUERY_TOO_LARGE');
            mb.push(memoryMb(harness.service, 'VmRSS'));
          }
          // Where it does not, each takes some 300 MB more.
          expect((mb[4] ?? 0) - (mb[1] ?? 0), `${name}: ${mb}`).to.be.below(SLACK_MB);
        }
      },
      { TAILPOND_QUERY_TIMEOUT: '60s' },
    ),
  );

  faultCase(
    'S07',
    'what takes time is ended, or refused when it could not be',
    () => loaded((harness) => drop(harness, TIME)),
    { timeoutMs: 300_000 },
  );

  faultCase(
    'S09',
    'what is long in the planning, or deep, is refused',
    () => loaded((harness) => drop(harness, sampled(PLANS))),
    { timeoutMs: 600_000 },
  );

  faultCase('S10', 'an answer that is too large is refused, and does not hold up others', () =>
    loaded((harness) => drop(harness, RESULTS)),
  );

  faultCase(
    'S11',
    'expressions that are long in the making or the matching',
    () => loaded((harness) => drop(harness, EXPRESSIONS)),
    { timeoutMs: 300_000 },
  );

  faultCase(
    'S13b',
    'numbers, times and texts at the ends of what there is fail no query',
    () =>
      withHarness(0, { env: SETTINGS, inside: BOUND }, (harness) =>
        drop(harness, sampled(ENDS), 1, UNFIT),
      ),
    { timeoutMs: 900_000 },
  );
});

/** All in the long form; in the short one the first hundred, and one of ten of the others. */
function sampled(bombs: Bombs): Bombs {
  return LONG
    ? bombs
    : Object.fromEntries(Object.entries(bombs).filter((_, n) => n < 100 || n % 10 === 0));
}

/** A service of little memory and little time with many lines of the caller. */
function loaded(
  action: (harness: Harness) => Promise<void>,
  env: Record<string, string> = {},
): Promise<void> {
  return withHarness(0, { env: { ...SETTINGS, ...env }, inside: BOUND }, async (harness) => {
    const before = await eventually(async () => (await ledger(harness.service)).rows);
    const folder = join(harness.data, 'logs', 'edge_logs');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'many.ndjson'), lines().join(''));
    await eventually(async () =>
      expect((await ledger(harness.service)).rows).to.equal(before + LINES),
    );
    await action(harness);
  });
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

/** Asks all of them, `abreast` at a time, while lines come in and others ask. */
async function drop(harness: Harness, bombs: Bombs, abreast = 1, never = NEVER): Promise<void> {
  const { service } = harness;
  const faults: string[] = [];
  const tally = new Map<string, number>();
  const heavy: { what: string; mb: number; lateMs: number }[] = [];
  const queue = Object.entries(bombs).flatMap(([name, sql]) =>
    (['bigquery', 'duckdb'] as const).map((dialect) => ({ name, sql, dialect })),
  );
  const idleMb = memoryMb(service, 'VmRSS');
  const worker = async () => {
    for (let bomb = queue.shift(); bomb; bomb = queue.shift()) {
      const { name, sql, dialect } = bomb;
      const what = `${name} (${dialect})`;
      forgetPeak(harness);
      const began = performance.now();
      const signal = AbortSignal.timeout(TIMEOUT_MS * abreast + LATE_MS);
      const answer = await harness
        .ask({ sql, dialect, way: 'json', signal })
        .catch((error: Error) => error);
      const lateMs = performance.now() - began - TIMEOUT_MS;
      const got = answer instanceof Error ? `${answer}` : `${answer.status} ${answer.code}`;
      tally.set(got, (tally.get(got) ?? 0) + 1);
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
