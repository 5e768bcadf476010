import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Agent, get as httpGet } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import {
  eventually,
  type Service,
  type SpawnOptions,
  TOKEN,
  withFolder,
  withService,
  withStore,
} from '../helpers.ts';
import { type Books, newBooks } from './books.ts';
import { faultCase } from './case.ts';
import { dial, exchange, get, heavyLines, heavyPath } from './http.ts';
import { cpuSeconds, idle } from './trial.ts';

const TOKEN_HEADER = `X-API-KEY: ${TOKEN}`;
/** A query over so many lines of so many letters takes some 6 s here; an interrupt is seen every 2048 rows, so after 0.6 s. */
const HEAVY = { lines: 20_000, letters: 100 };

describe('HTTP: slow and greedy clients', () => {
  faultCase(
    'H02a',
    'a request that comes in slowly is closed at 10 s and 15 s; others do not notice',
    () =>
      serving(async ({ service }) => {
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
        expect(headMs, 'a head that does not end').to.be.within(9000, 15_000);
        expect(silentMs, 'nothing at all').to.be.within(9000, 15_000);
        expect(bodyMs, 'a body that does not end').to.be.within(9000, 20_000);
      }),
  );

  faultCase(
    'H02b',
    'a client that does not read its answer loses its connection after 30 s to 60 s',
    () =>
      serving(async ({ service, write }) => {
        const books = newBooks('large');
        write(
          Array.from({ length: 100 }, () => books.line('edge_logs', 'x'.repeat(400_000))).join(''),
        );
        await rows(service, 100);
        const socket = dial(service.url).pause();
        const began = performance.now();
        socket.write(get('/api/endpoints/query/logs.all?project=p', TOKEN_HEADER));
        // As long as it is paused it does not see the end; the service's side of it does.
        await eventually(async () => expect(await established(service.url)).to.equal(1), 5000);
        await eventually(async () => expect(await established(service.url)).to.equal(0), 80_000);
        expect(performance.now() - began).to.be.within(29_000, 80_000);
        socket.destroy();
        expect((await service.get('/readyz')).status).to.equal(200);
      }),
    { longOnly: 'waits for half a minute' },
  );

  faultCase(
    'H02c',
    'connections beyond the limit are told 503, and the limit is free again after them',
    () =>
      serving(
        async ({ service }) => {
          const idle = Array.from({ length: 3 }, () => dial(service.url));
          await Promise.all(idle.map((socket) => once(socket, 'connect')));
          const { statuses, text: answer } = await exchange(service.url, get('/livez'));
          expect(statuses).to.deep.equal([503]);
          expect(answer)
            .to.include('"code":"CONNECTIONS_EXHAUSTED"')
            .and.to.match(/Retry-After: 1\r\n/);
          // One that is beyond the limit and asks nothing does not stay.
          const silent = await exchange(service.url, '', 8000);
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
    '500 connections ask a heavy query: 503 with Retry-After, /livez answers, lines come in',
    () =>
      loaded(
        async ({ service, data, books, write }) => {
          const probe = await livez(service.url);
          const agent = new Agent({ keepAlive: true, maxSockets: 500 });
          const answers = new Map<string, number>();
          let going = true;
          let next = 0;
          const clients = Array.from({ length: 500 }, async () => {
            while (going) {
              const { status, retryAfter } = await ask(service.url + heavyPath(next++), agent);
              if (!going) break;
              const answer = `${status} ${retryAfter ?? ''}`.trim();
              answers.set(answer, (answers.get(answer) ?? 0) + 1);
            }
          });
          for (let n = 0; n < 40; n++) {
            write(books.line());
            await delay(100);
          }
          going = false;
          const times = (await probe.end()).sort((a, b) => a - b);
          agent.destroy();
          await Promise.allSettled(clients);
          const p99 = times[Math.floor(times.length * 0.99)] ?? Infinity;
          console.log(
            `      /livez: ${times.length} answers, p50 ${times[times.length >> 1]?.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms; ${JSON.stringify([...answers])}`,
          );
          expect(
            [...answers.keys()].filter((answer) => !/^(200|503 1)$/.test(answer)),
          ).to.deep.equal([]);
          expect(answers.get('503 1')).to.be.above(500);
          // On a machine of its own p99 should be below 50 ms; this one is shared, and 500 at once are a burst at the beginning.
          expect(times.length).to.be.above(20);
          expect(times[times.length >> 1]).to.be.below(100);
          expect(p99).to.be.below(1000);
          expect(await service.end('SIGTERM')).to.equal(0);
          expect(await books.differences(data)).to.deep.equal([]);
          expect(await slowest(data)).to.be.below(5000);
        },
        { env: { TAILPOND_LOG_LEVEL: 'info' } },
      ),
  );

  faultCase('H04a', '1000 clients leave before they are answered: their queries end', () =>
    loaded(async ({ service, data, books }) => {
      const before = cpuSeconds(service);
      expect((await ask(service.url + heavyPath(1000), new Agent())).status).to.equal(200);
      const whole = cpuSeconds(service) - before;
      let left = 0;
      for (let round = 0; round < 5; round++) {
        const sockets = Array.from({ length: 200 }, (_, n) =>
          dial(service.url)
            .resume()
            .on('connect', function (this: Socket) {
              this.write(get(heavyPath(round * 200 + n), TOKEN_HEADER));
            }),
        );
        await Promise.all(sockets.map((socket) => once(socket, 'connect')));
        // Some of them must run and others wait when they leave.
        await delay(200);
        left = cpuSeconds(service);
        for (const socket of sockets) socket.destroy();
      }
      // Until the last interrupts are seen there may be no room.
      await eventually(async () =>
        expect((await service.get('/api/endpoints/query/logs.all?project=p')).status).to.equal(200),
      );
      await idle(service);
      // Four ran when they left: to their ends they would have taken nearly four times a whole one.
      expect(cpuSeconds(service) - left).to.be.below(2 * whole);
      expect(await service.end('SIGTERM')).to.equal(0);
      expect(await books.differences(data)).to.deep.equal([]);
    }),
  );

  faultCase(
    'H04b',
    'clients leave and the service is stopped before their queries have ended',
    () =>
      loaded(async ({ service, data, books }) => {
        const sockets = Array.from({ length: 8 }, (_, n) =>
          dial(service.url)
            .resume()
            .on('connect', function (this: Socket) {
              this.write(get(heavyPath(n), TOKEN_HEADER));
            }),
        );
        await Promise.all(sockets.map((socket) => once(socket, 'connect')));
        // By then four of them run; an interrupt is seen some tenths of a second after it.
        await delay(500);
        for (const socket of sockets) socket.destroy();
        expect(await service.end('SIGTERM')).to.equal(0);
        expect(await books.differences(data)).to.deep.equal([]);
      }),
  );

  faultCase('H05', 'more long queries than threads: ingest, files and /readyz go on', () =>
    loaded(async ({ service, data, books, write }) => {
      const agent = new Agent({ keepAlive: false });
      let answered = 0;
      const queries = Array.from({ length: 20 }, (_, n) =>
        ask(service.url + heavyPath(n), agent).then(() => answered++),
      );
      // Four run, the others wait for them: a query over the books would, too.
      for (let n = 0; n < 20; n++) {
        write(books.line());
        const began = performance.now();
        expect((await service.get('/readyz')).status).to.equal(200);
        expect(performance.now() - began, '/readyz').to.be.below(3000);
        await delay(100);
      }
      expect(answered, 'queries that were over too soon to prove anything').to.equal(0);
      expect(await service.end('SIGTERM')).to.equal(0);
      await Promise.all(queries);
      expect(await books.differences(data)).to.deep.equal([]);
      expect(await slowest(data)).to.be.below(5000);
    }),
  );

  faultCase('H10a', 'SIGTERM with queries that run and wait: all are told 503, the exit is 0', () =>
    loaded(async ({ service, data, books, write }) => {
      const agent = new Agent({ keepAlive: false });
      const queries = Array.from({ length: 100 }, (_, n) => ask(service.url + heavyPath(n), agent));
      write(books.line());
      // Those beyond the queue are answered first, and late: all the others have come in by then.
      await Promise.race(queries);
      const began = performance.now();
      expect(await service.end('SIGTERM')).to.equal(0);
      expect(performance.now() - began).to.be.below(10_000);
      const statuses = (await Promise.all(queries)).map(({ status }) => status);
      expect(statuses.filter((status) => ![200, 503, 504].includes(status))).to.deep.equal([]);
      expect(statuses.filter((status) => status === 503).length).to.be.above(50);
      expect(await books.differences(data)).to.deep.equal([]);
    }),
  );

  faultCase('H10b', 'a second SIGTERM ends it at once, whatever runs', () =>
    loaded(async ({ service, data, books }) => {
      const agent = new Agent({ keepAlive: false });
      const queries = Array.from({ length: 4 }, (_, n) => ask(service.url + heavyPath(n), agent));
      await eventually(async () => expect((await service.get('/readyz')).status).to.equal(200));
      service.child.kill('SIGTERM');
      await eventually(() => {
        expect(service.log.some(({ msg }) => msg === 'stopping')).to.equal(true);
      });
      const began = performance.now();
      expect(await service.end('SIGTERM')).to.equal('SIGKILL');
      expect(performance.now() - began).to.be.below(2000);
      await Promise.all(queries);
      expect(await books.differences(data)).to.deep.equal([]);
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
  action: (serving: Serving & { books: Books }) => Promise<void>,
  options: SpawnOptions = {},
) {
  return serving(async (parts) => {
    const books = newBooks('heavy');
    writeFileSync(
      join(parts.data, 'logs', 'edge_logs', 'heavy.ndjson'),
      heavyLines(books, HEAVY.lines, HEAVY.letters),
    );
    await rows(parts.service, HEAVY.lines);
    await action({ ...parts, books });
  }, options);
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
  await once(socket, 'close').finally(() => clearInterval(timer));
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

/** Asks `/livez` from a process of its own; `end` gives how long each answer took, in ms. */
async function livez(url: string) {
  const script = fileURLToPath(new URL('livez-probe.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import=tsx', script, url], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const printed = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  await printed.next();
  return {
    async end(): Promise<number[]> {
      child.stdin.end();
      return JSON.parse((await printed.next()).value);
    },
  };
}

/** The longest that a line took from its timestamp, when it was written, to the batch that stored it; ms. */
async function slowest(data: string): Promise<number> {
  return withStore(data, async (store) => {
    const sql = `select max(epoch_ms(ingested_at) - epoch_ms(timestamp)) from edge_logs where url is null`;
    const { rows: found } = await store.query(sql, {}, { maxRows: 1 });
    return Number(found[0]?.[0]);
  });
}
