/** Queries that are answered, in the dialect of BigQuery: what the fuzzer begins with. */
export const ACCEPTED: readonly string[] = [
  'select id, timestamp, event_message from edge_logs order by timestamp desc limit 5',
  `select id, timestamp, event_message, request.method, request.path, response.status_code
   from edge_logs
   cross join unnest(metadata) as m
   cross join unnest(m.request) as request
   cross join unnest(m.response) as response
   where response.status_code >= 400 and request.method = 'GET'
   order by timestamp desc limit 100`,
  `select timestamp_trunc(t.timestamp, minute) as timestamp, count(*) as count,
     countif(response.status_code >= 500) as error_count
   from edge_logs t
   cross join unnest(metadata) as metadata
   cross join unnest(metadata.response) as response
   group by timestamp order by timestamp`,
  `select cast(t.timestamp as datetime) as ts, m.level as level, m as metadata
   from auth_logs as t left join unnest(t.metadata) as m on true
   where m.level in ('error', "info") or m.level is null`,
  `with a as (select id, event_message as msg from postgres_logs), b as (select id, event_message as msg from auth_logs)
   select a.id as x, b.msg as y from a full outer join b on a.msg = b.msg order by x limit 10`,
  `select lower(event_message) as l, concat(id, '-', cast(length(event_message) as string)) as c, if(length(id) > 3, 1, 0) as i,
     case when event_message like '%1%' then 'one' else null end as k from function_logs where regexp_contains(event_message, r'^message \\d+$')`,
  `select id, count(*) over (partition by length(event_message) order by timestamp) as n, row_number() over (order by id desc) as r
   from storage_logs order by id`,
  `select project, min(timestamp) as a, max(timestamp) as b, avg(length(event_message)) as c, count(distinct id) as d
   from realtime_logs group by project having count(*) > 1`,
  `select coalesce(m.request.path, m.level, 'none') as p, cast(m.response.status_code as int64) as s, safe_divide(1, 0) as z
   from edge_logs, unnest(metadata) as m where timestamp between '2026-08-21T12:00:00Z' and '2026-08-21T12:30:00Z'`,
  `select id from edge_logs where id in (select id from edge_logs where length(event_message) > 9)
   union all select id from pgbouncer_logs union distinct select 'x' as id`,
  'select array_agg(id) as ids, string_agg(event_message, ", ") as messages from postgrest_logs',
  `select approx_quantiles(m.response.origin_time, 4)[offset(2)] as q from edge_logs cross join unnest(metadata) m`,
  `select el as raw from edge_logs el where el.id = 'edge_logs-03'`,
  `select json_value(event_message, '$.a.b') as j, split(event_message, ' ')[offset(0)] as w, substr(id, 1, 4) as s from function_edge_logs`,
  `select extract(hour from timestamp) as h, date_trunc('hour', timestamp) as d, timestamp_diff(current_timestamp(), timestamp, day) > 0 as o from edge_logs`,
];
