-- The rows of one source in the view logs of logs.all.otel, in ClickHouse: sql/endpoints/logs.all.otel.sql has the contract.
select
  id,
  entry.timestamp as timestamp,
  event_message,
  coalesce(upper(entry.severity), 'INFO') as severity_text,
  entry.severity as severity,
  entry.severity as level,
  entry.status as status,
  'log_source' as source,
  metadata as log_attributes,
  coalesce(entry.project, '') as project
from {log_source:Identifier} as entry
where
  ({any_project:Nullable(String)} = 'true' or entry.project = {project:Nullable(String)})
  and entry.timestamp > coalesce(parseDateTime64BestEffort({iso_timestamp_start:Nullable(String)}, 6, 'UTC'), toDateTime64('1969-12-31 00:00:00', 6, 'UTC'))
  and entry.timestamp <= coalesce(parseDateTime64BestEffort({iso_timestamp_end:Nullable(String)}, 6, 'UTC'), toDateTime64('2201-12-31 00:00:00', 6, 'UTC'))
