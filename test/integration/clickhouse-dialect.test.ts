import { expect } from 'chai';
import { allSources } from '../../ingest/index.ts';
import { randomOf } from '../bench/random.ts';
import { clickhouseIt } from '../clickhouse/case.ts';
import type { ClickHouseServer } from '../clickhouse/server.ts';
import { type Served, TOKEN, withApp, withFolder } from '../support/helpers.ts';
import { type OtelEntry, otelEntries, otelStatement } from '../support/otel-logs.ts';

const ENTRIES = 500;
const STATEMENTS = 250;

/** Shapes that clients send beside the random ones. */
const STATEMENTS_OF_CLIENTS = [
  // Lists and charts of Studio's log pages.
  `-- a comment first ['edge_logs']
   SELECT id, timestamp, event_message, log_attributes['request.method'] AS method, log_attributes['response.status_code'] AS status_code
   FROM logs WHERE source = 'edge_logs' AND (event_message ILIKE '%rest%')
     AND (toInt32OrZero(log_attributes['response.status_code']) BETWEEN 500 AND 599 OR toInt32OrZero(log_attributes['response.status_code']) BETWEEN 400 AND 499)
   ORDER BY timestamp DESC LIMIT 100;`,
  `SELECT toStartOfHour(timestamp) AS timestamp,
     countIf(NOT ((log_attributes['parsed.error_severity'] IN ('ERROR', 'FATAL', 'PANIC')) OR (0))) AS ok_count,
     countIf(log_attributes['parsed.error_severity'] IN ('ERROR', 'FATAL', 'PANIC')) AS error_count, countIf(0) AS warning_count
   FROM logs WHERE source = 'postgres_logs' GROUP BY timestamp ORDER BY timestamp ASC`,
  'SELECT COUNT(*) as count FROM logs',
  "SELECT count() AS count FROM logs WHERE source = 'auth_logs'",
  // Unified logs: rows, facets and the chart.
  `SELECT id, null AS source_id, timestamp,
     CASE WHEN source = 'edge_logs' THEN 'edge' WHEN source = 'auth_logs' THEN 'auth' ELSE source END AS log_type,
     CASE WHEN source = 'postgres_logs' THEN toString(log_attributes['parsed.sql_state_code'])
       ELSE toString((if(source = 'auth_logs', log_attributes['status'], log_attributes['response.status_code']))) END AS status,
     CASE WHEN (if(source = 'auth_logs', log_attributes['status'], log_attributes['response.status_code'])) != ''
       AND toInt32OrZero((if(source = 'auth_logs', log_attributes['status'], log_attributes['response.status_code']))) >= 500 THEN 'error'
       WHEN severity_text IN ('ERROR', 'FATAL') THEN 'error' WHEN severity_text IN ('WARN', 'WARNING') THEN 'warning' ELSE 'success' END AS level
   FROM logs WHERE ((source = 'edge_logs') OR (source = 'postgres_logs')) ORDER BY timestamp DESC, id DESC LIMIT 50`,
  `SELECT arrayJoin(['log_type', 'method']) AS facet,
     multiIf(facet = 'log_type', source, facet = 'method', log_attributes['request.method'], '') AS value, count() AS count
   FROM logs WHERE 1 GROUP BY facet, value HAVING value != ''
   UNION ALL (SELECT 'pathname' AS facet, (log_attributes['request.path']) AS value, count() AS count FROM logs
     WHERE (log_attributes['request.path']) IS NOT NULL AND (log_attributes['request.path']) != '' GROUP BY value ORDER BY count DESC, value LIMIT 20)`,
  // Reports, of which some name the table, as an alias stands for the column.
  `select toUnixTimestamp(toStartOfHour(logs.timestamp)) * 1000000 as timestamp, count() as count, toFloat64(count()) as f
   from logs where source = 'function_edge_logs' group by timestamp order by timestamp asc`,
  `select log_attributes['request.path'] as path, toInt32OrZero(log_attributes['response.status_code']) as status_code, count() as count,
     avg(toFloat64OrZero(log_attributes['response.origin_time'])) as avg
   from logs where source = 'edge_logs' group by path, status_code order by count desc, path, status_code limit 10`,
  `select round(quantile(0.95)(toFloat64OrZero(log_attributes['execution_time_ms'])), 3) as p95, max(toFloat64OrZero(log_attributes['execution_time_ms'])) as most
   from logs where source = 'function_edge_logs'`,
  `select round(avg(toInt64OrZero(JSONExtractString(event_message, 'duration'))) / 1000000, 2) as ms,
     round(quantile(0.5)(JSONExtract(event_message, 'duration', 'Nullable(Int64)')), 2) as half from logs where source = 'auth_logs'`,
  // What people write by hand.
  'select source, severity_text, count(*) as n from logs group by source, severity_text order by 1, 2',
  "select log_attributes['path'], log_attributes['status'], count(*) from logs where source = 'auth_logs' group by 1, 2 order by 1, 2",
  "select distinct arrayJoin(mapKeys(log_attributes)) as key from logs where source = 'app_logs' order by key",
  "select toStartOfMinute(timestamp) m, count() n, quantileExact(0.5)(toFloat64OrZero(log_attributes['response.origin_time'])) p50 from logs where source = 'edge_logs' group by m order by m",
  `select JSONExtractString(event_message, 'event') as event, JSONExtractInt(event_message, 'at', 'line') as where, JSONExtractBool(event_message, 'cold') as from, count() as n
   from logs where source = 'function_logs' and startsWith(event_message, '{') group by event, where, from order by event, where, from`,
  "select splitByChar('?', log_attributes['request.path'])[1] as endpoint, count() as n from logs where source = 'edge_logs' group by endpoint order by n desc, endpoint limit 4",
  `select extract(event_message, 'duration: ([0-9.]+) ms') as d, count() as n from logs where event_message like 'duration:%' group by d order by d`,
  `select arrayJoin(extractAll(log_attributes['parsed.detail'], '"public"\\\\."([a-z_]+)"')) as fn, count() from logs group by fn order by fn`,
  "select uniqExact(log_attributes['request.headers.cf_connecting_ip']) as ips, uniq(source) as sources from logs",
  'select length(groupUniqArrayArray(mapKeys(log_attributes))) as keys from logs',
  "select source, countIf(match(concat(event_message, ' ', arrayStringConcat(mapValues(log_attributes), ' ')), 'curl')) as n from logs group by source order by source",
  'select toString(timestamp) as t, cast(timestamp as datetime) as s, toUnixTimestamp64Micro(timestamp) as us, toDate(timestamp) as day from logs order by id limit 5',
  "select formatDateTime(timestamp, '%F %T') as a, dateDiff('hour', timestamp, toDateTime('2026-11-21 00:00:00')) as b, timestamp - INTERVAL 90 SECOND as c from logs order by id limit 5",
  "select domain('https://www.example.org:8080/a?b') as d, path('https://h/a/b?x#y') as p, formatReadableSize(123456789) as s, intDiv(-7, 2) as i, round(2.5) as r",
  "select '\\\\d' as a, '\\d' as b, 'it''s' as c, 'a\\'b' as e, '\\x41' as f, 1 = 1 as g, 7 / 2 as k, 7 % 3 as l",
  "select multiIf(1 = 2, 'a', 2 = 2, 'b', 'c') as m, coalesce(nullIf('', ''), 'none') as n, ifNull(null, 1) as o, [1, 2, 3][-1] as p, has(['a'], 'a') as q, empty('') as r",
  "select toInt32OrZero('+42') a, toInt32OrZero(' 42') b, toInt32OrZero('10.5') c, toUInt32OrZero('-5') d, toInt8OrZero('200') e, toFloat64OrZero('1e3') f, toFloat64OrZero('.5') g, toFloat64OrNull('x') h",
  "select sum(toInt32OrZero(id)) s, count() n, max(id) m, min(length(id)) l, groupArray(id) g, sumIf(1, id = 'x') i from logs where 0",
  "with 400 as least_bad select countIf(toInt32OrZero(log_attributes['response.status_code']) >= least_bad) as bad from logs",
  `with clients as (select log_attributes['request.headers.cf_connecting_ip'] as ip, count() as n from logs where source = 'edge_logs' group by ip),
     whole as (select sum(n) as all_of_them from clients)
   select clients.ip as ip, clients.n as n, whole.all_of_them as total from clients cross join whole order by ip`,
  'select a.source as source, a.n as n from (select source, count() as n from logs group by source) as a where a.n > 10 order by a.source limit 2, 2',
];

/** Asks the service, and the engine itself, of which values are compared rather than how they are written. */
async function answersOf(
  { http }: Served,
  { client }: ClickHouseServer,
  sql: string,
): Promise<{ readonly ours: string[]; readonly theirs: string[] }> {
  const { status, body } = await http
    .post('/api/endpoints/query/logs.all.otel')
    .set('X-API-KEY', TOKEN)
    .send({ project: 'p', sql });
  expect(status, `${sql}\n${body.error?.message}`).to.equal(200);
  const result = await client.query({
    query: sql.replace(/;\s*$/, ''),
    format: 'JSONCompact',
    clickhouse_settings: { output_format_json_quote_64bit_integers: 0, session_timezone: 'UTC' },
  });
  const { data } = (await result.json()) as { data: unknown[][] };
  const lines = (rows: readonly (readonly unknown[])[]) =>
    rows.map((row) => JSON.stringify(row.map(comparable))).sort();
  return {
    ours: lines(body.result.map((row: object) => Object.values(row))),
    theirs: lines(data.slice(0, 1000)),
  };
}

/** Moments are written with a blank by the engine, and doubles with digits that depend on the order of a sum. */
function comparable(value: unknown): unknown {
  if (typeof value === 'number') return Number(value.toPrecision(9));
  if (typeof value === 'string')
    return value.replace(/^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)/, '$1T$2');
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== 'object' || value === null) return value ?? null;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, each]) => [name, comparable(each)]));
}

async function store(served: Served, entries: readonly OtelEntry[]) {
  for (const source of new Set(entries.map((entry) => entry.source))) {
    const own = entries.filter((entry) => entry.source === source);
    served.write(`${source}/a.ndjson`, own.map(({ line }) => line).join(''));
    await served.lines(own.length, source);
  }
}

describe("SQL in ClickHouse's dialect", () => {
  clickhouseIt(
    'has the answers of the engine, from rows as they came and from settled ones',
    async (server) => {
      const entries = otelEntries(randomOf(31), ENTRIES);
      await server.client.command({
        query: `create table logs (id String, timestamp DateTime64(6, 'UTC'), event_message String, severity_text String, source String, log_attributes Map(String, String)) engine = MergeTree order by timestamp`,
      });
      const values = entries.map(({ row }) => row);
      await server.client.insert({ table: 'logs', values, format: 'JSONEachRow' });
      await withFolder((data) =>
        withApp(data, async (served) => {
          await store(served, entries);
          const random = randomOf(32);
          const statements = [
            ...STATEMENTS_OF_CLIENTS,
            ...Array.from({ length: STATEMENTS }, () => otelStatement(random)),
          ];
          let rows = 0;
          const check = async (state: string) => {
            for (const sql of statements) {
              const { ours, theirs } = await answersOf(served, server, sql);
              rows += theirs.length;
              expect(ours, `${state}: ${sql}`).to.deep.equal(theirs);
            }
          };
          await check('as they came');
          expect(rows).to.be.above(10 * statements.length);
          for (const source of allSources()) await served.store.settling.settle(source, 1);
          await check('settled');
        }),
      );
    },
  );
});
