import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, rmSync, statSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { ROOT } from '../../server/config/package-root.ts';
import { INSTALL } from '../e2e/shippers/shippers.ts';
import {
  eventually,
  type Service,
  spawnService,
  TOKEN,
  withFolder,
  withService,
  withStore,
} from '../support/helpers.ts';
import { seeded } from '../support/random.ts';
import { DAY } from '../support/simulated-store.ts';
import { faultCase, LONG, notHere } from './case.ts';
import { type ExpectedLines, newExpectedLines } from './expected-lines.ts';
import { fakeTime, settableClock } from './fake-time.ts';
import { dial, get } from './http.ts';
import { allStored, drop, dropLines, endsWhole, ledger, startWriter } from './lines.ts';
import { run } from './setup.ts';

const logOf = (data: string) => join(data, 'store', 'tailpond.duckdb.wal');
const walBytes = (data: string) => statSync(logOf(data), { throwIfNoEntry: false })?.size ?? 0;
/** Bytes at which a COMMIT writes the log back, here. */
const THRESHOLD = 16e6;
const WAITS = `checkpointBytes=${THRESHOLD / 1e6}MB`;
const library = fakeTime();
const KEY = `X-API-KEY: ${TOKEN}`;

describe('kill -9 again and again', () => {
  faultCase(
    'D01b',
    `${LONG ? 200 : 5} times at random moments under load`,
    () =>
      withFolder(async (data) => {
        const random = seeded(1);
        const expectedLines = newExpectedLines();
        const writer = startWriter(data, expectedLines);
        try {
          for (let i = 0; i < (LONG ? 200 : 5); i++) {
            const { child, errors } = spawnService(data);
            const ended = once(child, 'exit');
            // A start takes some 500 ms: a quarter is killed in it, the others in ingest.
            await delay(200 + random() * 1200);
            expect(child.exitCode, errors.join('\n')).to.equal(null);
            child.kill('SIGKILL');
            await ended;
          }
        } finally {
          await writer.stop();
        }
        await endsWhole(data, expectedLines);
      }),
    { timeoutMs: 600_000 },
  );

  faultCase('D02a', `${LONG ? 40 : 3} times in the checkpoint of a stop`, () =>
    withFolder(async (data) => {
      const random = seeded(2);
      const expectedLines = newExpectedLines();
      let killed = 0;
      for (let i = 0; i < (LONG ? 40 : 3); i++) {
        await withService(data, async (service) => {
          dropLines(data, expectedLines, 10_000);
          await allStored(service, expectedLines);
          service.child.kill('SIGTERM');
          await delay(random() * 40);
          const how = await service.end('SIGKILL');
          expect(how).to.be.oneOf(['SIGKILL', 0]);
          if (how === 'SIGKILL') killed++;
        });
      }
      expect(killed).to.be.greaterThan(0);
      await endsWhole(data, expectedLines);
    }),
  );

  faultCase('D02b', `${LONG ? 20 : 3} times while the write-ahead log is read again`, () =>
    withFolder(async (data) => {
      const random = seeded(3);
      const expectedLines = newExpectedLines();
      await withService(data, async (service) => {
        for (let i = 0; i < 5; i++) {
          dropLines(data, expectedLines, 5000);
          await allStored(service, expectedLines);
        }
        await service.end('SIGKILL');
      });
      expect(walBytes(data)).to.be.greaterThan(2e6);
      let left = 0;
      for (let i = 0; i < (LONG ? 20 : 3); i++) {
        const { child } = spawnService(data);
        const ended = once(child, 'exit');
        // The engine makes its folder for temporary files right before it opens the database.
        await eventually(() => expect(existsSync(join(data, 'store', 'tmp'))).to.equal(true));
        await delay(random() * 60);
        child.kill('SIGKILL');
        await ended;
        rmSync(join(data, 'store', 'tmp'), { recursive: true, force: true });
        if (walBytes(data) > 2e6) left++;
      }
      expect(left).to.be.greaterThan(0);
      await endsWhole(data, expectedLines);
    }),
  );

  faultCase('D03', 'a kill, a start and a clean stop without a line, then deletes: no FATAL', () =>
    withFolder(async (data) => {
      const expectedLines = newExpectedLines();
      await withService(data, async (service) => {
        dropLines(data, expectedLines, 500);
        await allStored(service, expectedLines);
        await service.end('SIGKILL');
      });
      await withService(data, async (service) => {
        expect(await service.end('SIGTERM')).to.equal(0);
      });
      // Each batch deletes and inserts the states of its files, and adds to the ledger.
      await withService(data, async (service) => {
        dropLines(data, expectedLines, 500);
        await allStored(service, expectedLines);
        expect(service.log.filter(({ level }) => level === 60)).to.deep.equal([]);
        expect(await service.end('SIGTERM')).to.equal(0);
      });
      expect(await expectedLines.differences(data)).to.deep.equal([]);
      await withStore(data, async (store) => {
        const { rows } = await store.query('select * from duckdb_indexes()', {}, { maxRows: 1 });
        expect(rows).to.deep.equal([]);
      });
    }),
  );

  faultCase('D20a', `${LONG ? 50 : 3} times while the schema is made`, () =>
    withFolder(async (data) => {
      const random = seeded(20);
      const expectedLines = newExpectedLines();
      dropLines(data, expectedLines, 500);
      for (let i = 0; i < (LONG ? 50 : 3); i++) {
        // A new store each time, but the last one's is gone on with.
        rmSync(join(data, 'store', i % 2 === 0 ? '' : 'tmp'), { recursive: true, force: true });
        const { child, errors } = spawnService(data);
        const ended = once(child, 'exit');
        await eventually(() => expect(existsSync(join(data, 'store', 'tmp'))).to.equal(true));
        await delay(random() * 80);
        expect(child.exitCode, errors.join('\n')).to.equal(null);
        child.kill('SIGKILL');
        await ended;
      }
      await endsWhole(data, expectedLines);
    }),
  );
});

describe('a statement that fails', () => {
  for (const [id, statement] of [
    ['D07a', 'insert into edge_logs'],
    ['D07b', 'insert into ledger values'],
  ] as const)
    faultCase(
      id,
      `in a transaction, three times, \`${statement}\`: each line is stored once, and none before`,
      () =>
        withFolder(async (data) => {
          const expectedLines = newExpectedLines();
          const preload = new URL('fail-call.mjs', import.meta.url);
          const env = {
            NODE_OPTIONS: `--import=${preload}`,
            FAULT_SQL: statement,
            FAULT_TIMES: '3',
          };
          await withService(
            data,
            async (service) => {
              const lines = Array.from({ length: 200 }, (_, n) =>
                n % 20 === 7 ? '{"a":}\n' : expectedLines.line(),
              );
              for (const text of lines.filter((each) => each === '{"a":}\n'))
                expectedLines.bad(text.trim());
              drop(data, 'edge_logs/a.ndjson', lines.join(''));
              await allStored(service, expectedLines);
              const failed = service.log.filter((line) => String(line.err).length > 0 && line.err);
              expect(failed, 'batches that failed').to.have.length(3);
              await service.end('SIGKILL');
            },
            { env },
          );
          await endsWhole(data, expectedLines);
        }),
    );

  for (const [id, table] of [
    ['D07c', 'files'],
    ['D07d', 'rejected'],
    ['D07e', 'rejected_rest'],
  ] as const)
    faultCase(
      id,
      `in an appender to \`${table}\`, twice: nothing of what was rolled back is written later`,
      () =>
        withFolder(async (data) => {
          const expectedLines = newExpectedLines();
          const preload = new URL('fail-call.mjs', import.meta.url);
          const env = {
            NODE_OPTIONS: `--import=${preload}`,
            FAULT_APPENDER: table,
            FAULT_TIMES: '2',
          };
          const more = () => {
            dropLines(data, expectedLines, 3);
            const bad = `no object ${'x'.repeat(9000)}`;
            expectedLines.bad(bad);
            drop(data, 'edge_logs/a.ndjson', `${bad}\n`);
          };
          await withService(
            data,
            async (service) => {
              more();
              await allStored(service, expectedLines);
              more();
              await allStored(service, expectedLines);
              const failed = service.errors.filter((line) => line.startsWith('FAULT'));
              expect(failed).to.have.length(2);
              await service.end('SIGKILL');
            },
            { env },
          );
          await endsWhole(data, expectedLines);
          await withStore(data, async (store) => {
            const { faults } = await store.inspect(new AbortController().signal);
            expect(faults).to.deep.equal([]);
          });
        }),
    );

  faultCase(
    'D07f',
    'a COMMIT of several sources that is durable and told to have failed, twice: each line is stored once',
    () =>
      withFolder(async (data) => {
        const expectedLines = newExpectedLines();
        const more = () => {
          for (const source of ['edge_logs', 'auth_logs', 'postgres_logs'])
            dropLines(data, expectedLines, 200, source);
        };
        more();
        await withService(
          data,
          async (service) => {
            await allStored(service, expectedLines);
            more();
            await allStored(service, expectedLines);
            expect(service.errors.filter((line) => line.startsWith('FAULT'))).to.have.length(2);
            await service.end('SIGKILL');
          },
          {
            env: {
              NODE_OPTIONS: `--import=${new URL('fail-call.mjs', import.meta.url)}`,
              FAULT_SQL: 'insert into edge_logs',
              FAULT_COMMIT: '1',
              FAULT_TIMES: '2',
            },
          },
        );
        await endsWhole(data, expectedLines);
      }),
  );
});

describe('retention and restarts', () => {
  const title = 'what retention removed does not come back, by a restart or as a .gz';
  if (library === null) notHere('D17a', title, `no libfaketime; ${INSTALL}`);
  else
    faultCase('D17a', title, () =>
      withFolder(async (data) => {
        const expectedLines = newExpectedLines();
        const clock = settableClock(library, join(data, 'clock'));
        const options = {
          env: { ...clock.env, TAILPOND_RETENTION: '7d', TAILPOND_TEST_WAITS: 'retention=1s' },
        };
        const old = Array.from({ length: 1000 }, () => expectedLines.line());
        const holds = (service: Service, counts: Record<string, number>) =>
          eventually(
            async () =>
              expect((await ledger(service))[0]).to.include({ removed: old.length, ...counts }),
            100_000,
          );
        drop(data, 'edge_logs/app.ndjson', old.join(''));
        await run(
          data,
          async (service) => {
            await allStored(service, expectedLines);
            clock.set(8);
            await holds(service, { lines: old.length, stored: 0 });
            for (const line of old) expectedLines.destroyed(line);
          },
          options,
        );
        drop(data, 'edge_logs/app.ndjson.1.gz', gzipSync(old.join('')));
        rmSync(join(data, 'logs', 'edge_logs', 'app.ndjson'));
        await run(
          data,
          async (service) => {
            // The .gz was met, and unpacked to its end.
            await holds(service, { lines: old.length, files: 1, pending_bytes: 0 });
            drop(data, 'edge_logs/app.ndjson', expectedLines.line());
            await holds(service, { lines: old.length + 1, stored: 1 });
          },
          options,
        );
        expect(await expectedLines.differences(data)).to.deep.equal([]);
      }),
    );
});

describe('the write-ahead log', () => {
  faultCase(
    'D19a',
    'is written back at its threshold though clients do not read an export and their answers',
    () =>
      withFolder(async (data) => {
        const expectedLines = newExpectedLines();
        await withService(
          data,
          async (service) => {
            // More than what the sockets on the way hold, and than a page of an export.
            const { rows } = dropLong(data, expectedLines, 2e7);
            await allStored(service, expectedLines);
            const unread = dial(service.url).pause();
            const to = new Date().toISOString();
            unread.write(get(`/api/export/edge_logs?format=ndjson&to=${to}`, KEY));
            await once(unread, 'readable');
            // A client that reads nothing loses its connection (H02b), however long the rest takes. The sender learns that room
            // was made once half of what the sockets hold was read, some MB.
            const reading = setInterval(() => readSome(unread, 1e6), 5000);
            const slow = Array.from({ length: 4 }, () => {
              const socket = dial(service.url).pause();
              const path = '/api/endpoints/query/logs.all?project=p';
              socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${KEY}\r\n\r\n`.repeat(20));
              return socket;
            });
            try {
              await isWrittenBack(service, data, expectedLines);
              await eventually(() => expect(walBytes(data)).to.be.below(100_000), 90_000);
              clearInterval(reading);
              // It was open all the time.
              expect(await lastLine(unread)).to.equal(`{"count":${rows}}`);
            } finally {
              clearInterval(reading);
              for (const socket of [...slow, unread]) socket.destroy();
            }
            expect(await service.end('SIGTERM')).to.equal(0);
          },
          { env: { TAILPOND_TEST_WAITS: WAITS } },
        );
        expect(await expectedLines.differences(data)).to.deep.equal([]);
      }),
    { timeoutMs: 400_000 },
  );

  faultCase(
    'D19b',
    'is written back at its threshold though one query runs all the time',
    () =>
      withOneLine({ TAILPOND_QUERY_TIMEOUT: '1h' }, async (service, data, expectedLines) => {
        const client = new AbortController();
        const answer = fetch(`${service.url}/api/endpoints/query/long?id=line-0`, {
          headers: { 'X-API-KEY': TOKEN },
          signal: client.signal,
        }).then(
          ({ status }) => `it was answered with ${status}`,
          (error: Error) => error.name,
        );
        await isWrittenBack(service, data, expectedLines);
        // The query is interrupted when its client leaves.
        client.abort();
        expect(await answer).to.equal('AbortError');
        expect(service.log.filter(({ level }) => Number(level) >= 50)).to.deep.equal([]);
      }),
    { timeoutMs: 400_000 },
  );

  // The time of a query is long: each takes a second, and all wait while the log is written back.
  faultCase(
    'D19c',
    'is written back at its threshold though there is always a query that runs, none for long',
    () =>
      withOneLine({ TAILPOND_QUERY_TIMEOUT: '5m' }, async (service, data, expectedLines) => {
        let over = false;
        // One begins while the other runs, and each asks something of its own: two that are the same would be one query.
        const asking = Array.from(['a', 'b'], async (letter, n) => {
          for (await delay(400 * n); !over; ) {
            const path = `/api/endpoints/query/seconds?id=line-0&letter=${letter}`;
            expect((await service.get(path)).status).to.equal(200);
          }
        });
        try {
          await isWrittenBack(service, data, expectedLines);
        } finally {
          over = true;
          await Promise.all(asking);
        }
      }),
    { timeoutMs: 400_000 },
  );
});

/** Runs the service with queries that take long, and one line for them to ask about; everything is whole afterwards. */
function withOneLine(
  env: Record<string, string>,
  action: (service: Service, data: string, expectedLines: ExpectedLines) => Promise<void>,
): Promise<void> {
  const endpoints = join(ROOT, 'test/faults/fixtures/endpoints');
  return withFolder(async (data) => {
    const expectedLines = newExpectedLines();
    await withService(
      data,
      async (service) => {
        dropLines(data, expectedLines, 1);
        await allStored(service, expectedLines);
        await action(service, data, expectedLines);
        // A checkpoint cannot be cut short, and one may take longer than a stop may.
        await eventually(() => expect(walBytes(data)).to.be.below(100_000), 90_000);
        expect(await service.end('SIGTERM')).to.equal(0);
      },
      { env: { TAILPOND_ENDPOINTS: endpoints, TAILPOND_TEST_WAITS: WAITS, ...env } },
    );
    expect(await expectedLines.differences(data)).to.deep.equal([]);
  });
}

/** Reads so many bytes of a connection that is paused. */
function readSome(connection: Socket, bytes: number) {
  let left = bytes;
  const take = ({ length }: Buffer) => {
    left -= length;
    if (left > 0) return;
    connection.off('data', take).pause();
  };
  connection.on('data', take).resume();
}

/** Stores lines that would fill the log to more than twice the threshold: it never holds so much, as it is written back. */
async function isWrittenBack(service: Service, data: string, expectedLines: ExpectedLines) {
  const most = await mostWhile(data, async () => {
    await writeLong(data, expectedLines, 2.3 * THRESHOLD);
    await allStored(service, expectedLines);
  });
  expect(most).to.be.below(2 * THRESHOLD);
}

/** Appends so many bytes of lines that fill the log byte for byte: long ones that do not compress; gives how many there are. */
function dropLong(data: string, expectedLines: ExpectedLines, bytes: number) {
  let text = '';
  let rows = 0;
  for (; text.length < bytes; rows++)
    text += expectedLines.line('edge_logs', randomBytes(7000).toString('base64'));
  drop(data, 'edge_logs/a.ndjson', text);
  return { rows };
}

/** The same, little by little. */
async function writeLong(data: string, expectedLines: ExpectedLines, bytes: number) {
  for (let written = 0; written < bytes; written += THRESHOLD / 8) {
    dropLong(data, expectedLines, THRESHOLD / 8);
    await delay(10);
  }
}

/** How large the log was at most while `action` ran, and at its end. */
async function mostWhile(data: string, action: () => Promise<void>): Promise<number> {
  let most = 0;
  let over = false;
  const watching = (async () => {
    for (; !over; await delay(10)) most = Math.max(most, walBytes(data));
  })();
  try {
    await action();
  } finally {
    over = true;
    await watching;
  }
  return Math.max(most, walBytes(data));
}

/** The last line of an answer in chunks, whose rest is read only now. */
async function lastLine(socket: Socket) {
  let end = '';
  socket.on('data', (bytes) => {
    end = (end + bytes.toString('latin1')).slice(-1000);
  });
  socket.resume();
  await once(socket, 'close');
  return end.split('\n').findLast((line) => line.startsWith('{"count"'));
}

describe('a clock that is wrong', () => {
  const title =
    'a year behind, a year ahead, right again: retention removes nothing, no line is lost';
  if (library === null) notHere('D23', title, `no libfaketime; ${INSTALL}`);
  else
    faultCase('D23', title, () =>
      withFolder(async (data) => {
        const expectedLines = newExpectedLines();
        for (const offset of ['-365d', '+0d', '+365d', '+0d']) {
          const env = {
            LD_PRELOAD: library,
            FAKETIME: offset,
            FAKETIME_DONT_FAKE_MONOTONIC: '1',
            TAILPOND_RETENTION: '7d',
          };
          await withService(
            data,
            async (service) => {
              const [first] = service.log;
              const days = (Date.parse(`${first?.time}`) - Date.now()) / DAY;
              expect(Math.round(days)).to.equal(Number.parseInt(offset, 10));
              dropLines(data, expectedLines, 500);
              await allStored(service, expectedLines);
              const { body } = await service.get('/api/ledger');
              for (const entry of body.result as { removed: number }[])
                expect(entry.removed).to.equal(0);
              expect(await service.end('SIGTERM')).to.equal(0);
            },
            { env },
          );
        }
        expect(await expectedLines.differences(data)).to.deep.equal([]);
      }),
    );
});
