-- service-health in ClickHouse: sql/endpoints/service-health.sql has the contract.
with
  transform(coalesce({granularity:Nullable(String)}, ''), ['minute', 'hour', 'day'], [60, 3600, 86400], 60) as step,
  coalesce(parseDateTime64BestEffort({iso_timestamp_start:Nullable(String)}, 6, 'UTC'), now64(6, 'UTC') - toIntervalHour(1)) as since,
  coalesce(parseDateTime64BestEffort({iso_timestamp_end:Nullable(String)}, 6, 'UTC'), now64(6, 'UTC')) as until,
  logs as (
    select toUInt32(intDiv(toUnixTimestamp(entry.timestamp), step) * step) as bucket, 'edge_logs' as source, severity
    from {edge_logs:Identifier} as entry
    where ({any_project:Nullable(String)} = 'true' or project = {project:Nullable(String)}) and entry.timestamp > since and entry.timestamp <= until
    union all
    select toUInt32(intDiv(toUnixTimestamp(entry.timestamp), step) * step) as bucket, 'postgres_logs' as source, severity
    from {postgres_logs:Identifier} as entry
    where ({any_project:Nullable(String)} = 'true' or project = {project:Nullable(String)}) and entry.timestamp > since and entry.timestamp <= until
    union all
    select toUInt32(intDiv(toUnixTimestamp(entry.timestamp), step) * step) as bucket, 'function_edge_logs' as source, severity
    from {function_edge_logs:Identifier} as entry
    where ({any_project:Nullable(String)} = 'true' or project = {project:Nullable(String)}) and entry.timestamp > since and entry.timestamp <= until
    union all
    select toUInt32(intDiv(toUnixTimestamp(entry.timestamp), step) * step) as bucket, 'function_logs' as source, severity
    from {function_logs:Identifier} as entry
    where ({any_project:Nullable(String)} = 'true' or project = {project:Nullable(String)}) and entry.timestamp > since and entry.timestamp <= until
    union all
    select toUInt32(intDiv(toUnixTimestamp(entry.timestamp), step) * step) as bucket, 'auth_logs' as source, severity
    from {auth_logs:Identifier} as entry
    where ({any_project:Nullable(String)} = 'true' or project = {project:Nullable(String)}) and entry.timestamp > since and entry.timestamp <= until
    union all
    select toUInt32(intDiv(toUnixTimestamp(entry.timestamp), step) * step) as bucket, 'realtime_logs' as source, severity
    from {realtime_logs:Identifier} as entry
    where ({any_project:Nullable(String)} = 'true' or project = {project:Nullable(String)}) and entry.timestamp > since and entry.timestamp <= until
    union all
    select toUInt32(intDiv(toUnixTimestamp(entry.timestamp), step) * step) as bucket, 'storage_logs' as source, severity
    from {storage_logs:Identifier} as entry
    where ({any_project:Nullable(String)} = 'true' or project = {project:Nullable(String)}) and entry.timestamp > since and entry.timestamp <= until
    union all
    select toUInt32(intDiv(toUnixTimestamp(entry.timestamp), step) * step) as bucket, 'postgrest_logs' as source, severity
    from {postgrest_logs:Identifier} as entry
    where ({any_project:Nullable(String)} = 'true' or project = {project:Nullable(String)}) and entry.timestamp > since and entry.timestamp <= until
  ),
  buckets as (
    select arrayJoin(arraySlice(range(
      toUInt32(intDiv(toUnixTimestamp(since), step) * step),
      toUInt32(least(toUnixTimestamp(until), toUnixTimestamp(since) + 366 * 86400) + 1),
      toUInt32(step)
    ), -1000)) as bucket
  )
select
  toDateTime(buckets.bucket, 'UTC') as timestamp,
  cast(tuple(
    countIf(source = 'postgres_logs' and (severity is null or severity in ('info', 'debug', 'trace'))),
    countIf(source = 'postgres_logs' and severity = 'warn'),
    countIf(source = 'postgres_logs' and severity in ('error', 'fatal')),
    countIf(source = 'postgres_logs')
  ), 'Tuple(ok UInt32, warning UInt32, error UInt32, total UInt32)') as postgres_logs,
  cast(tuple(
    countIf(source = 'auth_logs' and (severity is null or severity in ('info', 'debug', 'trace'))),
    countIf(source = 'auth_logs' and severity = 'warn'),
    countIf(source = 'auth_logs' and severity in ('error', 'fatal')),
    countIf(source = 'auth_logs')
  ), 'Tuple(ok UInt32, warning UInt32, error UInt32, total UInt32)') as auth_logs,
  cast(tuple(
    countIf(source = 'function_edge_logs' and (severity is null or severity in ('info', 'debug', 'trace'))),
    countIf(source = 'function_edge_logs' and severity = 'warn'),
    countIf(source = 'function_edge_logs' and severity in ('error', 'fatal')),
    countIf(source = 'function_edge_logs')
  ), 'Tuple(ok UInt32, warning UInt32, error UInt32, total UInt32)') as function_edge_logs,
  cast(tuple(
    countIf(source = 'storage_logs' and (severity is null or severity in ('info', 'debug', 'trace'))),
    countIf(source = 'storage_logs' and severity = 'warn'),
    countIf(source = 'storage_logs' and severity in ('error', 'fatal')),
    countIf(source = 'storage_logs')
  ), 'Tuple(ok UInt32, warning UInt32, error UInt32, total UInt32)') as storage_logs,
  cast(tuple(
    countIf(source = 'realtime_logs' and (severity is null or severity in ('info', 'debug', 'trace'))),
    countIf(source = 'realtime_logs' and severity = 'warn'),
    countIf(source = 'realtime_logs' and severity in ('error', 'fatal')),
    countIf(source = 'realtime_logs')
  ), 'Tuple(ok UInt32, warning UInt32, error UInt32, total UInt32)') as realtime_logs,
  cast(tuple(
    countIf(source = 'postgrest_logs' and (severity is null or severity in ('info', 'debug', 'trace'))),
    countIf(source = 'postgrest_logs' and severity = 'warn'),
    countIf(source = 'postgrest_logs' and severity in ('error', 'fatal')),
    countIf(source = 'postgrest_logs')
  ), 'Tuple(ok UInt32, warning UInt32, error UInt32, total UInt32)') as postgrest_logs,
  cast(tuple(
    countIf(source = 'edge_logs' and (severity is null or severity in ('info', 'debug', 'trace'))),
    countIf(source = 'edge_logs' and severity = 'warn'),
    countIf(source = 'edge_logs' and severity in ('error', 'fatal')),
    countIf(source = 'edge_logs')
  ), 'Tuple(ok UInt32, warning UInt32, error UInt32, total UInt32)') as edge_logs,
  cast(tuple(
    countIf(source = 'supavisor_logs' and (severity is null or severity in ('info', 'debug', 'trace'))),
    countIf(source = 'supavisor_logs' and severity = 'warn'),
    countIf(source = 'supavisor_logs' and severity in ('error', 'fatal')),
    countIf(source = 'supavisor_logs')
  ), 'Tuple(ok UInt32, warning UInt32, error UInt32, total UInt32)') as supavisor_logs,
  cast(tuple(
    countIf(source = 'function_logs' and (severity is null or severity in ('info', 'debug', 'trace'))),
    countIf(source = 'function_logs' and severity = 'warn'),
    countIf(source = 'function_logs' and severity in ('error', 'fatal')),
    countIf(source = 'function_logs')
  ), 'Tuple(ok UInt32, warning UInt32, error UInt32, total UInt32)') as function_logs,
  cast(tuple(
    countIf(source = 'etl_replication_logs' and (severity is null or severity in ('info', 'debug', 'trace'))),
    countIf(source = 'etl_replication_logs' and severity = 'warn'),
    countIf(source = 'etl_replication_logs' and severity in ('error', 'fatal')),
    countIf(source = 'etl_replication_logs')
  ), 'Tuple(ok UInt32, warning UInt32, error UInt32, total UInt32)') as etl_replication_logs
from buckets
left join logs on logs.bucket = buckets.bucket
group by buckets.bucket
order by buckets.bucket
