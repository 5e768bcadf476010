-- functions.resource-usage in ClickHouse: sql/endpoints/functions.resource-usage.sql has the contract.
with
  if({interval:Nullable(String)} in ('15min', '1hr'), 60, 3600) as step,
  transform(coalesce({interval:Nullable(String)}, ''), ['15min', '1hr', '3hr', '1day'], [900, 3600, 10800, 86400], 86400) as seconds,
  buckets as (
    select arrayJoin(range(
      toUInt32(intDiv(toUnixTimestamp(now('UTC')) - seconds, step) * step),
      toUInt32(toUnixTimestamp(now('UTC')) + 1),
      toUInt32(step)
    )) as bucket
  ),
  resources as (
    select
      toUInt32(intDiv(toUnixTimestamp(entry.timestamp), step) * step) as bucket,
      count() as lines,
      countIf(severity is null or severity in ('info', 'debug', 'trace')) as infos,
      countIf(severity = 'warn') as warnings,
      countIf(severity in ('error', 'fatal')) as errors,
      avg(toFloat64OrNull(coalesce(nullIf(trim(both '"' from JSONExtractRaw(metadata, 'cpu_time_used')), ''), nullIf(trim(both '"' from JSONExtractRaw(metadata, 1, 'cpu_time_used')), '')))) as avg_cpu,
      max(toFloat64OrNull(coalesce(nullIf(trim(both '"' from JSONExtractRaw(metadata, 'cpu_time_used')), ''), nullIf(trim(both '"' from JSONExtractRaw(metadata, 1, 'cpu_time_used')), '')))) as max_cpu,
      avg(toFloat64OrNull(coalesce(nullIf(trim(both '"' from JSONExtractRaw(metadata, 'memory_used', 'total')), ''), nullIf(trim(both '"' from JSONExtractRaw(metadata, 1, 'memory_used', 1, 'total')), '')))) / 1048576 as avg_memory,
      avg(toFloat64OrNull(coalesce(nullIf(trim(both '"' from JSONExtractRaw(metadata, 'memory_used', 'heap')), ''), nullIf(trim(both '"' from JSONExtractRaw(metadata, 1, 'memory_used', 1, 'heap')), '')))) / 1048576 as avg_heap,
      avg(toFloat64OrNull(coalesce(nullIf(trim(both '"' from JSONExtractRaw(metadata, 'memory_used', 'external')), ''), nullIf(trim(both '"' from JSONExtractRaw(metadata, 1, 'memory_used', 1, 'external')), '')))) / 1048576 as avg_external
    from {function_logs:Identifier} as entry
    where
      ({any_project:Nullable(String)} = 'true' or project = {project:Nullable(String)})
      and entry.timestamp > now64(6, 'UTC') - toIntervalSecond(seconds)
      and entry.timestamp <= now64(6, 'UTC')
      and coalesce(nullIf(trim(both '"' from JSONExtractRaw(metadata, 'function_id')), ''), nullIf(trim(both '"' from JSONExtractRaw(metadata, 1, 'function_id')), '')) = {function_id:Nullable(String)}
    group by bucket
  )
select
  toDateTime(buckets.bucket, 'UTC') as timestamp,
  coalesce(resources.avg_cpu, 0) as avg_cpu_time_used,
  coalesce(resources.max_cpu, 0) as max_cpu_time_used,
  coalesce(resources.avg_memory, 0) as avg_memory_used,
  coalesce(resources.avg_heap, 0) as avg_heap_memory_used,
  coalesce(resources.avg_external, 0) as avg_external_memory_used
from buckets
left join resources on resources.bucket = buckets.bucket
order by buckets.bucket
