import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { clickhouseIt } from '../clickhouse/case.ts';
import { LONG } from '../faults/case.ts';
import { tokenFile } from '../faults/http.ts';
import { ledger } from '../faults/lines.ts';
import { eventually, type Service, withService } from '../support/helpers.ts';
import { seeded } from '../support/random.ts';

const MINUTE = 60_000;
const LINES = 6000;
/** One of so many questions is asked, in turn over all that they are made of. */
const SAMPLE = LONG ? 1 : 4;
/** So many rows of all answers mean that they were not empty. */
const ROWS = 5000 / SAMPLE ** 2;
/** Where windows of `usage.api-counts` begin, in minutes before now: no line may stand so near that the clocks of two questions differ. */
const EDGES = [15, 30, 60, 180, 1440, 4320, 10_080];
const MARGIN = 4;
const INTERVALS = [
  'hourly',
  'daily',
  'minutely',
  '15min',
  '30min',
  '1hr',
  '3hr',
  '1day',
  '3day',
  '7day',
];
const PATTERNS = [
  'ref-1',
  'ref-[12]',
  '.',
  'rest.v1',
  'a.b',
  '^https://ref-2',
  'ref-1|ref-2',
  '(?i)REF-3',
  'ü',
  'x{2,3}',
  'storage.*object$',
  'none of them',
  '*',
];
const SOUGHT = [
  null,
  'quote',
  'Ü',
  '漢',
  "' and \\",
  '%',
  'tab\tand\nline',
  'ref-3',
  '(?',
  '9007199254740993',
  'nothing',
];
const PROJECTS = ['ref-1', 'ref-2', "o'ne", 'ü %', '\\N', 'none', '*'];

describe('answers of ClickHouse', () => {
  clickhouseIt(
    'are those of the store, for the same lines and every parameter',
    async (server, folder) => {
      const lines = randomLines(Date.now());
      const folders = ['here', 'forwarded'].map((name) => join(folder, name));
      for (const data of folders) {
        mkdirSync(join(data, 'logs/edge_logs'), { recursive: true });
        appendFileSync(join(data, 'logs/edge_logs/a.ndjson'), lines.join(''));
      }
      const [here = '', forwarded = ''] = folders;
      // Lines without a project, too.
      const env = { TAILPOND_DEFAULT_PROJECT: 'off' };
      await withService(
        here,
        (one) =>
          withService(
            forwarded,
            async (other) => {
              await allThere(one, { stored: LINES });
              await allThere(other, { forwarded: LINES });
              await compare([one, here], [other, forwarded]);
            },
            { env: { ...env, TAILPOND_CLICKHOUSE_URL: server.url } },
          ),
        { env },
      );
    },
  );

  clickhouseIt(
    'fail in words where ClickHouse is away, or has no table',
    async (server, folder) => {
      await withService(
        join(folder, 'data'),
        async (service) => {
          const path = '/api/endpoints/query/logs.all?project=p';
          expect((await service.get(path)).body).to.deep.equal({ result: [] });
          await server.kill();
          const { status, body } = await service.get(path);
          expect([status, body.detail]).to.deep.equal([503, 'ClickHouse does not answer.']);
          await server.start();
          expect((await service.get(path)).status).to.equal(200);
          await server.client.command({ query: 'drop table edge_logs' });
          const withoutTable = await service.get(path);
          expect([withoutTable.status, withoutTable.body.detail]).to.deep.equal([
            503,
            'ClickHouse lacks something that answers need (UNKNOWN_TABLE): `tailpond clickhouse check` names it.',
          ]);
          for (const question of [
            '/api/entries/edge_logs',
            '/api/entries/edge_logs?q=a',
            '/api/endpoints/query/logs.all?project=p&sql=select%20count(*)%20as%20n%20from%20edge_logs',
          ])
            expect((await service.get(question)).status, question).to.equal(503);
        },
        { env: { TAILPOND_CLICKHOUSE_URL: server.url } },
      );
    },
  );
});

/** Asks both services everything there is, by tokens of all projects and of one. */
async function compare(
  [one, here]: readonly [Service, string],
  [other, there]: readonly [Service, string],
): Promise<void> {
  const files = [tokenFile(here), tokenFile(there)];
  const pinned = files.map((file) => file.add({ scopes: ['query'], project: 'ref-1' }));
  for (const { child } of [one, other]) child.kill('SIGHUP');
  const ask = async (service: Service, path: string, token: string | undefined) => {
    if (token === undefined) return service.get(path);
    const response = await fetch(service.url + path, { headers: { 'X-API-KEY': token } });
    return { status: response.status, body: await response.json() };
  };
  const isSame = async (path: string, tokens: readonly string[] = []) => {
    const [a, b] = [await ask(one, path, tokens[0]), await ask(other, path, tokens[1])];
    expect(a.status, path).to.equal(200);
    expect(b, path).to.deep.equal(a);
    return (a.body as { result: unknown[] }).result.length;
  };
  await eventually(async () =>
    expect(
      (await ask(other, '/api/endpoints/query/logs.all?project=ref-1', pinned[1])).status,
    ).to.equal(200),
  );
  let rows = 0;
  for (const interval of INTERVALS)
    for (const pattern of PATTERNS) {
      const path = `/api/endpoints/query/usage.api-counts?interval=${interval}&project=${encodeURIComponent(pattern)}`;
      rows += await isSame(path);
      if (pattern === 'ref-1') rows += await isSame(path, pinned);
    }
  const now = Date.now();
  const bounds = [null, now - 20 * MINUTE, now - 2 * 1440 * MINUTE, now - 30 * 1440 * MINUTE];
  for (const [n, project] of PROJECTS.entries())
    for (const [i, from] of bounds.entries())
      for (const [j, until] of bounds.entries()) {
        if ((n + i + j) % SAMPLE !== 0) continue;
        const search = new URLSearchParams({ project });
        if (from !== null) search.set('iso_timestamp_start', new Date(from).toISOString());
        if (until !== null) search.set('iso_timestamp_end', new Date(until).toISOString());
        rows += await isSame(`/api/endpoints/query/logs.all?${search}`);
      }
  // Answers without rows would all be the same.
  expect(rows).to.be.above(ROWS);
  await compareEntries(now, pinned, async (path, tokens) => {
    const [a, b] = [await ask(one, path, tokens?.[0]), await ask(other, path, tokens?.[1])];
    expect(a.status, path).to.equal(200);
    const [own, others] = [a, b].map(({ body }) => withoutIngested(body));
    expect(others, path).to.deep.equal(own);
    return (a.body as { result: unknown[] }).result.length;
  });
}

/** Asks both for their entries, their number and their projects, and for all of them. */
async function compareEntries(
  now: number,
  pinned: readonly string[],
  isSame: (path: string, tokens?: readonly string[]) => Promise<number>,
): Promise<void> {
  const pathOf = (name: string, query: Readonly<Record<string, string | null>>) => {
    const given = Object.entries(query).filter(
      (pair): pair is [string, string] => pair[1] !== null,
    );
    return `/api/${name}/edge_logs?${new URLSearchParams(given)}`;
  };
  const [from, to] = [2 * 1440, 20].map((minutes) =>
    new Date(now - minutes * MINUTE).toISOString(),
  );
  let rows = 0;
  for (const [n, project] of [null, '*', 'ref-1', "o'ne", 'ü %', '\\N', 'none'].entries())
    for (const [i, search] of SOUGHT.entries()) {
      if ((n + i) % SAMPLE !== 0) continue;
      const asked = { project, search };
      rows += await isSame(pathOf('entries', { ...asked, limit: '1000' }));
      rows += await isSame(pathOf('entries', { ...asked, from: from ?? '', to: to ?? '' }));
      rows += await isSame(pathOf('export', { ...asked, from: from ?? '', format: 'json' }));
      for (const buckets of ['1', '7', '500'])
        rows += await isSame(
          pathOf('histogram', { ...asked, buckets, from: '1970-01-01T00:00:00Z', to: to ?? '' }),
        );
      rows += await isSame(pathOf('histogram', { ...asked, from: from ?? '', to: to ?? '' }));
    }
  for (const project of [null, 'ref-1']) rows += await isSame(pathOf('projects', { project }));
  rows += await isSame(pathOf('entries', { limit: '7' }), pinned);
  rows += await isSame(pathOf('projects', {}), pinned);
  expect(rows).to.be.above(2 * ROWS);
}

/** Nodes store a line at moments of their own. */
function withoutIngested(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body), (name, value) =>
    name === 'ingested_at' ? undefined : value,
  );
}

async function allThere(service: Service, counts: Readonly<Record<string, number>>) {
  await eventually(async () => {
    const entry = (await ledger(service)).find(({ source }) => source === 'edge_logs');
    expect(entry).to.include(counts);
  }, 60_000);
}

/** Lines with odd URLs and metadata, each at a moment of its own. */
function randomLines(nowMs: number): string[] {
  const random = seeded(7);
  const of = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const moments = new Set<number>();
  return Array.from({ length: LINES }, (_, i) => {
    let at = Math.floor(nowMs - momentBefore(random) * MINUTE);
    // Either of two entries at one moment may come first.
    while (moments.has(at)) at--;
    moments.add(at);
    const micros = String(i % 1000).padStart(3, '0');
    const timestamp = new Date(at).toISOString().replace('Z', `${micros}Z`);
    const project = of(['ref-1', 'ref-2', 'ref-3', "o'ne", 'ü %', '\\N', null]);
    const host = of(['ref-1.example.org', 'ref-2.example.org', 'REF-3.example.org', undefined]);
    const path = of([
      '/rest/v1/x',
      '/storage/v1/object',
      '/auth/v1/token',
      '/realtime/v1',
      '/',
      undefined,
    ]);
    const tail = of(['', '?a=1', '?q=ü', '?line=a\nb', '?x=xxx', "?s='", '?t=a\tb']);
    const url = of([undefined, `https://${host ?? 'ref-2'}${path ?? ''}${tail}`]);
    const request = { method: of(['GET', 'POST']), path, host, url };
    const metadata = of([
      { request },
      [{ request: [request] }],
      { request, response: { status_code: of([200, 404, 500, null]) }, big: 9007199254740993n },
    ]);
    const event_message = of(['plain', "quote ' and \\", 'tab\tand\nline', 'ü 漢', '']);
    return `${stringify({ id: `i${i}`, timestamp, project, event_message, metadata })}\n`;
  });
}

/** Minutes, of the last eight days or so, mostly of the last hours. */
function momentBefore(random: () => number): number {
  for (;;) {
    const minutes = 1 + 11_000 * random() ** 3;
    if (EDGES.every((edge) => Math.abs(edge - minutes) > MARGIN)) return minutes;
  }
}

/** JSON, with whole numbers as they are. */
function stringify(value: unknown): string {
  return JSON.stringify(value, (_, each) =>
    typeof each === 'bigint' ? `<${each}>` : each,
  ).replaceAll(/"<(\d+)>"/g, '$1');
}
