import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { LedgerEntry } from '../../server/store/index.ts';
import {
  eventually,
  type Service,
  unlimited,
  withFolder,
  withIngest,
  withService,
  withStore,
} from '../support/helpers.ts';
import { seeded } from '../support/random.ts';
import { DAY, simulatedClock } from '../support/simulated-store.ts';
import { faultCase, LONG } from './case.ts';
import { type ExpectedLines, newExpectedLines } from './expected-lines.ts';
import { drop, dropLines, ledger, startWriter } from './lines.ts';

const SOURCES = ['edge_logs', 'auth_logs'] as const;
/** Rows that are too old: three row groups and one, each with a part of the next one that younger rows share. */
const OLD_ROWS = LONG
  ? { edge_logs: 400_000, auth_logs: 150_000 }
  : { edge_logs: 100_000, auth_logs: 50_000 };
const OLD_REJECTED = 300;
const OLD = OLD_ROWS.edge_logs + OLD_ROWS.auth_logs + SOURCES.length * OLD_REJECTED;
const ROUNDS = LONG ? 10 : 1;
const KILLS = 3;
const OPTIONS = { env: { TAILPOND_RETENTION: '30d' } };

describe('retention and kill -9', () => {
  faultCase(
    'D17b',
    `${ROUNDS * KILLS} times while lines come in: all that is too old goes, and nothing else`,
    () =>
      withFolder(async (data) => {
        const random = seeded(17);
        const expectedLines = newExpectedLines();
        await fill(data, expectedLines);
        cpSync(join(data, 'store'), join(data, 'filled'), { recursive: true });
        const removed: number[] = [];
        for (let round = 0; round < ROUNDS; round++) {
          rmSync(join(data, 'store'), { recursive: true });
          cpSync(join(data, 'filled'), join(data, 'store'), { recursive: true });
          const writer = startWriter(data, expectedLines);
          try {
            for (let kill = 0; kill < KILLS; kill++) {
              // All over the time of the removal, which goes on meanwhile.
              const share = (kill + random()) / KILLS;
              await withService(
                data,
                async (service) => {
                  await removes(service, share * OLD);
                  await delay(random() * 40);
                  await service.end('SIGKILL');
                },
                OPTIONS,
              );
              removed.push(await removedOf(data));
            }
          } finally {
            await writer.stop();
          }
          await endsClean(data, expectedLines);
        }
        const amid = removed.filter((lines) => lines > 0 && lines < OLD);
        expect(amid, 'kills while lines were removed').to.not.be.empty;
      }),
    { timeoutMs: 300_000 },
  );
});

/** Fills a store with lines of 40 days ago, of 20 days ago and of now, which are dropped and stored as if it was then. */
async function fill(data: string, expectedLines: ExpectedLines): Promise<void> {
  const clock = simulatedClock(Date.now() - 40 * DAY);
  await withIngest(
    data,
    async ({ store, lines }) => {
      const stored = async () => {
        for (const source of SOURCES) {
          const { rows, rejected } = expectedLines.expected(source);
          await lines(OLD_ROWS[source] + OLD_REJECTED + rows + rejected, source);
        }
      };
      for (const source of SOURCES) {
        const line = `{"id":"old","timestamp":"2026-01-01T00:00:00Z","project":"p","event_message":"old"}\n`;
        // In pieces, which must go with it.
        const bad = `no object ${'x'.repeat(5000)}\n`;
        const text = line.repeat(OLD_ROWS[source]) + bad.repeat(OLD_REJECTED);
        drop(data, `${source}/old.ndjson`, text);
      }
      await stored();
      for (const days of [20, 0]) {
        clock.advance(20 * DAY);
        for (const source of SOURCES) {
          dropLines(data, expectedLines, 1000, source);
          expectedLines.bad(`no object, ${days} days ago`, source);
          drop(data, `${source}/a.ndjson`, `no object, ${days} days ago\n`);
        }
        await stored();
      }
      // What it has believed of the clock is kept: a start goes on from there.
      await store.retention.run(unlimited());
    },
    { storeClock: clock },
  );
}

/** Waits until so many lines were removed. */
async function removes(service: Service, count: number): Promise<void> {
  await eventually(async () => expect(sumOf(await ledger(service))).to.be.at.least(count));
}

function sumOf(entries: readonly LedgerEntry[]): number {
  return entries.reduce((sum, entry) => sum + entry.removed + entry.removed_rejected, 0);
}

/** How many lines were removed from a store whose service was killed. A copy of it is looked at; it must be whole. */
async function removedOf(data: string): Promise<number> {
  const copy = join(data, 'copy');
  rmSync(copy, { recursive: true, force: true });
  cpSync(join(data, 'store'), join(copy, 'store'), {
    recursive: true,
    filter: (path) => !path.endsWith('control.sock'),
  });
  return withStore(copy, async (store) => {
    expect((await store.inspect(new AbortController().signal)).faults).to.deep.equal([]);
    return sumOf(await store.ledger());
  });
}

/** A last life removes what is left, stores what was dropped, and ends clean. */
async function endsClean(data: string, expectedLines: ExpectedLines): Promise<void> {
  await withService(
    data,
    async (service) => {
      await eventually(async () => {
        const entries = await ledger(service);
        for (const source of SOURCES) {
          const { rows, rejected } = expectedLines.expected(source);
          const counts = {
            lines: OLD_ROWS[source] + rows + OLD_REJECTED + rejected,
            rows: OLD_ROWS[source] + rows,
            rejected: OLD_REJECTED + rejected,
            removed: OLD_ROWS[source],
            removed_rejected: OLD_REJECTED,
            stored: rows,
          };
          expect(entries.find((entry) => entry.source === source)).to.include(counts);
        }
      });
      expect(service.log.filter(({ level }) => Number(level) >= 50)).to.deep.equal([]);
      expect(await service.end('SIGTERM')).to.equal(0);
    },
    OPTIONS,
  );
  expect(await expectedLines.differences(data)).to.deep.equal([]);
  await withStore(data, async (store) => {
    expect((await store.inspect(new AbortController().signal)).faults).to.deep.equal([]);
  });
}
