import { type Answer, quantile } from '../answer.ts';
import { among, matches, within } from '../expected/conditions.ts';
import { auth, edgeWithAnswer, edgeWithHeaders, relay } from '../expected/joins.ts';
import { moment, where } from '../expected/requests.ts';
import { datetime, grouped, mean, ordered, rounded, truncated } from '../form.ts';
import { at, from, jsonValue, number, type Scope, text } from '../reading.ts';
import type { Request } from '../request.ts';

const EDGE = `edge_logs t
  cross join unnest(metadata) as m
  cross join unnest(m.response) as response
  cross join unnest(m.request) as request
  cross join unnest(request.headers) as headers`;

/** Requests of reports on API, storage, auth, edge functions and database. */
export const REPORTS: readonly Request[] = [
  {
    name: 'report: all requests by hour',
    sql: `-- every request\nselect cast(timestamp_trunc(t.timestamp, hour) as datetime) as timestamp, count(t.id) as count from ${EDGE} group by timestamp order by timestamp`,
    rows: (w) =>
      byTime(
        grouped(edgeWithHeaders(w), hourOf).map(({ keys, items }) => ({
          timestamp: datetime(keys[0]),
          count: items.length,
        })),
        'timestamp',
      ),
  },
  {
    name: 'report: the most used routes',
    sql: `select request.path as path, request.method as method, request.search as search, response.status_code as status_code, count(t.id) as count from ${EDGE} group by request.path, request.method, request.search, response.status_code order by count desc limit 10`,
    rows: (w) => ({
      rows: ordered(
        grouped(edgeWithHeaders(w), (s) => [
          at(s, 'request.path'),
          at(s, 'request.method'),
          at(s, 'request.search'),
          at(s, 'response.status_code'),
        ]).map(({ keys: [path, method, search, status_code], items }) => ({
          path,
          method,
          search,
          status_code,
          count: items.length,
        })),
        '-count',
      ),
      by: (row) => row.count,
      limit: 10,
    }),
  },
  {
    name: 'report: traffic from the network',
    sql: `
select
  cast(timestamp_trunc(t.timestamp, hour) as datetime) as timestamp,
  coalesce(sum(safe_cast(h.content_length as int64)), 0) / 1000000 as egress_mb
from edge_logs t
cross join unnest(metadata) as m
cross join unnest(m.response) as response
cross join unnest(response.headers) as h
group by timestamp
order by timestamp asc`,
    rows: (w) =>
      byTime(
        grouped(
          from(w.edge_logs, { m: 't.metadata', response: 'm.response', h: 'response.headers' }),
          hourOf,
        ).map(({ keys, items }) => ({
          timestamp: datetime(keys[0]),
          egress_mb: items.reduce(
            (mb, s) => mb + (number(at(s, 'h.content_length')) ?? 0) / 1e6,
            0,
          ),
        })),
        'timestamp',
      ),
  },
  {
    name: 'report: how often storage answers from its cache',
    sql: `
SELECT TIMESTAMP_TRUNC(e.timestamp, HOUR) AS timestamp,
  COUNTIF(head.cf_cache_status = 'HIT') AS hits,
  COUNTIF(head.cf_cache_status != 'HIT') AS misses
FROM edge_logs AS e
CROSS JOIN UNNEST(e.metadata) AS meta
CROSS JOIN UNNEST(meta.request) AS req
CROSS JOIN UNNEST(meta.response) AS answer
CROSS JOIN UNNEST(answer.headers) AS head
WHERE req.method = 'GET' AND STARTS_WITH(req.path, '/storage/v1/object')
GROUP BY timestamp
ORDER BY timestamp DESC`,
    rows: (w) =>
      byTime(
        grouped(
          where(edgeWithAnswer(w), among('request.method', 'GET')).filter((s) =>
            matches('request.path', /^\/storage\/v1\/object/)(s),
          ),
          hourOf,
        ).map(({ keys, items }) => ({
          timestamp: keys[0],
          hits: where(items, among('h.cf_cache_status', 'HIT')).length,
          misses: where(
            items,
            among('h.cf_cache_status', 'MISS', 'NONE/UNKNOWN', 'EXPIRED', 'BYPASS', 'DYNAMIC'),
          ).length,
        })),
        '-timestamp',
      ),
  },
  {
    name: 'report: active users',
    sql: `
select
  timestamp_trunc(timestamp, hour) as timestamp,
  count(distinct json_value(event_message, "$.auth_event.actor_id")) as count
from auth_logs
where json_value(event_message, "$.auth_event.action") in ('login', 'user_signedup', 'token_refreshed', 'logout')
group by timestamp
order by timestamp desc`,
    rows: (w) =>
      byTime(
        grouped(
          w.auth_logs.filter(({ event_message }) =>
            ['login', 'user_signedup', 'token_refreshed', 'logout'].includes(
              `${jsonValue(event_message, 'auth_event.action')}`,
            ),
          ),
          ({ timestamp }) => [truncated(timestamp, 'hour')],
        ).map(({ keys, items }) => ({
          timestamp: keys[0],
          count: new Set(
            items
              .map(({ event_message }) => jsonValue(event_message, 'auth_event.actor_id'))
              .filter((id) => id !== null),
          ).size,
        })),
        '-timestamp',
      ),
  },
  {
    name: 'report: errors of the auth service by status and path',
    sql: `
select
  timestamp_trunc(t.timestamp, day) as timestamp,
  cast(metadata.status as int64) as status_code,
  metadata.path,
  count(*) as count
from auth_logs as t cross join unnest(metadata) as metadata
where cast(metadata.status as int64) between 400 and 599 and metadata.path is not null
group by timestamp, status_code, metadata.path
order by timestamp desc, status_code, path`,
    rows: (w) => ({
      rows: ordered(
        grouped(
          where(auth(w), within('metadata.status', 400, 599)).filter(
            (s) => at(s, 'metadata.path') !== null,
          ),
          (s) => [
            truncated(moment(s), 'day'),
            number(at(s, 'metadata.status')),
            text(at(s, 'metadata.path')),
          ],
        ).map(({ keys, items }) => ({
          timestamp: keys[0],
          status_code: keys[1],
          path: keys[2],
          count: items.length,
        })),
        '-timestamp',
        'status_code',
        'path',
      ),
      by: (row) => [row.timestamp, row.status_code, row.path],
    }),
  },
  {
    name: 'report: calls of functions by status',
    sql: `
--edgefn
select
  timestamp_trunc(timestamp, hour) as timestamp,
  function_id,
  count(case when response.status_code < 300 then 1 end) as ok,
  count(case when response.status_code >= 500 then 1 end) as failed,
  approx_quantiles(m.execution_time_ms, 100)[offset(95)] as p95,
  avg(cast(m.execution_time_ms as float64)) as mean
from function_edge_logs
  cross join unnest(metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response
  cross join unnest(response.headers) as h
where m.function_id in ('a1', 'b2') and request.method != 'OPTIONS'
group by timestamp, function_id
order by timestamp desc, function_id`,
    rows: (w) => ({
      rows: ordered(
        grouped(
          where(relay(w), among('m.function_id', 'a1', 'b2')).filter((s) =>
            ['GET', 'POST'].includes(`${at(s, 'request.method')}`),
          ),
          (s) => [truncated(moment(s), 'hour'), at(s, 'm.function_id')],
        ).map(({ keys, items }) => {
          const times = items
            .map((s) => number(at(s, 'm.execution_time_ms')))
            .filter((n) => n !== null);
          return {
            timestamp: keys[0],
            function_id: keys[1],
            ok: where(items, within('response.status_code', 0, 299)).length,
            failed: where(items, within('response.status_code', 500)).length,
            p95: quantile(times, 0.95),
            mean: mean(times),
          };
        }),
        '-timestamp',
        'function_id',
      ),
      by: (row) => [row.timestamp, row.function_id],
    }),
  },
  {
    name: 'report: errors of the database by code',
    sql: `
select parsed.error_severity, parsed.sql_state_code, count(*) as count, max(t.timestamp) as last_seen
from postgres_logs as t cross join unnest(metadata) as m cross join unnest(m.parsed) as parsed
where parsed.error_severity in ('ERROR', 'FATAL', 'PANIC') and parsed.sql_state_code is not null
group by 1, 2
order by 3 desc, 1, 2`,
    rows: (w) => ({
      rows: ordered(
        grouped(
          where(
            from(w.postgres_logs, { m: 't.metadata', parsed: 'm.parsed' }),
            among('parsed.error_severity', 'ERROR', 'FATAL', 'PANIC'),
          ).filter((s) => at(s, 'parsed.sql_state_code') !== null),
          (s) => [at(s, 'parsed.error_severity'), at(s, 'parsed.sql_state_code')],
        ).map(({ keys, items }) => ({
          error_severity: keys[0],
          sql_state_code: keys[1],
          count: items.length,
          last_seen: Math.max(...items.map(moment)),
        })),
        '-count',
        'error_severity',
        'sql_state_code',
      ),
      by: (row) => [row.count, row.error_severity, row.sql_state_code],
    }),
  },
  {
    name: 'report: slow statements',
    sql: `
select
  cast(regexp_extract(event_message, r'duration: ([0-9.]+) ms') as float64) as ms,
  regexp_extract(event_message, r'statement: (.*)$') as statement,
  count(*) as n,
  round(avg(cast(regexp_extract(event_message, 'duration: (\\\\d+)') as int64)), 1) as mean
from postgres_logs
where regexp_contains(event_message, 'duration: ')
group by ms, statement
order by ms desc, statement`,
    rows: (w) => ({
      rows: ordered(
        grouped(
          w.postgres_logs.filter(({ event_message }) => event_message.includes('duration: ')),
          ({ event_message }) => [
            Number(event_message.match(/duration: ([0-9.]+) ms/)?.[1]),
            event_message.match(/statement: (.*)$/)?.[1] ?? null,
            rounded(Number(event_message.match(/duration: (\d+)/)?.[1]), 1),
          ],
        ).map(({ keys, items }) => ({
          ms: keys[0],
          statement: keys[1],
          n: items.length,
          mean: keys[2],
        })),
        '-ms',
        'statement',
      ),
      by: (row) => [row.ms, row.statement],
    }),
  },
];

function hourOf(scope: Scope): [number] {
  return [truncated(moment(scope), 'hour')];
}

function byTime(rows: Parameters<typeof ordered>[0], column: string): Answer {
  return { rows: ordered(rows, column), by: (row) => row.timestamp };
}
