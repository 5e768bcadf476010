-- usage.api-counts in ClickHouse: sql/endpoints/usage.api-counts.sql has the contract. A dot stands for no line break in DuckDB, hence (?-s).
select
  multiIf(
    {interval:Nullable(String)} in ('daily', '7day'), toStartOfDay(entry.timestamp, 'UTC'),
    {interval:Nullable(String)} in ('hourly', '1day', '3day'), toStartOfHour(entry.timestamp, 'UTC'),
    toStartOfMinute(entry.timestamp, 'UTC')
  ) as timestamp,
  countIf(match(path, '(?-s)/rest')) as total_rest_requests,
  countIf(match(path, '(?-s)/storage')) as total_storage_requests,
  countIf(match(path, '(?-s)/auth')) as total_auth_requests,
  countIf(match(path, '(?-s)/realtime')) as total_realtime_requests
from {edge_logs:Identifier} as entry
where
  entry.timestamp >= now64(6, 'UTC') - toIntervalSecond(
    transform(
      coalesce({interval:Nullable(String)}, ''),
      ['hourly', 'daily', 'minutely', '15min', '30min', '1hr', '3hr', '1day', '3day', '7day'],
      [3600, 604800, 3600, 900, 1800, 3600, 10800, 86400, 259200, 604800],
      0
    )
  )
  and entry.timestamp <= now64(6, 'UTC')
  and ({pinned_project:Nullable(String)} is null or project = {pinned_project:Nullable(String)})
  and ({any_project:Nullable(String)} = 'true' or match(coalesce(url, concat(host, path), project), concat('(?-s)', coalesce({project:Nullable(String)}, ''))))
group by timestamp
order by timestamp
