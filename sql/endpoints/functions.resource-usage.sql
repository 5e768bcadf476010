-- Processor time and memory of one edge function, per time bucket; an older page of Studio.
--! uuid: f6d19c72-85ab-4e03-9c3d-1a7b4e60d8f1
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
  coalesce(resources.avg_cpu, 0) as avg_cpu_time_used,
  coalesce(resources.max_cpu, 0) as max_cpu_time_used,
  coalesce(resources.avg_memory, 0) as avg_memory_used,
  coalesce(resources.avg_heap, 0) as avg_heap_memory_used,
  coalesce(resources.avg_external, 0) as avg_external_memory_used
from buckets
left join resources on resources.bucket = buckets.bucket
order by buckets.bucket
