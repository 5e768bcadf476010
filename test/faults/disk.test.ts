import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { ROOT } from '../../server/config/package-root.ts';
import type { LedgerEntry } from '../../server/store/index.ts';
import { INSTALL } from '../e2e/shippers/shippers.ts';
import {
  eventually,
  type Service,
  type SpawnOptions,
  spawnService,
  withFolder,
  withService,
} from '../support/helpers.ts';
import { fill as fillDisk, free as freeDisk } from './ballast.ts';
import { notHere } from './case.ts';
import { type ExpectedLines, newExpectedLines } from './expected-lines.ts';
import { fakeTime, settableClock } from './fake-time.ts';
import { allStored, drop, dropLines, endsWhole, ledger, whileItLives } from './lines.ts';
import { mountCase, withTmpfs } from './mounts.ts';
import { type Place, placesOf } from './places.ts';
import { run } from './setup.ts';

const DISK_MB = 96;
/** The room that is left when the disk counts as full: less than a second's lines. */
const LEFT_BYTES = 256 * 1024;

/** With room for the engine to run into the end of the disk. */
const UNGUARDED = { env: { TAILPOND_MIN_FREE: 'off' } };

/** The same, which soon writes the log back, and tries again what has failed. */
const QUICK = {
  env: { ...UNGUARDED.env, TAILPOND_TEST_WAITS: 'checkpoint=500ms,retry=500ms' },
};

const serve = (
  data: string,
  action: (service: Service) => Promise<void>,
  options: SpawnOptions = UNGUARDED,
) => withService(data, action, options);

describe('a full disk', () => {
  mountCase('D05a', 'loses no line and stores none twice, once there is space again', 'tmpfs', () =>
    withDisk(async (data) => {
      const expectedLines = newExpectedLines();
      const write = (count: number) => dropKilobytes(data, expectedLines, count);

      // It fills up under a running service, which may carry on or end, but not with "all is well".
      await serve(data, async (service) => {
        const { child } = service;
        write(500);
        await allStored(service, expectedLines);
        fill(data);
        for (let i = 0; i < 20; i++) {
          write(200);
          await delay(100);
        }
        await eventually(async () => {
          if (child.exitCode !== null) return;
          const { status, body } = await service.get('/readyz');
          expect(status).to.equal(503);
          expect(body.detail).to.match(/^The disk is full/);
        });
        await whileItLives(service, async () => {
          free(data);
          await allStored(service, expectedLines);
          fill(data);
          // The checkpoint of a stop finds no space.
          write(100);
          expect(await service.end('SIGTERM')).to.be.oneOf([0, 'SIGKILL']);
        });
      });

      // The end may have given some space back.
      fill(data);
      write(500);
      await startsWithoutSpace(data);
      free(data);
      write(100);
      await endsWhole(data, expectedLines, UNGUARDED);
    }),
  );

  mountCase(
    'D04',
    'in the checkpoint of a COMMIT, which throws: exit 1, and no line lost or doubled',
    'tmpfs',
    () =>
      withFolder((data) =>
        withTmpfs(join(data, 'store'), 200, async () => {
          const expectedLines = newExpectedLines();
          // More than the threshold, all there from the beginning: a pause would be one in which the log is written back.
          for (let block = 0; block < 10; block++) {
            const lines = Array.from({ length: 1000 }, () =>
              expectedLines.line('edge_logs', randomBytes(7000).toString('base64')),
            );
            drop(data, 'edge_logs/a.ndjson', lines.join(''));
          }
          // Room for the log, not for its checkpoint beside it.
          fill(data, 64e6);
          await withService(
            data,
            async (service) => {
              await eventually(() => expect(service.child.exitCode).to.equal(1), 90_000);
              const fatal = service.log.filter(({ level }) => level === 60);
              // A COMMIT fails, not an idle service. Whether its lines are durable is for the next start to find out.
              expect(JSON.stringify(fatal)).to.match(/CommitError.*Checkpoint failed/);
            },
            { env: { ...UNGUARDED.env, TAILPOND_TEST_WAITS: 'checkpointBytes=40MB' } },
          );
          free(data);
          await endsWhole(data, expectedLines, UNGUARDED);
        }),
      ),
  );

  mountCase(
    'D22d',
    'in the checkpoint of an idle service, while 20 requests run: it ends, none hangs, all is there',
    'tmpfs',
    () =>
      withDisk(async (data) => {
        const expectedLines = newExpectedLines();
        await serve(data, async (service) => {
          await fillsBeforeCheckpoint(service, data, expectedLines);
          const asking = Array.from({ length: 20 }, async (_, client) => {
            for (let n = 0; ; n++) {
              // None is answered from the cache, nor by another's query.
              const end = new Date(Date.UTC(2100, client) + n * 1000).toISOString();
              const answer = await service
                .get(`/api/endpoints/query/logs.all?project=p&iso_timestamp_end=${end}`)
                .catch((error: Error) => error);
              // The process has gone.
              if (answer instanceof Error) return;
              // Whatever meets the end of the engine first ends the process before it answers, and four connections with
              // places for 64 who wait are enough for 20 clients: there is no answer but a right one.
              expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
              expect(answer.body.result).to.have.length(100);
            }
          });
          const { child } = service;
          // 1, or SIGKILL to itself where a query would have kept it.
          await eventually(
            () => expect(child.exitCode ?? child.signalCode).to.be.oneOf([1, 'SIGKILL']),
            30_000,
          );
          await Promise.all(asking);
          expect(service.log.filter(({ level }) => level === 60)).to.have.length(1);
        });
        free(data);
        await serve(data, async (service) => {
          await allStored(service, expectedLines);
          expect((await service.get('/readyz')).status).to.equal(200);
          expect(await service.end('SIGTERM')).to.equal(0);
        });
        expect(await expectedLines.differences(data)).to.deep.equal([]);
      }),
  );

  mountCase(
    'D22g',
    'in the checkpoint of an idle service, while a long query runs: the process ends, all is there',
    'tmpfs',
    () =>
      withDisk(async (data) => {
        const expectedLines = newExpectedLines();
        const env = {
          ...UNGUARDED.env,
          TAILPOND_ENDPOINTS: join(ROOT, 'test/faults/fixtures/endpoints'),
          TAILPOND_QUERY_TIMEOUT: '60s',
        };
        await withService(
          data,
          async (service) => {
            await fillsBeforeCheckpoint(service, data, expectedLines);
            // It has seen the last commit, so it keeps no checkpoint away.
            const answer = service.get('/api/endpoints/query/long?id=line-0').then(
              ({ status }) => status,
              () => 'none',
            );
            const { child } = service;
            await eventually(() => expect(child.exitCode ?? child.signalCode).not.to.equal(null));
            expect(child.exitCode ?? child.signalCode).to.be.oneOf([1, 'SIGKILL']);
            expect(await answer).to.equal('none');
            expect(service.log.filter(({ level }) => level === 60)).to.have.length(1);
          },
          { env },
        );
        free(data);
        await endsWhole(data, expectedLines, UNGUARDED);
      }),
  );

  mountCase('D06', "of the engine's temporary files: the query fails, nothing else", 'tmpfs', () =>
    withFolder((data) => {
      const temporary = join(data, 'store', 'tmp');
      return withTmpfs(temporary, 240, async () => {
        const expectedLines = newExpectedLines();
        const env = {
          ...UNGUARDED.env,
          TAILPOND_MEMORY: '96MB',
          TAILPOND_ENDPOINTS: join(ROOT, 'test/faults/fixtures/endpoints'),
        };
        const spill = (service: Service) => service.get('/api/endpoints/query/spill?id=line-0');
        const works = async (service: Service) => {
          const { status, body } = await spill(service);
          expect(status, JSON.stringify(body)).to.equal(200);
          expect(body.result).to.deep.equal([{ places: 4_000_000 }]);
        };
        const fails = async (service: Service) => {
          fillDisk(temporary, 1e6);
          const { status, body } = await spill(service);
          expect(status).to.equal(500);
          expect(body.code).to.equal('INTERNAL');
          const told = JSON.stringify(service.log.map(({ err }) => err));
          expect(told).to.match(/No space left|max_temp_directory_size/);
          dropLines(data, expectedLines, 500);
          await allStored(service, expectedLines);
          const all = await service.get('/api/endpoints/query/logs.all?project=p');
          expect(all.body.result).to.have.length(100);
          expect((await service.get('/readyz')).status).to.equal(200);
          freeDisk(temporary);
        };
        await run(
          data,
          async (service) => {
            dropLines(data, expectedLines, 500);
            await allStored(service, expectedLines);
            // The first to spill finds no room.
            await fails(service);
            await works(service);
            // So does one that comes after it.
            await fails(service);
          },
          { env },
        );
        expect(await expectedLines.differences(data)).to.deep.equal([]);
      });
    }),
  );
});

const BATCH_LINES = 1000;
/** Room for the staging file of so many lines of a kilobyte, and not for their entry in the log beside it. */
const STAGED_BYTES = BATCH_LINES * 1200;

describe('a disk that is full in one place', () => {
  const places = [
    { ids: ['D05d', 'D05e'], place: 'commit', where: 'the log of a commit', left: STAGED_BYTES },
    { ids: ['D05f', 'D05g'], place: 'staging', where: 'the staging file of a batch', left: 0 },
  ] as const;
  for (const { ids, place, where, left } of places) {
    const [goesOn, isStarted] = ids;
    mountCase(
      goesOn,
      `no space for ${where}: it goes on once there is, and over a kill`,
      'tmpfs',
      () =>
        withDisk(async (data) => {
          const expectedLines = newExpectedLines();
          const goOn = async (service: Service) => {
            await meets(service, data, expectedLines, place, left);
            free(data);
            await allStored(service, expectedLines);
            await eventually(async () =>
              expect((await service.get('/readyz')).status).to.equal(200),
            );
            // What was written behind half an entry of the log must be found again.
            expect(await service.end('SIGKILL')).to.equal('SIGKILL');
          };
          await serve(data, goOn, QUICK);
          await endsWhole(data, expectedLines, UNGUARDED);
        }),
    );

    mountCase(
      isStarted,
      `no space for ${where}: killed, started without, and then with`,
      'tmpfs',
      () =>
        withDisk(async (data) => {
          const expectedLines = newExpectedLines();
          const isKilled = async (service: Service) => {
            await meets(service, data, expectedLines, place, left);
            expect(await service.end('SIGKILL')).to.equal('SIGKILL');
          };
          await serve(data, isKilled, QUICK);
          // A kill may give some space back.
          fill(data, left);
          await startsWithoutSpace(data);
          free(data);
          await endsWhole(data, expectedLines, UNGUARDED);
        }),
    );
  }
});

describe('a disk that is nearly full', () => {
  mountCase(
    'D05b',
    'stops ingest, which readiness says, and lines that come meanwhile are stored once there is room',
    'tmpfs',
    () =>
      withDisk(async (data) => {
        const expectedLines = newExpectedLines();
        const minFree = 16e6;
        await withService(
          data,
          async (service) => {
            dropKilobytes(data, expectedLines, 500);
            await allStored(service, expectedLines);
            expect((await service.get('/readyz')).status).to.equal(200);

            fill(data, minFree - 1e6);
            const readiness = await eventually(async () => {
              const answer = await service.get('/readyz');
              expect(answer.status).to.equal(503);
              return answer.body;
            });
            expect(readiness.detail).to.match(/nearly full.*\b1\d MB.*TAILPOND_MIN_FREE/);
            expect(JSON.stringify(readiness)).not.to.contain(data);
            const { rows: before } = expectedLines.expected();
            // Each is first seen in another round of ingest, which must leave the lines where they are.
            for (let round = 0, pending = 0; round < 5; round++) {
              pending += dropKilobytes(data, expectedLines, 100).join('').length;
              const counts = { lines: before, stored: before, pending_bytes: pending };
              await eventually(async () => expect(await edgeLogs(service)).to.include(counts));
            }
            expect((await service.get('/readyz')).status).to.equal(503);

            free(data);
            await allStored(service, expectedLines);
            expect((await service.get('/readyz')).status).to.equal(200);
            const told = (level: number, text: string) =>
              service.log.filter((line) => line.level === level && `${line.msg}`.includes(text));
            expect(told(40, 'until there is room')).to.have.length(1);
            expect(told(30, 'there is room again')).to.have.length(1);
            expect(service.log.filter(({ level }) => Number(level) > 40)).to.deep.equal([]);
            expect(await service.end('SIGTERM')).to.equal(0);
          },
          { env: { TAILPOND_MIN_FREE: '16MB' } },
        );
        expect(await expectedLines.differences(data)).to.deep.equal([]);
      }),
  );

  mountCase(
    'D05h',
    'goes on by itself when logs are deleted that were read, and whose space is all that is wanting',
    'tmpfs',
    () =>
      withFolder((data) =>
        withTmpfs(data, 120, async () => {
          const expectedLines = newExpectedLines();
          drop(
            data,
            'edge_logs/a.ndjson',
            Array.from({ length: 20_000 }, () =>
              expectedLines.line('edge_logs', 'x'.repeat(1500)),
            ).join(''),
          );
          await withService(
            data,
            async (service) => {
              await allStored(service, expectedLines);
              fill(data, 30e6);
              await eventually(async () =>
                expect((await service.get('/readyz')).status).to.equal(503),
              );
              dropLines(data, expectedLines, 10, 'auth_logs');
              rmSync(join(data, 'logs/edge_logs/a.ndjson'));
              await allStored(service, expectedLines);
              expect((await service.get('/readyz')).status).to.equal(200);
              expect(await service.end('SIGTERM')).to.equal(0);
            },
            { env: { TAILPOND_MIN_FREE: '40MB' } },
          );
          expect(await expectedLines.differences(data)).to.deep.equal([]);
        }),
      ),
  );

  const library = fakeTime();
  const bySize = 'goes on by itself when what is kept by size leaves room inside the database file';
  if (library === null) notHere('D05c', bySize, `no libfaketime; ${INSTALL}`);
  else
    mountCase('D05c', bySize, 'tmpfs', () =>
      withDisk(async (data) => {
        const expectedLines = newExpectedLines();
        const clock = settableClock(library, join(data, 'clock'));
        const env = {
          ...clock.env,
          TAILPOND_MIN_FREE: '18MB',
          TAILPOND_MAX_DISK: '24MB',
          TAILPOND_TEST_WAITS: 'retention=1s',
        };
        // All before the service starts: a checkpoint in the midst of them would leave free blocks in the file, which count as room.
        const old = dropKilobytes(data, expectedLines, 45_000);
        await run(
          data,
          async (service) => {
            await allStored(service, expectedLines);
            await writtenBack(data);
            fill(data, 14e6);
            await eventually(async () =>
              expect((await service.get('/readyz')).body.detail).to.match(/nearly full/),
            );
            dropLines(data, expectedLines, 500);
            await eventually(async () => {
              const entry = await edgeLogs(service);
              expect(entry).to.include({ lines: old.length, removed: 0 });
              expect(entry.pending_bytes).to.be.greaterThan(0);
            });

            // The newest hour is kept whatever the size.
            clock.set(1);
            // Nothing is asked meanwhile: a query that runs in the checkpoint would put off that the space comes back.
            await eventually(
              () =>
                expect(service.log.map(({ msg }) => msg)).to.include(
                  'there is room again, lines are stored',
                ),
              100_000,
            );
            await eventually(async () => {
              const { lines, removed, stored } = await edgeLogs(service);
              expect(removed).to.be.greaterThan(0);
              const all = old.length + 500;
              expect({ lines, stored }).to.deep.equal({ lines: all, stored: all - removed });
            });
            expect((await service.get('/readyz')).status).to.equal(200);
            for (const line of old) expectedLines.doubtful(line);
          },
          { env },
        );
        expect(await expectedLines.differences(data)).to.deep.equal([]);
      }),
    );
});

/** Writes a batch that finds no space in just this place, however often it is tried, while all else goes on. */
async function meets(
  service: Service,
  data: string,
  expectedLines: ExpectedLines,
  place: Place,
  leftBytes: number,
): Promise<void> {
  dropLines(data, expectedLines, 500);
  await allStored(service, expectedLines);
  const before = expectedLines.expected().rows;
  // Else the checkpoint of an idle service would be the first to find no space.
  await writtenBack(data);
  fill(data, leftBytes);
  let text = '';
  for (let i = 0; i < BATCH_LINES; i++) text += expectedLines.line('edge_logs', 'x'.repeat(1000));
  drop(data, 'edge_logs/a.ndjson', text);
  const failures = () => service.log.filter(({ level }) => Number(level) >= 50);
  await eventually(() => expect(failures()).to.have.length.at.least(3));
  for (const failure of failures()) {
    expect(failure.level).to.equal(50);
    expect([...placesOf([failure])]).to.deep.equal([place]);
  }
  expect((await service.get('/readyz')).status).to.equal(503);
  expect((await ledger(service))[0]).to.include({ rows: before, stored: before });
  const { status, body } = await service.get('/api/endpoints/query/logs.all?project=p');
  expect(status).to.equal(200);
  expect(body.result).to.have.length(100);
}

/** A data folder whose store is a small disk of its own. */
function withDisk(action: (data: string) => Promise<void>) {
  return withFolder((data) => withTmpfs(join(data, 'store'), DISK_MB, () => action(data)));
}

/** Appends so many lines of a kilobyte that cannot be compressed, and gives them. */
function dropKilobytes(data: string, expectedLines: ExpectedLines, count: number): string[] {
  const lines = Array.from({ length: count }, () =>
    expectedLines.line('edge_logs', randomBytes(700).toString('base64')),
  );
  drop(data, 'edge_logs/a.ndjson', lines.join(''));
  return lines;
}

/** Stores lines and fills the disk before an idle service writes the log back: again, where this process was too late. */
async function fillsBeforeCheckpoint(
  service: Service,
  data: string,
  expectedLines: ExpectedLines,
): Promise<void> {
  await eventually(async () => {
    free(data);
    dropLines(data, expectedLines, 20_000);
    await allStored(service, expectedLines);
    fill(data, 0);
    expect(logBytes(data)).to.be.above(0);
  });
}

/** Waits until the write-ahead log has been written back. */
async function writtenBack(data: string): Promise<void> {
  await eventually(() => expect(logBytes(data)).to.equal(0));
}

function logBytes(data: string): number {
  const path = join(data, 'store', 'tailpond.duckdb.wal');
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** A start that finds no space: it ends, or meets that where it stores lines. A supervisor must try again: 78 would tell it not to. */
async function startsWithoutSpace(data: string): Promise<void> {
  const { child, log } = spawnService(data, UNGUARDED);
  const ended = once(child, 'exit');
  try {
    await eventually(() => {
      if (child.exitCode === null) expect(placesOf(log).size).to.be.greaterThan(0);
    });
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
  expect(child.exitCode).to.be.oneOf([null, 1]);
}

/** Fills the disk of the store until so many bytes are left. */
const fill = (data: string, leftBytes = LEFT_BYTES) => fillDisk(join(data, 'store'), leftBytes);
const free = (data: string) => freeDisk(join(data, 'store'));

async function edgeLogs(service: Service) {
  return (await ledger(service))[0] as LedgerEntry & { pending_bytes: number };
}
