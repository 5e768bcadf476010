import { createRequire } from 'node:module';
import { expect } from 'chai';
import type { Express } from 'express';
import type { AnswerName } from '../../server/http/route.ts';
import { ANSWERS, Problem } from '../../server/openapi/schemas.ts';
import { type Served, TOKEN, withApp, withFolder } from '../support/helpers.ts';

interface Document {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, Operation>>;
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: { name: string; in: string; required?: boolean; schema: object }[];
  readonly responses: Record<string, { content: Record<string, unknown> }>;
}

interface Layer {
  readonly route?: { readonly path: string | string[] };
  readonly handle: { readonly stack?: Layer[] };
}

/** Returns every path that the app has a handler for, as the document writes it. */
function pathsOf(app: Express): string[] {
  const paths = (layers: readonly Layer[]): string[] =>
    layers.flatMap(({ route, handle }) =>
      route ? [route.path].flat() : handle.stack ? paths(handle.stack) : [],
    );
  return paths((app.router as unknown as { stack: Layer[] }).stack).map((path) =>
    path.replace(/:(\w+)/g, '{$1}'),
  );
}

const withServed = (action: (served: Served) => Promise<void>) =>
  withFolder((data) => withApp(data, action));

const documentOf = async ({ get }: Served): Promise<Document> =>
  (await get('/api/openapi.json')).body;

describe('the OpenAPI document', () => {
  it('has every path of the app, and no other', () =>
    withServed(async (served) => {
      const { openapi, paths } = await documentOf(served);
      expect(openapi).to.equal('3.1.0');
      const known = new Set(Object.keys(paths));
      const pages = /^\/docs/;
      const routes = pathsOf(served.express).filter((path) => !pages.test(path));
      expect(routes).to.have.length.above(15);
      const missing = routes.filter((path) => !path.includes('/query/') && !known.has(path));
      expect(missing).to.deep.equal([]);
      const unknown = [...known].filter(
        (path) => !routes.includes(path) && !path.startsWith('/api/endpoints/query/'),
      );
      expect(unknown).to.deep.equal([]);
    }));

  it('has the endpoints with the parameters that their files declare', () =>
    withServed(async (served) => {
      const { paths } = await documentOf(served);
      const { get, post } = paths['/api/endpoints/query/usage.api-counts'] ?? {};
      expect(post?.operationId).to.equal('post /api/endpoints/query/usage.api-counts');
      const parameters = new Map(get?.parameters?.map((each) => [each.name, each]));
      expect([...parameters.keys()]).to.deep.equal([
        'interval',
        'project',
        'sql',
        'dialect',
        'format',
      ]);
      expect(parameters.get('interval')).to.deep.include({ in: 'query', required: true });
      expect(parameters.get('interval')?.schema).to.deep.include({ type: 'string' });
      expect(parameters.get('format')?.schema).to.deep.include({ default: 'json' });
    }));

  it('says for every path what it answers and who may use it', () =>
    withServed(async (served) => {
      const { http, write, lines, get, routes } = served;
      write(
        'edge_logs/a.ndjson',
        '{"id":"a","project":"p","metadata":{"n":1}}\n{"id":"b"}\nbroken\nnull\n',
      );
      write('edge_logs/a.txt', '');
      write('elsewhere/a.log', 'x\n');
      await lines(4);
      const bodies: Record<string, (lines: { id: string }[]) => unknown> = {
        '/api/rejected/retry': ([first]) => ({ id: first?.id, line: '{}' }),
        '/api/logs': () => [],
        '/api/logs/:source': () => [{}],
        '/v1/logs': () => ({ resourceLogs: [] }),
      };
      const rejected = (await get('/api/rejected')).body.result;
      for (const { methods, path, scope, answer, parameters = [] } of routes) {
        // The saved queries have tests of their own.
        if (methods === null) continue;
        const method = methods.includes('POST') ? 'post' : 'get';
        const asked = `${method} ${path}`;
        const url = path.replace(':source', 'edge_logs');
        const values: Record<string, string> = {
          from: '2026-01-01T00:00:00Z',
          to: '2027-01-01T00:00:00Z',
          source_name: 'edge_logs',
          field: 'status',
        };
        const query = Object.fromEntries(
          parameters.flatMap(({ name }) => (values[name] ? [[name, values[name]]] : [])),
        );
        if (scope !== null) {
          const refused = await http[method](url).query(query);
          expect(refused.status, asked).to.equal(401);
          expect(() => Problem.parse(refused.body), asked).not.to.throw();
        }
        // A stream has no end; its own test reads it.
        if (!(answer in ANSWERS)) continue;
        const request = http[method](url).query(query).set('X-API-KEY', TOKEN);
        const response = await (method === 'post'
          ? request.send(bodies[path]?.(rejected) as object)
          : request);
        expect(response.status, `${asked} ${response.text}`).to.equal(200);
        const { error } = ANSWERS[answer as AnswerName].safeParse(response.body);
        expect(error?.message, `${asked} ${response.text.slice(0, 300)}`).to.equal(undefined);
      }
    }));

  it('can be read at /docs, without anything from other hosts', () =>
    withServed(async ({ http }) => {
      const page = await http.get('/docs');
      expect(page.headers['content-security-policy']).to.match(
        /^default-src 'none'; script-src 'self'/,
      );
      for (const [, url = ''] of page.text.matchAll(/(?:src|href)="([^"]*)"/g)) {
        if (url === '/favicon.svg') continue;
        expect((await http.get(url)).status, url).to.equal(200);
      }
      const { version } = createRequire(import.meta.url)('../../package.json');
      expect(
        (await http.get('/api/openapi.json').set('X-API-KEY', TOKEN)).body.info.version,
      ).to.equal(version);
    }));
});
