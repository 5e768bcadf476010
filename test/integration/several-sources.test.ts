import { appendFileSync } from 'node:fs';
import { expect } from 'chai';
import { allSources } from '../../ingest/index.ts';
import { tokenFile } from '../faults/http.ts';
import { type ServerEvent, serverEvents } from '../support/events.ts';
import { eventually, type Service, TOKEN, withFolder, withService } from '../support/helpers.ts';
import { seeded } from '../support/random.ts';
import { SLOW } from '../support/slow.ts';

const BEGIN = Date.parse('2026-08-21T12:00:00Z');
const SOURCES = ['edge_logs', 'auth_logs', 'app_logs'];

/** Lines of three sources, mixed in time; no two have one moment. */
function linesOf(count: number) {
  const random = seeded(7);
  return Array.from({ length: count }, (_, i) => ({
    source: SOURCES[Math.floor(random() * 3)] ?? '',
    id: `n${i}`,
    timestamp: new Date(BEGIN + i * 1000 + Math.floor(random() * 999)).toISOString(),
    project: random() < 0.3 ? 'a' : 'b',
    level: random() < 0.2 ? 'error' : 'info',
    metadata: { user: `u${Math.floor(random() * 40)}` },
  }));
}

type Line = ReturnType<typeof linesOf>[number];

const write = (data: string, lines: readonly Line[]) => {
  for (const { source, ...line } of lines)
    appendFileSync(
      `${data}/logs/${source}/a.ndjson`,
      `${JSON.stringify({ ...line, event_message: `${line.level} of ${line.id}` })}\n`,
    );
};

const stored = (service: Service, count: number) =>
  eventually(async () => {
    const { body } = await service.get('/api/ledger');
    const entries = body.result as { rows: number }[];
    expect(entries.reduce((sum, { rows }) => sum + (rows ?? 0), 0)).to.equal(count);
  });

/** The values that most lines have, with their numbers, as a facet has them. */
const mostOf = (lines: readonly Line[], keyOf: (line: Line) => string) => {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(keyOf(line), (counts.get(keyOf(line)) ?? 0) + 1);
  return [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
};

describe('several sources at once', () => {
  it(`are listed, counted and followed as one, each entry with its source ${SLOW}`, () =>
    withFolder((data) =>
      withService(data, async (service) => {
        const lines = linesOf(600);
        write(data, lines);
        await stored(service, lines.length);
        const get = async (path: string, status = 200) => {
          const answer = await service.get(path);
          expect(answer.status, JSON.stringify(answer.body)).to.equal(status);
          return answer.body;
        };
        const newest = lines.toReversed();
        const isOf = (line: Line) => line.source !== 'app_logs';
        for (const [path, expected] of [
          ['*?limit=250', newest.slice(0, 250)],
          ['*?limit=1000', newest],
          ['auth_logs,edge_logs,auth_logs?limit=1000', newest.filter(isOf)],
          [
            '*?q=level:error+-user:u1',
            newest
              .filter((line) => line.level === 'error' && line.metadata.user !== 'u1')
              .slice(0, 100),
          ],
          ['*?project=a&limit=7', newest.filter((line) => line.project === 'a').slice(0, 7)],
          [`*?from=${newest[40]?.timestamp}&limit=1000`, newest.slice(0, 41)],
          [`*?to=${newest[40]?.timestamp}&limit=3`, newest.slice(41, 44)],
        ] as const) {
          const { result } = await get(`/api/entries/${path}`);
          const found = (result as Line[]).map(({ id, source }) => `${id} ${source}`);
          expect(found, path).to.eql(expected.map(({ id, source }) => `${id} ${source}`));
        }

        const range = `from=${new Date(BEGIN).toISOString()}&to=${new Date(BEGIN + 600_000).toISOString()}`;
        const { result: buckets } = await get(`/api/histogram/*?${range}&buckets=10&by=severity`);
        const minute = ({ timestamp }: { timestamp: string }) => timestamp.slice(0, 16);
        const counted = (buckets as { timestamp: string; entries: number; severity: string }[]).map(
          (bucket): [string, number] => [`${minute(bucket)} ${bucket.severity}`, bucket.entries],
        );
        expect(counted).to.have.deep.members(
          mostOf(lines, (line) => `${minute(line)} ${line.level}`),
        );
        const { result: users } = await get('/api/facets/*?field=user&limit=12');
        expect(users).to.eql(
          mostOf(lines, ({ metadata }) => metadata.user)
            .slice(0, 12)
            .map(([value, entries]) => ({ value, entries })),
        );
        const { result: projects } = await get('/api/projects/auth_logs,edge_logs');
        expect(projects).to.eql(
          mostOf(lines.filter(isOf), ({ project }) => project).map(([project, entries]) => ({
            project,
            entries,
          })),
        );

        const left = new AbortController();
        const headers = { 'X-API-KEY': TOKEN };
        const next = async (stream: AsyncGenerator<ServerEvent>, wanted: readonly Line[]) => {
          const found: string[] = [];
          let id = '';
          while (found.length < wanted.length) {
            const { value: event } = await stream.next();
            id = event?.get('id') ?? id;
            for (const entry of JSON.parse(event?.get('data') ?? '[]') as Line[])
              found.push(`${entry.id} ${entry.source}`);
          }
          expect(found).to.have.members(wanted.map((line) => `${line.id} ${line.source}`));
          return id;
        };
        const url = `${service.url}/api/tail/*`;
        const first = serverEvents(url, headers, left.signal);
        await first.next();
        const more = linesOf(30).map((line) => ({ ...line, id: `more ${line.id}` }));
        write(data, more);
        const stood = await next(first, more);
        left.abort();
        const away = linesOf(20).map((line) => ({ ...line, id: `away ${line.id}` }));
        write(data, away);
        await stored(service, lines.length + more.length + away.length);
        const again = new AbortController();
        const resumed = serverEvents(url, { ...headers, 'Last-Event-ID': stood }, again.signal);
        await next(resumed, away);
        again.abort();

        const pinned = { 'X-API-KEY': tokenFile(data).add({ scopes: ['query'], project: 'a' }) };
        service.child.kill('SIGHUP');
        await eventually(async () => {
          const { status } = await fetch(`${service.url}/api/entries/*`, { headers: pinned });
          expect(status).to.equal(200);
        });
        const cut = new AbortController();
        const begun = (await serverEvents(url, pinned, cut.signal).next()).value?.get('id') ?? '';
        cut.abort();
        const missed = linesOf(40).map((line) => ({ ...line, id: `missed ${line.id}` }));
        write(data, missed);
        await stored(service, lines.length + more.length + away.length + missed.length);
        const late = new AbortController();
        const own = missed.filter(({ project }) => project === 'a');
        await next(serverEvents(url, { ...pinned, 'Last-Event-ID': begun }, late.signal), own);
        late.abort();

        const { errors } = await get('/api/export/*', 400);
        expect((errors as { detail: string }[])[0]?.detail).to.equal(
          `An export has one source, got ${allSources().length}: export each by itself.`,
        );
        expect((await get('/api/entries/edge_logs,nginx', 404)).detail).to.include('"nginx"');
        expect((await get('/api/entries/edge_logs,', 404)).detail).to.include('""');
      }),
    ));
});
