import { expect } from 'chai';
import type { Response } from 'supertest';
import { translate } from '../../server/caller-sql/index.ts';
import { type Served, TOKEN, withApp, withFolder } from '../support/helpers.ts';
import { opened } from '../support/opened.ts';
import { parserOf } from '../support/parser.ts';

const LOGS = '/api/endpoints/query/logs.all';
const LINES = [
  {
    id: 'a',
    timestamp: '2026-08-21T10:00:00Z',
    project: 'p',
    event_message: 'GET /rest/v1/todos 200',
    metadata: {
      request: { method: 'GET', path: '/rest/v1/todos', headers: { user_agent: 'curl' } },
      response: { status_code: 200, tags: ['x', 'y'] },
    },
  },
  {
    id: 'b',
    timestamp: '2026-08-21T10:30:00.25Z',
    project: 'p',
    event_message: "it's \\d",
    metadata: [
      { request: [{ method: 'POST', path: '/auth/v1/token' }], response: [{ status_code: '500' }] },
    ],
  },
  {
    id: 'c',
    timestamp: '2026-08-21T11:00:00Z',
    project: 'p',
    event_message: 'two requests',
    metadata: { request: [{ path: '/one' }, { path: '/two' }], response: null },
  },
  { id: 'd', timestamp: '2026-08-21T12:00:00Z', project: 'p', event_message: 'none', metadata: {} },
  {
    id: 'x',
    timestamp: '2026-08-21T10:00:00Z',
    project: 'other',
    event_message: 'hidden',
    metadata: { request: { path: '/hidden' } },
  },
];

type Ask = (sql: string, parameters?: Record<string, string>) => Promise<Response>;

type Asking = (action: (ask: Ask, served: Served) => Promise<void>) => Promise<void>;

/** Runs `action` on the app with the lines above in `edge_logs`. */
function withLines(action: (served: Served) => Promise<void>): Promise<void> {
  return withFolder((data) =>
    withApp(data, async (served) => {
      served.write('edge_logs/a.ndjson', LINES.map((line) => `${JSON.stringify(line)}\n`).join(''));
      await served.lines(LINES.length);
      await action(served);
    }),
  );
}

/** Returns the function that sends SQL to an app. */
function askOf({ http }: Served): Ask {
  return (sql, parameters = {}) =>
    http
      .get(LOGS)
      .query({ project: 'p', sql, ...parameters })
      .set('X-API-KEY', TOKEN);
}

/** Sends each query, and compares its rows with the expected ones. */
async function check(ask: Ask, cases: Record<string, readonly object[]>, parameters = {}) {
  for (const [sql, rows] of Object.entries(cases)) {
    const { status, text } = await ask(sql, parameters);
    expect(status, `${sql}\n${text}`).to.equal(200);
    expect(JSON.parse(text).result, sql).to.deep.equal(rows);
  }
}

async function refused(ask: Ask, cases: Record<string, RegExp>, parameters = {}) {
  for (const [sql, detail] of Object.entries(cases)) {
    const { status, body } = await ask(sql, parameters);
    expect(status, `${sql}\n${JSON.stringify(body)}`).to.equal(400);
    expect(body.code, sql).to.equal('SQL_INVALID');
    expect(body.error.message, sql).to.match(detail);
    expect(body.errors[0].parameter).to.equal('sql');
  }
}

const QUOTED = `select "it's" as a, 'it''s' as b, 'a\\\\d\\n' as c, r'\\d' as d, """x"y""" as e, \`id\` from edge_logs where event_message = 'it\\'s \\\\d';`;
const QUOTED_DUCKDB = `select 'a\\d' as a, "id" from edge_logs where "id" = 'a'`;

describe("caller's SQL", () => {
  const served = opened<Served>(withLines);
  const asking: Asking = (action) => action(askOf(served()), served());

  describe('views and records', () => {
    it('sees the views, bounded by the parameters, and nothing of other projects', () =>
      asking(async (ask) => {
        await check(ask, {
          'select id from edge_logs order by timestamp desc': [
            { id: 'd' },
            { id: 'c' },
            { id: 'b' },
            { id: 'a' },
          ],
          'select id from edge_logs': [{ id: 'd' }, { id: 'c' }, { id: 'b' }, { id: 'a' }],
          'select count(*) as count from edge_logs': [{ count: 4 }],
          "select id from edge_logs where id = 'x'": [],
          'select distinct project from edge_logs': [{ project: 'p' }],
          'select count(*) as n from auth_logs': [{ n: 0 }],
          "select 'hello' as world": [{ world: 'hello' }],
          'select @project as project': [{ project: 'p' }],
        });
        // The same again, of another project and with another bound.
        const same = 'select id from edge_logs order by timestamp desc';
        await check(ask, { [same]: [{ id: 'x' }] }, { project: 'other' });
        await check(ask, { [same]: [{ id: 'a' }] }, { iso_timestamp_end: '2026-08-21T10:00:00Z' });
        await check(
          ask,
          { 'select id from edge_logs order by id': [{ id: 'b' }, { id: 'c' }] },
          {
            iso_timestamp_start: '2026-08-21T10:00:00Z',
            iso_timestamp_end: '2026-08-21T11:00:00Z',
          },
        );
      }));

    it('filters and sorts groups by aggregates of columns, beside the names of the result', () =>
      asking(async (ask) => {
        await check(ask, {
          "select id, count(*) as n from edge_logs group by id having count(event_message) > 0 and min(id) < 'd' order by max(length(event_message))":
            [
              { id: 'b', n: 1 },
              { id: 'c', n: 1 },
              { id: 'a', n: 1 },
            ],
          "select count(*) as n from edge_logs having countif(event_message like '%n%') > 2": [],
          "select id, count(*) as n from edge_logs group by id having max(event_message) > '' and n = 1 order by countif(id = 'c') desc, id limit 2":
            [
              { id: 'c', n: 1 },
              { id: 'a', n: 1 },
            ],
        });
      }));

    it('unnests records, stored as objects or as arrays', () =>
      asking(async (ask) => {
        await check(ask, {
          'select id, request.path, request.method from edge_logs cross join unnest(metadata) as m cross join unnest(m.request) as request order by id, path':
            [
              { id: 'a', path: '/rest/v1/todos', method: 'GET' },
              { id: 'b', path: '/auth/v1/token', method: 'POST' },
              { id: 'c', path: '/one', method: null },
              { id: 'c', path: '/two', method: null },
            ],
          'select id, r.status_code from edge_logs cross join unnest(metadata) as metadata left join unnest(metadata.response) as r order by id':
            [
              { id: 'a', status_code: 200 },
              { id: 'b', status_code: '500' },
              { id: 'c', status_code: null },
              { id: 'd', status_code: null },
            ],
          'select count(*) as n from edge_logs cross join unnest(metadata) as m cross join unnest(m.response) as r':
            [{ n: 2 }],
          'select id from edge_logs cross join unnest(metadata) as m cross join unnest(m.response) as r where r.status_code >= 400':
            [{ id: 'b' }],
          "select id, path from edge_logs cross join unnest(metadata) m cross join unnest(m.request) r where path like '/rest/%'":
            [{ id: 'a', path: '/rest/v1/todos' }],
          'select tag from edge_logs cross join unnest(metadata) m cross join unnest(m.response) r cross join unnest(r.tags) as tag order by tag':
            [{ tag: 'x' }, { tag: 'y' }],
          "select m as metadata from edge_logs cross join unnest(metadata) as m where id = 'b'": [
            {
              metadata: [
                {
                  request: [{ method: 'POST', path: '/auth/v1/token' }],
                  response: [{ status_code: '500' }],
                },
              ],
            },
          ],
          "select metadata[0].request[0].path as a, metadata.request.headers.user_agent as b from edge_logs where id = 'a'":
            [{ a: '/rest/v1/todos', b: 'curl' }],
          "select el as raw from edge_logs el where id = 'd'": [
            {
              raw: [
                {
                  id: 'd',
                  timestamp: Date.parse('2026-08-21T12:00:00Z') * 1000,
                  event_message: 'none',
                  metadata: [{}],
                  project: 'p',
                  identifier: 'p',
                },
              ],
            },
          ],
        });
      }));

    it('has the views of sources that are not there, without rows, and identifier in all', () =>
      asking(async (ask) => {
        for (const view of ['supavisor_logs', 'pg_cron_logs', 'workflow_run_logs']) {
          const listed = `select identifier, id, t.timestamp, event_message from ${view} t order by t.timestamp desc limit 5`;
          expect((await ask(listed)).body, view).to.deep.equal({ result: [] });
          const counted = `select count(*) as n from ${view} t cross join unnest(metadata) as m where m.level = 'x'`;
          expect((await ask(counted)).body.result, view).to.deep.equal([{ n: 0 }]);
        }
        const { body } = await ask("select identifier, id from edge_logs where id = 'a'");
        expect(body.result).to.deep.equal([{ identifier: 'p', id: 'a' }]);
      }));

    it('has columns of the severity and the status, after members of unnested records', () =>
      asking(async (ask, { http }) => {
        const unnested = 'cross join unnest(metadata) as m cross join unnest(m.response) as r';
        await check(ask, {
          'select id, severity, level, status from edge_logs order by id': [
            { id: 'a', severity: 'info', level: 'info', status: 200 },
            { id: 'b', severity: 'error', level: 'error', status: 500 },
            { id: 'c', severity: null, level: null, status: null },
            { id: 'd', severity: null, level: null, status: null },
          ],
          "select id from edge_logs where level = 'error' and status >= 500": [{ id: 'b' }],
          'select status, count(*) as n from edge_logs group by status having status = 200': [
            { status: 200, n: 1 },
          ],
          [`select id, status from edge_logs ${unnested} where status is not null`]: [],
          [`select edge_logs.status from edge_logs ${unnested} where id = 'a'`]: [{ status: 200 }],
          'select e.level from (select level from edge_logs where status = 500) as e': [
            { level: 'error' },
          ],
          "select id from supavisor_logs cross join unnest(metadata) as m where status = 'x'": [],
        });
        const { text } = await ask('select * from edge_logs');
        expect(text).to.include('project, identifier, severity, level, status');
        const sql =
          "select severity, level, status, severity_text from logs where status > 0 or level = 'x' order by status";
        const otel = await http
          .post('/api/endpoints/query/logs.all.otel')
          .set('X-API-KEY', TOKEN)
          .send({ project: 'p', sql });
        expect(otel.body.result, otel.text).to.deep.equal([
          { severity: 'info', level: 'info', status: 200, severity_text: 'INFO' },
          { severity: 'error', level: 'error', status: 500, severity_text: 'ERROR' },
        ]);
      }));

    it('refuses moments that are not on the calendar, and gives NULL for them where that is asked', () =>
      asking(async (ask) => {
        const there = /There is no such moment: "2026-02-30/;
        await refused(ask, {
          "select id from edge_logs where timestamp > '2026-02-30'": there,
          "select timestamp '2026-02-30 10:00:00' as t": there,
          "select date '2026-02-30' as t": there,
          "select cast('2026-02-30' as timestamp) as t": there,
          "select timestamp('2026-02-30T10:00:00Z') as t": there,
          "select timestamp_trunc('2026-02-30', day) as t": there,
        });
        await refused(
          ask,
          { "select id from edge_logs where timestamp > '2026-02-30'::timestamp": there },
          { dialect: 'duckdb' },
        );
        await refused(
          ask,
          { "select toDateTime('2026-02-30') as t": there },
          { dialect: 'clickhouse' },
        );
        await check(ask, {
          "select safe_cast('2026-02-30' as date) as a, date '2028-02-29' as b": [
            { a: null, b: '2028-02-29' },
          ],
        });
        await check(
          ask,
          { "select toDateTimeOrNull('2026-02-30') as a": [{ a: null }] },
          { dialect: 'clickhouse' },
        );
      }));

    it('can be sent by POST too, as a form and as JSON', () =>
      asking(async (_ask, { http }) => {
        const sql = 'select id from edge_logs order by id limit 1';
        for (const type of ['form', 'json']) {
          const { status, text } = await http
            .post(LOGS)
            .type(type)
            .set('X-API-KEY', TOKEN)
            .send({ project: 'p', sql });
          expect(status, text).to.equal(200);
          expect(JSON.parse(text)).to.deep.equal({ result: [{ id: 'a' }] });
        }
        const nested = await http
          .post(LOGS)
          .set('X-API-KEY', TOKEN)
          .send({ project: 'p', sql: { a: 1 } });
        expect(nested.body.code).to.equal('REQUEST_INVALID');
        for (const type of ['text/plain', 'application/sql', 'multipart/form-data; boundary=x']) {
          const other = await http.post(LOGS).type(type).set('X-API-KEY', TOKEN).send(sql);
          expect(other.status, type).to.equal(415);
          expect(other.body.detail).to.include('application/json').and.include(type);
        }
        const long = `select '${'x'.repeat(65_537)}'`;
        const { body } = await http
          .post(LOGS)
          .set('X-API-KEY', TOKEN)
          .send({ project: 'p', sql: long });
        expect(body.code).to.equal('SQL_INVALID');
        expect(body.error.message).to.match(/65536 characters/);
      }));

    it('sees the common table expressions of any endpoint', () =>
      asking(async (_ask, { http }) => {
        const { status, text } = await http
          .get('/api/endpoints/query/usage.api-counts')
          .query({ interval: 'daily', project: 'p', sql: 'select count(*) as n from requests' })
          .set('X-API-KEY', TOKEN);
        expect(status, text).to.equal(200);
        expect(JSON.parse(text)).to.deep.equal({ result: [{ n: 0 }] });
      }));
  });

  describe('the dialect', () => {
    it('groups and sorts by a column of the result before one of the table', () =>
      asking(async (ask) => {
        const at = (time: string) => Date.parse(`2026-08-21T${time}Z`) * 1000;
        await check(ask, {
          'SELECT timestamp_trunc(t.timestamp, hour) as timestamp, count(*) as n, FROM edge_logs t GROUP BY timestamp ORDER BY timestamp ASC':
            [
              { timestamp: at('10:00:00'), n: 2 },
              { timestamp: at('11:00:00'), n: 1 },
              { timestamp: at('12:00:00'), n: 1 },
            ],
          "select cast(timestamp as datetime) as timestamp from edge_logs where id in ('a', 'b') order by 1":
            [{ timestamp: '2026-08-21T10:00:00' }, { timestamp: '2026-08-21T10:30:00.250000' }],
        });
      }));

    it('names the column of JOIN … USING with a qualifier of either side and with none', () =>
      asking((ask) =>
        check(ask, {
          "select k, a.k as l, b.k as r from (select id as k from edge_logs) a join (select id as k from edge_logs where id < 'c') b using (k) order by k":
            [
              { k: 'a', l: 'a', r: 'a' },
              { k: 'b', l: 'b', r: 'b' },
            ],
          "select a.k, b.k as r from (select id as k from edge_logs) a left join (select id as k from edge_logs where id = 'a') b using (k) where b.k is null order by 1 limit 1":
            [{ k: 'b', r: null }],
        }),
      ));

    it('reads strings, names and casts as BigQuery does', () =>
      asking(async (ask) => {
        await check(ask, {
          [QUOTED]: [{ a: "it's", b: "it's", c: 'a\\d\n', d: '\\d', e: 'x"y', id: 'b' }],
          "select id from edge_logs where regexp_contains(event_message, 'it''s \\\\\\\\d|zzz')": [
            { id: 'b' },
          ],
          "select safe_cast('x' as int64) as a, cast('7' as int64) as b, cast('1.5' as float64) as c, '3'::int as d":
            [{ a: null, b: 7, c: 1.5, d: 3 }],
          'select generate_array(1, 7, 3) as a, generate_array(1, 0) as b, array_length(generate_array(1, 1e9)) as c':
            [{ a: [1, 4, 7], b: [], c: 10_000 }],
          'select count(*), max(id) from edge_logs': [{ f0_: 4, f1_: 'd' }],
          'select approx_quantiles(x, 100)[offset(50)] as p from (select unnested as x from unnest([1, 2, 3]) as unnested)':
            [{ p: 2 }],
        });
        await check(ask, { [QUOTED_DUCKDB]: [{ a: 'a\\d', id: 'a' }] }, { dialect: 'duckdb' });
      }));

    it('gives a quantile as it stands among all of them, and NULL beyond', () =>
      asking(async (ask) => {
        for (const [value, where] of [
          ['length(event_message)', 'true'],
          ['timestamp', 'true'],
          ['length(event_message)', 'false'],
          ["if(id = 'a', null, length(event_message))", 'true'],
        ]) {
          const quantiles = `approx_quantiles(${value}, 7)`;
          const each = Array.from(
            { length: 9 },
            (_, i) => `${quantiles}[safe_offset(${i})] as q${i}`,
          );
          const { body } = await ask(
            `select ${quantiles} as list, ${each.join(', ')} from edge_logs where ${where}`,
          );
          const [{ list, ...places }] = body.result;
          expect(Object.values(places), value).to.deep.equal(
            Array.from({ length: 9 }, (_, i) => list?.[i] ?? null),
          );
          expect(list?.length, value).to.equal(where === 'true' ? 8 : undefined);
        }
      }));

    it("keeps to the condition of ClickHouse's aggregates, whatever the value is", () =>
      asking(async (ask) => {
        // Two entries have a status, 200 and 500.
        for (const value of ['response.status_code', 't.metadata.response.status_code'])
          await check(
            ask,
            {
              [`select sumIf(${value}, id = 'b') as one, avgIf(${value}, id in ('a', 'b')) as mean
              from edge_logs t cross join unnest(metadata) as m cross join unnest(m.response) as response`]:
                [{ one: 500, mean: 350 }],
            },
            { dialect: 'clickhouse' },
          );
      }));

    it('gives NULL for values that an operation cannot take', () =>
      asking(async (ask) => {
        await check(ask, {
          "select cast(event_message as int64) as a, 1 / 0 as b, sqrt(-1) as c, ln(0) as d, 9223372036854775807 * 9223372036854775807 > 1 as e, timestamp_add(timestamp '2200-01-01', interval 1000 year) is null as f from edge_logs where id = 'd'":
            [{ a: null, b: null, c: null, d: null, e: true, f: false }],
          "select json_value(event_message, '$.a') as a from edge_logs where id = 'd'": [
            { a: null },
          ],
        });
      }));
  });

  describe('refusals', () => {
    it('refuses regular expressions that cut characters, and makes no text of their results', () =>
      asking(async (ask, { store }) => {
        const cuts = "select reverse(regexp_extract('é', r'\\C')) as x";
        await refused(ask, { [cuts]: /single bytes by \\C.*line 1/ });
        // The second line of defence, with an expression that would have been refused.
        const parse = parserOf(store);
        for (const [value, expected] of [
          ["reverse(regexp_extract(t, 'here'))", null],
          ["upper(regexp_replace(t, '^here', ''))", null],
          ["initcap(regexp_replace(t, 'here', 'x'))", 'Xxx'],
          ["array_to_string(regexp_extract_all(t, 'here'), ',')", null],
        ] as const) {
          const sql = `select ${value} as x from (select 'éa' as t) as v`;
          const scope = { dialect: 'bigquery', views: new Map(), parameters: new Map() } as const;
          const translation = await translate(sql, { ...scope, maxRows: 10 }, parse);
          const { rows } = await store.query(
            translation.sql.replaceAll('here', '\\C'),
            {},
            { maxRows: 10 },
          );
          expect(rows[0]?.[0], value).to.equal(expected);
        }
      }));

    it('names the parameter, and the place in the statement', () =>
      asking((ask) =>
        refused(ask, {
          'select id from files': /no table "files".*line 1, column 16/,
          'select\n  id, e.nope from edge_logs e': /no column "nope" in "e".*line 2, column 7/,
        }),
      ));

    it('says which regular expression is none, whatever its words are', () =>
      asking((ask) =>
        refused(
          ask,
          // These are words of errors that end the process.
          Object.fromEntries(
            [
              'FATAL Error',
              'database has been invalidated',
              'Out of Memory Error: failed to allocate',
            ].map((words) => [
              `select regexp_contains(id, r'(${words}') from edge_logs`,
              /regular expression/,
            ]),
          ),
        ),
      ));

    it('reads a table of its own in any number of parts, and refuses joins of many', () =>
      asking(async (ask) => {
        const many = (count: number, part: (n: number) => string, between: string) =>
          Array.from({ length: count }, (_, n) => part(n)).join(between);
        const grouped =
          'with a as (select id, count(*) as n from edge_logs group by id order by id limit 2)';
        const arms = many(26, (n) => `select ${n} as arm, sum(n) as n from a`, ' union all ');
        const { status, text } = await ask(`${grouped} ${arms} order by arm`);
        expect(status, text).to.equal(200);
        expect(JSON.parse(text).result).to.deep.equal(
          Array.from({ length: 26 }, (_, arm) => ({ arm, n: 2 })),
        );
        // Each side is joined by itself, so its tables do not count for the other.
        const joined = many(7, (n) => `edge_logs t${n}`, ' cross join ');
        await check(ask, {
          [`with a as (select count(*) as n from ${joined}), b as (select count(*) as n from ${joined}) select a.n = b.n as same from a, b`]:
            [{ same: true }],
        });
        const tooMany = /^A SELECT may join 12 tables at most \(line 1, column \d+\)/;
        await refused(ask, {
          [`select count(*) as n from ${many(24, (n) => `edge_logs t${n}`, ', ')}`]: tooMany,
          [`with a as (select t0.id from ${joined}) select count(*) as n from a, (select t1.id from ${joined}) as b`]:
            tooMany,
          [`select ${many(13, (n) => `(select max(id) from edge_logs) as c${n}`, ', ')}`]: tooMany,
          [many(65, () => 'select count(*) as n from edge_logs', ' union all ')]:
            /^A query may have 64 tables at most/,
        });
      }));

    it('refuses it when it comes twice, and a dialect that is not known', () =>
      asking(async (_ask, { http }) => {
        const { body } = await http
          .get(`${LOGS}?project=p&sql=select%201&sql=select%202`)
          .set('X-API-KEY', TOKEN);
        expect(body.code).to.equal('SQL_INVALID');
        const other = await http
          .get(`${LOGS}?project=p&sql=select%201&dialect=mysql`)
          .set('X-API-KEY', TOKEN);
        expect(other.body.code).to.equal('PARAMETER_INVALID');
      }));
  });
});

describe("caller's SQL over lines of its own", () => {
  it('knows which record has the members that Studio asks for, and looks for others in all', () =>
    withLines(async (served) => {
      const ask = askOf(served);
      const lines = [
        { id: 'e', request: { path: '/here' }, response: { path: '/there', kind: 'x' } },
        { id: 'f', request: { method: 'GET', kind: 'y' }, response: { path: '/there' } },
      ].map(({ id, ...metadata }) => ({ id, project: 'p', event_message: '', metadata }));
      const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
      served.write('edge_logs/b.ndjson', text);
      await served.lines(LINES.length + lines.length);
      const sql = `select id, path, kind from edge_logs cross join unnest(metadata) as m
        cross join unnest(m.request) as request cross join unnest(m.response) as response
        where id in ('e', 'f') order by id`;
      const rows = [
        { id: 'e', path: '/here', kind: 'x' },
        { id: 'f', path: null, kind: 'y' },
      ];
      await check(ask, { [sql]: rows });
    }));

  it('counts the records of each value, whatever is in them', () =>
    withFolder((data) =>
      withApp(data, async (served) => {
        const values = { one: { n: 1 }, list: { n: [1, 2] }, two: [{ n: 1 }, {}], none: [] };
        const lines = Object.entries(values).map(([id, metadata]) =>
          JSON.stringify({ id, project: 'p', metadata }),
        );
        served.write('auth_logs/a.ndjson', lines.map((line) => `${line}\n`).join(''));
        await served.lines(lines.length, 'auth_logs');
        const ask = (sql: string) =>
          served.http.get(LOGS).query({ project: 'p', sql }).set('X-API-KEY', TOKEN);
        const from = 'from auth_logs t';
        await check(ask, {
          [`select count(*) as count ${from} cross join unnest(metadata) as m`]: [{ count: 4 }],
          [`select t.id, count(*) as count ${from} cross join unnest(metadata) as m group by t.id order by t.id`]:
            [
              { id: 'list', count: 1 },
              { id: 'one', count: 1 },
              { id: 'two', count: 2 },
            ],
          [`select count(*) as count ${from} left join unnest(metadata) as m`]: [{ count: 5 }],
        });
      }),
    ));

  it('finds keys with dashes by underscores, in rows as they came and in settled ones', () =>
    withFolder((data) =>
      withApp(data, async (served) => {
        const headers = { 'user-agent': 'curl', 'x-real-ip': '192.0.2.1', x_both: 1, 'x-both': 2 };
        const request = { headers };
        for (const [i, metadata] of [
          { request },
          [{ request: [{ headers: [headers] }] }],
        ].entries())
          served.write(
            'edge_logs/a.ndjson',
            `${JSON.stringify({ id: `${i}`, project: 'p', metadata })}\n`,
          );
        await served.lines(2);
        const joins = 'unnest(metadata) m, unnest(m.request) r, unnest(r.headers) h';
        const statements = [
          `select id, h.user_agent as a, h.x_real_ip as ip, h.x_both as b from edge_logs t, ${joins} order by id`,
          `select id, user_agent as a, x_real_ip as ip, x_both as b from edge_logs t, ${joins} where user_agent = 'curl' order by id`,
          "select id, metadata[0].request[0].headers[0].user_agent as a, json_value(metadata, '$.request.headers.x_real_ip') as ip, metadata[0].request[0].headers[0].x_both as b from edge_logs t order by id",
        ];
        const check = async () => {
          for (const sql of statements) {
            const { body } = await served.http
              .get(LOGS)
              .query({ project: 'p', sql })
              .set('X-API-KEY', TOKEN);
            const row = { a: 'curl', ip: '192.0.2.1', b: 1 };
            expect(body.result, sql).to.deep.equal([
              { id: '0', ...row },
              { id: '1', ...row },
            ]);
          }
        };
        await check();
        await served.store.settling.settle('edge_logs', 1);
        await check();
      }),
    ));
});
