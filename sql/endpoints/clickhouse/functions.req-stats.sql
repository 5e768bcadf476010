-- functions.req-stats in ClickHouse: sql/endpoints/functions.req-stats.sql has the contract.
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
  requests as (
    select
      toUInt32(intDiv(toUnixTimestamp(entry.timestamp), step) * step) as bucket,
      count() as requests,
      countIf(status between 200 and 299) as success,
      countIf(status between 300 and 399) as redirect,
      countIf(status between 400 and 499) as client_err,
      countIf(status >= 500) as server_err,
      avg(toFloat64OrNull(coalesce(nullIf(trim(both '"' from JSONExtractRaw(metadata, 'execution_time_ms')), ''), nullIf(trim(both '"' from JSONExtractRaw(metadata, 1, 'execution_time_ms')), '')))) as avg_execution,
      max(toFloat64OrNull(coalesce(nullIf(trim(both '"' from JSONExtractRaw(metadata, 'execution_time_ms')), ''), nullIf(trim(both '"' from JSONExtractRaw(metadata, 1, 'execution_time_ms')), '')))) as max_execution
    from {function_edge_logs:Identifier} as entry
    where
      ({any_project:Nullable(String)} = 'true' or project = {project:Nullable(String)})
      and entry.timestamp > now64(6, 'UTC') - toIntervalSecond(seconds)
      and entry.timestamp <= now64(6, 'UTC')
      and coalesce(nullIf(trim(both '"' from JSONExtractRaw(metadata, 'function_id')), ''), nullIf(trim(both '"' from JSONExtractRaw(metadata, 1, 'function_id')), '')) = {function_id:Nullable(String)}
    group by bucket
  )
select
  toDateTime(buckets.bucket, 'UTC') as timestamp,
  coalesce(requests.requests, 0) as count,
  coalesce(requests.success, 0) as success_count,
  coalesce(requests.redirect, 0) as redirect_count,
  coalesce(requests.client_err, 0) as client_err_count,
  coalesce(requests.server_err, 0) as server_err_count,
  coalesce(requests.avg_execution, 0) as avg_execution_time
from buckets
left join requests on requests.bucket = buckets.bucket
order by buckets.bucket
