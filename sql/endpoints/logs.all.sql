-- A list of the newest log entries of one project, optionally bounded by a time range.
--! uuid: 5f2a1f6e-6a0b-4f0e-9d5c-2f6b1a9e7c11
--! max_rows: 1000
--! caching: off
--! warming: off
--! sandboxing: on
--! redact_pii: off
--! parameter: project string required, the project's reference; only its entries are listed; * is all
--! parameter: iso_timestamp_start timestamp optional, exclusive lower bound
--! parameter: iso_timestamp_end timestamp optional, inclusive upper bound
--! each_source: log_source
--! empty_sources: auth_audit_logs etl_replication_logs multigres_logs pg_cron_logs pg_upgrade_logs supamonitor_logs supavisor_logs workflow_run_logs
--! after_members: severity level status
--! windows: edge_logs 100 iso_timestamp_start iso_timestamp_end
with
log_source as (
  select id, timestamp, event_message, metadata, project, project as identifier, severity, severity as level, status
  from main.log_source
  where
    (@any_project::boolean or project = @project::varchar)
    and timestamp > coalesce(@iso_timestamp_start::timestamp, timestamp '1969-12-31')
    and timestamp <= coalesce(@iso_timestamp_end::timestamp, timestamp '2201-12-31')
    and timestamp >= @newest_from::timestamp
)
select
  id,
  epoch_us(timestamp) as timestamp,
  event_message,
  metadata
from edge_logs
order by edge_logs.timestamp desc, id, event_message
limit 100
