import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { allSources } from '../../ingest/index.ts';
import { writeTokenFile } from '../../server/auth/token-file.ts';
import { digestOf, makeToken } from '../../server/auth/tokens.ts';
import { type Served, TOKEN, withApp, withFolder } from '../support/helpers.ts';
import { opened } from '../support/opened.ts';

const serving = (action: (served: Served) => Promise<void>) =>
  withFolder((data) => withApp(data, action));

const LOGGED = { message: 'Logged!' };
const JSON_TYPE = { 'Content-Type': 'application/json' };

function post({ http }: Served, path: string, body: string | Buffer, headers = JSON_TYPE) {
  return http
    .post(path)
    .set({ 'X-API-KEY': TOKEN, ...headers })
    .serialize((bytes) => bytes as unknown as string)
    .send(body as string);
}

const seen = new WeakMap<Served, Set<unknown>>();

/** Posts a body, and returns the entries that it became, `rows` being how many there are then. */
async function stored(
  served: Served,
  path: string,
  body: string | Buffer,
  rows: number,
  headers = JSON_TYPE,
) {
  const { status, body: answer } = await post(served, path, body, headers);
  expect({ status, answer }, path).to.deep.equal({ status: 200, answer: LOGGED });
  await served.lines(rows, 'app_logs');
  const known = seen.get(served) ?? new Set();
  seen.set(served, known);
  const all = await served.rows('app_logs', 'timestamp');
  const found = all.filter(({ id }) => !known.has(id));
  for (const { id } of found) known.add(id);
  return found.map(({ timestamp, project, event_message, metadata }) => ({
    timestamp,
    project,
    event_message,
    metadata: metadata === null ? null : JSON.parse(String(metadata)),
  }));
}

describe('where Logflare takes lines', () => {
  for (const prefix of ['/logs', '/api/logs', '/api/events'])
    it(`takes events, and objects as metadata, at ${prefix}`, () =>
      serving(async (served) => {
        const query = '?source_name=app_logs';
        const [first] = await stored(
          served,
          prefix + query,
          '[{"message":"a","project":"p","timestamp":"2026-11-20T10:00:00Z","metadata":{"n":12345678901234567890}}]',
          1,
        );
        expect(first).to.deep.include({ project: 'p', event_message: 'a' });
        const object = '{"a": {"b": 1}, "project": "p", "timestamp": "2020-01-01T00:00:00Z"}';
        const [json] = await stored(served, `${prefix}/json${query}`, object, 2);
        expect(json?.metadata).to.deep.equal(JSON.parse(object));
        expect(JSON.parse(String(json?.event_message))).to.deep.equal(JSON.parse(object));
        // Logflare does not look for the time of such an object within it.
        expect(String(json?.timestamp))
          .to.match(/^202[6-9]/)
          .and.not.match(/^2026-11-20/);
      }));

  it('takes events of Vector: all but message and timestamp is metadata', () =>
    serving(async (served) => {
      const path = '/api/logs/vector?source_name=app_logs';
      const at = '2026-11-20T10:00:00.5Z';
      const events = `[{"message":"m","timestamp":"2026-11-20T09:00:00.5Z","host":"h","project":"p","big":12345678901234567890},{"timestamp":"${at}","host":"h, \\"x\\": {}"}]`;
      const [first, second] = await stored(served, path, gzipSync(events), 2, {
        ...JSON_TYPE,
        'Content-Encoding': 'gzip',
      } as typeof JSON_TYPE);
      expect(first).to.deep.include({ project: 'p', event_message: 'm' });
      expect(String(first?.timestamp)).to.match(/^2026-11-20.09:00:00\.5/);
      expect(first?.metadata).to.have.keys('host', 'project', 'big');
      expect(second?.metadata).to.deep.equal({ host: 'h, "x": {}' });
      expect(JSON.parse(String(second?.event_message))).to.deep.equal(second?.metadata);
      const { body } = await served.get(
        `/api/entries/app_logs?${new URLSearchParams({ q: 'host:h', project: 'p' })}`,
      );
      expect(JSON.stringify(body)).to.include('"host":"h"');
    }));

  it('takes lines of Cloudflare Logpush, and events there, too', () =>
    serving(async (served) => {
      const path = '/api/logs/cloudflare?source_name=app_logs';
      const line = '{"EdgeStartTimestamp":1795168800000000000,"RayID":"r","ClientIP":"192.0.2.1"}';
      const [first] = await stored(served, path, `${line}\n`, 1, {
        'Content-Type': 'application/x-ndjson',
      });
      expect(first?.metadata).to.deep.equal(JSON.parse(line));
      expect(JSON.parse(String(first?.event_message))).to.deep.equal(JSON.parse(line));
      expect(String(first?.timestamp)).to.match(/^2026-11-20.10:00:00/);
      const [second] = await stored(
        served,
        path,
        '{"batch":[{"message":"m","metadata":{"a":1}}]}',
        2,
      );
      expect(second).to.deep.include({ event_message: 'm', metadata: { a: 1 } });
    }));

  it('finds the source in the body, by its name or its UUID, and a message as log_entry', () =>
    serving(async (served) => {
      const { body: sources } = await served.get('/api/sources');
      const index = allSources().indexOf('app_logs');
      const { uuid: token } = sources[index];
      expect(token).to.match(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/);
      expect(new Set(sources.map((each: { uuid: string }) => each.uuid))).to.have.property(
        'size',
        allSources().length,
      );
      for (const [i, name] of [token, token.toUpperCase(), 'app_logs'].entries()) {
        const event = `{"source":"${name}","log_entry":"old {${i}}","metadata":{"k":"v"}}`;
        const rows = await stored(served, '/api/logs', event, 2 * i + 1);
        expect(rows.at(-1)).to.deep.include({
          event_message: `old {${i}}`,
          metadata: { k: 'v', source: name },
        });
        const batch = `{"batch":[{"message":"b","log_entry":"c"}],"source":"${name}"}`;
        const [last] = (await stored(served, '/logs', batch, 2 * i + 2)).slice(-1);
        expect(last).to.deep.include({ event_message: 'b' });
      }
      const byHeader = await post(served, '/api/logs', '{}', {
        ...JSON_TYPE,
        'X-Source': token,
      } as typeof JSON_TYPE);
      expect(byHeader.body).to.deep.equal(LOGGED);
      for (const body of [
        '{"source":"nowhere"}',
        '{"source":7}',
        '{"a":{"source":"app_logs"}}',
        '[{"source":"app_logs"}]',
        '{',
      ]) {
        const { status, body: problem } = await post(served, '/api/logs', body);
        expect([status, problem.code], body).to.deep.equal(
          body.includes('nowhere') ? [404, 'SOURCE_UNKNOWN'] : [400, 'PARAMETER_INVALID'],
        );
      }
    }));

  it("takes what the stack of Supabase's command line ships into app_logs", () =>
    serving(async (served) => {
      const event = {
        message: 'started',
        timestamp: '2026-11-20T10:00:00.123456789Z',
        container_name: 'supabase_db',
        stream: 'stderr',
      };
      for (const [i, name] of ['docker.logs.local', 'native.logs.local'].entries()) {
        const rows = await stored(
          served,
          `/api/logs?source_name=${name}`,
          JSON.stringify([event]),
          i + 1,
        );
        expect(rows.at(-1)).to.deep.include({ event_message: 'started' });
        expect(rows.at(-1)?.metadata).to.deep.include({ container_name: 'supabase_db' });
      }
    }));

  it('takes lines of Logpush of any type but JSON', () =>
    serving(async (served) => {
      const path = '/api/logs/cloudflare?source_name=app_logs';
      const types = [
        'text/plain; charset=utf-8',
        'application/octet-stream',
        'application/x-ndjson',
      ];
      for (const [i, type] of types.entries()) {
        const rows = await stored(served, path, '{"RayID":"a"}\n{"RayID":"b"}\n', 2 * (i + 1), {
          'Content-Type': type,
        });
        expect(
          rows.map(({ metadata }) => metadata),
          type,
        ).to.have.deep.members([{ RayID: 'a' }, { RayID: 'b' }]);
      }
    }));

  it('keeps a long object whose text does not fit a line twice, without a message', () =>
    serving(async (served) => {
      const path = '/api/logs/json?source_name=app_logs';
      const object = { text: 'x'.repeat(600_000), last: 1 };
      const [row] = await stored(served, path, JSON.stringify(object), 1);
      expect(row?.metadata).to.deep.equal(object);
      expect(row?.event_message).to.equal('');
    }));

  it('keeps what is not an object as a rejected line, and its neighbours as rows', () =>
    serving(async (served) => {
      for (const [i, form] of ['json', 'vector'].entries()) {
        const path = `/api/logs/${form}?source_name=app_logs`;
        expect((await post(served, path, '[{"a":1},7,{"b":"x\\ud800"},{"c":]')).status).to.equal(
          400,
        );
        expect((await post(served, path, '[{"a":1},7,{"b":2}]')).body).to.deep.equal(LOGGED);
        const ledger = await served.lines(3 * (i + 1), 'app_logs');
        expect(ledger).to.include({ rows: 2 * (i + 1), rejected: i + 1 });
      }
    }));

  it('leaves the project of a pinned token to that token, in every form', () =>
    withFolder((data) => {
      const text = makeToken('pinned');
      const hash = digestOf(text).toString('hex');
      writeTokenFile(`${data}/tokens.json`, [
        { id: 'pinned', hash, scopes: ['ingest'], project: 'mine' },
      ]);
      return withApp(data, async (served) => {
        const event = '{"message":"m","timestamp":"2026-11-20T10:00:00Z","project":"yours"}';
        const paths = ['', '/json', '/vector', '/cloudflare'];
        for (const path of paths)
          for (const body of [event, `{"batch":[${event}]}`]) {
            const { status } = await served.http
              .post(`/logs${path}?source=app_logs`)
              .set({ 'X-API-KEY': text, ...JSON_TYPE })
              .send(body);
            expect(status).to.equal(200);
          }
        await served.lines(2 * paths.length, 'app_logs');
        const projects = (await served.rows('app_logs')).map(({ project }) => project);
        expect(new Set(projects)).to.deep.equal(new Set(['mine']));
      });
    }));

  it('answers the preflight of a browser without a token, and keeps the others', () =>
    serving(async ({ http }) => {
      for (const path of ['/logs', '/api/logs', '/api/events/json']) {
        const preflight = await http
          .options(`${path}?source_name=app_logs`)
          .set('Origin', 'https://example.org')
          .set('Access-Control-Request-Method', 'POST')
          .set('Access-Control-Request-Headers', 'x-api-key,content-type');
        expect(preflight.status, path).to.equal(204);
        expect(preflight.headers).to.include({
          'access-control-allow-origin': '*',
          'access-control-allow-methods': 'POST',
          'access-control-allow-headers': 'Authorization,Content-Type,X-API-KEY',
        });
      }
      const { status, headers } = await http.options('/api/ledger').set('Origin', 'https://x.org');
      expect(status).to.equal(401);
      expect(headers).not.to.have.property('access-control-allow-origin');
    }));
});

describe('where Logflare answers saved queries', () => {
  const served = opened<Served>(serving);
  const asking = (action: (served: Served) => Promise<void>) => action(served());

  it('answers at all of its paths, to those with a token', () =>
    asking(async ({ get, http }) => {
      for (const path of [
        '/api/endpoints/query',
        '/endpoints/query',
        '/api/endpoints/query/name',
      ]) {
        expect((await get(`${path}/logs.all?project=p`)).body, path).to.deep.equal({ result: [] });
        expect((await http.get(`${path}/logs.all?project=p`)).status, path).to.equal(401);
        expect((await get(`${path}/none`)).body.code, path).to.equal('ENDPOINT_UNKNOWN');
      }
    }));

  it('runs the SQL in the body of a GET, where the URL has none', () =>
    asking(async ({ http }) => {
      const asked = (query: string, body: string, type = 'application/json') =>
        http
          .get(`/api/endpoints/query/logs.all?project=p${query}`)
          .set({ 'X-API-KEY': TOKEN, 'Content-Type': type })
          .serialize((text) => text as unknown as string)
          .send(body);
      const sql = JSON.stringify({ sql: 'select 2 as n' });
      expect((await asked('', sql)).body).to.deep.equal({ result: [{ n: 2 }] });
      expect((await asked('&sql=select+1+as+n', sql)).body).to.deep.equal({ result: [{ n: 1 }] });
      expect((await asked('', '')).body).to.deep.equal({ result: [] });
      expect((await asked('', '{"sql":')).body.code).to.equal('REQUEST_INVALID');
      expect((await asked('', sql, 'text/plain')).body.code).to.equal('TYPE_UNKNOWN');
    }));

  it('refuses LQL with a sentence', () =>
    asking(async ({ get }) => {
      const { status, body } = await get('/api/endpoints/query/logs.all?project=p&lql=s:edge_logs');
      expect([status, body.code]).to.deep.equal([400, 'PARAMETER_INVALID']);
      expect(body.error.message).to.match(/Expected SQL in "sql", got LQL/);
      const both = await get('/api/endpoints/query/logs.all?project=p&lql=x&sql=select+1+as+n');
      expect(both.body).to.deep.equal({ result: [{ n: 1 }] });
    }));
});
