import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { allSources } from '../../ingest/index.ts';
import { writeTokenFile } from '../../server/auth/token-file.ts';
import { ROOT } from '../../server/config/package-root.ts';
import { keepLedger } from '../../server/metrics/ledger.ts';
import type { LedgerEntry } from '../../server/store/index.ts';
import { newExpectedLines } from '../faults/expected-lines.ts';
import { dial, get as head, tokenFile } from '../faults/http.ts';
import { type Family, readExposition, samplesOf, sampleValue } from '../support/exposition.ts';
import {
  eventually,
  type Served,
  type Service,
  TOKEN,
  unlimited,
  withApp,
  withFolder,
  withService,
} from '../support/helpers.ts';
import { append, DAY, simulatedClock } from '../support/simulated-store.ts';

const COUNTS = '/api/endpoints/query/usage.api-counts?interval=daily&project=p';
const LOGS = '/api/endpoints/query/logs.all?project=p';
const EDGE = { source: 'edge_logs' };

const serving = (action: (served: Served) => Promise<void>, settings = {}) =>
  withFolder((data) => withApp(data, action, settings));

async function scrape(get: Served['get']): Promise<Map<string, Family>> {
  const response = await get('/metrics');
  expect(response.status, response.text).to.equal(200);
  return readExposition(response.text);
}

/** How many requests were counted with these labels. */
function requests(families: Map<string, Family>, labels: Record<string, string>): number {
  const found = samplesOf(families, 'tailpond_http_request_duration_seconds_count', labels);
  return found.reduce((sum, { value }) => sum + value, 0);
}

describe('metrics: who may read them', () => {
  it('answers tokens with the scope metrics alone, by either header', () =>
    withFolder((data) => {
      const file = tokenFile(data);
      const metrics = file.add({ scopes: ['metrics'] });
      const others = [
        file.add({ scopes: ['query', 'ingest', 'admin'] }),
        file.add({ scopes: ['query'], project: 'p' }),
      ];
      return withApp(data, async ({ http }) => {
        for (const headers of [
          { 'X-API-KEY': metrics },
          { Authorization: `Bearer ${metrics}` },
          { 'X-API-KEY': TOKEN },
        ]) {
          const response = await http.get('/metrics').set(headers);
          expect(response.status).to.equal(200);
          expect(response.headers['content-type']).to.equal(
            'text/plain; version=0.0.4; charset=utf-8',
          );
          expect(response.headers['cache-control']).to.equal('no-store');
        }
        for (const token of others) {
          const { status, body } = await http.get('/metrics').set('X-API-KEY', token);
          expect([status, body.code]).to.deep.equal([403, 'SCOPE_MISSING']);
        }
        for (const path of ['/metrics', '/Metrics', '/metrics/', '/metrics/x'])
          expect((await http.get(path)).status, path).to.equal(401);
        for (const path of [LOGS, '/api/ledger', '/api/endpoints'])
          expect((await http.get(path).set('X-API-KEY', metrics)).status, path).to.equal(403);
      });
    }));

  it('does not let a token for one project have the scope', () =>
    withFolder(async (data) => {
      const entry = { id: 'a', hash: '0'.repeat(64), project: 'p' };
      const path = join(data, 'tokens.json');
      expect(() => writeTokenFile(path, [{ ...entry, scopes: ['query', 'metrics'] }])).to.throw(
        /either a project or the scope metrics/,
      );
    }));

  it('answers GET and HEAD alone', () =>
    serving(async ({ http }) => {
      for (const method of ['post', 'put', 'delete', 'patch', 'options'] as const) {
        const response = await http[method]('/metrics').set('X-API-KEY', TOKEN);
        expect([response.status, response.body.code]).to.deep.equal([405, 'METHOD_NOT_ALLOWED']);
        expect(response.headers.allow).to.equal('GET, HEAD');
      }
      const head = await http.head('/metrics').set('X-API-KEY', TOKEN);
      expect([head.status, head.text ?? '']).to.deep.equal([200, '']);
    }));
});

describe('metrics: lines', () => {
  it('count what became of the lines of each source, as the ledger does', () =>
    serving(async ({ get, write, lines, store }) => {
      write('edge_logs/a.ndjson', '{"id":"1","timestamp":"2026-01-02T03:04:05.5Z"}\nnull\n{}\n');
      write('auth_logs/b.ndjson', '{"id":"\\ud800"}\n');
      write('stray.ndjson', '{}\n');
      await lines(3);
      await lines(1, 'auth_logs');
      const now = await eventually(async () => {
        const families = await scrape(get);
        expect(sampleValue(families, 'tailpond_ingest_refused_files', { source: 'none' })).to.equal(
          1,
        );
        return families;
      });
      for (const entry of await store.ledger()) {
        const { source } = entry;
        for (const [name, value] of [
          ['ingest_lines_total', entry.lines],
          ['ingest_rows_total', entry.rows],
          ['ingest_rejected_lines_total', entry.rejected],
          ['ingest_repaired_rows_total', entry.repaired],
          ['ingest_undated_rows_total', entry.undated],
          ['ingest_future_rows_total', entry.future],
          ['ingest_doubled_rows_total', entry.doubled],
          ['ingest_bytes_total', entry.bytes],
          ['stored_rows', entry.stored],
          ['stored_bytes', entry.size],
          ['settled_rows_total', 0],
          ['removed_rows_total', 0],
          ['removed_rejected_lines_total', 0],
          ['ingest_files', source === 'edge_logs' || source === 'auth_logs' ? 1 : 0],
          ['ingest_pending_bytes', 0],
          ['ingest_lag_seconds', 0],
          ['ingest_refused_files', 0],
        ] as const)
          expect(sampleValue(now, `tailpond_${name}`, { source }), `${name} ${source}`).to.equal(
            value,
          );
      }
      const oldest = 'tailpond_oldest_row_timestamp_seconds';
      expect(sampleValue(now, oldest, EDGE)).to.equal(Date.parse('2026-01-02T03:04:05.5Z') / 1000);
      expect(samplesOf(now, oldest, { source: 'storage_logs' })).to.deep.equal([]);
      expect(sampleValue(now, 'tailpond_ready')).to.equal(1);
    }));

  it('follow new lines, some seconds later at most', () =>
    serving(async ({ get, write, lines }) => {
      const counted = (families: Map<string, Family>) => [
        sampleValue(families, 'tailpond_ingest_lines_total', EDGE),
        sampleValue(families, 'tailpond_ingest_rejected_lines_total', EDGE),
      ];
      expect(counted(await scrape(get))).to.deep.equal([0, 0]);
      write('edge_logs/a.ndjson', '{}\n[]\n{}\n');
      await lines(3);
      await eventually(async () => expect(counted(await scrape(get))).to.deep.equal([3, 1]));
    }));

  it('show what is pending and why nothing is stored, on a disk that is nearly full', () =>
    serving(
      async ({ get, write }) => {
        write('edge_logs/a.ndjson', '{}\n');
        await eventually(async () => {
          const families = await scrape(get);
          expect(sampleValue(families, 'tailpond_ingest_pending_bytes', EDGE)).to.equal(3);
          expect(sampleValue(families, 'tailpond_ingest_lag_seconds', EDGE)).to.be.above(0);
          expect(sampleValue(families, 'tailpond_ingest_stalled', { reason: 'room' })).to.equal(1);
          expect(sampleValue(families, 'tailpond_ingest_stalled', { reason: 'error' })).to.equal(0);
          expect(sampleValue(families, 'tailpond_ready')).to.equal(0);
          expect(sampleValue(families, 'tailpond_disk_min_free_bytes')).to.equal(1e18);
          expect(sampleValue(families, 'tailpond_disk_free_bytes')).to.be.within(1, 1e18);
        });
      },
      { minFree: 1e18 },
    ));

  it('count what retention removed', () => {
    const storeClock = simulatedClock();
    return serving(
      async ({ get, store }) => {
        await store.retention.run(unlimited());
        await append(store, 'edge_logs', 5, { rejected: 2 });
        storeClock.advance(3 * DAY);
        const keepMs = { ...unlimited().keepMs, edge_logs: DAY };
        await store.retention.run({ ...unlimited(), keepMs });
        const families = await scrape(get);
        expect(sampleValue(families, 'tailpond_removed_rows_total', EDGE)).to.equal(5);
        expect(sampleValue(families, 'tailpond_removed_rejected_lines_total', EDGE)).to.equal(2);
        expect(sampleValue(families, 'tailpond_ingest_rows_total', EDGE)).to.equal(5);
        expect(sampleValue(families, 'tailpond_stored_rows', EDGE)).to.equal(0);
      },
      { storeClock },
    );
  });
});

describe('metrics: requests', () => {
  it('are counted by method, route and status', () =>
    serving(async ({ http, get }) => {
      const check = async (
        status: number,
        route: string,
        ask: () => PromiseLike<{ status: number }>,
        method = 'GET',
      ) => {
        const labels = { route, status: String(status), method };
        const before = requests(await scrape(get), labels);
        expect((await ask()).status, route).to.equal(status);
        await eventually(async () =>
          expect(requests(await scrape(get), labels), JSON.stringify(labels)).to.equal(before + 1),
        );
      };
      const query = '/api/endpoints/query/:endpoint';
      await check(200, query, () => get(LOGS));
      await check(200, query, () => get(COUNTS));
      await check(400, query, () => get('/api/endpoints/query/logs.all'));
      await check(404, query, () => get('/api/endpoints/query/nope'));
      await check(405, query, () => http.put(LOGS).set('X-API-KEY', TOKEN), 'other');
      await check(200, '/api/ledger', () => get('/Api/LEDGER'));
      await check(400, '/api/rejected', () => get('/api/rejected?limit=x'));
      await check(200, '/api/endpoints', () => get('/api/endpoints'));
      await check(200, '/api/sources', () => get('/api/sources'));
      await check(200, '/readyz', () => get('/healthz'));
      await check(200, '/livez', () => get('/livez'));
      await check(404, 'none', () => get('/api/nope'));
      await check(401, 'none', () => http.get(LOGS));
      const push = () => http.post('/api/logs?source_name=nope').set('X-API-KEY', TOKEN).send([]);
      await check(404, '/api/logs', push, 'POST');
    }));

  it('have few labels, whatever is requested, and show no part of a request', () =>
    serving(async ({ http, get, write, lines }) => {
      const secret = 'hunter2';
      write(`edge_logs/${secret}.ndjson`, `{"id":"1","project":"${secret}"}\n${secret}\n`);
      write(`${secret}.ndjson`, '{}\n');
      await lines(2);
      const sql = encodeURIComponent(`select id as ${secret} from edge_logs`);
      for (const path of [
        `/api/endpoints/query/logs.all?project=${secret}`,
        `/api/endpoints/query/logs.all?project=p&sql=${sql}`,
        `/api/endpoints/query/logs.all?project=p&sql=${secret}`,
        `/api/endpoints/query/usage.api-counts?interval=daily&project=${secret}`,
        `/api/endpoints/query/usage.api-counts?interval=daily&project=(${secret}`,
        `/api/endpoints/query/${secret}`,
        `/api/endpoints/query/%0a${secret}%22%7d`,
        `/api/logs/${secret}`,
        `/api/${secret}`,
        `/aPi/ledger/${secret}`,
        `/api/rejected?source=${secret}`,
        `/metrics/${secret}`,
        `/${secret}`,
        `/%E0%A4%A${secret}`,
      ]) {
        await get(path);
        await http.get(path).set('X-API-KEY', `tp_${secret}_${secret}`);
        await http.post(path).set('X-API-KEY', TOKEN).send(`sql=${secret}`);
      }
      const routes = async () =>
        samplesOf(await scrape(get), 'tailpond_http_request_duration_seconds_count').length;
      const before = await routes();
      for (let n = 0; n < 120; n++) {
        const word = Math.random().toString(36).slice(2);
        const under = ['', 'api/', 'api/endpoints/query/', 'api/logs/', 'API/', 'metrics/'][n % 6];
        await get(`/${under}${word}?${word}=${word}`);
      }
      // Only /metrics and the routes that may answer 404 are new, not a hundred paths.
      expect((await routes()) - before).to.be.at.most(3);
      const { text } = await get('/metrics');
      readExposition(text);
      expect(text).not.to.include(secret);
      expect(text).not.to.include(TOKEN);
      expect(text).not.to.match(/select|%/i);
    }));
});

describe('metrics: queries and the cache', () => {
  it('count hits and misses, and what is kept', () =>
    serving(async ({ get }) => {
      const counts = async () => {
        const families = await scrape(get);
        return ['hits_total', 'misses_total', 'entries'].map((name) =>
          sampleValue(families, `tailpond_cache_${name}`),
        );
      };
      expect(await counts()).to.deep.equal([0, 0, 0]);
      await get(COUNTS);
      expect(await counts()).to.deep.equal([0, 1, 1]);
      await get(COUNTS);
      await get(COUNTS);
      expect(await counts()).to.deep.equal([2, 1, 1]);
      await get(`${COUNTS}2`);
      expect(await counts()).to.deep.equal([2, 2, 2]);
      expect(sampleValue(await scrape(get), 'tailpond_cache_bytes')).to.be.above(10);
    }));

  it('measure queries by endpoint and by whose SQL it is, failed ones too, but not cached answers', () =>
    serving(async ({ get }) => {
      const asked = async (endpoint: string, kind: string) => {
        const families = await scrape(get);
        const name = 'tailpond_query_duration_seconds_count';
        return samplesOf(families, name, { endpoint, kind })[0]?.value ?? 0;
      };
      await get(LOGS);
      await get('/api/endpoints/query/5f2a1f6e-6a0b-4f0e-9d5c-2f6b1a9e7c11?project=p');
      expect(await asked('logs.all', 'saved')).to.equal(2);
      await get(COUNTS);
      await get(COUNTS);
      expect(await asked('usage.api-counts', 'saved')).to.equal(1);
      expect((await get(`${LOGS}&sql=select+id+from+edge_logs`)).status).to.equal(200);
      expect((await get(`${LOGS}&sql=drop`)).status).to.equal(400);
      expect(await asked('logs.all', 'caller')).to.equal(2);
      const families = await scrape(get);
      const errors = samplesOf(families, 'tailpond_query_errors_total').filter(
        ({ value }) => value > 0,
      );
      expect(errors).to.deep.equal([
        {
          name: 'tailpond_query_errors_total',
          labels: { endpoint: 'logs.all', kind: 'caller', code: 'SQL_INVALID' },
          value: 1,
        },
      ]);
    }));

  it('count queries that fail or take too long by their code', () =>
    withQueries(
      {
        fails: "select 'seven'::integer as n where random() >= 0",
        slow: 'select count(*) as n from range(100000000000)',
      },
      async ({ get }) => {
        expect((await get('/api/endpoints/query/fails')).status).to.equal(500);
        expect((await get('/api/endpoints/query/slow')).status).to.equal(504);
        const families = await scrape(get);
        const errors = 'tailpond_query_errors_total';
        expect(sampleValue(families, errors, { endpoint: 'fails', code: 'INTERNAL' })).to.equal(1);
        expect(sampleValue(families, errors, { endpoint: 'slow', code: 'QUERY_TIMEOUT' })).to.equal(
          1,
        );
        const route = '/api/endpoints/query/:endpoint';
        expect(requests(families, { route, status: '500' })).to.equal(1);
        expect(requests(families, { route, status: '504' })).to.equal(1);
      },
      { queryTimeoutMs: 3000 },
    ));

  it('show how many queries run and wait, are answered meanwhile, and count disconnected clients', () =>
    withFolder((data) => {
      mkdirSync(join(data, 'logs', 'edge_logs'), { recursive: true });
      const expectedLines = newExpectedLines();
      const lines = Array.from({ length: 6 }, () => expectedLines.line());
      writeFileSync(join(data, 'logs', 'edge_logs', 'entries.ndjson'), lines.join(''));
      const env = {
        TAILPOND_ENDPOINTS: join(ROOT, 'test/faults/fixtures/endpoints'),
        TAILPOND_QUERY_TIMEOUT: '1h',
      };
      const action = async ({ url, get }: Service) => {
        await eventually(async () => {
          const { result } = (await get('/api/ledger')).body as { result: LedgerEntry[] };
          expect(result[0]?.lines).to.equal(6);
        });
        const header = { 'X-API-KEY': TOKEN };
        const ask = async () =>
          readExposition(await (await fetch(`${url}/metrics`, { headers: header })).text());
        const clients = Array.from({ length: 6 }, (_, n) => {
          const socket = dial(url).resume();
          // The query ends only when it is interrupted.
          socket.write(head(`/api/endpoints/query/long?id=line-${n}`, `X-API-KEY: ${TOKEN}`));
          return socket;
        });
        const pool = { pool: 'saved' };
        const busy = await eventually(async () => {
          const families = await ask();
          // One owner has three of the four places.
          expect(sampleValue(families, 'tailpond_pool_running_queries', pool)).to.equal(3);
          expect(sampleValue(families, 'tailpond_pool_waiting_queries', pool)).to.equal(3);
          return families;
        });
        expect(sampleValue(busy, 'tailpond_pool_running_queries_limit', pool)).to.equal(4);
        expect(sampleValue(busy, 'tailpond_pool_waiting_queries_limit', pool)).to.equal(64);
        const caller = { pool: 'caller' };
        expect(sampleValue(busy, 'tailpond_pool_running_queries', caller)).to.equal(0);
        expect(sampleValue(busy, 'tailpond_ready')).to.equal(1);
        for (const client of clients) client.destroy();
        await eventually(async () => {
          const families = await ask();
          expect(requests(families, { status: 'aborted' })).to.equal(6);
          // The ledger's own query does not count as running.
          expect(samplesOf(families, 'tailpond_stored_rows')).to.have.length(allSources().length);
          expect(sampleValue(families, 'tailpond_pool_running_queries', pool)).to.equal(0);
        });
      };
      return withService(data, action, { env });
    }));
});

describe('metrics: the process', () => {
  it('show the versions, the files of the store and the usual metrics of Node', () =>
    serving(async ({ get }) => {
      const families = await scrape(get);
      const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
      const info = samplesOf(families, 'tailpond_build_info')[0];
      expect(info?.value).to.equal(1);
      expect(info?.labels).to.include({ version, node: process.version });
      expect(info?.labels.duckdb).to.match(/^v\d+\.\d+\.\d+$/);
      const file = { file: 'database' };
      expect(sampleValue(families, 'tailpond_store_file_bytes', file)).to.be.above(0);
      expect(sampleValue(families, 'process_resident_memory_bytes')).to.be.above(1e7);
      expect(families.has('nodejs_eventloop_lag_p99_seconds')).to.equal(true);
    }));

  it('belong to one app: another app begins at zero', () => {
    const counted = (families: Map<string, Family>) => requests(families, { status: '404' });
    const app = (action: (served: Served) => Promise<void>) => serving(action);
    return app(async ({ get }) => {
      await get('/nope');
      await eventually(async () => expect(counted(await scrape(get))).to.equal(1));
    }).then(() =>
      app(async ({ get }) => {
        expect(counted(await scrape(get))).to.equal(0);
      }),
    );
  });

  it('do not keep a service from ending', () =>
    withFolder((data) =>
      withService(data, async ({ url, end }) => {
        const response = await fetch(`${url}/metrics`, { headers: { 'X-API-KEY': TOKEN } });
        readExposition(await response.text());
        // A service that is kept from ending ends itself with SIGKILL.
        expect(await end('SIGTERM')).to.equal(0);
      }),
    ));
});

describe('metrics: the kept ledger', () => {
  const entries = (rows: number) => [{ source: 'edge_logs', rows }] as unknown as LedgerEntry[];

  it('is read once for all requests within its time, and again after it', async () => {
    let reads = 0;
    const read = async () => entries(++reads);
    const long = keepLedger(read, { keepMs: 600_000, waitMs: 60_000 });
    const [one, two] = await Promise.all([long(), long()]);
    const three = await long();
    for (const kept of [one, two, three]) expect(kept?.entries).to.deep.equal(entries(1));
    const short = keepLedger(read, { keepMs: 50, waitMs: 60_000 });
    expect((await short())?.entries).to.deep.equal(entries(2));
    await eventually(async () => expect((await short())?.entries).to.deep.equal(entries(3)));
  });

  it('is the one that was read before, with its age, while reading takes long', async () => {
    let finish = (_entries: LedgerEntry[]) => {};
    let reads = 0;
    const kept = keepLedger(
      () =>
        ++reads === 1
          ? Promise.resolve(entries(1))
          : new Promise((resolve) => {
              finish = resolve;
            }),
      { keepMs: 0, waitMs: 20 },
    );
    expect((await kept())?.entries).to.deep.equal(entries(1));
    const readAt = performance.now();
    await eventually(async () => {
      await kept();
      expect(reads).to.equal(2);
    });
    await delay(1000);
    const asked = performance.now() - readAt;
    const old = await kept();
    expect(old?.entries).to.deep.equal(entries(1));
    expect(old?.ageMs).to.be.at.least(asked);
    finish(entries(2));
    // The read took a second, so its result is kept for 20 s.
    for (let times = 0; times < 3; times++)
      expect((await kept())?.entries).to.deep.equal(entries(2));
    expect(reads).to.equal(2);
  });

  it('is the one that was read before when reading fails', async () => {
    let reads = 0;
    const read = async () => (++reads === 2 ? expect.fail('made by the test') : entries(reads));
    const kept = keepLedger(read, { keepMs: 0, waitMs: 60_000 });
    for (const [times, rows] of [1, 1, 3].entries())
      await eventually(async () => {
        const given = await kept();
        expect(reads).to.equal(times + 1);
        expect(given?.entries).to.deep.equal(entries(rows));
      });
  });

  it('is null before it could be read', async () => {
    const kept = keepLedger(() => Promise.reject(new Error('made by the test')));
    expect(await kept()).to.equal(null);
  });
});

/** The app with endpoints of these SELECTs, not cached. */
function withQueries(
  queries: Record<string, string>,
  action: (served: Served) => Promise<void>,
  settings: { queryTimeoutMs?: number } = {},
) {
  return withFolder((data) => {
    const endpoints = join(data, 'queries');
    mkdirSync(endpoints);
    Object.entries(queries).forEach(([name, select], n) => {
      const directives = `--! uuid: 0b7e3f0a-52c1-4f53-9d4e-6f2d6c1f9a0${n}\n--! max_rows: 5\n--! caching: off\n--! warming: off\n--! sandboxing: off\n--! redact_pii: off\n`;
      writeFileSync(join(endpoints, `${name}.sql`), `-- One.\n${directives}${select}\n`);
    });
    return withApp(data, action, { endpoints, ...settings });
  });
}
