-- logs.all in ClickHouse: sql/endpoints/logs.all.sql has the contract.
select
  id,
  toUnixTimestamp64Micro(entry.timestamp) as timestamp,
  event_message,
  metadata
from {edge_logs:Identifier} as entry
where
  ({any_project:Nullable(String)} = 'true' or project = {project:Nullable(String)})
  and entry.timestamp > coalesce(parseDateTime64BestEffort({iso_timestamp_start:Nullable(String)}, 6, 'UTC'), toDateTime64('1969-12-31 00:00:00', 6, 'UTC'))
  and entry.timestamp <= coalesce(parseDateTime64BestEffort({iso_timestamp_end:Nullable(String)}, 6, 'UTC'), toDateTime64('2201-12-31 00:00:00', 6, 'UTC'))
order by entry.timestamp desc, id, event_message
limit 100
