import { expect } from 'chai';
import { allSources } from '../../ingest/index.ts';
import { writeTokenFile } from '../../server/auth/token-file.ts';
import { digestOf, makeToken } from '../../server/auth/tokens.ts';
import { readConfig } from '../../server/config/config.ts';
import { logflareName, sourceUuid } from '../../server/push/source.ts';
import { type Served, TOKEN, withApp, withFolder } from '../support/helpers.ts';

const serving = (action: (served: Served) => Promise<void>, settings = {}) =>
  withFolder((data) => withApp(data, action, settings));

const PATHS = ['/api/backends', '/api/sources'];

describe('what Studio asks Logflare for', () => {
  it('gets a bare empty array for log drains, whatever the filter', () =>
    serving(async ({ http }) => {
      // First as Studio writes it, with escaped brackets, then as curl would.
      for (const query of [
        '',
        '?metadata%5Btype%5D=log-drain',
        '?metadata[type]=log-drain',
        '?%',
      ]) {
        const { status, text, headers } = await http
          .get(`/api/backends${query}`)
          .set('Authorization', `Bearer ${TOKEN}`)
          .set('Content-Type', 'application/json');
        expect([status, text], query).to.deep.equal([200, '[]']);
        expect(headers['content-type']).to.equal('application/json; charset=utf-8');
        expect(headers['cache-control']).to.equal('private, no-cache');
      }
    }));

  it('gets the sources by the names that Logflare gives them', () =>
    serving(async ({ get }) => {
      const { status, body } = await get('/api/sources');
      expect(status).to.equal(200);
      expect(body.map(({ name }: { name: string }) => name)).to.deep.equal([
        'cloudflare.logs.prod',
        'postgres.logs',
        'deno-relay-logs',
        'deno-subhosting-events',
        'gotrue.logs.prod',
        'realtime.logs.prod',
        'storage.logs.prod.2',
        'postgREST.logs.prod',
        'pgbouncer.logs.prod',
        'app_logs',
      ]);
      expect(new Set(allSources().map(logflareName))).to.have.property('size', allSources().length);
      expect(body[8]).to.deep.equal({
        id: 9,
        name: 'pgbouncer.logs.prod',
        token: 'pgbouncer_logs',
        uuid: sourceUuid('pgbouncer_logs'),
        retention_days: null,
        backends: [],
      });
    }));

  it('gets the number of days for which each source is kept', () => {
    const { config } = readConfig({ TAILPOND_RETENTION: '30d,auth_logs=off,edge_logs=12h' });
    return serving(
      async ({ get }) => {
        const { body } = await get('/api/sources');
        const days = Object.fromEntries(
          body.map(({ name, retention_days }: Record<string, unknown>) => [name, retention_days]),
        );
        expect(days).to.include({
          'cloudflare.logs.prod': 0.5,
          'postgres.logs': 30,
          'gotrue.logs.prod': null,
        });
      },
      { limits: config },
    );
  });

  it('needs a token with the scope query, also one that is pinned to a project', () =>
    withFolder((data) => {
      const token = (scopes: 'query'[] | 'ingest'[] | 'admin'[], project?: string) => {
        const id = `${scopes[0]}${project ?? ''}`;
        const text = makeToken(id);
        const hash = digestOf(text).toString('hex');
        return { text, entry: { id, hash, scopes, ...(project ? { project } : {}) } };
      };
      const [query, pinned, ingest, admin] = [
        token(['query']),
        token(['query'], 'default'),
        token(['ingest']),
        token(['admin']),
      ];
      writeTokenFile(
        `${data}/tokens.json`,
        [query, pinned, ingest, admin].map(({ entry }) => entry),
      );
      return withApp(data, async ({ http }) => {
        for (const path of PATHS) {
          expect((await http.get(path)).status, path).to.equal(401);
          for (const { text } of [query, pinned])
            expect((await http.get(path).set('X-API-KEY', text)).status, path).to.equal(200);
          for (const { text } of [ingest, admin]) {
            const { status, body } = await http.get(path).set('X-API-KEY', text);
            expect([status, body.code], path).to.deep.equal([403, 'SCOPE_MISSING']);
          }
        }
      });
    }));

  it('says that a log drain cannot be made in a form that Studio does not take for one', () =>
    serving(async ({ http, get }) => {
      for (const path of ['/api/backends', '/api/backends/1', '/api/backends/1/test'])
        for (const method of ['post', 'put', 'delete', 'patch'] as const) {
          const response = await http[method](path).set('X-API-KEY', TOKEN).send({ name: 'drain' });
          expect(response.status, `${method} ${path}`).to.equal(405);
          expect(response.headers.allow).to.equal('GET, HEAD');
          expect(response.headers['content-type']).to.equal('text/plain; charset=utf-8');
          expect(() => JSON.parse(response.text)).to.throw(SyntaxError);
          expect(response.text).to.match(/no log drains here.*\/api\/export/);
        }
      expect((await get('/api/backends/1')).status).to.equal(404);
    }));

  it('says in error.message that the sources cannot be changed', () =>
    serving(async ({ http }) => {
      for (const method of ['post', 'put', 'delete', 'patch', 'options'] as const) {
        const { status, headers, body } = await http[method]('/api/sources').set(
          'X-API-KEY',
          TOKEN,
        );
        expect(status, method).to.equal(405);
        expect(headers.allow).to.equal('GET, HEAD');
        expect(body.error.message).to.match(/TAILPOND_SOURCES/);
      }
      for (const path of PATHS)
        expect((await http.head(path).set('X-API-KEY', TOKEN)).status).to.equal(200);
    }));

  it('says in error.message that an endpoint is unknown when Logflare does not have it either', () =>
    serving(async ({ get }) => {
      for (const name of ['project.metrics', 'api_keys.last_used.otel', 'functions.inv-stats']) {
        const { status, body } = await get(`/api/endpoints/query/${name}?project=default`);
        expect([status, body.code], name).to.deep.equal([404, 'ENDPOINT_UNKNOWN']);
        expect(body.error.message).to.be.a('string').and.not.empty;
      }
    }));
});
