import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { tokenFile } from '../faults/http.ts';
import { eventually, type Service, TOKEN, withFolder, withService } from '../support/helpers.ts';

const MOMENT = '2026-11-20T10:00:00Z';
const SAVED = '/api/endpoints/query/logs.all';
const COUNTS = '/api/endpoints/query/usage.api-counts';

/** Lines that name a project in each way there is, and in none; the id of each is the project that it names. */
const LINES = [
  { id: 'own', project: 'own', metadata: {} },
  { id: 'inner', metadata: { project: 'inner' } },
  { id: 'first', metadata: [{ project_ref: 'first' }, { project: 'second' }] },
  { id: 'none-1', metadata: { user: 1 } },
  { id: 'none-2', project: null, metadata: [{ project: null }] },
  // A flat line.
  { id: 'none-3', level: 'info' },
].map((line) => ({ timestamp: MOMENT, event_message: line.id, ...line }));

describe('the project of a line that names none', () => {
  it('is the default one, or that of its source', () =>
    withFolder((data) =>
      withService(
        data,
        async (service) => {
          append(data, 'edge_logs', LINES);
          append(data, 'app_logs', LINES);
          append(data, 'auth_logs', LINES);
          expect(await projectsOf(service, 'edge_logs')).to.deep.equal(named('main'));
          expect(await projectsOf(service, 'app_logs')).to.deep.equal(named('website'));
          expect(await projectsOf(service, 'auth_logs')).to.deep.equal(named(null));
          const { body } = await service.get(`${SAVED}?project=main`);
          expect(idsOf(body.result)).to.have.members(['none-1', 'none-2', 'none-3']);
        },
        { env: { TAILPOND_DEFAULT_PROJECT: 'main, app_logs=website, auth_logs=off' } },
      ),
    ));

  it('is “default” without a setting', () =>
    withFolder((data) =>
      withService(data, async (service) => {
        append(data, 'edge_logs', LINES);
        expect(await projectsOf(service, 'edge_logs')).to.deep.equal(named('default'));
      }),
    ));

  it('is the one that a push says', () =>
    withFolder((data) =>
      withService(data, async (service) => {
        const text = `${LINES.map((line) => JSON.stringify(line)).join('\n')}\nno object\n[1]\n{"id":"torn`;
        const status = await push(service, '/api/logs/storage_logs?project=pushed', text);
        expect(status).to.equal(200);
        const array = JSON.stringify(LINES);
        expect(
          await push(service, '/api/logs?source=auth_logs&project=%C3%BC', array, 'json'),
        ).to.equal(200);
        expect(await projectsOf(service, 'storage_logs')).to.deep.equal(named('pushed'));
        expect(await projectsOf(service, 'auth_logs')).to.deep.equal(named('ü'));
        const { body } = await service.get('/api/rejected');
        const rejected = (body.result as { line: string }[]).map(({ line }) => line);
        expect(rejected).to.have.members(['no object', '[1]', '{"id":"torn']);
      }),
    ));

  it('is the one that a push says, also for lines of text and for those that are repaired', () =>
    withFolder((data) =>
      withService(data, async (service) => {
        const text = 'no object\n[1]\n{"id":"torn\n{"id":"a","n":-}\n{"id":"b","project":"own",}\n';
        expect(await push(service, '/api/logs/app_logs?project=pushed', text)).to.equal(200);
        await eventually(async () => {
          const { body } = await service.get('/api/entries/app_logs?project=*');
          const entries = body.result as { event_message: string; project: string }[];
          expect(
            entries.map(({ event_message, project }) => [event_message, project]),
          ).to.have.deep.members([
            ['no object', 'pushed'],
            ['[1]', 'pushed'],
            ['{"id":"torn', 'pushed'],
            ['', 'pushed'],
            ['', 'own'],
          ]);
        });
      }),
    ));

  it('may not be another one than that of the token, nor several', () =>
    withFolder(async (data) => {
      const token = tokenFile(data).add({ scopes: ['ingest'], project: 'mine' });
      await withService(data, async (service) => {
        const [line] = LINES;
        const text = JSON.stringify(line);
        const path = '/api/logs/app_logs?project=';
        expect(await push(service, `${path}other`, text, 'x-ndjson', token)).to.equal(403);
        expect(await push(service, `${path}mine`, text, 'x-ndjson', token)).to.equal(200);
        for (const wrong of ['', '*', 'a,b', 'a&project=b', 'x'.repeat(129)])
          expect(await push(service, path + wrong, text), wrong).to.equal(400);
        await eventually(async () =>
          expect((await service.get('/api/projects/app_logs')).body.result).to.deep.equal([
            { project: 'mine', entries: 1 },
          ]),
        );
      });
    }));
});

describe('lines that are pushed with the token of one project', () => {
  it('are of that one, however they say another', () =>
    withFolder(async (data) => {
      const token = tokenFile(data).add({ scopes: ['ingest'], project: 'mine' });
      await withService(
        data,
        async (service) => {
          const inner = '{"project":"theirs","msg":"m"}';
          const lines = [
            { log: inner },
            { MESSAGE: inner },
            { log: JSON.parse(inner) },
            { project: 'theirs', log: inner },
            { project: 'theirs', log: inner, metadata: null },
            { log: '{"project":null}' },
            { log: '{"metadata":{"project":"theirs"}}' },
            { message: 'm', metadata: { project: 'theirs' } },
          ].map((line) => JSON.stringify(line));
          const runtime = [
            '2026-11-20T10:00:00Z stdout F text',
            `2026-11-20T10:00:00Z stdout F ${inner}`,
            `2026-11-20T10:00:00Z stdout P ${inner}`,
            `\u0000 2026-11-20T10:00:00Z stdout F ${inner}`,
          ];
          for (const [source, text] of [
            ['app_logs', lines.join('\n')],
            ['edge_logs', lines.join('\n')],
            ['k8s_logs', [...lines, ...runtime].join('\n')],
          ] as const)
            expect(await push(service, `/api/logs/${source}`, text, 'x-ndjson', token)).to.equal(
              200,
            );
          await eventually(async () => {
            for (const [source, count] of [
              ['app_logs', 8],
              ['edge_logs', 8],
              ['k8s_logs', 12],
            ] as const) {
              const { body } = await service.get('/api/ledger');
              const ledger = body.result as { source: string; lines: number; rows: number }[];
              const entry = ledger.find((each) => each.source === source);
              expect(entry?.lines, source).to.equal(count);
              const projects = await service.get(`/api/projects/${source}`);
              expect(projects.body.result, source).to.deep.equal([
                { project: 'mine', entries: entry?.rows },
              ]);
            }
          });
          const named = [
            '2026-11-20T10:00:00Z stdout F text',
            `2026-11-20T10:00:00Z stdout F ${inner}`,
          ];
          expect(await push(service, '/api/logs/k8s_logs?project=web', named.join('\n'))).to.equal(
            200,
          );
          await eventually(async () => {
            const { body } = await service.get('/api/projects/k8s_logs');
            const projects = (body.result as { project: string }[]).map(({ project }) => project);
            expect(projects).to.have.members(['mine', 'web', 'theirs']);
          });
        },
        { env: { TAILPOND_SOURCES: 'k8s_logs', TAILPOND_LINE_FORMAT: 'json,k8s_logs=cri' } },
      );
    }));
});

describe('project=*', () => {
  it('asks for all projects, at every path', () =>
    withFolder((data) =>
      withService(data, async (service) => {
        append(data, 'edge_logs', recent(LINES));
        const ids = LINES.map(({ id }) => id);
        await projectsOf(service, 'edge_logs');
        const get = async (path: string) => {
          const { status, body } = await service.get(path);
          expect(status, `${path} ${JSON.stringify(body)}`).to.equal(200);
          return body.result;
        };
        expect(idsOf(await get('/api/entries/edge_logs?project=*'))).to.have.members(ids);
        expect(idsOf(await get(`${SAVED}?project=*`))).to.have.members(ids);
        const sql = encodeURIComponent('select id from edge_logs');
        expect(idsOf(await get(`${SAVED}?project=*&sql=${sql}`))).to.have.members(ids);
        const counts = (await get(`${COUNTS}?project=*&interval=1hr`)) as Record<string, number>[];
        expect(counts.reduce((sum, row) => sum + (row.total_rest_requests ?? 0), 0)).to.equal(6);
        const count = encodeURIComponent('select count(*) as requests from requests');
        expect(await get(`${COUNTS}?project=*&interval=1hr&sql=${count}`)).to.deep.equal([
          { requests: 6 },
        ]);
        expect(await get('/api/projects/edge_logs?project=*')).to.have.length(4);
        const exported = await get('/api/export/edge_logs?project=*&format=json');
        expect(idsOf(exported)).to.have.members(ids);
        const bounds = 'from=2020-01-01T00:00:00Z&to=2030-01-01T00:00:00Z';
        const histogram = (await get(`/api/histogram/edge_logs?project=*&${bounds}`)) as {
          entries: number;
        }[];
        expect(histogram.reduce((sum, { entries }) => sum + entries, 0)).to.equal(6);
        const tail = await fetch(`${service.url}/api/tail/edge_logs?project=*`, {
          headers: { 'X-API-KEY': TOKEN },
        });
        append(data, 'edge_logs', [{ id: 'followed', project: 'another' }]);
        let followed = '';
        const decoder = new TextDecoder();
        for await (const chunk of tail.body ?? []) {
          followed += decoder.decode(chunk, { stream: true });
          if (followed.includes('"id":"followed"')) break;
        }
      }),
    ));

  it('is refused to a token of one project, and by an endpoint that does not know it', () =>
    withFolder(async (data) => {
      const token = tokenFile(data).add({ scopes: ['query'], project: 'own' });
      const endpoints = join(data, 'endpoints');
      mkdirSync(endpoints);
      writeFileSync(
        join(endpoints, 'ids.sql'),
        `-- The ids of one project.
--! uuid: 0b0f6f0a-8a9b-4f2c-9d3e-5a1c2b3d4e5f
--! max_rows: 10
--! caching: off
--! warming: off
--! sandboxing: off
--! redact_pii: off
--! parameter: project string required, the project
select id from edge_logs where project = @project::varchar
`,
      );
      await withService(
        data,
        async (service) => {
          append(data, 'edge_logs', recent(LINES));
          await projectsOf(service, 'edge_logs');
          for (const path of [
            '/api/entries/edge_logs?project=*',
            '/api/export/edge_logs?project=*',
            '/api/projects/edge_logs?project=*',
            '/api/tail/edge_logs?project=*',
            `${SAVED}?project=*`,
            `${SAVED}?project=*&sql=select%201`,
            `${COUNTS}?project=*&interval=1hr`,
          ]) {
            const { status } = await fetch(service.url + path, { headers: { 'X-API-KEY': token } });
            expect(status, path).to.equal(403);
          }
          const { status, body } = await service.get('/api/endpoints/query/ids?project=*');
          expect([status, body.code]).to.deep.equal([400, 'PARAMETER_INVALID']);
          expect(JSON.stringify(body)).to.include('does not use @any_project');
          const { body: own } = await service.get('/api/endpoints/query/ids?project=own');
          expect(own.result).to.deep.equal([{ id: 'own' }]);
        },
        { env: { TAILPOND_ENDPOINTS: endpoints } },
      );
    }));
});

/** The project of each line, by id, where those that name none have `project`. */
function named(project: string | null): Record<string, string | null> {
  return Object.fromEntries(LINES.map(({ id }) => [id, id.startsWith('none') ? project : id]));
}

/** Requests of just now. */
function recent(lines: typeof LINES): object[] {
  const timestamp = new Date(Date.now() - 60_000).toISOString();
  return lines.map((line) => {
    const [metadata = {}] = 'metadata' in line ? [line.metadata].flat() : [];
    return { ...line, timestamp, metadata: { ...metadata, request: { path: '/rest/v1/x' } } };
  });
}

function append(data: string, source: string, lines: readonly object[]): void {
  mkdirSync(join(data, 'logs', source), { recursive: true });
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  appendFileSync(join(data, 'logs', source, 'a.log'), text);
}

async function push(
  service: Service,
  path: string,
  body: string,
  type = 'x-ndjson',
  token = TOKEN,
): Promise<number> {
  const headers = { 'X-API-KEY': token, 'Content-Type': `application/${type}` };
  return (await fetch(service.url + path, { method: 'POST', headers, body })).status;
}

/** The project of each entry of a source, by id, once all of `LINES` are there. */
async function projectsOf(service: Service, source: string) {
  return eventually(async () => {
    const { body } = await service.get(`/api/entries/${source}`);
    const entries = body.result as { id: string; project: string | null }[];
    expect(entries).to.have.length(LINES.length);
    return Object.fromEntries(entries.map(({ id, project }) => [id, project]));
  });
}

function idsOf(result: unknown): string[] {
  return (result as { id: string }[]).map(({ id }) => id);
}
