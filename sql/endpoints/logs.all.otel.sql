-- The newest log entries of one project, of all sources in one view, asked in ClickHouse's dialect as Supabase does since 2026.
--! uuid: 1d0f8a52-6c3e-4b7d-9a41-7e5b2c9f3a60
--! max_rows: 1000
--! caching: off
--! warming: off
--! sandboxing: on
--! redact_pii: off
--! parameter: project string required, the project's reference; only its entries are listed; * is all
--! parameter: iso_timestamp_start timestamp optional, exclusive lower bound
--! parameter: iso_timestamp_end timestamp optional, inclusive upper bound
--! each_source: log_source
--! union: logs
--! maps: log_attributes
--! dialect: clickhouse
--! windows: logs 100 iso_timestamp_start iso_timestamp_end
with
log_source as (
  select id, timestamp, project, event_message, severity as severity_text, severity, severity as level, status, metadata as log_attributes
  from main.log_source
  where
    (@any_project::boolean or project = @project::varchar)
    and timestamp > coalesce(@iso_timestamp_start::timestamp, timestamp '1969-12-31')
    and timestamp <= coalesce(@iso_timestamp_end::timestamp, timestamp '2201-12-31')
    and timestamp >= @newest_from::timestamp
),
logs as (
  select
    id,
    timestamp,
    event_message,
    coalesce(upper(severity_text), 'INFO') as severity_text,
    severity,
    level,
    status,
    'log_source' as source,
    log_attributes,
    coalesce(project, '') as project
  from log_source
)
select id, timestamp, event_message, severity_text, source, log_attributes
from logs
order by timestamp desc, source, id, event_message
limit 100
