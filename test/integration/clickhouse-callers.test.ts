import { expect } from 'chai';
import { clickhouseSuite } from '../clickhouse/case.ts';
import { type Twins, withTwins } from '../clickhouse/nodes.ts';
import { LONG } from '../faults/case.ts';
import type { Service } from '../support/helpers.ts';
import { oddChart, oddLines, oddStatement } from '../support/odd-records.ts';
import { opened } from '../support/opened.ts';
import { otelEntries, otelStatement } from '../support/otel-logs.ts';
import { type Random, randomOf } from '../support/random.ts';

const ROWS = 2000;
/** The random statements are the same each time; the long form has more of them. */
const STATEMENTS = LONG ? 150 : 24;
const OTEL_STATEMENTS = LONG ? 60 : 12;
/** JSON of numbers that is not what a program writes for them. */
const NUMBERS = ['200.0', '404.0', '2.50', '0.1', '-0.0', '12345678901234567890'];
/** What has no place in 64 bits. */
const BIG = [
  '1e20',
  '18446744073709551616.0',
  '-1e20',
  '1e18',
  '9223372036854775808.0',
  '1e21',
  '7',
];

/** Sums beyond 64 bits, and a text that is sought within a question about others. */
const SUMS = [
  'select sum(4611686018427387904) as s, count(*) as n from edge_logs',
  'select sum(1.5) as s, sum(1) as n, avg(2) as two from edge_logs',
  `select count(a.id) as n from edge_logs a where not exists (select b.id from auth_logs b where a.event_message = 'none')`,
];
const OF_BIG = [
  'select t.id, o.b from edge_logs t cross join unnest(metadata) as m cross join unnest(m.o) as o',
  'select countif(o.b > 0) as n, max(o.b) as b from edge_logs t cross join unnest(metadata) as m cross join unnest(m.o) as o',
];
/** More rows than are fetched one by one, a million, and how many there are of a day, at three a second. */
const MANY = 1_011_000;
const DAY = 3 * 86_400;
/** Rows, and how many others are made of each: together more than are fetched. */
const COPIED = 1200;
const COPIES = 900;

/** Lines of four projects: odd ones, numbers without a place in 64 bits, lines of all sources, and requests of which few fail. */
function allLines(random: Random): { source: string; line: string }[] {
  const odd = [...oddLines(random, ROWS, 'odd'), ...oddLines(random, ROWS, 'plain')].map(
    // Each has an id of its own, and some have numbers that are written anew in another way.
    (line, n) =>
      line
        .replace(/"id":"\d+"/, `"id":"${n}"`)
        .replace(/"status_code":(?:200|404)\b(?!\.)/, (whole) =>
          random.below(4) === 0 ? `"status_code":${random.pick(NUMBERS)}` : whole,
        ),
  );
  const big = BIG.map(
    (number, n) =>
      `{"id":"big${n}","timestamp":"2026-11-01T00:00:00Z","project":"big","event_message":"","metadata":{"o":{"b":${number}}}}\n`,
  );
  const few = Array.from({ length: COPIED }, (_, n) => {
    const isRare = n === 7;
    const request = { method: isRare ? 'DELETE' : 'GET', path: '/rest/v1/todos' };
    const response = { status_code: isRare ? 503 : 200 };
    return `${JSON.stringify({
      id: `r${n}`,
      timestamp: new Date(Date.UTC(2026, 10, 1) + n * 1000).toISOString(),
      project: 'few',
      event_message: 'a request',
      metadata:
        n % 2 === 0 ? { request, response } : [{ request: [request], response: [response] }],
    })}\n`;
  });
  return [
    ...[...odd, ...big, ...few].map((line) => ({ source: 'edge_logs', line })),
    ...otelEntries(randomOf(41), 400).map(({ source, line }) => ({
      source,
      line: line.replace('"project":"p"', '"project":"otel"'),
    })),
  ];
}

clickhouseSuite('SQL of callers over ClickHouse', (shared) => {
  const random = randomOf(21);
  const twins = opened<Twins>((action) => withTwins(shared(), allLines(random), action));
  const ask = ({ get }: Service, project: string, sql: string, endpoint = 'logs.all') =>
    get(
      `/api/endpoints/query/${endpoint}?${new URLSearchParams({ project, ...(sql === '' ? {} : { sql }) })}`,
    );

  it('has the answers of the store, to random statements over odd records', async () => {
    const { here, forwarded } = twins();
    let rows = 0;
    for (let n = 0; n < STATEMENTS; n++) {
      const sql = n % 2 === 0 ? oddChart(random) : oddStatement(random);
      const bounds: Record<string, string> =
        random.below(3) === 0
          ? {
              iso_timestamp_start: '2026-11-01T06:30:00.5Z',
              iso_timestamp_end: '2026-11-01T18:00:00Z',
            }
          : {};
      const answer = await answerOf(here, sql, bounds);
      rows += answer.length;
      expect(await answerOf(forwarded, sql, bounds), sql).to.deep.equal(answer);
    }
    // Answers without rows would all be the same.
    expect(rows).to.be.above(STATEMENTS);
  });

  it('has the answers of the store, to sums beyond 64 bits', async () => {
    const { here, forwarded } = twins();
    for (const sql of [...SUMS, ...OF_BIG]) {
      const project = { project: OF_BIG.includes(sql) ? 'big' : 'p' };
      const answer = await answerOf(here, sql, project);
      expect(await answerOf(forwarded, sql, project), sql).to.deep.equal(answer);
    }
  });

  it("has the answers of the store, to statements in ClickHouse's dialect over all sources", async () => {
    const { here, forwarded } = twins();
    const random = randomOf(42);
    const asked = async (service: Service, sql: string) => {
      const { status, body } = await ask(service, 'otel', sql, 'logs.all.otel');
      expect(status, `${sql} ${JSON.stringify(body)}`).to.equal(200);
      return (body.result as object[]).map((row) => JSON.stringify(row)).sort();
    };
    let rows = 0;
    for (const sql of [
      '',
      ...Array.from({ length: OTEL_STATEMENTS }, () => otelStatement(random)),
    ]) {
      const answer = await asked(here, sql);
      rows += answer.length;
      expect(await asked(forwarded, sql), sql).to.deep.equal(answer);
    }
    expect(rows).to.be.above(100);
  });

  it('lists the newest of any number of rows, and counts them, and no longer list', async () => {
    const { forwarded } = twins();
    // Three rows a second; every 1,000th is a fault.
    await shared().server.client.command({
      query: `insert into edge_logs (id, timestamp, project, event_message, metadata, ingested_at, _node, _seq)
            select
              'r' || toString(number),
              toDateTime64('2026-11-01 00:00:00', 6, 'UTC') + toIntervalSecond(intDiv(number, 3)),
              'many',
              if(number % 1000 = 0, 'fault', 'fine'),
              '{"n":' || toString(number) || ',"response":{"status_code":' || if(number % 1000 = 0, '500', '200') || '}}',
              now64(6),
              'n',
              1
            from numbers(${MANY})`,
    });
    const idsOf = async (sql: string) => {
      const { status, body } = await ask(forwarded, 'many', sql);
      expect(status, JSON.stringify(body)).to.equal(200);
      return (body.result as { id: string }[]).map(({ id }) => id);
    };
    expect(
      await idsOf('select id from edge_logs order by timestamp desc, id limit 4'),
    ).to.deep.equal([-3, -2, -1, -6].map((n) => `r${MANY + n}`));
    // Two thousand rows hold two of these, twenty thousand all.
    const faults = (limit: number) =>
      idsOf(
        `select t.id from edge_logs t where t.event_message = 'fault' order by t.timestamp desc limit ${limit}`,
      );
    expect(await faults(1)).to.deep.equal([`r${MANY - 1000}`]);
    expect(await faults(15)).to.deep.equal(
      Array.from({ length: 15 }, (_, n) => `r${MANY - 1000 * (n + 1)}`),
    );
    const rowsOf = async (sql: string) => {
      const { status, body } = await ask(forwarded, 'many', sql);
      expect(status, JSON.stringify(body)).to.equal(200);
      return body.result;
    };
    expect(await rowsOf('select count(*) as n from edge_logs')).to.deep.equal([{ n: MANY }]);
    const joins = 'cross join unnest(metadata) as m cross join unnest(m.response) as response';
    const chart = `select timestamp_trunc(t.timestamp, day) as day, count(*) as n, countif(response.status_code >= 500) as faults
            from edge_logs t ${joins}
            where t.timestamp > '2026-11-01T00:00:00Z' group by day order by day`;
    const days = Array.from({ length: Math.ceil(MANY / DAY) }, (_, day) => {
      // The first three rows lie at the bound, and the first of them is a fault.
      const [first, end] = [Math.max(3, day * DAY), Math.min(MANY, (day + 1) * DAY)];
      const faults = Math.ceil(end / 1000) - Math.ceil(first / 1000);
      return { day: Date.UTC(2026, 10, 1 + day) * 1000, n: end - first, faults };
    });
    expect(await rowsOf(chart)).to.deep.equal(days);
    // Each by itself, and none of them with a text that others lack.
    const { status, body } = await ask(
      forwarded,
      'many',
      `select id, metadata from edge_logs where event_message <> 'fine' order by timestamp desc limit 5000`,
    );
    expect([status, body.code]).to.deep.equal([400, 'QUERY_TOO_LARGE']);
    expect(body.detail).to.include('more than 100000 rows');
    // A text is sought where the rows are.
    expect(
      await rowsOf(
        `select count(*) as n, min(id) as least from edge_logs where regexp_contains(event_message, 'fault')`,
      ),
    ).to.deep.equal([{ n: MANY / 1000, least: 'r0' }]);
  });

  it('lists what few rows have, of more rows than are fetched', async () => {
    const { forwarded } = twins();
    // As other nodes would have sent them.
    await shared().server.client.command({
      query: `insert into edge_logs
              select entry.* replace (
                concat(entry.id, '-', toString(copy.number)) as id,
                entry.timestamp - toIntervalDay(copy.number) as timestamp,
                'other' as _node
              )
              from edge_logs as entry cross join (select number from numbers(1, ${COPIES})) as copy
              where entry.project = 'few'`,
    });
    const rare = ['r7', ...Array.from({ length: COPIES }, (_, n) => `r7-${n + 1}`)];
    const conditions = [
      'response.status_code >= 500',
      'response.status_code between 500 and 599',
      '500 < response.status_code',
      'response.status_code in (500, 503)',
      "response.status_code = 503 or request.method = 'PUT'",
      "request.method = 'DELETE'",
      "request.method in ('DELETE', 'PUT') and response.status_code >= 300",
    ];
    for (const condition of conditions) {
      const sql = `select t.id from edge_logs t cross join unnest(metadata) as m cross join unnest(m.request) as request
              cross join unnest(m.response) as response where ${condition} order by t.timestamp desc limit 5000`;
      const { status, body } = await ask(forwarded, 'few', sql);
      expect(status, JSON.stringify(body)).to.equal(200);
      const ids = (body.result as { id: string }[]).map(({ id }) => id);
      expect(ids, condition).to.deep.equal(rare);
    }
  });
});

/** The rows of an answer, in no order. */
async function answerOf(
  service: Service,
  sql: string,
  bounds: Readonly<Record<string, string>>,
): Promise<string[]> {
  const search = new URLSearchParams({ project: 'p', sql, ...bounds });
  const { status, body } = await service.get(`/api/endpoints/query/logs.all?${search}`);
  expect(status, `${sql}\n${JSON.stringify(body)}`).to.equal(200);
  return (body.result as unknown[]).map((row) => JSON.stringify(row, rounded)).sort();
}

/** Sums of numbers with fractions depend on the order in which they are added. */
function rounded(_: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(12)) : value;
}
