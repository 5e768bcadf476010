import { once } from 'node:events';
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  eventually,
  type Service,
  spawnService,
  TOKEN,
  withFolder,
  withService,
} from '../support/helpers.ts';
import { SLOW } from '../support/slow.ts';

const OWN = { env: { TAILPOND_SOURCES: 'nginx_logs, worker_logs' } };

describe('sources of an operator’s own', () => {
  it('have a folder, rows, entries, a view, pushes and counters, as the built-in ones have', () =>
    withFolder((data) =>
      withService(
        data,
        async (service) => {
          for (const source of ['nginx_logs', 'app_logs']) append(data, source, [1, 2, 3]);
          const pushed = await fetch(`${service.url}/api/logs/worker_logs`, {
            method: 'POST',
            headers: { 'X-API-KEY': TOKEN, 'Content-Type': 'application/json' },
            body: line(1),
          });
          expect(pushed.status).to.equal(200);
          await eventually(async () => {
            const rows = await rowsOf(service);
            expect(rows).to.include({ nginx_logs: 3, app_logs: 3, worker_logs: 1 });
          });
          const entries = await service.get('/api/entries/nginx_logs');
          expect(idsOf(entries.body.result)).to.have.members(['1', '2', '3']);
          const sql = `select n.id, w.id as other, m.level from nginx_logs n
            join worker_logs w on w.id = n.id cross join unnest(n.metadata) as m`;
          const search = new URLSearchParams({ project: 'p', sql });
          const { body } = await service.get(`/api/endpoints/query/logs.all?${search}`);
          expect(body.result, JSON.stringify(body)).to.deep.equal([
            { id: '1', other: '1', level: 'info' },
          ]);
          const listed = (await service.get('/api/sources')).body as unknown as { name: string }[];
          expect(listed.map(({ name }) => name)).to.include.members(['nginx_logs', 'app_logs']);
          const metrics = await fetch(`${service.url}/metrics`, {
            headers: { 'X-API-KEY': TOKEN },
          });
          expect(await metrics.text()).to.match(/\{source="nginx_logs"\} 3\n/);
          expect(await service.end('SIGTERM')).to.equal(0);
        },
        OWN,
      ),
    ));

  it(`keep their rows when they are taken off the list, and have them when they are back ${SLOW}`, () =>
    withFolder(async (data) => {
      await withService(
        data,
        async (service) => {
          append(data, 'nginx_logs', [1]);
          // Its file is there until it is safe in the database file.
          const pushed = await fetch(`${service.url}/api/logs/nginx_logs`, {
            method: 'POST',
            headers: { 'X-API-KEY': TOKEN, 'Content-Type': 'application/json' },
            body: line(2),
          });
          expect(pushed.status).to.equal(200);
          await eventually(async () => expect(await rowsOf(service)).to.include({ nginx_logs: 2 }));
          expect(await service.end('SIGTERM')).to.equal(0);
        },
        OWN,
      );
      await withService(data, async (service) => {
        const warning = service.log.find(
          ({ source, rows }) => source === 'nginx_logs' && rows === 2,
        );
        expect(warning?.msg).to.match(/^TAILPOND_SOURCES does not name a source any more/);
        expect((await service.get('/api/entries/nginx_logs')).status).to.equal(404);
        const { body } = await service.get('/api/ledger');
        const refused = JSON.stringify(body);
        expect(refused).to.include('it belongs to no source: TAILPOND_SOURCES can name one');
        append(data, 'nginx_logs', [3]);
        expect(await service.end('SIGTERM')).to.equal(0);
      });
      await withService(
        data,
        async (service) => {
          await eventually(async () => expect(await rowsOf(service)).to.include({ nginx_logs: 3 }));
          const entries = await service.get('/api/entries/nginx_logs');
          expect(idsOf(entries.body.result)).to.have.members(['1', '2', '3']);
        },
        OWN,
      );
    }));

  for (const [name, part] of [
    ['ledger', 'is a name that the store uses'],
    ['select', 'is a name that SQL uses'],
    ['Nginx', 'expected names of small letters'],
    ['edge_logs_all', 'expected names of small letters'],
    ['a_logs,a_logs', 'expected names of small letters'],
  ] as const)
    it(`cannot be called ${name}, and the start says so`, () =>
      withFolder(async (data) => {
        const { child, errors } = spawnService(data, { env: { TAILPOND_SOURCES: name } });
        const [code] = await once(child, 'close');
        expect(errors.join('\n'))
          .to.match(/^TAILPOND_SOURCES: /m)
          .and.include(part);
        expect(code).to.equal(78);
      }));
});

function line(id: number): string {
  return JSON.stringify({
    id: String(id),
    timestamp: new Date().toISOString(),
    project: 'p',
    event_message: `line ${id}`,
    metadata: { level: 'info' },
  });
}

function append(data: string, source: string, ids: readonly number[]): void {
  mkdirSync(join(data, 'logs', source), { recursive: true });
  appendFileSync(join(data, 'logs', source, 'a.log'), ids.map((id) => `${line(id)}\n`).join(''));
}

async function rowsOf(service: Service): Promise<Record<string, number>> {
  const { body } = await service.get('/api/ledger');
  const entries = body.result as { source: string; rows: number }[];
  return Object.fromEntries(entries.map(({ source, rows }) => [source, rows]));
}

function idsOf(result: unknown): string[] {
  return (result as { id: string }[]).map(({ id }) => id);
}
