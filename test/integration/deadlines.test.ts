import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { openAnswers } from '../../server/clickhouse/index.ts';
import { deadlineIn } from '../../server/deadline.ts';
import { AppError } from '../../server/errors.ts';
import { WAITS } from '../../server/waits.ts';
import {
  eventually,
  type Served,
  type TestStore,
  withApp,
  withFolder,
} from '../support/helpers.ts';
import { freePort } from '../support/port.ts';

const TIME_MS = 200;
const SOURCES = 'edge_logs,auth_logs,postgres_logs,storage_logs';
const DAY = 'from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z';
const LONG = 'select sum(hash(a.i + b.i)) from range(10000000) a(i), range(1000000) b(i)';

type Pool = Pick<TestStore, 'query'>;
type Options = Parameters<Pool['query']>[2];

/** Calls `begins` in the place of each statement that a pool is asked to run. */
function intercept(pool: Pool, begins: (run: Pool['query']) => Pool['query']): void {
  pool.query = begins(pool.query);
}

/** Takes more than half of a question's time before each statement. Returns those that a pool ran. */
function slowed(...pools: readonly Pool[]): string[] {
  const ran: string[] = [];
  for (const pool of pools)
    intercept(pool, (run) => async (sql, values, options) => {
      await delay(TIME_MS * 0.6);
      const rows = await run(sql, values, options);
      ran.push(sql);
      return rows;
    });
  return ran;
}

const serving = (action: (served: Served) => Promise<void>, queryTimeoutMs: number) =>
  withFolder((data) => withApp(data, action, { queryTimeoutMs }));

describe('the time of a question', () => {
  it('bounds all of its statements together', () =>
    serving(async ({ get, store, write, lines }) => {
      write('edge_logs/a.ndjson', '{"project":"p","timestamp":"2026-11-20T10:00:00Z"}\n');
      await lines(1);
      const check = async (path: string, ran: string[]) => {
        const { status, body } = await get(path);
        expect([status, body.code], path).to.deep.equal([504, 'QUERY_TIMEOUT']);
        // The second one could begin only after the end.
        expect(ran.splice(0), path).to.have.length.below(2);
      };
      const ofCallers = slowed(store.callerPool);
      const sql = encodeURIComponent('select id from edge_logs');
      await check(`/api/endpoints/query/logs.all?project=p&sql=${sql}`, ofCallers);
      const ofEntries = slowed(store.entryPool);
      await check(`/api/entries/${SOURCES}`, ofEntries);
      await check(`/api/histogram/${SOURCES}?${DAY}`, ofEntries);
      await check(`/api/facets/${SOURCES}?field=status`, ofEntries);
      await check(`/api/projects/${SOURCES}`, ofEntries);
      const saved = slowed(store);
      await check('/api/endpoints/query/usage.api-counts?project=p&interval=daily', saved);
      // Its windows are asked one after the other.
      await check('/api/endpoints/query/logs.all?project=p', saved);
    }, TIME_MS));

  it('begins anew with each page of an export', () =>
    serving(async ({ get, store, write, lines }) => {
      const days = Array.from(
        { length: 8 },
        (_, day) => `{"timestamp":"2026-11-1${day}T10:00:00Z"}`,
      );
      write('edge_logs/a.ndjson', `${days.join('\n')}\n`);
      await lines(days.length);
      const deadlines = new Set<Options['deadline']>();
      intercept(store.entryPool, (run) => (sql, values, options) => {
        deadlines.add(options.deadline);
        return run(sql, values, options);
      });
      const { text } = await get('/api/export/edge_logs?format=ndjson').buffer();
      expect(text.trim().split('\n')).to.have.length(days.length + 1);
      expect(deadlines.size).to.be.at.least(2);
    }, 60_000));
});

describe('the share of a project', () => {
  it('leaves others a connection while it floods', () =>
    serving(async ({ get, store }) => {
      intercept(store.entryPool, (run) => (sql, values, options) => {
        return run(values.project === 'flood' ? LONG : sql, values, options);
      });
      const answered: number[] = [];
      const flood = Array.from({ length: 6 }, () =>
        get(`/api/facets/${SOURCES}?field=status&project=flood`),
      );
      for (const each of flood)
        each.then(
          ({ status }) => answered.push(status),
          () => {},
        );
      await eventually(() => {
        const { running, waiting } = store.entryPool.stats();
        expect(running + waiting).to.equal(flood.length);
      });
      for (const path of ['entries', 'facets', 'projects', 'export'])
        await get(`/api/${path}/edge_logs?field=status&project=other`).expect(200);
      expect(answered).to.deep.equal([]);
      for (const each of flood) each.abort();
      await eventually(() => expect(store.entryPool.stats().running).to.equal(0));
    }, 20_000));

  it('leaves others a saved query while it floods', () =>
    serving(async ({ get, store }) => {
      intercept(store, (run) => (sql, values, options) => {
        return values.project === 'flood' ? run(LONG, {}, options) : run(sql, values, options);
      });
      const ofProject = (project: string) =>
        get(`/api/endpoints/query/usage.api-counts?project=${project}&interval=daily`);
      // Others' answers to one URL are the cache's.
      const intervals = ['minutely', 'hourly', 'daily', '15min', '30min', '1hr'];
      const flood = intervals.map((interval) =>
        get(`/api/endpoints/query/usage.api-counts?project=flood&interval=${interval}`),
      );
      for (const each of flood) each.catch(() => {});
      await eventually(() => {
        const { running, waiting } = store.stats();
        expect([running, waiting]).to.deep.equal([3, flood.length - 3]);
      });
      await ofProject('other').expect(200);
      expect(store.stats()).to.include({ running: 3, waiting: flood.length - 3 });
      for (const each of flood) each.abort();
      await eventually(() => expect(store.stats().running).to.equal(0));
    }, 20_000));

  it('leaves others their turn in ClickHouse while it floods', async () => {
    const held = new Set<ServerResponse>();
    const server = createServer((asked, answer) => {
      asked.resume();
      if (asked.url?.includes('param_project=flood')) held.add(answer);
      else answer.end('["n"]\n["UInt64"]\n["7"]\n');
    });
    server.listen(await freePort(), '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const answers = openAnswers(
      {
        urls: [`http://127.0.0.1:${port}`],
        database: 'default',
        user: 'default',
        passwordFile: null,
        reader: null,
        cluster: null,
        intervalMs: 1000,
      },
      WAITS,
      () => {},
    );
    const left = new AbortController();
    const ask = (project: string) =>
      answers.select(
        { sql: 'select 7 as n', columns: [{ name: 'n', kind: 'plain', type: 'UBIGINT' }] },
        { project },
        { maxRows: 1, deadline: deadlineIn(60_000, left.signal) },
      );
    try {
      const flood = Promise.allSettled(Array.from({ length: 100 }, () => ask('flood')));
      await eventually(() => expect(held.size).to.equal(8));
      expect((await ask('other')).rows).to.deep.equal([[7n]]);
      expect(held.size).to.equal(8);
      left.abort(new Error('left'));
      const reasons = (await flood).map((each) => String('reason' in each && each.reason.message));
      const overloaded = reasons.filter((reason) => reason !== 'left');
      expect(new Set(overloaded)).to.deep.equal(new Set([new AppError('OVERLOADED').message]));
      expect(overloaded).to.have.length(100 - 8 - 64);
    } finally {
      await answers.close();
      server.closeAllConnections();
      server.close();
    }
  });
});
