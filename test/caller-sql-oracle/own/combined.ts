import { among, matches, within } from '../expected/conditions.ts';
import { edgeWithAnswer, functions } from '../expected/joins.ts';
import { moment, newest, picked, where } from '../expected/requests.ts';
import { unified } from '../expected/unified.ts';
import { grouped, mean, microseconds, ordered, truncated } from '../form.ts';
import { at, from, text } from '../reading.ts';
import type { Request } from '../request.ts';

/** Requests that ask several things at once: subqueries, common table expressions, unions and joins. */
export const COMBINED: readonly Request[] = [
  {
    name: 'a subquery in FROM',
    sql: `select hour, avg(n) as mean, max(n) as most from (select timestamp_trunc(timestamp, hour) as hour, timestamp_trunc(timestamp, minute) as minute, count(*) as n from auth_logs group by hour, minute) group by hour order by hour`,
    rows: (w) => ({
      rows: ordered(
        grouped(
          grouped(w.auth_logs, ({ timestamp }) => [truncated(timestamp, 'minute')]),
          ({ keys }) => [truncated(keys[0], 'hour')],
        ).map(({ keys, items }) => ({
          hour: keys[0],
          mean: mean(items.map(({ items: rows }) => rows.length)),
          most: Math.max(...items.map(({ items: rows }) => rows.length)),
        })),
        'hour',
      ),
      by: (row) => row.hour,
    }),
  },
  {
    name: 'entries named by another query',
    sql: `
select f.id, m.request_id
from function_logs as f cross join unnest(f.metadata) as m
where m.request_id in (
  select e.request_id from function_edge_logs cross join unnest(metadata) as e cross join unnest(e.response) as r where r.status_code >= 500
)
order by f.timestamp desc limit 100`,
    rows: (w) => {
      const failed = new Set(
        where(
          from(w.function_edge_logs, { m: 't.metadata', r: 'm.response' }),
          within('r.status_code', 500),
        ).map((s) => at(s, 'm.request_id')),
      );
      failed.delete(null);
      return {
        rows: functions(w)
          .filter((s) => failed.has(at(s, 'metadata.request_id')))
          .toSorted((a, b) => moment(b) - moment(a))
          .map((s) => picked(s, ['t.id', 'metadata.request_id'])),
        by: (row) => row.id,
        limit: 100,
      };
    },
  },
  {
    name: 'entries for which others exist, or none does',
    sql: `
select
  countif(exists(select 1 from unnest(t.metadata) as m where m.host = 'default')) as hosts,
  countif(not exists(select 1 from unnest(t.metadata) as m)) as bare,
  (select count(*) from pgbouncer_logs) as others
from postgrest_logs as t`,
    rows: (w) => ({
      rows: [
        {
          hosts: new Set(
            from(w.postgrest_logs, { m: 't.metadata' })
              .filter((s) => text(at(s, 'm.host')) === 'default')
              .map((s) => at(s, 't.id')),
          ).size,
          bare:
            w.postgrest_logs.length -
            new Set(from(w.postgrest_logs, { m: 't.metadata' }).map((s) => at(s, 't.id'))).size,
          others: w.pgbouncer_logs.length,
        },
      ],
    }),
  },
  {
    name: 'common table expressions, one by one and joined',
    sql: `
with calls as (
  select timestamp_trunc(timestamp, hour) as hour, count(*) as calls from function_edge_logs group by hour
),
errors as (
  select timestamp_trunc(f.timestamp, hour) as hour, count(*) as errors
  from function_logs f cross join unnest(f.metadata) as m
  where m.level = 'error'
  group by 1
)
select c.hour, c.calls, ifnull(e.errors, 0) as errors
from calls as c
left join errors as e on c.hour = e.hour
order by c.hour desc`,
    rows: (w) => {
      const errors = new Map(
        grouped(where(functions(w), among('metadata.level', 'error')), (s) => [
          truncated(moment(s), 'hour'),
        ]).map(({ keys, items }) => [keys[0], items.length]),
      );
      return {
        rows: ordered(
          grouped(w.function_edge_logs, ({ timestamp }) => [truncated(timestamp, 'hour')]).map(
            ({ keys, items }) => ({
              hour: keys[0],
              calls: items.length,
              errors: errors.get(keys[0]) ?? 0,
            }),
          ),
          '-hour',
        ),
        by: (row) => row.hour,
      };
    },
  },
  {
    name: 'entries of two views side by side',
    sql: `
select 'auth' as source, count(*) as n, max(timestamp) as newest from auth_logs
union all
select 'realtime', count(*), max(timestamp) from realtime_logs
union all
select 'none', 0, null
order by source desc`,
    rows: (w) => ({
      rows: [
        {
          source: 'realtime',
          n: w.realtime_logs.length,
          newest: newest(w.realtime_logs)[0]?.timestamp ?? null,
        },
        { source: 'none', n: 0, newest: null },
        {
          source: 'auth',
          n: w.auth_logs.length,
          newest: newest(w.auth_logs)[0]?.timestamp ?? null,
        },
      ],
      by: (row) => row.source,
    }),
  },
  {
    name: 'equal rows of a union stay',
    sql: "select 'a' as a, 1 as b union all select 'a', 1 union all select 'a', 1",
    rows: () => ({ rows: Array.from({ length: 3 }, () => ({ a: 'a', b: 1 })) }),
  },
  {
    name: 'numbers stay numbers beside nothing',
    sql: 'select 1 as a, null as b union all select 2, 2.5 union all select null, null order by a',
    rows: () => ({
      rows: [
        { a: null, b: null },
        { a: 1, b: null },
        { a: 2, b: 2.5 },
      ],
      by: (row) => row.a,
    }),
  },
  {
    name: 'a column of a common table expression that begins with nothing',
    sql: 'with a as (select null as n union all select 3 union all select 4) select sum(n) as s, count(n) as c, count(*) as r from a',
    rows: () => ({ rows: [{ s: 7, c: 2, r: 3 }] }),
  },
  {
    name: 'requests at the edge and what the auth service says of them',
    sql: `
select e.id as edge_id, a.id as auth_id, h.cf_ray
from edge_logs as e
cross join unnest(e.metadata) as m
cross join unnest(m.request) as request
cross join unnest(m.response) as response
cross join unnest(response.headers) as h
inner join (
  select id, am.request_id from auth_logs cross join unnest(metadata) as am where am.request_id is not null
) as a on a.request_id = h.cf_ray
where request.path like '/auth/%' and response.status_code >= 400
order by edge_id, auth_id`,
    rows: (w) => {
      const told = from(w.auth_logs, { am: 't.metadata' });
      return {
        rows: ordered(
          where(edgeWithAnswer(w), within('response.status_code', 400))
            .filter((s) => matches('request.path', /^\/auth\//)(s))
            .flatMap((s) =>
              told
                .filter((a) => at(a, 'am.request_id') !== null)
                .filter((a) => at(a, 'am.request_id') === at(s, 'h.cf_ray'))
                .map((a) => ({
                  edge_id: at(s, 't.id'),
                  auth_id: at(a, 't.id'),
                  cf_ray: at(s, 'h.cf_ray'),
                })),
            ),
          'edge_id',
          'auth_id',
        ),
        by: (row) => [row.edge_id, row.auth_id],
      };
    },
  },
  {
    name: 'hours without entries, too',
    sql: `
select hour, count(p.id) as n
from unnest(generate_timestamp_array('2026-08-21T00:00:00Z', '2026-08-21T11:00:00Z', interval 1 hour)) as hour
left join postgrest_logs as p on p.timestamp >= hour and p.timestamp < timestamp_add(hour, interval 1 hour)
group by hour
order by hour`,
    rows: (w) => ({
      rows: Array.from(
        { length: 12 },
        (_, i) => microseconds('2026-08-21T00:00:00Z') + i * 3600e6,
      ).map((hour) => ({
        hour,
        n: w.postgrest_logs.filter(({ timestamp }) => truncated(timestamp, 'hour') === hour).length,
      })),
      by: (row) => row.hour,
    }),
  },
  {
    name: 'the unified page, one part of it',
    sql: `
with logs as (
  select id, el.timestamp as timestamp, cast(res.status_code as string) as status, req.path as pathname, null as event_message, req.method as method
  from edge_logs as el cross join unnest(metadata) as md cross join unnest(md.request) as req cross join unnest(md.response) as res
  where req.path not like '%/rest/%' and req.path not like '%/storage/%'
  union all
  select id, pl.timestamp, cast(p.sql_state_code as string), null, event_message, null
  from postgres_logs as pl cross join unnest(pl.metadata) as md cross join unnest(md.parsed) as p
)
select id, timestamp, status, pathname, event_message, method from logs
where timestamp > '2026-08-21T06:00:00.000Z' and (status is null or status not in ('00000', '200'))
order by timestamp desc, id
limit 50`,
    rows: (w) => ({
      rows: ordered(
        unified(w)
          .filter(({ log_type }) => log_type === 'edge' || log_type === 'postgres')
          .filter(({ timestamp }) => (timestamp as number) > microseconds('2026-08-21T06:00:00Z'))
          .filter(({ status }) => status !== '00000' && status !== '200')
          .map(({ id, timestamp, status, pathname, event_message, method }) => ({
            id: id as string,
            timestamp: timestamp as number,
            status: status as string,
            pathname: pathname as string,
            event_message: event_message as string,
            method: method as string,
          })),
        '-timestamp',
        'id',
      ),
      by: (row) => [row.timestamp, row.id],
      limit: 50,
    }),
  },
  {
    name: 'how many of each kind the unified page has, by its level',
    sql: `
with logs as (
  select 'edge' as log_type, case when res.status_code between 200 and 299 then 'success' when res.status_code between 400 and 499 then 'warning' when res.status_code >= 500 then 'error' else 'success' end as level
  from edge_logs cross join unnest(metadata) as md cross join unnest(md.request) as req cross join unnest(md.response) as res
  where req.path not like '%/rest/%' and req.path not like '%/storage/%'
  union all
  select 'postgres', case p.error_severity when 'LOG' then 'success' when 'WARNING' then 'warning' when 'FATAL' then 'error' when 'ERROR' then 'error' end
  from postgres_logs cross join unnest(metadata) as md cross join unnest(md.parsed) as p
)
select log_type, level, count(*) as count from logs group by log_type, level order by log_type, level`,
    rows: (w) => ({
      rows: ordered(
        grouped(
          unified(w).filter(({ log_type }) => log_type === 'edge' || log_type === 'postgres'),
          ({ log_type, level }) => [log_type as string, level as string | null],
        ).map(({ keys, items }) => ({ log_type: keys[0], level: keys[1], count: items.length })),
        'log_type',
        'level',
      ),
      by: (row) => [row.log_type, row.level],
    }),
  },
];
