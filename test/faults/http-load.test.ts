import { once } from 'node:events';
import { appendFileSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Agent, get as httpGet } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { ROOT } from '../../server/config/package-root.ts';
import { readExposition, sampleValue } from '../support/exposition.ts';
import {
  eventually,
  type Service,
  type SpawnOptions,
  TOKEN,
  withFolder,
  withService,
} from '../support/helpers.ts';
import { faultCase, LONG } from './case.ts';
import { type ExpectedLines, newExpectedLines } from './expected-lines.ts';
import { dial, exchange, get, heavyLines, heavyPath } from './http.ts';

const TOKEN_HEADER = `X-API-KEY: ${TOKEN}`;
/** A query over so many lines of a hundred letters takes some 6 s here; an interrupt is seen every 2048 rows, so after 0.6 s. */
const LEAVING = LONG ? 1000 : 200;
const ASKING = LONG ? 500 : 100;
const HEAVY = { lines: 20_000, letters: LONG ? 100 : 60 };
/** One for each query of `endlessPath`. */
const ENTRIES = 200;
/** How many saved queries of one project run at a time, and how many more may wait. */
const RUNNING = 3;
const WAITING = 48;
/** `HOLD_MS.least` of server/http/problem.ts: docs/http.md says that who is refused is told so after about a second. */
const REFUSAL_HELD_MS = 500;

describe('HTTP: slow and greedy clients', () => {
  faultCase(
    'H02a',
    'a request that comes in slowly is closed, not before its time; others do not notice',
    () =>
      serving(
        async ({ service }) => {
          const head = `GET /livez HTTP/1.1\r\nHost: x\r\n`;
          const body = `GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n`;
          const slow = [
            drip(service.url, head, 'X-Slow: x\r\n'),
            drip(service.url, '', ''),
            drip(service.url, body, 'x'),
          ];
          let done = false;
          const others = (async () => {
            for (; !done; await delay(100))
              expect((await service.get('/readyz')).status).to.equal(200);
          })();
          const [headMs = 0, silentMs = 0, bodyMs = 0] = await Promise.all(slow).finally(() => {
            done = true;
          });
          await others;
          // Without our limits Node closes them after 60 s.
          expect(headMs, 'a head that does not end').to.be.within(1900, 45_000);
          expect(silentMs, 'nothing at all').to.be.within(1900, 45_000);
          expect(bodyMs, 'a body that does not end').to.be.within(3900, 45_000);
        },
        { env: { TAILPOND_TEST_WAITS: 'requestHead=2s,requestBody=4s' } },
      ),
  );

  faultCase(
    'H02b',
    'a client that does not read its answer, or an export, loses its connection after a time',
    () =>
      serving(
        async ({ service, write }) => {
          const expectedLines = newExpectedLines('large');
          write(
            Array.from({ length: 50 }, () =>
              expectedLines.line('edge_logs', 'x'.repeat(400_000)),
            ).join(''),
          );
          await rows(service, 50);
          for (const path of ['endpoints/query/logs.all?project=p', 'export/edge_logs']) {
            const socket = dial(service.url).pause();
            const began = performance.now();
            socket.write(get(`/api/${path}`, TOKEN_HEADER));
            await once(socket, 'connect');
            // As long as it is paused it does not see the end; the service's side of it does.
            await eventually(
              async () => expect(await established(service.url), path).to.equal(0),
              90_000,
            );
            expect(performance.now() - began).to.be.at.least(900);
            socket.destroy();
          }
          expect((await service.get('/readyz')).status).to.equal(200);
        },
        { env: { TAILPOND_TEST_WAITS: 'answerRead=1s' } },
      ),
  );

  faultCase(
    'H02c',
    'connections beyond the limit are told 503, and the limit is free again after them',
    () =>
      serving(
        async ({ service }) => {
          // Pushes have the longest time to come in.
          const idle = Array.from({ length: 3 }, () => dial(service.url));
          for (const socket of idle)
            socket.write(
              `POST /api/logs/edge_logs HTTP/1.1\r\nHost: x\r\n${TOKEN_HEADER}\r\nContent-Length: 1000\r\n\r\n`,
            );
          await Promise.all(idle.map((socket) => once(socket, 'connect')));
          const { statuses, text: answer } = await exchange(service.url, get('/livez'));
          expect(statuses).to.deep.equal([503]);
          expect(answer)
            .to.include('"code":"CONNECTIONS_EXHAUSTED"')
            .and.to.match(/Retry-After: 1\r\n/);
          // A connection beyond the limit that asks nothing does not stay: within the limit it would be told 408 after 10 s.
          const silent = await exchange(service.url, '');
          expect(silent.statuses).to.deep.equal([]);
          for (const socket of idle) socket.destroy();
          await eventually(async () =>
            expect((await exchange(service.url, get('/livez'))).statuses).to.deep.equal([200]),
          );
        },
        { env: { TAILPOND_MAX_CONNECTIONS: '3' } },
      ),
  );

  faultCase(
    'H03',
    `${ASKING} connections ask a heavy query: 503 with Retry-After, /livez answers, lines come in`,
    () =>
      loaded(
        async ({ service, data, expectedLines, write }) => {
          const agent = new Agent({ keepAlive: true, maxSockets: ASKING });
          const answers = new Map<string, number>();
          const count = (answer: string) => answers.get(answer) ?? 0;
          let soonestMs = Infinity;
          let going = true;
          let next = 0;
          const clients = Array.from({ length: ASKING }, async () => {
            while (going) {
              const began = performance.now();
              const { status, retryAfter } = await ask(service.url + heavyPath(next++), agent);
              if (!going) break;
              const answer = `${status} ${retryAfter ?? ''}`.trim();
              answers.set(answer, count(answer) + 1);
              if (status === 503) soonestMs = Math.min(soonestMs, performance.now() - began);
            }
          });
          const overtaking: boolean[] = [];
          try {
            await eventually(() => expect(count('503 1')).to.be.above(0));
            for (let n = 0; n < (LONG ? 3 : 2); n++) {
              await stores(data, () => write(expectedLines.line()));
              const before = count('200');
              expect((await fetch(`${service.url}/livez`)).status).to.equal(200);
              overtaking.push(count('200') === before);
              for (const path of ['/readyz', '/api/ledger', '/api/retention', '/metrics']) {
                const answer = await fetch(service.url + path, { headers: { 'X-API-KEY': TOKEN } });
                expect(answer.status, `${path}: ${await answer.text()}`).to.equal(200);
              }
            }
          } finally {
            going = false;
            agent.destroy();
            await Promise.allSettled(clients);
          }
          console.log(`      ${JSON.stringify([...answers])}`);
          // An answer of the engine's, or a refusal that says when to come again; never a broken connection.
          expect(
            [...answers.keys()].filter((answer) => !/^(200|503 1|504)$/.test(answer)),
          ).to.deep.equal([]);
          expect(overtaking, 'answers of /livez that no query had to end for').to.include(true);
          // Clients that ask again at once must not take the event loop: refusals are held back.
          expect(soonestMs).to.be.at.least(REFUSAL_HELD_MS);
          expect(await service.end('SIGTERM')).to.equal(0);
          expect(await expectedLines.differences(data)).to.deep.equal([]);
        },
        { env: { TAILPOND_LOG_LEVEL: 'info' } },
      ),
    { timeoutMs: 400_000 },
  );

  faultCase('H04a', `${LEAVING} clients leave before they are answered: their queries end`, () =>
    endless(async ({ service, data, expectedLines }) => {
      for (let round = 0; round < LEAVING / 200; round++) {
        const sockets = Array.from({ length: 200 }, (_, n) => leaver(service, n, endlessPath));
        // Some of them must run and others wait when they leave.
        await eventually(async () => {
          const { running, waiting } = await poolOf(service);
          expect(running).to.equal(RUNNING);
          expect(waiting).to.be.above(0);
        });
        for (const socket of sockets) socket.destroy();
        // By themselves they would run for days, and be interrupted at their time limit, after an hour.
        await eventually(async () =>
          expect(await poolOf(service)).to.deep.equal({ running: 0, waiting: 0 }),
        );
      }
      expect((await service.get('/api/endpoints/query/logs.all?project=p')).status).to.equal(200);
      expect(await service.end('SIGTERM')).to.equal(0);
      expect(await expectedLines.differences(data)).to.deep.equal([]);
    }),
  );

  faultCase(
    'H04b',
    'clients leave and the service is stopped before their queries have ended',
    () =>
      endless(async ({ service, data, expectedLines }) => {
        const sockets = Array.from({ length: 8 }, (_, n) => leaver(service, n, endlessPath));
        await eventually(async () => expect((await poolOf(service)).running).to.equal(RUNNING));
        for (const socket of sockets) socket.destroy();
        expect(await service.end('SIGTERM')).to.equal(0);
        expect(await expectedLines.differences(data)).to.deep.equal([]);
      }),
  );

  faultCase('H05', 'more long queries than threads: ingest, files and /readyz go on', () =>
    endless(async ({ service, data, expectedLines, write }) => {
      const agent = new Agent({ keepAlive: false });
      let answered = 0;
      const queries = Array.from({ length: 20 }, (_, n) =>
        ask(service.url + endlessPath(n), agent).finally(() => answered++),
      );
      // All others wait for those that run: a query over the expectedLines would, too.
      await eventually(async () =>
        expect(await poolOf(service)).to.deep.equal({ running: RUNNING, waiting: 20 - RUNNING }),
      );
      for (let n = 0; n < (LONG ? 10 : 3); n++) {
        await stores(data, () => write(expectedLines.line()));
        expect((await service.get('/readyz')).status).to.equal(200);
      }
      expect(answered, 'queries that are over').to.equal(0);
      expect(await service.end('SIGTERM')).to.equal(0);
      await Promise.all(queries);
      expect(await expectedLines.differences(data)).to.deep.equal([]);
    }),
  );

  faultCase('H10a', 'SIGTERM with queries that run and wait: all are told 503, the exit is 0', () =>
    endless(async ({ service, data, expectedLines, write }) => {
      const agent = new Agent({ keepAlive: false });
      let answered = 0;
      const queries = Array.from({ length: 100 }, (_, n) =>
        ask(service.url + endlessPath(n), agent).finally(() => answered++),
      );
      // Requests beyond the queue are answered; then all the others have come in.
      await eventually(() => expect(answered).to.equal(100 - RUNNING - WAITING));
      await stores(data, () => write(expectedLines.line()));
      // A stop that takes longer than it may, as docs/install.md has it, ends with SIGKILL.
      expect(await service.end('SIGTERM')).to.equal(0);
      const answers = await Promise.all(queries);
      expect(answers.filter(({ status }) => status !== 503)).to.deep.equal([]);
      expect(await expectedLines.differences(data)).to.deep.equal([]);
    }),
  );

  faultCase('H10b', 'a second SIGTERM, a second later, ends it at once, whatever runs', () =>
    endless(async ({ service, data, expectedLines }) => {
      const agent = new Agent({ keepAlive: false });
      const queries = Array.from({ length: RUNNING }, (_, n) =>
        ask(service.url + endlessPath(n), agent),
      );
      await eventually(async () => expect((await poolOf(service)).running).to.equal(RUNNING));
      service.child.kill('SIGTERM');
      await eventually(() => {
        expect(service.log.some(({ msg }) => msg === 'stopping')).to.equal(true);
      });
      // Within a second it is the first one again, which alone would tell the clients 503, and end with 0.
      const again = setInterval(() => service.child.kill('SIGTERM'), 100);
      try {
        expect(await service.end('SIGTERM')).to.equal('SIGKILL');
      } finally {
        clearInterval(again);
      }
      const answers = await Promise.all(queries);
      expect(answers.map(({ status }) => status)).to.deep.equal(Array(RUNNING).fill(0));
      expect(await expectedLines.differences(data)).to.deep.equal([]);
    }),
  );
});

/** How many connections to the service are open, as the kernel says; of those whose other end is this process. */
async function established(url: string): Promise<number> {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0');
  const table = await readFile('/proc/net/tcp', 'utf8');
  return table
    .split('\n')
    .filter((line) => line.trim().split(/\s+/)[1]?.endsWith(`:${port}`) && / 01 /.test(line))
    .length;
}

interface Serving {
  readonly data: string;
  readonly service: Service;
  /** Appends to a log file of `edge_logs`. */
  write(lines: string): void;
}

function serving(action: (serving: Serving) => Promise<void>, options: SpawnOptions = {}) {
  return withFolder(async (data) => {
    const folder = join(data, 'logs', 'edge_logs');
    mkdirSync(folder, { recursive: true });
    const write = (lines: string) => appendFileSync(join(folder, 'app.ndjson'), lines);
    await withService(data, (service) => action({ data, service, write }), options);
  });
}

/** A service that has lines over which the queries of `heavyPath` take long. */
function loaded(
  action: (serving: Serving & { expectedLines: ExpectedLines }) => Promise<void>,
  options: SpawnOptions = {},
) {
  return serving(async (parts) => {
    const expectedLines = newExpectedLines('heavy');
    writeFileSync(
      join(parts.data, 'logs', 'edge_logs', 'heavy.ndjson'),
      heavyLines(expectedLines, HEAVY.lines, HEAVY.letters),
    );
    await rows(parts.service, HEAVY.lines);
    await action({ ...parts, expectedLines });
  }, options);
}

/** A service in which queries of `endlessPath` end when they are interrupted alone. */
function endless(action: (serving: Serving & { expectedLines: ExpectedLines }) => Promise<void>) {
  const env = {
    TAILPOND_ENDPOINTS: join(ROOT, 'test/faults/fixtures/endpoints'),
    TAILPOND_QUERY_TIMEOUT: '1h',
  };
  return serving(
    async (parts) => {
      const expectedLines = newExpectedLines('entry');
      parts.write(Array.from({ length: ENTRIES }, () => expectedLines.line()).join(''));
      await rows(parts.service, ENTRIES);
      await action({ ...parts, expectedLines });
    },
    { env },
  );
}

async function rows(service: Service, count: number) {
  await eventually(async () => {
    const { body } = await service.get('/api/ledger');
    const [entry] = body.result as { source: string; rows: number }[];
    expect(entry).to.include({ source: 'edge_logs', rows: count });
  });
}

/** Sends `begin`, then `more` ten times a second; gives after how many ms the service ended the connection. */
async function drip(url: string, begin: string, more: string): Promise<number> {
  const socket = dial(url);
  const began = performance.now();
  socket.resume().write(begin);
  const timer = setInterval(() => socket.write(more), 100);
  // A write may meet the end of the connection: `once` would take that error for a failure.
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(timer);
  return performance.now() - began;
}

/** A GET with the token; status 0 when the connection breaks. */
function ask(url: string, agent: Agent): Promise<{ status: number; retryAfter?: string }> {
  return new Promise((resolve) => {
    httpGet(url, { agent, headers: { 'X-API-KEY': TOKEN } }, (response) => {
      response.resume().once('close', () => {
        const retryAfter = response.headers['retry-after'];
        resolve({ status: response.statusCode ?? 0, ...(retryAfter ? { retryAfter } : {}) });
      });
    }).once('error', () => resolve({ status: 0 }));
  });
}

/** A client on a connection of its own, which asks the path of `n` and can leave. */
function leaver(service: Service, n: number, path: (n: number) => string): Socket {
  const socket = dial(service.url).resume();
  socket.write(get(path(n), TOKEN_HEADER));
  return socket;
}

/** The path of a query that takes days, another one for each entry of `endless`. */
function endlessPath(n: number): string {
  return `/api/endpoints/query/long?id=entry-${n}`;
}

/** How many saved queries run and wait, as the metrics say, which wait for none of them. */
async function poolOf(service: Service): Promise<{ running: number; waiting: number }> {
  const response = await fetch(`${service.url}/metrics`, { headers: { 'X-API-KEY': TOKEN } });
  const families = readExposition(await response.text());
  const value = (what: string) =>
    sampleValue(families, `tailpond_pool_${what}_queries`, { pool: 'saved' });
  return { running: value('running'), waiting: value('waiting') };
}

/** Writes a line and waits until it is stored: commits go to the write-ahead log, which nobody who asks waits for. */
async function stores(data: string, write: () => void) {
  const path = join(data, 'store', 'tailpond.duckdb.wal');
  const size = () => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  // It may also be written back, and is empty then.
  let least = size();
  write();
  await eventually(() => {
    least = Math.min(least, size());
    expect(size()).to.be.above(least);
  }, 100_000);
}
