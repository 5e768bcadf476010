-- auth.metrics in ClickHouse: sql/endpoints/auth.metrics.sql has the contract.
with
  entries as (
    select
      if(entry.timestamp > now64(6, 'UTC') - toIntervalHour(24), 'current', 'previous') as period,
      uniqExact(coalesce(nullIf(JSONExtractString(metadata, 'auth_event', 'actor_id'), ''), nullIf(JSONExtractString(metadata, 1, 'auth_event', 'actor_id'), ''), nullIf(JSONExtractString(metadata, 1, 'auth_event', 1, 'actor_id'), ''))) as users,
      countIf(status >= 400) as errors,
      countIf(coalesce(nullIf(JSONExtractString(metadata, 'path'), ''), nullIf(JSONExtractString(metadata, 1, 'path'), '')) is not null) as requests,
      countIf(coalesce(nullIf(JSONExtractString(metadata, 'auth_event', 'action'), ''), nullIf(JSONExtractString(metadata, 1, 'auth_event', 'action'), ''), nullIf(JSONExtractString(metadata, 1, 'auth_event', 1, 'action'), '')) = 'user_recovery_requested') as resets,
      countIf(coalesce(nullIf(JSONExtractString(metadata, 'auth_event', 'action'), ''), nullIf(JSONExtractString(metadata, 1, 'auth_event', 'action'), ''), nullIf(JSONExtractString(metadata, 1, 'auth_event', 1, 'action'), '')) = 'user_signedup') as sign_ups
    from {auth_logs:Identifier} as entry
    where
      ({any_project:Nullable(String)} = 'true' or project = {project:Nullable(String)})
      and entry.timestamp > now64(6, 'UTC') - toIntervalHour(48)
      and entry.timestamp <= now64(6, 'UTC')
    group by period
  ),
  requests as (
    select
      if(entry.timestamp > now64(6, 'UTC') - toIntervalHour(24), 'current', 'previous') as period,
      countIf(status >= 400) as errors,
      count() as requests
    from {edge_logs:Identifier} as entry
    where
      ({any_project:Nullable(String)} = 'true' or project = {project:Nullable(String)})
      and entry.timestamp > now64(6, 'UTC') - toIntervalHour(48)
      and entry.timestamp <= now64(6, 'UTC')
      and position(path, '/auth/v1') > 0
    group by period
  )
select
  periods.period as period,
  coalesce(entries.users, 0) as active_users,
  coalesce(requests.errors, 0) as api_error_requests,
  coalesce(requests.requests, 0) as api_total_requests,
  coalesce(entries.errors, 0) as auth_total_errors,
  coalesce(entries.requests, 0) as auth_total_requests,
  coalesce(entries.resets, 0) as password_reset_requests,
  coalesce(entries.sign_ups, 0) as sign_up_count
from (select arrayJoin(['current', 'previous']) as period where {interval:Nullable(String)} = '1day') as periods
left join entries on entries.period = periods.period
left join requests on requests.period = periods.period
order by period
