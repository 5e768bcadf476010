-- Requests, logs and resources of one edge function, per time bucket; Studio's overview of a function.
--! uuid: a94b7e05-d16c-4f28-b3f9-6e0c2d81a7c4
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
),
lines as (
  select
    date_trunc(unit, timestamp) as bucket,
    severity,
    try_cast(coalesce(found[3], found[4]) as double) as cpu_ms,
    try_cast(coalesce(found[5], found[6]) as double) / 1048576 as memory_mb,
    try_cast(coalesce(found[7], found[8]) as double) / 1048576 as heap_mb,
    try_cast(coalesce(found[9], found[10]) as double) / 1048576 as external_mb
  from (
    select
      timestamp,
      severity,
      json_extract_string(metadata, [
        '$.function_id', '$[0].function_id', '$.cpu_time_used', '$[0].cpu_time_used', '$.memory_used.total', '$[0].memory_used[0].total',
        '$.memory_used.heap', '$[0].memory_used[0].heap', '$.memory_used.external', '$[0].memory_used[0].external'
      ]) as found
    from main.function_logs, span
    where
      (@any_project::boolean or project = @project::varchar)
      and timestamp > since
      and timestamp <= now()::timestamp
  ), span
  where coalesce(found[1], found[2]) = @function_id::varchar
),
resources as (
  select
    bucket,
    count(*) as lines,
    count(*) filter (severity is null or severity in ('info', 'debug', 'trace')) as infos,
    count(*) filter (severity = 'warn') as warnings,
    count(*) filter (severity in ('error', 'fatal')) as errors,
    avg(cpu_ms) as avg_cpu,
    max(cpu_ms) as max_cpu,
    avg(memory_mb) as avg_memory,
    avg(heap_mb) as avg_heap,
    avg(external_mb) as avg_external
  from lines
  group by bucket
)
select
  buckets.bucket as timestamp,
  coalesce(requests.requests, 0) as requests_count,
  coalesce(requests.success, 0) as success_count,
  coalesce(requests.redirect, 0) as redirect_count,
  coalesce(requests.client_err, 0) as client_err_count,
  coalesce(requests.server_err, 0) as server_err_count,
  coalesce(requests.avg_execution, 0) as avg_execution_time,
  coalesce(requests.max_execution, 0) as max_execution_time,
  coalesce(resources.lines, 0) as log_count,
  coalesce(resources.infos, 0) as log_info_count,
  coalesce(resources.warnings, 0) as log_warn_count,
  coalesce(resources.errors, 0) as log_error_count,
  coalesce(resources.avg_cpu, 0) as avg_cpu_time_used,
  coalesce(resources.max_cpu, 0) as max_cpu_time_used,
  coalesce(resources.avg_memory, 0) as avg_memory_used,
  coalesce(resources.avg_heap, 0) as avg_heap_memory_used,
  coalesce(resources.avg_external, 0) as avg_external_memory_used
from buckets
left join requests on requests.bucket = buckets.bucket
left join resources on resources.bucket = buckets.bucket
order by buckets.bucket
