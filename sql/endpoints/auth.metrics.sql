-- Requests, errors and users of auth in the last 24 hours, and in the 24 hours before; Studio's overview of auth.
--! uuid: 5b9d3f80-17ce-4e6a-8d42-9a3f6b1c0e57
--! max_rows: 2
--! caching: 60
--! warming: off
--! sandboxing: off
--! redact_pii: off
--! parameter: project string required, the project's reference; only its entries are counted; * is all
--! parameter: interval string optional=1day, the length of a period; Studio asks for no other
with
periods as (
  select unnest(['current', 'previous']) as period, now()::timestamp - unnest([0, 1]) * interval 24 hours as until
  where @interval::varchar = '1day'
),
events as (
  select
    case when timestamp > now()::timestamp - interval 24 hours then 'current' else 'previous' end as period,
    status,
    json_extract_string(metadata, ['$.path', '$[0].path', '$.auth_event.action', '$[0].auth_event[0].action', '$[0].auth_event.action', '$.auth_event.actor_id', '$[0].auth_event[0].actor_id', '$[0].auth_event.actor_id']) as found
  from main.auth_logs
  where
    (@any_project::boolean or project = @project::varchar)
    and timestamp > now()::timestamp - interval 48 hours
    and timestamp <= now()::timestamp
),
entries as (
  select
    period,
    status,
    coalesce(found[1], found[2]) as path,
    coalesce(found[3], found[4], found[5]) as action,
    coalesce(found[6], found[7], found[8]) as actor
  from events
),
requests as (
  select
    case when timestamp > now()::timestamp - interval 24 hours then 'current' else 'previous' end as period,
    status
  from main.edge_logs
  where
    (@any_project::boolean or project = @project::varchar)
    and timestamp > now()::timestamp - interval 48 hours
    and timestamp <= now()::timestamp
    and contains(path, '/auth/v1')
)
select
  period,
  (select count(distinct actor) from entries where entries.period = periods.period) as active_users,
  (select count(*) from requests where requests.period = periods.period and status >= 400) as api_error_requests,
  (select count(*) from requests where requests.period = periods.period) as api_total_requests,
  (select count(*) from entries where entries.period = periods.period and status >= 400) as auth_total_errors,
  (select count(*) from entries where entries.period = periods.period and path is not null) as auth_total_requests,
  (
    select count(*) from entries
    where entries.period = periods.period and action = 'user_recovery_requested'
  ) as password_reset_requests,
  (select count(*) from entries where entries.period = periods.period and action = 'user_signedup') as sign_up_count
from periods
order by period
