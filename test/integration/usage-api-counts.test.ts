import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../../server/config/package-root.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { eventually, type Served, TOKEN, withApp, withFolder } from '../support/helpers.ts';
import { opened } from '../support/opened.ts';

const PATH = '/api/endpoints/query/usage.api-counts';
const UUID = '8c6d7f1e-3b7a-4d0e-8f52-0a4c9e1b6d20';
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
const COLUMNS = [
  'timestamp',
  'total_rest_requests',
  'total_storage_requests',
  'total_auth_requests',
  'total_realtime_requests',
];

interface Row {
  readonly timestamp: string;
  readonly [count: string]: number | string;
}

/** An edge line, `at` ms since the epoch. */
function line(at: number, request: Record<string, unknown> = {}, project = 'ref'): string {
  const fields = {
    id: `${at}-${JSON.stringify(request)}`,
    timestamp: new Date(at).toISOString(),
    project,
    event_message: 'GET',
    metadata: [{ request: [request] }],
  };
  return `${JSON.stringify(fields)}\n`;
}

const rest = { path: '/rest/v1/x', url: 'https://ref.example.org/rest/v1/x' };

/** The app with these lines stored. */
const withLines = (
  lines: readonly string[],
  action: (served: Served, ask: (query: string) => Promise<Row[]>) => Promise<void>,
) =>
  withFolder((data) =>
    withApp(data, async (served) => {
      if (lines.length > 0) {
        served.write('edge_logs/a.ndjson', lines.join(''));
        await served.lines(lines.length);
      }
      await action(served, async (query) => {
        const { status, body } = await served.get(`${PATH}?${query}`);
        expect(status, JSON.stringify(body)).to.equal(200);
        return body.result;
      });
    }),
  );

/** The sum over all rows: rest, storage, auth, realtime. */
function sums(rows: readonly Row[]): number[] {
  return COLUMNS.slice(1).map((name) => rows.reduce((sum, row) => sum + Number(row[name]), 0));
}

function truncated(at: number, size: number): string {
  return new Date(at - (at % size)).toISOString().replace('.000Z', 'Z');
}

const windows = [
  { interval: 'daily', window: 7 * DAY, bucket: DAY, name: '7 days' },
  { interval: 'hourly', window: HOUR, bucket: HOUR, name: 'an hour' },
  { interval: 'minutely', window: 60 * MINUTE, bucket: MINUTE, name: '60 minutes' },
  { interval: '15min', window: 15 * MINUTE, bucket: MINUTE, name: '15 minutes' },
  { interval: '30min', window: 30 * MINUTE, bucket: MINUTE, name: '30 minutes' },
  { interval: '1hr', window: 60 * MINUTE, bucket: MINUTE, name: '60 minutes' },
  { interval: '3hr', window: 3 * HOUR, bucket: MINUTE, name: '3 hours' },
  { interval: '1day', window: 24 * HOUR, bucket: HOUR, name: '24 hours' },
  { interval: '3day', window: 72 * HOUR, bucket: HOUR, name: '72 hours' },
  { interval: '7day', window: 7 * DAY, bucket: DAY, name: '7 days' },
];

describe('usage.api-counts: the window of each interval', () => {
  let now = 0;
  /** Lines inside of a window and outside, by how long ago they were. */
  const around = (window: number) => ({
    // Two minutes of margin on both sides, so that the test's own time does not matter.
    inside: [2 * MINUTE, window / 3, window / 2, window / 2 + 1, window - 2 * MINUTE],
    outside: [window + 2 * MINUTE, 2 * window, 400 * DAY, -2 * MINUTE, -HOUR, -3 * DAY],
  });
  const asking = opened<(query: string) => Promise<Row[]>>((action) => {
    now = Date.now();
    const lines = windows.flatMap(({ interval, window }) => {
      const { inside, outside } = around(window);
      const own = { path: '/rest/v1/x', url: `https://${interval}.example.org/rest/v1/x` };
      return [...inside, ...outside].map((ago) => line(now - ago, own));
    });
    return withLines(lines, (_served, ask) => action(ask));
  });

  for (const { interval, window, bucket, name } of windows) {
    it(`${interval} counts the last ${name} and no more, in buckets of UTC, ascending`, async () => {
      const rows = await asking()(`interval=${interval}&project=//${interval}[.]`);
      const expected = new Map<string, number>();
      for (const ago of around(window).inside) {
        const start = truncated(now - Math.ceil(ago), bucket);
        expected.set(start, (expected.get(start) ?? 0) + 1);
      }
      expect(rows).to.deep.equal(
        [...expected]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([timestamp, count]) => ({
            timestamp,
            total_rest_requests: count,
            total_storage_requests: 0,
            total_auth_requests: 0,
            total_realtime_requests: 0,
          })),
      );
    });
  }
});

describe('usage.api-counts: windows and buckets', () => {
  it('counts from the first microsecond of the window to the current one', () => {
    // The endpoint as it is, with the current time fixed.
    const now = '2026-11-20T12:34:56.789';
    const text = readFileSync(join(ROOT, 'sql/endpoints/usage.api-counts.sql'), 'utf8');
    const still = text.replaceAll('now()', `timestamptz '${now}000Z'`);
    expect(still).not.to.equal(text);
    const counted = { path: '/rest', url: 'https://ref' };
    const beyond = { path: '/auth', url: 'https://ref' };
    const micros = (ago: number, digits: string, request: Record<string, unknown>) =>
      line(Date.parse(`${now}Z`) - ago, request).replace(/(\.\d{3})Z/, `$1${digits}Z`);
    const starts = [...new Set(windows.map(({ window }) => window))];
    return withFolder((data) => {
      const folder = join(data, 'queries');
      mkdirSync(folder);
      writeFileSync(join(folder, 'still.sql'), still);
      return withApp(
        data,
        async ({ write, lines, get }) => {
          const edges = starts.flatMap((window) => [
            micros(window, '000', counted),
            micros(window + 1, '999', beyond),
          ]);
          const ends = [micros(0, '000', counted), micros(0, '001', beyond)];
          write('edge_logs/a.ndjson', [...edges, ...ends].join(''));
          await lines(edges.length + ends.length);
          for (const { interval, window, bucket } of windows) {
            const { body } = await get(
              `/api/endpoints/query/still?interval=${interval}&project=ref`,
            );
            const rows: Row[] = body.result;
            const inside = starts.filter((start) => start <= window);
            const [rests, , auths] = sums(rows);
            // A line a microsecond before a shorter window is inside this one.
            expect([rests, auths], interval).to.deep.equal([inside.length + 1, inside.length - 1]);
            const at = Date.parse(`${now}Z`);
            expect(rows[0]?.timestamp, interval).to.equal(truncated(at - window, bucket));
            expect(rows.at(-1)?.timestamp, interval).to.equal(truncated(at, bucket));
          }
        },
        { endpoints: folder },
      );
    });
  });

  it('gives the columns in their order, and buckets as ISO 8601 with Z', () =>
    withLines([line(Date.now() - 5 * MINUTE, rest)], async (_served, ask) => {
      for (const { interval } of windows) {
        const rows = await ask(`interval=${interval}&project=ref`);
        expect(rows).to.have.length(1);
        expect(Object.keys(rows[0] ?? {})).to.deep.equal(COLUMNS);
        expect(rows[0]?.timestamp).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:00Z$/);
      }
    }));

  it('gives no rows without an entry', () =>
    withLines([], async (_served, ask) => {
      expect(await ask('interval=minutely&project=ref')).to.deep.equal([]);
    }));

  it('gives a row of zeroes for a bucket whose entries belong to no area', () => {
    const at = Date.now() - 10 * MINUTE;
    return withLines(
      [
        line(at, { path: '/functions/v1/x', url: 'https://ref/functions/v1/x' }),
        line(at - 20 * MINUTE, { url: 'https://ref/' }),
        line(at - 30 * MINUTE, { path: '/rest/v1', url: 'https://another/rest/v1' }),
      ],
      async (_served, ask) => {
        const rows = await ask('interval=minutely&project=ref');
        expect(rows.map(({ timestamp }) => timestamp)).to.deep.equal([
          truncated(at - 20 * MINUTE, MINUTE),
          truncated(at, MINUTE),
        ]);
        for (const row of rows)
          expect(COLUMNS.slice(1).map((name) => row[name])).to.deep.equal([0, 0, 0, 0]);
      },
    );
  });
});

describe('usage.api-counts: what is counted', () => {
  const ago = () => Date.now() - 5 * MINUTE;

  it('counts an entry in each area that its path contains, wherever in the path', () => {
    const paths = [
      '/rest/v1/x',
      '/storage/v1/x',
      '/auth/v1/x',
      '/realtime/v1/x',
      '/proxy/auth/rest',
      '/storage/rest/auth/realtime',
      '/rest/rest/rest',
      '/restaurant',
      '/REST/v1',
      'rest/v1',
      '/v1/x?from=/auth',
      '/v1',
    ];
    return withLines(
      paths.map((path, i) => line(ago() - i, { path, url: 'https://ref/' })),
      async (_served, ask) => {
        const count = (area: string) => paths.filter((path) => path.includes(area)).length;
        expect(sums(await ask('interval=daily&project=ref'))).to.deep.equal(
          ['/rest', '/storage', '/auth', '/realtime'].map(count),
        );
      },
    );
  });

  it('counts by the path, not by the url', () =>
    withLines([line(ago(), { path: '/x', url: 'https://ref/rest/v1' })], async (_served, ask) => {
      expect(sums(await ask('interval=daily&project=ref'))).to.deep.equal([0, 0, 0, 0]);
    }));

  it('takes the request as an object or as an array, and counts edge logs only', () =>
    withFolder((data) =>
      withApp(data, async ({ write, lines, get }) => {
        const at = new Date(ago()).toISOString();
        const shapes = [
          { request: rest },
          { request: [rest] },
          [{ request: rest }],
          [{ request: [rest] }],
        ];
        const text = shapes
          .map((metadata) => `${JSON.stringify({ timestamp: at, project: 'ref', metadata })}\n`)
          .join('');
        write('edge_logs/a.ndjson', text);
        write('postgrest_logs/a.ndjson', text);
        await lines(4);
        await lines(4, 'postgrest_logs');
        const { body } = await get(`${PATH}?interval=daily&project=ref`);
        expect(sums(body.result)).to.deep.equal([4, 0, 0, 0]);
      }),
    ));

  it('takes the project as a regular expression that the url contains', () =>
    withLines(
      [
        line(ago(), { path: '/rest/1', url: 'https://abc.example.org/rest/1?x=1' }),
        line(ago(), { path: '/rest/2', url: 'https://abd.example.org/rest/2' }),
        line(ago(), { path: '/rest/3', url: 'http://xyz.example.org/rest/3' }),
      ],
      async (_served, ask) => {
        const check = async (project: string, expected: number) => {
          const rows = await ask(`interval=daily&project=${encodeURIComponent(project)}`);
          expect(sums(rows)[0], project).to.equal(expected);
        };
        await check('abc', 1);
        await check('ab[cd]', 2);
        await check('abc|xyz', 2);
        await check('^https://', 2);
        await check('^https?://', 3);
        await check('^abc', 0);
        await check('rest/3$', 1);
        await check('ABC', 0);
        await check('(?i)ABC', 1);
        await check('example.org', 3);
        await check('.', 3);
        await check('\\?x=1', 1);
        await check('nothing-of-this', 0);
        // The beginning of the expression need not be in the URL.
        await check('abq?c', 1);
        await check('abcq?', 1);
        await check('abcq*', 1);
        await check('abcq*?', 1);
        await check('abcq{0}', 1);
        await check('abc{0,2}d', 1);
        await check('a?xyz', 1);
        await check('q?', 3);
        await check('nothing|abc', 1);
        await check('nothing-of-this|', 3);
        await check('abc+', 1);
        await check('abc.*rest', 1);
        await check('abc(?i)\\.EXAMPLE', 1);
        await check('ABc(?i)', 0);
        await check('\\x61bc', 1);
        // What stands before the question mark, in it and behind it.
        await check('rest/1\\?x=1', 1);
        await check('rest/1.*1$', 1);
        await check('/1$', 0);
        await check('^.x=1', 0);
        await check('x=1', 1);
        await check('x=2', 0);
        await check('1.?x', 1);
        await check('[/=][13]$', 2);
        await check('\\bx\\b', 1);
        await check('org\\z', 0);
        await check('(?m)^rest', 0);
        await check('\\.org/rest/1', 1);
        await check('\\w+\\.example\\.org', 3);
        await check('\\Q.org/rest/2\\E', 1);
        await check('rest/1\\b', 1);
        await check('rest/1\\B', 0);
        await check('(x1)*', 3);
      },
    ));

  it('takes a regular expression with a ? that the client did not escape', () =>
    withLines(
      [
        line(ago(), { path: '/rest/1', url: 'https://abc.example.org/rest/1' }),
        line(ago(), { path: '/rest/2', url: 'ftp://abc.example.org/rest/2' }),
      ],
      async (_served, ask) => {
        // RFC 3986: a query may contain a question mark. curl -G -d sends it as it is.
        expect(sums(await ask('interval=daily&project=https?://abc'))).to.deep.equal([1, 0, 0, 0]);
        expect(sums(await ask('project=^http.?:&interval=daily'))).to.deep.equal([1, 0, 0, 0]);
      },
    ));

  it('matches an entry without a url by host and path, or else by its project', () =>
    withLines(
      [
        line(ago(), { path: '/rest/1', host: 'h.example.org' }, 'one'),
        line(ago(), { path: '/rest/2' }, 'two'),
        line(ago(), { path: '/rest/3', host: 'h.example.org', url: 'https://u/' }, 'three'),
        line(ago(), { host: 'lonely.example.org' }, 'four'),
      ],
      async (_served, ask) => {
        const count = async (project: string) => {
          const rows = await ask(`interval=daily&project=${encodeURIComponent(project)}`);
          return sums(rows)[0];
        };
        expect(await count('^h\\.example\\.org/rest/1$')).to.equal(1);
        expect(await count('one')).to.equal(0);
        expect(await count('^two$')).to.equal(1);
        expect(await count('rest/2')).to.equal(0);
        expect(await count('three')).to.equal(0);
        expect(await count('^https://u/$')).to.equal(1);
        expect(await ask('interval=daily&project=%5Efour%24')).to.have.length(1);
      },
    ));
});

describe('usage.api-counts: parameters', () => {
  it('answers 400 and names the parameter, its value and what is allowed', () =>
    withLines([], async ({ get }) => {
      const check = async (query: string, parameters: string[], ...words: RegExp[]) => {
        const response = await get(`${PATH}?${query}`);
        expect(response.status, query).to.equal(400);
        expect(response.type).to.equal('application/problem+json');
        const { body } = response;
        expect(body.code).to.equal('PARAMETER_INVALID');
        expect(body.errors.map((fault: { parameter: string }) => fault.parameter)).to.deep.equal(
          parameters,
        );
        for (const word of words) expect(body.detail, query).to.match(word);
        for (const { parameter, detail } of body.errors) expect(detail).to.contain(parameter);
      };
      const words = /hourly, daily, minutely, 15min, 30min, 1hr, 3hr, 1day, 3day, 7day/;
      await check('', ['interval', 'project'], words);
      await check('project=p', ['interval'], words, /nothing/);
      await check('interval=&project=p', ['interval'], words, /empty/);
      await check('interval=weekly&project=p', ['interval'], words, /weekly/);
      await check('interval=1d&project=p', ['interval'], words, /1d/);
      await check('interval=1HR&project=p', ['interval'], words, /1HR/);
      await check('interval=60min&project=p', ['interval'], words, /60min/);
      await check('interval=Daily&project=p', ['interval'], words, /Daily/);
      await check('interval=%20daily&project=p', ['interval'], words);
      await check('interval=daily', ['project'], /nothing/);
      await check('interval=daily&project=', ['project'], /empty/);
      await check('interval=daily&interval=daily&project=p', ['interval'], /once/);
      await check('interval=daily&project=p&project=q', ['project'], /once/);
      await check('interval=daily&project=(', ['project'], /regular expression/, /\(/);
      await check('interval=daily&project=%5B', ['project'], /regular expression/, /\[/);
      await check('interval=daily&project=%28%3F%3Dx%29', ['project'], /regular expression/);
      await check('interval=daily&project=x%7B1001%7D', ['project'], /regular expression/);
      await check('interval=daily&project=%00', ['project'], /NUL/);
      await check('interval=daily&project[]=p', ['project']);
    }));

  it('gives the same error for a wrong regular expression each time', () =>
    withLines([], async ({ get }) => {
      for (let round = 0; round < 3; round++)
        expect((await get(`${PATH}?interval=daily&project=%28`)).status).to.equal(400);
    }));
});

describe('usage.api-counts: caching', () => {
  const query = `${PATH}?interval=daily&project=ref`;

  it('gives the cached answer with its age for up to 900 seconds', () =>
    withFolder((data) => {
      const clock = fakeClock();
      return withApp(
        data,
        async ({ get, write, lines }) => {
          const first = await get(query);
          expect(first.headers).to.include({ age: '0', 'cache-control': 'private, max-age=900' });
          expect(first.headers['cache-status']).to.match(/^tailpond; ?fwd=/);
          write('edge_logs/a.ndjson', line(Date.now() - MINUTE, rest));
          await lines(1);
          await clock.advance(299_000);
          const second = await get(query);
          expect(second.headers).to.include({
            age: '299',
            'cache-control': 'private, max-age=601',
          });
          expect(second.headers['cache-status']).to.match(/^tailpond; ?hit/);
          expect(second.body).to.deep.equal({ result: [] });
          for (const header of [
            'X-API-KEY',
            'Authorization',
            'SVC-ENDPOINT-REDACT-PII',
            'LF-ENDPOINT-REDACT-PII',
            'Accept',
          ])
            expect(second.headers.vary?.toLowerCase()).to.contain(header.toLowerCase());
        },
        { clock },
      );
    }));

  it('is warmed every 300 seconds while it is asked for', () =>
    withFolder((data) => {
      const clock = fakeClock();
      return withApp(
        data,
        async ({ get, write, lines }) => {
          expect((await get(query)).body.result).to.have.length(0);
          write('edge_logs/a.ndjson', line(Date.now() - MINUTE, rest));
          await lines(1);
          await clock.advance(300_000);
          await eventually(async () => {
            const { headers, body } = await get(query);
            expect(headers['cache-status']).to.match(/hit/);
            expect(headers.age).to.equal('0');
            expect(sums(body.result)).to.deep.equal([1, 0, 0, 0]);
          });
        },
        { clock },
      );
    }));

  it('has an ETag, and answers 304 to a client that has the answer', () =>
    withFolder((data) => {
      const clock = fakeClock();
      return withApp(
        data,
        async ({ get, write, lines }) => {
          const { headers } = await get(query);
          const etag = headers.etag ?? '';
          expect(etag).to.match(/^(W\/)?"[^"]+"$/);
          const same = await get(query).set('If-None-Match', etag);
          expect(same.status).to.equal(304);
          expect(same.text).to.equal('');
          expect(same.headers.etag).to.equal(etag);
          expect((await get(query).set('If-None-Match', '"another"')).status).to.equal(200);
          write('edge_logs/a.ndjson', line(Date.now() - MINUTE, rest));
          await lines(1);
          // Past the end of warming too, so that the answer is loaded anew.
          await clock.advance(3_600_000);
          await eventually(async () => {
            await clock.advance(900_000);
            const changed = await get(query).set('If-None-Match', etag);
            expect(changed.status).to.equal(200);
            expect(changed.headers.etag).not.to.equal(etag);
          });
        },
        { clock },
      );
    }));

  it('answers HEAD as GET, without the body and from the same entry', () =>
    withFolder((data) =>
      withApp(data, async ({ get, http }) => {
        const head = await http.head(query).set('X-API-KEY', TOKEN);
        expect(head.status).to.equal(200);
        expect(head.text ?? '').to.equal('');
        const full = await get(query);
        expect(full.headers['cache-status']).to.match(/hit/);
        expect(head.headers['content-type']).to.equal(full.headers['content-type']);
        expect(head.headers['content-length']).to.equal(full.headers['content-length']);
        expect(head.headers.etag).to.equal(full.headers.etag);
      }),
    ));

  it('shares an entry between name and UUID, and among unknown parameters and any order', () =>
    withLines([], async ({ get }) => {
      const isHit = async (path: string) => {
        const { status, headers } = await get(`/api/endpoints/query/${path}`);
        expect(status).to.equal(200);
        return /hit/.test(headers['cache-status'] ?? '');
      };
      expect(await isHit('usage.api-counts?interval=daily&project=a')).to.equal(false);
      expect(await isHit(`${UUID}?interval=daily&project=a`)).to.equal(true);
      expect(await isHit(`${UUID.toUpperCase()}?project=a&interval=daily`)).to.equal(true);
      expect(await isHit('usage.api-counts?interval=daily&project=a&x=1&x=2')).to.equal(true);
      expect(await isHit('usage.api-counts?interval=daily&project=%61')).to.equal(true);
      expect(await isHit('usage.api-counts?interval=daily&project=b')).to.equal(false);
      expect(await isHit('usage.api-counts?interval=hourly&project=a')).to.equal(false);
    }));

  it('keeps redacted answers apart from the others', () =>
    withLines([], async ({ get }) => {
      const isHit = async (value: string | null) => {
        const request = get(query);
        if (value !== null) void request.set('SVC-ENDPOINT-REDACT-PII', value);
        return /hit/.test((await request).headers['cache-status'] ?? '');
      };
      expect(await isHit(null)).to.equal(false);
      expect(await isHit('true')).to.equal(false);
      expect(await isHit('TRUE')).to.equal(true);
      expect(await isHit('false')).to.equal(true);
      expect(await isHit(null)).to.equal(true);
    }));
});

describe('caching, by an endpoint that answers differently each time', () => {
  const custom = (
    sql: string,
    action: (served: Served, clock: ReturnType<typeof fakeClock>) => Promise<void>,
  ) =>
    withFolder((data) => {
      const folder = join(data, 'queries');
      mkdirSync(folder);
      writeFileSync(
        join(folder, 'q.sql'),
        `-- Another answer each time.
--! uuid: 0b7e3f0a-52c1-4f53-9d4e-6f2d6c1f9a01
--! max_rows: 5
--! caching: 900
--! warming: 300
--! sandboxing: on
--! redact_pii: off
${sql}
`,
      );
      const clock = fakeClock();
      return withApp(data, (served) => action(served, clock), { clock, endpoints: folder });
    });
  const id = async (served: Served) => {
    const { status, body } = await served.get('/api/endpoints/query/q');
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.result[0].id as string;
  };

  it('runs the query once for many who ask at the same time', () =>
    custom('select uuid()::varchar as id', async (served, clock) => {
      const ids = await Promise.all(Array.from({ length: 30 }, () => id(served)));
      expect(new Set(ids)).to.have.property('size', 1);
      await clock.advance(3_600_000);
      await clock.advance(3_600_000);
      expect(await id(served)).not.to.equal(ids[0]);
    }));

  it('does not keep an error', () =>
    custom(
      `select case when count(*) > 0 then 'there' else error('a word of the engine') end as id from edge_logs`,
      async (served) => {
        for (let round = 0; round < 2; round++) {
          const { status, text } = await served.get('/api/endpoints/query/q');
          expect(status).to.equal(500);
          expect(text).not.to.contain('a word of the engine');
        }
        served.write('edge_logs/a.ndjson', line(Date.now(), rest));
        await served.lines(1);
        expect(await id(served)).to.equal('there');
      },
    ));

  it('keeps the old answer when a refresh fails, until its time is up', () =>
    custom(
      `select case when count(*) > 0 then error('away') else uuid()::varchar end as id from edge_logs`,
      async (served, clock) => {
        const old = await id(served);
        served.write('edge_logs/a.ndjson', line(Date.now(), rest));
        await served.lines(1);
        await clock.advance(300_000);
        expect(await id(served)).to.equal(old);
        await clock.advance(599_000);
        const late = await served.get('/api/endpoints/query/q');
        expect(late.body.result[0].id).to.equal(old);
        expect(late.headers).to.include({ age: '899', 'cache-control': 'private, max-age=1' });
        await clock.advance(1000);
        expect((await served.get('/api/endpoints/query/q')).status).to.equal(500);
      },
    ));
});
