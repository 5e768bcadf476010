-- Requests of one edge function and how long they took, per time bucket; an older page of Studio.
--! uuid: e2c84a19-3b70-4d5f-a6e1-8f09c7d2b345
--! max_rows: 1000
--! caching: off
--! warming: off
--! sandboxing: off
--! redact_pii: off
--! parameter: project string required, the project's reference; only its entries are counted; * is all
--! parameter: function_id string required, the function's id
--! parameter: interval 15min|1hr|3hr|1day required, the window, up to 1hr by minute and above by hour
with
span as (
  select
    case when @interval::varchar in ('15min', '1hr') then 'minute' else 'hour' end as unit,
    case when @interval::varchar in ('15min', '1hr') then interval 1 minute else interval 1 hour end as step,
    now()::timestamp - case @interval::varchar
      when '15min' then interval 15 minutes
      when '1hr' then interval 1 hour
      when '3hr' then interval 3 hours
      else interval 1 day
    end as since
),
buckets as (
  select unnest(generate_series(date_trunc(unit, since), date_trunc(unit, now()::timestamp), step)) as bucket
  from span
),
calls as (
  select
    date_trunc(unit, timestamp) as bucket,
    status,
    try_cast(coalesce(found[3], found[4]) as double) as execution_ms
  from (
    select
      timestamp,
      status,
      json_extract_string(metadata, ['$.function_id', '$[0].function_id', '$.execution_time_ms', '$[0].execution_time_ms']) as found
    from main.function_edge_logs, span
    where
      (@any_project::boolean or project = @project::varchar)
      and timestamp > since
      and timestamp <= now()::timestamp
  ), span
  where coalesce(found[1], found[2]) = @function_id::varchar
),
requests as (
  select
    bucket,
    count(*) as requests,
    count(*) filter (status between 200 and 299) as success,
    count(*) filter (status between 300 and 399) as redirect,
    count(*) filter (status between 400 and 499) as client_err,
    count(*) filter (status >= 500) as server_err,
    avg(execution_ms) as avg_execution,
    max(execution_ms) as max_execution
  from calls
  group by bucket
)
select
  buckets.bucket as timestamp,
  coalesce(requests.requests, 0) as count,
  coalesce(requests.success, 0) as success_count,
  coalesce(requests.redirect, 0) as redirect_count,
  coalesce(requests.client_err, 0) as client_err_count,
  coalesce(requests.server_err, 0) as server_err_count,
  coalesce(requests.avg_execution, 0) as avg_execution_time
from buckets
left join requests on requests.bucket = buckets.bucket
order by buckets.bucket
