import { join } from 'node:path';
import { expect } from 'chai';
import { clickhouseIt, clickhouseSuite } from '../clickhouse/case.ts';
import { type Twins, withTwins } from '../clickhouse/nodes.ts';
import { LONG } from '../faults/case.ts';
import { tokenFile } from '../faults/http.ts';
import { eventually, type Service, TOKEN, withService } from '../support/helpers.ts';
import { opened } from '../support/opened.ts';
import { seeded } from '../support/random.ts';
import { SAMPLE_SEED } from '../support/sample.ts';

const MINUTE = 60_000;
const LINES = 6000;
/** One of so many questions is asked, in turn over all that they are made of. */
const SAMPLE = LONG ? 1 : 5;
const isAsked = (sum: number) => sum % SAMPLE === SAMPLE_SEED % SAMPLE;
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

clickhouseSuite(
  `answers of ClickHouse are those of the store, for the same lines, TAILPOND_TEST_SEED=${SAMPLE_SEED}`,
  (shared) => {
    const twins = opened<Asking>((action) =>
      withTwins(
        shared(),
        randomLines(Date.now()).map((line) => ({ source: 'edge_logs', line })),
        async (twins) => action(await askingOf(twins)),
        // Lines without a project, too.
        { env: { TAILPOND_DEFAULT_PROJECT: 'off' } },
      ),
    );

    it('to usage.api-counts, of each interval and pattern', async () => {
      let rows = 0;
      for (const [n, interval] of INTERVALS.entries())
        for (const [i, pattern] of PATTERNS.entries()) {
          if (!isAsked(n + i)) continue;
          const path = `/api/endpoints/query/usage.api-counts?${new URLSearchParams({ interval, project: pattern })}`;
          rows += await twins().isSame(path);
        }
      // Answers without rows would all be the same.
      expect(rows).to.be.above(100);
    });

    it('to logs.all, of each project, and bounds', async () => {
      const now = Date.now();
      const bounds = [null, now - 20 * MINUTE, now - 2 * 1440 * MINUTE, now - 30 * 1440 * MINUTE];
      let rows = 0;
      for (const [n, project] of PROJECTS.entries())
        for (const [i, from] of bounds.entries())
          for (const [j, until] of bounds.entries()) {
            if (!isAsked(n + i + j)) continue;
            const search = new URLSearchParams({ project });
            if (from !== null) search.set('iso_timestamp_start', new Date(from).toISOString());
            if (until !== null) search.set('iso_timestamp_end', new Date(until).toISOString());
            rows += await twins().isSame(`/api/endpoints/query/logs.all?${search}`);
          }
      expect(rows).to.be.above(100);
    });

    it('to searches of entries, their export and their number, of each project', async () => {
      const [from = '', to = ''] = [2 * 1440, 20].map((minutes) =>
        new Date(Date.now() - minutes * MINUTE).toISOString(),
      );
      const projects = [null, '*', 'ref-1', "o'ne", 'ü %', '\\N', 'none'];
      let rows = 0;
      for (const [n, project] of projects.entries())
        for (const [i, search] of SOUGHT.entries()) {
          if (!isAsked(n + i)) continue;
          const asked = { project, search };
          for (const path of [
            pathOf('entries', { ...asked, limit: '1000' }),
            pathOf('entries', { ...asked, from, to }),
            pathOf('export', { ...asked, from, format: 'json' }),
            pathOf('histogram', { ...asked, from, to }),
            ...['1', '7', '500'].map((buckets) =>
              pathOf('histogram', { ...asked, buckets, from: '1970-01-01T00:00:00Z', to }),
            ),
          ])
            rows += await twins().isSame(path);
        }
      expect(rows).to.be.above(1000);
    });

    it('to a token of one project, and about projects', async () => {
      const { isSame, pinned } = twins();
      for (const path of [
        '/api/endpoints/query/usage.api-counts?interval=7day&project=ref-1',
        pathOf('entries', { limit: '7' }),
        pathOf('projects', {}),
      ])
        expect(await isSame(path, pinned), path).to.be.above(0);
      for (const project of [null, 'ref-1'])
        expect(await isSame(pathOf('projects', { project }))).to.be.above(0);
    });
  },
);

describe('answers of ClickHouse', () => {
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

/** Asks twins the same. */
interface Asking {
  /** Returns the number of rows that both answer. Throws where they differ. `tokens`: the token for each of them. */
  isSame(path: string, tokens?: Tokens): Promise<number>;
  /** Tokens of the project ref-1. */
  readonly pinned: Tokens;
}

type Tokens = readonly [here: string, forwarded: string];

async function askingOf({ here, forwarded, folders }: Twins): Promise<Asking> {
  const pinnedIn = (data: string) => tokenFile(data).add({ scopes: ['query'], project: 'ref-1' });
  const pinned = [pinnedIn(folders.here), pinnedIn(folders.forwarded)] as const;
  for (const { child } of [here, forwarded]) child.kill('SIGHUP');
  const ask = async (service: Service, path: string, token = TOKEN) => {
    const response = await fetch(service.url + path, { headers: { 'X-API-KEY': token } });
    return { status: response.status, body: withoutIngested(await response.json()) };
  };
  for (const [i, service] of [here, forwarded].entries())
    await eventually(async () => {
      const { status } = await ask(service, '/api/sources', pinned[i]);
      expect(status).to.equal(200);
    });
  return {
    pinned,
    async isSame(path, tokens) {
      const [own, other] = [
        await ask(here, path, tokens?.[0]),
        await ask(forwarded, path, tokens?.[1]),
      ];
      expect(own.status, path).to.equal(200);
      expect(other, path).to.deep.equal(own);
      return (own.body as { result: unknown[] }).result.length;
    },
  };
}

function pathOf(name: string, query: Readonly<Record<string, string | null>>): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== null);
  return `/api/${name}/edge_logs?${new URLSearchParams(given)}`;
}

/** Nodes store a line at moments of their own. */
function withoutIngested(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body), (name, value) =>
    name === 'ingested_at' ? undefined : value,
  );
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
