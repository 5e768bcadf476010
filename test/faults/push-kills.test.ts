import { spawnSync } from 'node:child_process';
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { allSources, type Source } from '../../ingest/index.ts';
import { eventually, type Service, TOKEN, withFolder, withService } from '../support/helpers.ts';
import { seeded } from '../support/random.ts';
import { fill, free } from './ballast.ts';
import { faultCase, LONG } from './case.ts';
import { type ExpectedLines, newExpectedLines } from './expected-lines.ts';
import { dial } from './http.ts';
import { allStored, drop } from './lines.ts';
import { mountCase, withExt4, withTmpfs } from './mounts.ts';
import { holds, memoryMb, run as runService, type Setup, withSetup } from './setup.ts';

const KILLS = LONG ? 60 : 3;
/** Push files are sealed and removed soon. */
const SOON = 'pushSeal=1s,pushLook=200ms,pushRemoval=200ms';
const run: typeof runService = (data, action, options = {}) =>
  runService(data, action, {
    ...options,
    env: { TAILPOND_TEST_WAITS: `${SOON},checkpoint=300ms`, ...options.env },
  });

describe('push', () => {
  faultCase(
    'P01',
    'kill -9 while many push: what was acknowledged is there once, what was not at most once',
    () =>
      withSetup(async (setup) => {
        const { data, expectedLines } = setup;
        const random = seeded(20261121);
        const counts = newCounts();
        for (let round = 0; round < KILLS; round++) {
          await withService(data, async (service) => {
            const pushers = Array.from({ length: 6 }, (_, n) => {
              const source = n < 4 ? 'edge_logs' : 'auth_logs';
              return startPusher(
                service.url,
                expectedLines,
                source,
                [3, 50, 500, 3000][n % 4] ?? 1,
                counts,
              );
            });
            if (round === 0) await eventually(() => expect(counts.acknowledged).to.be.above(0));
            await delay(random() * 600);
            expect(service.child.exitCode).to.equal(null);
            expect(await service.end('SIGKILL')).to.equal('SIGKILL');
            await Promise.all(pushers.map((pusher) => pusher.stop()));
          });
        }
        // A pusher always has a push on its way: each kill has met some.
        expect(counts.refused).to.be.at.least(KILLS);
        await run(data, async (service) => {
          await holds(service, setup, ['edge_logs', 'auth_logs']);
          await eventually(() => expect(pushed(data)).to.deep.equal([]), 60_000);
        });
      }),
    { timeoutMs: 300_000 + KILLS * 5000 },
  );

  faultCase(
    'P02',
    'files of pushed lines are removed once they are stored, and no file of another',
    () =>
      withSetup(async ({ data, expectedLines, at, lines }) => {
        await run(data, async (service) => {
          // Not ours: one that a shipper has named so, and one in a folder that a shipper calls push.
          const others = [at('push-1.ndjson'), at('push/app.ndjson'), at('push/push/00.ndjson')];
          for (const path of others) writeFileSync(path, lines(5));
          for (const source of allSources()) {
            const body = `[${linesOf(expectedLines, 20, source).join(',')}]`;
            expect(await push(service.url, source, body)).to.equal(200);
          }
          expect(pushed(data)).to.have.length(allSources().length);
          await allStored(service, expectedLines);
          await eventually(() => expect(pushed(data)).to.deep.equal([]), 60_000);
          // The same bytes again, perhaps in the same inode: another file.
          for (let n = 0; n < 2; n++) {
            expect(await push(service.url, 'auth_logs', '[{"id":"same"}]')).to.equal(200);
            expectedLines.between({ row: 'same' }, 'auth_logs', n + 1, n + 1);
            await allStored(service, expectedLines);
            await eventually(() => expect(pushed(data)).to.deep.equal([]), 60_000);
          }
          for (const path of others) expect(existsSync(path), path).to.equal(true);
        });
      }),
    { timeoutMs: 300_000 },
  );

  faultCase(
    'P03',
    'files that a kill has left are read on, half a line is cut off, and then they are removed',
    () =>
      withSetup(async (setup) => {
        const { data, expectedLines } = setup;
        await withService(data, async (service) => {
          const body = `[${linesOf(expectedLines, 30).join(',')}]`;
          expect(await push(service.url, 'edge_logs', body)).to.equal(200);
          await allStored(service, expectedLines);
          await service.end('SIGKILL');
        });
        const [path = ''] = pushed(data);
        // What a kill in the midst of a write leaves: whole lines that nobody was told of, then half a one.
        const more = linesOf(expectedLines, 2);
        const half = expectedLines.line();
        expectedLines.destroyed(half);
        drop(data, path, `${more.join('\n')}\n${half.slice(0, 20)}`);
        drop(data, `edge_logs/push/${'0'.repeat(32)}.ndjson`, half.slice(0, 20));
        // A large body that nobody was told is stored.
        const part = `edge_logs/push/.${'0'.repeat(32)}.part`;
        const untold = expectedLines.line();
        expectedLines.destroyed(untold);
        drop(data, part, untold);
        await run(data, async (service) => {
          await allStored(service, expectedLines);
          await eventually(() => expect(pushed(data)).to.deep.equal([]), 60_000);
          expect(existsSync(join(data, 'logs', part))).to.equal(false);
        });
      }),
  );

  faultCase(
    'P04',
    'a file that lost its end with the power, behind what was stored of it, is not read again',
    () =>
      withSetup(async ({ data, expectedLines }) => {
        await withService(data, async (service) => {
          expect(
            await push(service.url, 'edge_logs', linesOf(expectedLines, 50).join('\n')),
          ).to.equal(200);
          await allStored(service, expectedLines);
          await service.end('SIGKILL');
        });
        const [path = ''] = pushed(data);
        truncateSync(join(data, 'logs', path), 300);
        await run(data, async (service) => {
          await eventually(() => expect(pushed(data)).to.deep.equal([]), 60_000);
          await allStored(service, expectedLines);
        });
      }),
  );

  faultCase(
    'P05',
    'a file that is removed, moved away or emptied while lines are pushed: 503 once, and no acknowledged line is lost',
    () =>
      withSetup(async (setup) => {
        const { data, expectedLines } = setup;
        await run(data, async (service) => {
          const mishaps = [
            (path: string) => rmSync(path),
            (path: string) => renameSync(path, join(data, 'elsewhere.ndjson')),
            (path: string) => truncateSync(path, 0),
            (path: string) => rmSync(join(path, '..'), { recursive: true }),
          ];
          for (const mishap of mishaps) {
            const first = linesOf(expectedLines, 5);
            expect(await push(service.url, 'edge_logs', first.join('\n'))).to.equal(200);
            await newestAre(service, first);
            const statuses: number[] = [];
            mishap(newest(data));
            for (let n = 0; n < 3; n++) {
              const own = linesOf(expectedLines, 5);
              const status = await push(service.url, 'edge_logs', own.join('\n'));
              statuses.push(status);
              if (status !== 200) for (const line of own) expectedLines.doubtful(line);
            }
            expect(statuses.slice(1)).to.deep.equal([200, 200]);
            rmSync(join(data, 'elsewhere.ndjson'), { force: true });
            await holds(service, setup);
          }
          await eventually(() => expect(pushed(data)).to.deep.equal([]), 60_000);
        });
      }),
    { timeoutMs: 300_000 },
  );

  mountCase(
    'P06',
    'a full disk: 503 until there is room, no half line before another, and what was acknowledged is there once',
    'tmpfs',
    () =>
      withSetup((setup) => {
        const { data, expectedLines } = setup;
        const logs = join(data, 'logs');
        return withTmpfs(logs, 24, async () => {
          await run(
            data,
            async (service) => {
              let refused = 0;
              for (let n = 0; n < 40; n++) {
                // Full but for a part of the next push, and after a while not any more.
                if (n === 10) fill(logs, 200_000);
                if (n === 30) free(logs);
                const own = linesOf(expectedLines, 2000);
                const { status, retryAfter } = await answerTo(service.url, own.join('\n'));
                if (status === 200) continue;
                expect(status).to.equal(503);
                expect(retryAfter).to.equal('1');
                for (const line of own) expectedLines.doubtful(line);
                refused++;
              }
              expect(refused).to.be.above(0);
              await eventually(async () => {
                expect(
                  await push(service.url, 'edge_logs', linesOf(expectedLines, 1)[0] ?? ''),
                ).to.equal(200);
              });
              expect((await service.get('/readyz')).status).to.equal(200);
              await holds(service, setup);
              await eventually(() => expect(pushed(data)).to.deep.equal([]), 60_000);
            },
            { env: { TAILPOND_MIN_FREE: 'off' } },
          );
        });
      }),
  );

  mountCase(
    'P12',
    'pushes leave room on the disk for storing what they have brought',
    'tmpfs',
    () =>
      withSetup((setup) => {
        const { data, expectedLines } = setup;
        return withTmpfs(join(data, 'logs'), 24, () =>
          run(
            data,
            async (service) => {
              const megabytes = () => linesOf(expectedLines, 35_000).join('\n');
              expect(await push(service.url, 'edge_logs', megabytes())).to.equal(200);
              const more = megabytes();
              expect(await push(service.url, 'auth_logs', more)).to.equal(503);
              // Nothing of it was written, so repeating it doubles nothing.
              await eventually(async () => {
                expect(await push(service.url, 'edge_logs', more)).to.equal(200);
              }, 60_000);
              await holds(service, setup);
            },
            { env: { TAILPOND_MIN_FREE: 'off' } },
          ),
        );
      }),
  );

  faultCase(
    'P09',
    'a write that ends in the midst of a line: 503, and the lines of the next push stand in another file',
    () =>
      withSetup(async (setup) => {
        const { data, expectedLines } = setup;
        const act = async (service: Service) => {
          expect(
            await push(service.url, 'edge_logs', linesOf(expectedLines, 3000).join('\n')),
          ).to.equal(200);
          const [path = ''] = pushed(data);
          const file = join(data, 'logs', path);
          const limitFiles = (bytes: number | 'unlimited') =>
            expect(
              spawnSync('prlimit', ['--pid', `${service.child.pid}`, `--fsize=${bytes}:`]).status,
            ).to.equal(0);
          limitFiles(statSync(file).size + 100_000);
          const torn = linesOf(expectedLines, 1000);
          for (const line of torn) expectedLines.doubtful(line);
          expect(await push(service.url, 'edge_logs', torn.join('\n'))).to.equal(503);
          // The database may grow beyond the limit, too.
          limitFiles('unlimited');
          const half = readFileSync(file, 'utf8').split('\n').at(-1) ?? '';
          expect(half).to.match(/^\{"id/);
          expectedLines.between({ rejected: half }, 'edge_logs', 0, 1);
          expect(
            await push(service.url, 'edge_logs', linesOf(expectedLines, 100).join('\n')),
          ).to.equal(200);
          await holds(service, setup);
          await eventually(() => expect(pushed(data)).to.deep.equal([]), 60_000);
        };
        // Both pushes come to one file.
        await run(data, act, { env: { TAILPOND_TEST_WAITS: 'pushSeal=8s,pushRemoval=200ms' } });
      }),
  );

  faultCase(
    'P10',
    'a write-ahead log that is lost costs no pushed line: files stay until it was written back',
    () =>
      withSetup(async (setup) => {
        const { data, expectedLines } = setup;
        const log = join(data, 'store/tailpond.duckdb.wal');
        await withService(
          data,
          async (service) => {
            expect(
              await push(service.url, 'edge_logs', linesOf(expectedLines, 100).join('\n')),
            ).to.equal(200);
            // In the idle service that is soon.
            await eventually(() => expect(pushed(data)).to.deep.equal([]), 60_000);
            const counts = newCounts();
            const pusher = startPusher(service.url, expectedLines, 'edge_logs', 20, counts);
            // Until a file was sealed, stored, and looked at for its removal.
            await eventually(() => expect(pushed(data).length).to.be.greaterThan(1), 60_000);
            await delay(1500);
            // A pause of this process would be one in which the log is written back.
            await eventually(() => expect(statSync(log).size).to.be.above(0));
            await service.end('SIGKILL');
            await pusher.stop();
          },
          { env: { TAILPOND_TEST_WAITS: SOON } },
        );
        rmSync(log);
        await run(data, async (service) => {
          await holds(service, setup);
          await eventually(() => expect(pushed(data)).to.deep.equal([]), 60_000);
        });
      }),
  );

  for (const [id, disks] of [
    ['P11a', 'of log files and store'],
    ['P11b', 'of the log files alone'],
  ] as const)
    mountCase(
      id,
      `power is lost on the disk ${disks}: what was acknowledged is there once`,
      'ext4',
      () =>
        withFolder((folder) => {
          const data = join(folder, 'data');
          const mounted = id === 'P11a' ? data : join(data, 'logs');
          return withExt4(mounted, 600, async (disk) => {
            const expectedLines = newExpectedLines();
            const random = seeded(11);
            const small = { env: { TAILPOND_MIN_FREE: 'off' } };
            for (let round = 0; round < (LONG ? 40 : 2); round++) {
              await withService(
                data,
                async (service) => {
                  const counts = newCounts();
                  const pushers = [1, 20, 500, 3000].map((size) =>
                    startPusher(service.url, expectedLines, 'edge_logs', size, counts),
                  );
                  await eventually(() => expect(counts.acknowledged).to.be.above(0));
                  await delay(random() * 1000);
                  // This shutdown lets some flushes succeed that it interrupts; without power nobody would be told.
                  counts.powerless = true;
                  disk.losePower();
                  await service.end('SIGKILL');
                  await Promise.all(pushers.map((pusher) => pusher.stop()));
                },
                small,
              );
              disk.remount();
            }
            await run(
              data,
              async (service) => {
                await holds(service, { expectedLines } as Setup);
                await eventually(() => expect(pushed(data)).to.deep.equal([]), 60_000);
              },
              small,
            );
            expect(await expectedLines.differences(data)).to.deep.equal([]);
          });
        }),
    );

  faultCase('P07', 'a stop while many push: each is answered or closed, and the exit is 0', () =>
    withSetup(async (setup) => {
      const { data, expectedLines } = setup;
      for (let round = 0; round < (LONG ? 3 : 2); round++) {
        await withService(data, async (service) => {
          const counts = newCounts();
          const pushers = [5, 500, 2000].map((size) =>
            startPusher(service.url, expectedLines, 'edge_logs', size, counts),
          );
          await eventually(() => expect(counts.acknowledged).to.be.above(0));
          expect(await service.end('SIGTERM')).to.equal(0);
          await Promise.all(pushers.map((pusher) => pusher.stop()));
        });
      }
      await run(data, async (service) => {
        await holds(service, setup);
        await eventually(() => expect(pushed(data)).to.deep.equal([]), 60_000);
      });
    }),
  );

  faultCase(
    'P13',
    'a push that comes in slowly has its time, and then its connection is closed without an answer',
    () =>
      withSetup(async (setup) => {
        await run(
          setup.data,
          async (service) => {
            const line = linesOf(setup.expectedLines, 1)[0] ?? '';
            const drip = async (bytes: string, everyMs: number) => {
              const began = performance.now();
              const socket = dial(service.url);
              let answer = '';
              socket.on('data', (chunk) => {
                answer += chunk;
              });
              const closed = new Promise((resolve) => socket.once('close', resolve));
              const head = `POST /api/logs/edge_logs HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-API-KEY: ${TOKEN}\r\nContent-Length: ${bytes.length}\r\n\r\n`;
              socket.write(head);
              let sent = 0;
              // The bytes that are due by now, however late this process comes to it.
              const timer = setInterval(() => {
                const due = Math.floor((performance.now() - began) / everyMs);
                if (sent < due && sent < bytes.length) socket.write(bytes.slice(sent, due));
                sent = Math.min(due, bytes.length);
              }, 50);
              await closed;
              clearInterval(timer);
              return { answer, ms: performance.now() - began, whole: sent === bytes.length };
            };
            const [slow, endless] = await Promise.all([
              drip(line, 2000 / line.length),
              drip(' '.repeat(1000), 1000),
            ]);
            expect(slow.answer).to.include('Logged!');
            // Closed although its body was not whole, but not before its time was over.
            expect(endless.ms).to.be.at.least(4900);
            expect(endless.whole).to.equal(false);
            expect(endless.answer).not.to.include('Logged!');
            await holds(service, setup);
          },
          { env: { TAILPOND_TEST_WAITS: 'requestHead=5s,requestBody=5s,pushBody=5s' } },
        );
      }),
  );

  faultCase(
    'P08',
    'bombs, bodies in tiny pieces and bodies that do not end: memory is bounded, and others push',
    () =>
      withSetup(async (setup) => {
        const { data, expectedLines } = setup;
        await run(data, async (service) => {
          const before = memoryMb(service, 'VmHWM');
          const bomb = gzipSync(Buffer.alloc(100e6, ' '));
          const head = (more: string) =>
            `POST /api/logs/edge_logs HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${TOKEN}\r\n${more}\r\n\r\n`;
          const endless = Array.from({ length: 20 }, () => {
            const socket = dial(service.url);
            socket.write(head('Content-Length: 12000000'));
            socket.write(Buffer.alloc(1e6, ' '));
            return socket;
          });
          const tiny = dial(service.url);
          tiny.write(head('Transfer-Encoding: chunked'));
          tiny.write('1\r\n \r\n'.repeat(3e5));
          // Together they would unpack to more than the memory that is allowed below, each cut at its limit.
          const bombs = Array.from({ length: 10 }, () =>
            push(service.url, 'edge_logs', bomb, { 'Content-Encoding': 'gzip' }),
          );
          for (const status of await Promise.all(bombs)) expect(status).to.be.oneOf([413, 503]);
          expect(memoryMb(service, 'VmHWM') - before).to.be.lessThan(250);
          const own = linesOf(expectedLines, 5);
          await eventually(async () =>
            expect(await push(service.url, 'edge_logs', own.join('\n'))).to.equal(200),
          );
          for (const socket of [...endless, tiny]) socket.destroy();
          await holds(service, setup);
        });
      }),
  );
});

/** Lines of the expectedLines without their newlines. */
function linesOf(
  expectedLines: ExpectedLines,
  count: number,
  source: Source = 'edge_logs',
): string[] {
  return Array.from({ length: count }, () => expectedLines.line(source, 'x'.repeat(100)).trimEnd());
}

/** The files of pushed lines that are there, relative to the logs folder. */
function pushed(data: string): string[] {
  return allSources().flatMap((source) => {
    const folder = join(data, 'logs', source, 'push');
    if (!existsSync(folder)) return [];
    return readdirSync(folder)
      .filter((name) => /^[0-9a-f]{32}\.ndjson$/.test(name))
      .map((name) => `${source}/push/${name}`);
  });
}

/** Waits until these lines are stored, the newest ones. Their number would not tell: lines that were refused may be there, too. */
async function newestAre(service: Service, lines: readonly string[]): Promise<void> {
  const ids = lines.map((line) => JSON.parse(line).id);
  await eventually(async () => {
    const { body } = await service.get('/api/endpoints/query/logs.all?project=p');
    const stored = (body.result as { id: string }[]).map(({ id }) => id);
    expect(stored).to.include.members(ids);
  });
}

/** The path of the one that is written to. */
function newest(data: string): string {
  const paths = pushed(data).map((path) => join(data, 'logs', path));
  const born = (path: string) => statSync(path).birthtimeMs;
  return paths.toSorted((a, b) => born(a) - born(b)).at(-1) ?? '';
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

function answerTo(
  url: string,
  body: string | Buffer,
  source: Source = 'edge_logs',
  { agent, headers = {} }: { agent?: Agent; headers?: Record<string, string> } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/api/logs/${source}`, {
      method: 'POST',
      headers: { 'X-API-KEY': TOKEN, 'Content-Type': 'application/json', ...headers },
      ...(agent ? { agent } : {}),
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      response.resume();
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          retryAfter: response.headers['retry-after'],
        }),
      );
    });
    sent.end(body);
  });
}

async function push(
  url: string,
  source: Source,
  body: string | Buffer,
  headers: Record<string, string> = {},
): Promise<number> {
  return (await answerTo(url, body, source, { headers })).status;
}

/** What became of pushes. Once it is `powerless` no answer counts. */
function newCounts() {
  return { acknowledged: 0, refused: 0, powerless: false };
}

/** Pushes arrays of so many lines, one after the other on one connection, until stopped; it does not repeat any. */
function startPusher(
  url: string,
  expectedLines: ExpectedLines,
  source: Source,
  size: number,
  counts: ReturnType<typeof newCounts>,
) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let stopped = false;
  const running = (async () => {
    while (!stopped) {
      const own = linesOf(expectedLines, size, source);
      const answer = await answerTo(url, `[${own.join(',')}]`, source, { agent }).catch(() => null);
      if (answer?.status === 200 && !counts.powerless) {
        counts.acknowledged++;
        continue;
      }
      counts.refused++;
      for (const line of own) expectedLines.doubtful(line, source);
      // One that ends is asked a few times, not as often as lines can be made.
      await delay(100);
    }
    agent.destroy();
  })();
  return {
    stop() {
      stopped = true;
      return running;
    },
  };
}
