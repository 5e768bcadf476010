import { appendFileSync, closeSync, fstatSync, openSync, statSync, writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { allSources, type Source } from '../../ingest/index.ts';
import { INSTALL, LOGROTATE, logrotate } from '../e2e/shippers/shippers.ts';
import { eventually, type Service, TOKEN, withService } from '../support/helpers.ts';
import { faultCase, LONG, notHere } from './case.ts';
import { holds, type Setup, settles, withSetup } from './setup.ts';

/** One directive of each line is chosen. With `dateext` names differ by the second, so that two rotations of one day do not meet. */
const CHOICES: readonly (readonly string[])[] = [
  ['nocompress', 'compress', 'compress\ndelaycompress'],
  ['create', 'nocreate', 'copytruncate'],
  ['nosharedscripts', 'sharedscripts\npostrotate\ntrue\nendscript'],
  ['nodateext', 'dateext\ndateformat -%Y%m%d-%s'],
  ['noolddir', 'olddir old\ncreateolddir 0755'],
  ['size 1', 'maxsize 1'],
];
const ALL = combinations(CHOICES);
/** The short form has some of them: each choice, and of each two lines all pairs of choices but two. */
const WAYS = ALL.filter((_, n) => LONG || n % 15 === 0);
const SOURCES = allSources().filter((_, n) => LONG || n < 2);
const ROTATIONS = LONG ? 6 : 4;

const SECONDS = LONG ? 600 : 9;
const LINES_PER_SECOND = 1000;
const TICK_MS = 20;
const ROTATE_EVERY_MS = LONG ? 10_000 : 4000;
/** What was written so long ago is seen by now, and so is stored when nothing is pending. */
const SEEN_MS = LONG ? 15_000 : 4000;

describe('logrotate, with two rotated files kept', () => {
  const every = `in ${WAYS.length} of ${ALL.length} ways, over ${SOURCES.length} sources, with kill -9 meanwhile: every line once`;
  const endurance = `for ${SECONDS} s at ${LINES_PER_SECOND} lines/s, every ${ROTATE_EVERY_MS / 1000} s, pushes and queries beside it: every line once`;
  if (LOGROTATE === null) {
    notHere('T40', every, `no logrotate; ${INSTALL}`);
    notHere('T41', endurance, `no logrotate; ${INSTALL}`);
    return;
  }

  faultCase(
    'T40',
    every,
    () =>
      withSetup(async (setup) => {
        const files = SOURCES.map((source) =>
          WAYS.map((_, n) => setup.at(`way-${n}x/app.log`, source)),
        );
        const rules = WAYS.map((way, n) => {
          const paths = files.map((each) => `"${each[n]}"`).join(' ');
          return `${paths} {\nrotate 2\nmissingok\n${way.join('\n')}\n}`;
        }).join('\n');
        const turn = async () => {
          // With `dateext` names tell of seconds: logrotate passes over a log whose name of this one is taken.
          await delay(1000 - (Date.now() % 1000));
          for (const [i, source] of SOURCES.entries())
            for (const path of files[i] ?? []) appendFileSync(path, setup.lines(2, source));
          await logrotate(setup.data, rules);
        };
        const turns = async (count: number, service: Service | null) => {
          for (let n = 0; n < count; n++) {
            await turn();
            // One is read before the next, one after it; what two more have dropped must have been read.
            if (service && n % 2 === 1) await holds(service, setup, SOURCES);
          }
        };
        await withService(setup.data, async (service) => {
          await turns(ROTATIONS / 2 + 1, service);
          expect(await service.end('SIGKILL')).to.equal('SIGKILL');
        });
        await turns(1, null);
        await withService(setup.data, async (service) => {
          await holds(service, setup, SOURCES);
          await turns(ROTATIONS / 2 - 1, service);
          await settles(
            service,
            setup,
            SOURCES.filter((source) => source !== 'pgbouncer_logs'),
          );
          expect(await service.end('SIGTERM')).to.equal(0);
        });
        // Copies are told anew.
        await withService(setup.data, async (service) => {
          await settles(
            service,
            setup,
            SOURCES.filter((source) => source !== 'pgbouncer_logs'),
          );
          expect(await service.end('SIGTERM')).to.equal(0);
        });
      }),
    { timeoutMs: 600_000 },
  );

  faultCase(
    'T41',
    endurance,
    () =>
      withSetup(async (setup) => {
        const until = performance.now() + SECONDS * 1000;
        const paths = allSources().map((source) => setup.at('app.log', source));
        const rules = `${paths.join(' ')} {\nrotate 2\ncompress\ncreate\nmissingok\n}`;
        await withService(setup.data, async (service) => {
          const written: { readonly at: number; readonly lines: number }[] = [];
          let lines = 0;
          const writing = repeat(until, TICK_MS, (ticks) => {
            for (
              const due = Math.floor((ticks * TICK_MS * LINES_PER_SECOND) / 1000);
              lines < due;
              lines++
            ) {
              const source = allSources()[lines % allSources().length] as Source;
              const line = setup.lines(1, source, 'x'.repeat(lines % 300));
              if (!append(paths[allSources().indexOf(source)] ?? '', line))
                setup.expectedLines.doubtful(line, source);
            }
            written.push({ at: performance.now(), lines });
          });
          const rotating = repeat(until, ROTATE_EVERY_MS, () => logrotate(setup.data, rules));
          let pushed = 0;
          const pushing = repeat(until, 500, async () => {
            await push(service, 'auth_logs', setup);
            pushed += 5;
          });
          const asking = repeat(until, 300, async () => {
            const { status } = await service.get('/api/endpoints/query/logs.all?project=p');
            expect(status).to.equal(200);
          });
          const watching = repeat(until, 1000, async () => {
            const seen = written.findLast(({ at }) => at < performance.now() - SEEN_MS)?.lines ?? 0;
            const { body } = await service.get('/api/ledger');
            const entries = body.result as { rows: number; pending_bytes: number }[];
            const pending = entries.reduce((sum, entry) => sum + entry.pending_bytes, 0);
            const rows = entries.reduce((sum, entry) => sum + entry.rows, 0);
            if (pending === 0) expect(rows).to.be.at.least(seen);
          });
          await Promise.all([writing, rotating, pushing, asking, watching]);
          console.log(`      ${lines} lines, ${pushed} pushed`);
          await settles(
            service,
            setup,
            allSources().filter((source) => source !== 'pgbouncer_logs'),
          );
          expect(await service.end('SIGTERM')).to.equal(0);
        });
      }),
    { timeoutMs: SECONDS * 1000 + 300_000 },
  );
});

/** Does something every so many ms until a moment, at once and one after the other; it is told how many times have passed. */
async function repeat(until: number, everyMs: number, action: (times: number) => unknown) {
  const begin = performance.now();
  for (let times = 0; performance.now() < until; ) {
    await action(times);
    times = Math.max(times + 1, Math.floor((performance.now() - begin) / everyMs));
    await delay(Math.max(0, begin + times * everyMs - performance.now()));
  }
}

/**
 * Appends a line to the file at a path. False if another file is there by then: the line may have been written when gzip had read
 * the file, and be gone with it.
 */
function append(path: string, line: string): boolean {
  const writer = openSync(path, 'a');
  try {
    writeSync(writer, line);
    return fstatSync(writer).ino === statSync(path, { throwIfNoEntry: false })?.ino;
  } finally {
    closeSync(writer);
  }
}

/** Pushes five lines again until they are acknowledged. */
async function push({ url }: Service, source: Source, setup: Setup): Promise<void> {
  const lines = setup.lines(5, source);
  await eventually(async () => {
    const { status } = await fetch(`${url}/api/logs/${source}`, {
      method: 'POST',
      headers: { 'X-API-KEY': TOKEN, 'Content-Type': 'application/x-ndjson' },
      body: lines,
    });
    expect(status).to.equal(200);
  });
}

function combinations(choices: readonly (readonly string[])[]): string[][] {
  const [first, ...others] = choices;
  if (!first) return [[]];
  const rest = combinations(others);
  return first.flatMap((one) => rest.map((each) => [one, ...each]));
}
