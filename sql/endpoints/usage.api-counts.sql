-- Counts of API requests per time bucket for one project, split by API area (rest, storage, auth, realtime).
--! uuid: 8c6d7f1e-3b7a-4d0e-8f52-0a4c9e1b6d20
--! max_rows: 1000
--! caching: 900
--! warming: 300
--! sandboxing: on
--! redact_pii: off
--! parameter: interval hourly|daily|minutely required, the window and its buckets: the last hour by hour, 7 days by day, 60 minutes by minute
--! parameter: project regexp required, matched (contains) against the URL of each request; without a URL against host and path, or the project's reference
with requests as (
  select timestamp, path
  from main.edge_logs
  where
    timestamp >= (
      now() - case @interval::varchar
        when 'daily' then interval 7 days
        when 'hourly' then interval 1 hour
        when 'minutely' then interval 60 minutes
      end
    )::timestamp
    and timestamp <= now()::timestamp
    -- A token that is pinned to a project sees the rows of that project alone, whatever their URL.
    and (@pinned_project::varchar is null or project = @pinned_project::varchar)
    -- Where every match begins with the same text, it is sought first: that takes half the time of the expression.
    and contains(
      coalesce(url, host || path, project),
      case
        when contains(@project::varchar, '|') then ''
        else regexp_replace(regexp_extract(@project::varchar, '^[A-Za-z0-9_-]+[?*{]?'), '.[?*{]$', '')
      end
    )
    and regexp_matches(coalesce(url, host || path, project), @project::varchar)
)
select
  date_trunc(
    case @interval::varchar when 'daily' then 'day' when 'hourly' then 'hour' when 'minutely' then 'minute' end,
    timestamp
  ) as timestamp,
  count(*) filter (regexp_matches(path, '/rest')) as total_rest_requests,
  count(*) filter (regexp_matches(path, '/storage')) as total_storage_requests,
  count(*) filter (regexp_matches(path, '/auth')) as total_auth_requests,
  count(*) filter (regexp_matches(path, '/realtime')) as total_realtime_requests
from requests
group by 1
order by 1
