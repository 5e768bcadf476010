import type { Dataset } from '../dataset.ts';
import { among, within } from '../expected/conditions.ts';
import { edge } from '../expected/joins.ts';
import { moment, sorted, where } from '../expected/requests.ts';
import { grouped, ordered, rounded, truncated } from '../form.ts';
import { at, from, integer, jsonValue, number, type Scope, text } from '../reading.ts';
import type { Request } from '../request.ts';

const EDGE = `edge_logs t
  cross join unnest(metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response`;

/** Requests that count entries by what they say. */
export const COUNTS: readonly Request[] = [
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
    name: 'nothing to group is not a row',
    sql: 'select timestamp_trunc(timestamp, day) as day, count(*) as n from realtime_logs where timestamp > timestamp_add(current_timestamp(), interval 9999 day) group by day',
    rows: () => ({ rows: [] }),
  },
];

function headers(dataset: Dataset): Scope[] {
  return from(dataset.edge_logs, { m: 't.metadata', r: 'm.request', h: 'r.headers' });
}

function classOf(status: number | null): string {
  if (status === null || status >= 500) return 'other';
  return status < 300 ? '2xx' : status < 400 ? '3xx' : '4xx';
}

function over(value: number | null, bound: number): boolean | null {
  return value === null ? null : value >= bound;
}
