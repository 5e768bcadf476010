-- Counts of API requests per time bucket for one project, split by API area (rest, storage, auth, realtime).
--! uuid: 8c6d7f1e-3b7a-4d0e-8f52-0a4c9e1b6d20
--! max_rows: 1000
--! caching: 900
--! warming: 300
--! sandboxing: on
--! redact_pii: off
--! parameter: interval hourly|daily|minutely|15min|30min|1hr|3hr|1day|3day|7day required, the window and its buckets: hourly the last hour by hour, daily 7 days by day, minutely 60 minutes by minute; the others a window of their name, up to 3hr by minute, up to 3day by hour, 7day by day
--! parameter: project regexp required, matched (contains) against the URL of each request; without a URL against host and path, or the project's reference; * is all
with requests as (
  select timestamp, path
  from (
    select
      timestamp,
      path,
      -- What every match begins with, as far as that is known.
      case
        when contains(@project::varchar, '|') then ''
        else regexp_replace(regexp_extract(@project::varchar, '^[A-Za-z0-9_-]+[?*{]?'), '.[?*{]$', '')
      end as beginning,
      coalesce(url_base || coalesce(url_query, ''), host || path, project) as matched
    from main.edge_logs
    where
      timestamp >= (
        now() - case @interval::varchar
          when 'hourly' then interval 1 hour
          when 'daily' then interval 7 days
          when 'minutely' then interval 60 minutes
          when '15min' then interval 15 minutes
          when '30min' then interval 30 minutes
          when '1hr' then interval 60 minutes
          when '3hr' then interval 3 hours
          when '1day' then interval 24 hours
          when '3day' then interval 72 hours
          when '7day' then interval 7 days
        end
      )::timestamp
      and timestamp <= now()::timestamp
      -- A token that is pinned to a project sees the rows of that project alone, whatever their URL.
      and (@pinned_project::varchar is null or project = @pinned_project::varchar)
      -- The beginning is sought first: that takes half the time of the expression. A text without a question mark stands in one of the two parts.
      and (
        @any_project::boolean
        or contains(url_base, beginning)
        or contains(url_query, beginning)
        or (url_base is null and contains(matched, beginning))
      )
      -- Where that is the whole expression, nothing is left to seek. What matches a part matches the whole, unless it is bound to an end.
      -- regexp_matches may throw, so the engine would call it for each row: regexp_extract it calls for each value of a dictionary.
      and (
        regexp_full_match(@project::varchar, '[A-Za-z0-9_-]*')
        or (
          not regexp_matches(@project::varchar, '[\^$]|\\[AzbB]')
          and regexp_extract(url_base, @project::varchar) != ''
        )
        or regexp_matches(matched, @project::varchar)
      )
  )
)
select
  date_trunc(
    case
      when @interval::varchar in ('daily', '7day') then 'day'
      when @interval::varchar in ('hourly', '1day', '3day') then 'hour'
      else 'minute'
    end,
    timestamp
  ) as timestamp,
  count(*) filter (regexp_matches(path, '/rest')) as total_rest_requests,
  count(*) filter (regexp_matches(path, '/storage')) as total_storage_requests,
  count(*) filter (regexp_matches(path, '/auth')) as total_auth_requests,
  count(*) filter (regexp_matches(path, '/realtime')) as total_realtime_requests
from requests
group by 1
order by 1
