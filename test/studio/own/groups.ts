import { type Answer, type Cell, type Line, OneOf, oneOf, quantile } from '../answer.ts';
import { among, within } from '../expected/conditions.ts';
import { auth, edge, functions, postgres } from '../expected/joins.ts';
import { moment, where } from '../expected/requests.ts';
import { datetime, grouped, mean, ordered, rounded, shown, sum, truncated } from '../form.ts';
import { at, from, integer, jsonValue, number, type Scope, text } from '../reading.ts';
import type { Request } from '../request.ts';
import type { Json } from '../shape.ts';
import type { World } from '../world.ts';

const EDGE = `edge_logs t
  cross join unnest(metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response`;

/** Requests that count, sum up and rank. */
export const GROUPS: readonly Request[] = [
  {
    name: 'how often each status came',
    sql: `select response.status_code, count(*) as hits from ${EDGE} group by response.status_code order by hits desc, response.status_code`,
    rows: (w) =>
      sorted(
        grouped(edge(w), (s) => [at(s, 'response.status_code')]).map(({ keys, items }) => ({
          status_code: keys[0],
          hits: items.length,
        })),
        '-hits',
        'status_code',
      ),
  },
  {
    name: 'classes of status by a case',
    sql: `
select
  case
    when response.status_code < 300 then '2xx'
    when response.status_code < 400 then '3xx'
    when response.status_code < 500 then '4xx'
    else 'other'
  end as class,
  count(*) as hits
from ${EDGE}
group by class
order by class`,
    rows: (w) =>
      sorted(
        grouped(edge(w), (s) => [classOf(number(at(s, 'response.status_code')))]).map(
          ({ keys, items }) => ({ class: keys[0], hits: items.length }),
        ),
        'class',
      ),
  },
  {
    name: 'the share of errors each hour',
    sql: `
select
  timestamp_trunc(t.timestamp, hour) as hour,
  count(*) as total,
  countif(response.status_code >= 500) as failed,
  round(100 * countif(response.status_code >= 500) / count(*), 2) as percent,
  safe_divide(countif(response.status_code >= 500), countif(response.status_code < 0)) as nothing,
  sum(if(request.method = 'GET', 1, 0)) as gets,
  sum(case when request.method = 'POST' then 1 else 0 end) as posts
from ${EDGE}
group by hour
having count(*) > 5
order by 1`,
    rows: (w) =>
      sorted(
        grouped(edge(w), (s) => [truncated(moment(s), 'hour')])
          .filter(({ items }) => items.length > 5)
          .map(({ keys, items }) => {
            const failed = where(items, within('response.status_code', 500)).length;
            return {
              hour: keys[0],
              total: items.length,
              failed,
              percent: rounded((100 * failed) / items.length, 2),
              nothing: null,
              gets: where(items, among('request.method', 'GET')).length,
              posts: where(items, among('request.method', 'POST')).length,
            };
          }),
        'hour',
      ),
  },
  {
    name: 'having and order by names of columns',
    sql: `select request.path as path, count(*) as n from ${EDGE} group by path having n > 20 and path not like '/storage/%' order by n desc, path limit 5`,
    rows: (w) => ({
      ...sorted(
        grouped(edge(w), (s) => [text(at(s, 'request.path'))])
          .map(({ keys, items }) => ({ path: keys[0], n: items.length }))
          .filter(({ path, n }) => n > 20 && path !== null && !path.startsWith('/storage/')),
        '-n',
        'path',
      ),
      limit: 5,
    }),
  },
  {
    name: 'the busiest addresses',
    sql: `
SELECT h.x_real_ip, COUNT(*) FROM edge_logs
CROSS JOIN UNNEST(metadata) AS m CROSS JOIN UNNEST(m.request) AS r CROSS JOIN UNNEST(r.headers) AS h
WHERE h.x_real_ip IS NOT NULL
GROUP BY 1 ORDER BY COUNT(*) DESC, h.x_real_ip LIMIT 3`,
    rows: (w) => ({
      ...sorted(
        grouped(
          headers(w).filter((s) => at(s, 'h.x_real_ip') !== null),
          (s) => [at(s, 'h.x_real_ip')],
        ).map(({ keys, items }) => ({ x_real_ip: keys[0], f0_: items.length })),
        '-f0_',
        'x_real_ip',
      ),
      limit: 3,
    }),
  },
  {
    name: 'an unnamed count',
    sql: 'select count(*), count(metadata), min(id) from postgrest_logs',
    rows: (w) => ({
      rows: [
        {
          f0_: w.postgrest_logs.length,
          f1_: w.postgrest_logs.filter(({ metadata }) => metadata !== null).length,
          f2_: w.postgrest_logs.map(({ id }) => id).toSorted()[0] ?? null,
        },
      ],
    }),
  },
  {
    name: 'distinct values',
    sql: `select distinct request.method as method from ${EDGE} order by method`,
    rows: (w) =>
      sorted(
        grouped(edge(w), (s) => [text(at(s, 'request.method'))]).map(({ keys }) => ({
          method: keys[0],
        })),
        'method',
      ),
  },
  {
    name: 'counts of distinct values, exact and not',
    sql: `select count(distinct request.path) as exact, approx_count_distinct(request.path) as about, count(distinct if(response.status_code >= 400, request.path, null)) as failing from ${EDGE}`,
    rows: (w) => {
      const paths = distinct(edge(w), 'request.path');
      return {
        rows: [
          {
            exact: paths,
            about: around(paths, 0.1),
            failing: distinct(where(edge(w), within('response.status_code', 400)), 'request.path'),
          },
        ],
      };
    },
  },
  {
    name: 'the most frequent values, roughly',
    sql: `select approx_top_count(response.status_code, 1) as top from ${EDGE}`,
    rows: (w) => {
      const counts = grouped(edge(w), (s) => [at(s, 'response.status_code')]).toSorted(
        (a, b) => b.items.length - a.items.length,
      );
      return {
        rows: [
          { top: [{ value: counts[0]?.keys[0] ?? null, count: counts[0]?.items.length ?? 0 }] },
        ],
      };
    },
  },
  {
    name: 'quantiles of the time at the origin',
    sql: `
select
  request.method,
  count(response.origin_time) as n,
  min(response.origin_time) as least,
  max(response.origin_time) as most,
  avg(response.origin_time) as mean,
  approx_quantiles(response.origin_time, 100)[offset(50)] as p50,
  approx_quantiles(response.origin_time, 100)[safe_offset(90)] as p90,
  approx_quantiles(response.origin_time, 100)[ordinal(100)] as p99,
  array_length(approx_quantiles(response.origin_time, 4)) as bounds
from ${EDGE}
where safe_cast(response.origin_time as float64) is not null
group by method
order by method`,
    rows: (w) =>
      sorted(
        grouped(
          edge(w).filter((s) => number(at(s, 'response.origin_time')) !== null),
          (s) => [at(s, 'request.method')],
        ).map(({ keys, items }) => {
          const times = items.map((s) => number(at(s, 'response.origin_time')) as number);
          return {
            method: keys[0],
            n: times.length,
            least: Math.min(...times),
            most: Math.max(...times),
            mean: mean(times),
            p50: quantile(times, 0.5),
            p90: quantile(times, 0.9),
            p99: quantile(times, 0.99),
            bounds: 5,
          };
        }),
        'method',
      ),
  },
  {
    name: 'what is no number has no part in a sum',
    sql: `select sum(safe_cast(metadata.status as int64)) as total, count(safe_cast(metadata.status as int64)) as n, avg(cast(metadata.status as float64)) as mean from auth_logs cross join unnest(metadata) as metadata`,
    rows: (w) => {
      const states = auth(w)
        .map((s) => integer(at(s, 'metadata.status')))
        .filter((n) => n !== null);
      return { rows: [{ total: sum(states), n: states.length, mean: mean(states) }] };
    },
  },
  {
    name: 'times that functions took, summed as numbers',
    sql: `
select m.function_id, round(sum(m.execution_time_ms), 3) as total, max(m.execution_time_ms) as longest
from function_edge_logs cross join unnest(metadata) as m
where m.function_id is not null
group by m.function_id
order by total desc`,
    rows: (w) =>
      sorted(
        grouped(
          from(w.function_edge_logs, { m: 't.metadata' }).filter(
            (s) => at(s, 'm.function_id') !== null,
          ),
          (s) => [at(s, 'm.function_id')],
        ).map(({ keys, items }) => {
          const times = items
            .map((s) => number(at(s, 'm.execution_time_ms')))
            .filter((n) => n !== null);
          return {
            function_id: keys[0],
            total: rounded(sum(times), 3),
            longest: Math.max(...times),
          };
        }),
        '-total',
      ),
  },
  {
    name: 'lists of what was seen',
    sql: `
select
  metadata.function_id as id,
  array_agg(distinct metadata.level order by metadata.level) as levels,
  string_agg(distinct metadata.region, ', ' order by metadata.region) as regions,
  array_agg(event_message order by timestamp desc limit 2) as newest,
  array_agg(struct(metadata.level as level, timestamp as at) order by timestamp limit 1) as first
from function_logs cross join unnest(metadata) as metadata
where metadata.function_id is not null and metadata.level is not null and metadata.region is not null
group by id
order by id`,
    rows: (w) =>
      sorted(
        grouped(
          functions(w).filter((s) =>
            ['function_id', 'level', 'region'].every((name) => at(s, `metadata.${name}`) !== null),
          ),
          (s) => [at(s, 'metadata.function_id')],
        ).map(({ keys, items }) => {
          const byTime = items.toSorted((a, b) => moment(a) - moment(b));
          const first = byTime[0] as Scope;
          return {
            id: keys[0],
            levels: unique(items, 'metadata.level'),
            regions: unique(items, 'metadata.region').join(', '),
            newest: byTime
              .slice(-2)
              .reverse()
              .map((s) => at(s, 't.event_message')),
            first: [{ level: at(first, 'metadata.level'), at: moment(first) }],
          };
        }),
        'id',
      ),
  },
  {
    name: 'any of several messages',
    sql: `select parsed.error_severity as severity, any_value(event_message) as example, logical_or(event_message like '%connection%') as connects, logical_and(event_message like '%e%') as e from postgres_logs cross join unnest(metadata) as m cross join unnest(m.parsed) as parsed group by 1 order by 1`,
    rows: (w) =>
      sorted(
        grouped(postgres(w), (s) => [at(s, 'parsed.error_severity')]).map(({ keys, items }) => {
          const messages = items.map((s) => at(s, 't.event_message') as string);
          return {
            severity: keys[0],
            example: oneOf(messages),
            connects: messages.some((message) => message.includes('connection')),
            e: messages.every((message) => message.includes('e')),
          };
        }),
        'severity',
      ),
  },
  {
    name: 'entries by hour of the day and day of the week',
    sql: `select extract(dayofweek from timestamp) as day, extract(hour from timestamp) as hour, count(*) as n from auth_logs group by day, hour order by day, hour`,
    rows: (w) =>
      sorted(
        grouped(w.auth_logs, ({ timestamp }) => {
          const date = new Date(timestamp / 1000);
          return [date.getUTCDay() + 1, date.getUTCHours()];
        }).map(({ keys, items }) => ({ day: keys[0], hour: keys[1], n: items.length })),
        'day',
        'hour',
      ),
  },
  {
    name: 'entries by day in a zone',
    sql: `select date(timestamp, 'Asia/Tokyo') as day, count(id) as n, min(timestamp) as first, max(timestamp) as last from realtime_logs group by day order by day desc`,
    rows: (w) =>
      sorted(
        grouped(w.realtime_logs, ({ timestamp }) => [
          datetime(timestamp + 9 * 3600e6).slice(0, 10),
        ]).map(({ keys, items }) => ({
          day: keys[0],
          n: items.length,
          first: Math.min(...items.map(({ timestamp }) => timestamp)),
          last: Math.max(...items.map(({ timestamp }) => timestamp)),
        })),
        '-day',
      ),
  },
  {
    name: 'entries by a text of their moment',
    sql: `select format_timestamp('%Y-%m-%d %H:00', timestamp) as hour, count(*) as n from storage_logs group by 1 order by 1`,
    rows: (w) =>
      sorted(
        grouped(w.storage_logs, ({ timestamp }) => [
          `${datetime(truncated(timestamp, 'hour')).slice(0, 16).replace('T', ' ')}`,
        ]).map(({ keys, items }) => ({ hour: keys[0], n: items.length })),
        'hour',
      ),
  },
  {
    name: 'the time from the first to the last entry',
    sql: `select timestamp_diff(max(timestamp), min(timestamp), second) as seconds, timestamp_diff(max(timestamp), min(timestamp), hour) as hours, date_diff(date(max(timestamp)), date(min(timestamp)), day) as days from pgbouncer_logs`,
    rows: (w) => {
      const times = w.pgbouncer_logs.map(({ timestamp }) => timestamp);
      const [first, last] = [Math.min(...times), Math.max(...times)];
      return {
        rows: [
          {
            seconds: Math.floor((last - first) / 1e6),
            hours: Math.floor((last - first) / 3600e6),
            days: (truncated(last, 'day') - truncated(first, 'day')) / 86_400e6,
          },
        ],
      };
    },
  },
  {
    name: 'parts of paths',
    sql: `select split(request.path, '/')[safe_offset(1)] as product, regexp_extract(request.path, r'^/[^/]+/v1/([^/?]+)') as what, count(*) as n from ${EDGE} group by product, what order by n desc, product, what`,
    rows: (w) =>
      sorted(
        grouped(edge(w), (s) => {
          const path = text(at(s, 'request.path'));
          return [path?.split('/')[1] ?? null, path?.match(/^\/[^/]+\/v1\/([^/?]+)/)?.[1] ?? null];
        }).map(({ keys, items }) => ({ product: keys[0], what: keys[1], n: items.length })),
        '-n',
        'product',
        'what',
      ),
  },
  {
    name: 'paths without their numbers and queries',
    sql: `select regexp_replace(regexp_replace(request.path, r'\\?.*$', ''), r'[0-9]+', ':n') as route, count(*) as n from ${EDGE} where request.path is not null group by route order by n desc, route limit 20`,
    rows: (w) => ({
      ...sorted(
        grouped(
          edge(w).filter((s) => at(s, 'request.path') !== null),
          (s) => [`${at(s, 'request.path')}`.replace(/\?.*$/, '').replace(/[0-9]+/g, ':n')],
        ).map(({ keys, items }) => ({ route: keys[0], n: items.length })),
        '-n',
        'route',
      ),
      limit: 20,
    }),
  },
  {
    name: 'by what stands in the message of the auth service',
    sql: `
select
  json_value(event_message, '$.auth_event.action') as action,
  json_extract_scalar(event_message, '$.path') as path,
  count(*) as n,
  max(safe_cast(json_value(event_message, '$.duration') as int64)) as longest
from auth_logs
where json_value(event_message, '$.auth_event.action') is not null
group by 1, 2
order by n desc, action, path
limit 12`,
    rows: (w) => ({
      ...sorted(
        grouped(
          w.auth_logs.filter((row) => jsonValue(row.event_message, 'auth_event.action') !== null),
          (row) => [
            jsonValue(row.event_message, 'auth_event.action'),
            jsonValue(row.event_message, 'path'),
          ],
        ).map(({ keys, items }) => {
          const durations = items
            .map((row) => integer(jsonValue(row.event_message, 'duration')))
            .filter((n) => n !== null);
          return {
            action: keys[0],
            path: keys[1],
            n: items.length,
            longest: durations.length > 0 ? Math.max(...durations) : null,
          };
        }),
        '-n',
        'action',
        'path',
      ),
      limit: 12,
    }),
  },
  {
    name: 'cache hits by country',
    sql: `
select c.country, countif(h.cf_cache_status = 'HIT') / count(*) as ratio, count(*) as n
from edge_logs
cross join unnest(metadata) as m
cross join unnest(m.request) as r
cross join unnest(r.cf) as c
cross join unnest(m.response) as res
cross join unnest(res.headers) as h
group by c.country
having n >= 3
order by c.country`,
    rows: (w) =>
      sorted(
        grouped(
          from(w.edge_logs, {
            m: 't.metadata',
            r: 'm.request',
            c: 'r.cf',
            res: 'm.response',
            h: 'res.headers',
          }),
          (s) => [at(s, 'c.country')],
        )
          .filter(({ items }) => items.length >= 3)
          .map(({ keys, items }) => ({
            country: keys[0],
            ratio: where(items, among('h.cf_cache_status', 'HIT')).length / items.length,
            n: items.length,
          })),
        'country',
      ),
  },
  {
    name: 'group by all',
    sql: `select request.method, response.status_code >= 400 as failed, count(*) as n from ${EDGE} group by all order by method, failed`,
    rows: (w) =>
      sorted(
        grouped(edge(w), (s) => [
          at(s, 'request.method'),
          over(number(at(s, 'response.status_code')), 400),
        ]).map(({ keys, items }) => ({ method: keys[0], failed: keys[1], n: items.length })),
        'method',
        'failed',
      ),
  },
  {
    name: 'whole records by their hour',
    sql: `select timestamp_trunc(timestamp, hour) as hour, array_agg(m order by timestamp limit 1) as first from pgbouncer_logs cross join unnest(metadata) as m group by hour order by hour`,
    rows: (w) =>
      sorted(
        grouped(from(w.pgbouncer_logs, { m: 't.metadata' }), (s) => [
          truncated(moment(s), 'hour'),
        ]).map(({ keys, items }) => ({
          hour: keys[0],
          first: oneOf(earliest(items).map((s) => shown([s.m ?? null]))),
        })),
        'hour',
      ),
  },
  {
    name: 'regions of functions where calls fail',
    sql: `
select h.x_sb_edge_region as region, count(*) as calls, countif(response.status_code >= 500) as failed
from function_edge_logs as f, unnest(f.metadata) as m, unnest(m.response) as response, unnest(response.headers) as h
group by region
having failed > 0
order by failed / calls desc, region`,
    rows: (w) => {
      const rows = grouped(
        from(w.function_edge_logs, {
          m: 't.metadata',
          response: 'm.response',
          h: 'response.headers',
        }),
        (s) => [at(s, 'h.x_sb_edge_region')],
      ).map(({ keys, items }) => ({
        region: keys[0],
        calls: items.length,
        failed: where(items, within('response.status_code', 500)).length,
      }));
      const failing = ordered(rows, 'region').filter(({ failed }) => failed > 0);
      return {
        rows: failing.toSorted((a, b) => b.failed / b.calls - a.failed / a.calls),
        by: (row) => row.region,
      };
    },
  },
  {
    name: 'nothing to sum up is one row of nothing',
    sql: "select count(*) as n, sum(length(event_message)) as s, max(timestamp) as t, avg(length(id)) as a from realtime_logs where event_message = 'never said'",
    rows: () => ({ rows: [{ n: 0, s: null, t: null, a: null }] }),
  },
  {
    name: 'nothing to group is no row',
    sql: 'select timestamp_trunc(timestamp, day) as day, count(*) as n from realtime_logs where timestamp > timestamp_sub(current_timestamp(), interval 1 hour) group by day',
    rows: () => ({ rows: [] }),
  },
];

function sorted(rows: readonly Line[], ...columns: readonly string[]): Answer {
  const names = columns.map((column) => column.replace('-', ''));
  return { rows: ordered(rows, ...columns), by: (row) => names.map((name) => row[name]) };
}

function earliest(scopes: readonly Scope[]): Scope[] {
  const first = Math.min(...scopes.map(moment));
  return scopes.filter((s) => moment(s) === first);
}

function headers(world: World): Scope[] {
  return from(world.edge_logs, { m: 't.metadata', r: 'm.request', h: 'r.headers' });
}

function classOf(status: number | null): string {
  if (status === null || status >= 500) return 'other';
  return status < 300 ? '2xx' : status < 400 ? '3xx' : '4xx';
}

function over(value: number | null, bound: number): boolean | null {
  return value === null ? null : value >= bound;
}

function distinct(scopes: readonly Scope[], path: string): number {
  return new Set(scopes.map((s) => at(s, path)).filter((value) => value !== null)).size;
}

function unique(scopes: readonly Scope[], path: string): string[] {
  return [...new Set(scopes.map((s) => text(at(s, path)) as string))].toSorted();
}

/** A number that is right to some part of it. */
function around(count: number, part: number): Cell {
  return new OneOf(
    `about ${count}`,
    (value: Json) => typeof value === 'number' && Math.abs(value - count) <= count * part,
  );
}
