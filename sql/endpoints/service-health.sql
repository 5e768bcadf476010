-- How many entries of each service are in order, warnings and errors, per time bucket; Studio's page of service health.
--! uuid: 7a0e6d12-4f1b-4c67-9f0d-2b8c5a7e9d34
--! max_rows: 1000
--! caching: off
--! warming: off
--! sandboxing: off
--! redact_pii: off
--! parameter: project string required, the project's reference; only its entries are counted; * is all
--! parameter: granularity minute|hour|day optional=minute, the length of a bucket
--! parameter: iso_timestamp_start timestamp optional, exclusive lower bound; an hour ago by default
--! parameter: iso_timestamp_end timestamp optional, inclusive upper bound; now by default
--! each_source: log_source
--! union: logs
with
log_source as (
  select timestamp, severity
  from main.log_source
  where
    (@any_project::boolean or project = @project::varchar)
    and timestamp > coalesce(@iso_timestamp_start::timestamp, now()::timestamp - interval 1 hour)
    and timestamp <= coalesce(@iso_timestamp_end::timestamp, now()::timestamp)
),
logs as (
  select
    date_trunc(@granularity::varchar, timestamp) as bucket,
    'log_source' as source,
    case when severity in ('error', 'fatal') then 'error' when severity = 'warn' then 'warning' else 'ok' end as health
  from log_source
),
-- A bucket without entries is there, too: Studio fills up to 20 of them by itself.
buckets as (
  select unnest(
    list_slice(
      generate_series(
        date_trunc(@granularity::varchar, coalesce(@iso_timestamp_start::timestamp, now()::timestamp - interval 1 hour)),
        least(
          date_trunc(@granularity::varchar, coalesce(@iso_timestamp_end::timestamp, now()::timestamp)),
          date_trunc(@granularity::varchar, coalesce(@iso_timestamp_start::timestamp, now()::timestamp - interval 1 hour)) + interval 366 days
        ),
        case @granularity::varchar when 'minute' then interval 1 minute when 'hour' then interval 1 hour else interval 1 day end
      ),
      -1000,
      -1
    )
  ) as bucket
),
counts as (
  select
    bucket,
    source,
    {
      'ok': count(*) filter (health = 'ok'),
      'warning': count(*) filter (health = 'warning'),
      'error': count(*) filter (health = 'error'),
      'total': count(*)
    } as health
  from logs
  group by bucket, source
)
select
  buckets.bucket as timestamp,
  coalesce(any_value(health) filter (source = 'postgres_logs'), {'ok': 0, 'warning': 0, 'error': 0, 'total': 0}) as postgres_logs,
  coalesce(any_value(health) filter (source = 'auth_logs'), {'ok': 0, 'warning': 0, 'error': 0, 'total': 0}) as auth_logs,
  coalesce(any_value(health) filter (source = 'function_edge_logs'), {'ok': 0, 'warning': 0, 'error': 0, 'total': 0}) as function_edge_logs,
  coalesce(any_value(health) filter (source = 'storage_logs'), {'ok': 0, 'warning': 0, 'error': 0, 'total': 0}) as storage_logs,
  coalesce(any_value(health) filter (source = 'realtime_logs'), {'ok': 0, 'warning': 0, 'error': 0, 'total': 0}) as realtime_logs,
  coalesce(any_value(health) filter (source = 'postgrest_logs'), {'ok': 0, 'warning': 0, 'error': 0, 'total': 0}) as postgrest_logs,
  coalesce(any_value(health) filter (source = 'edge_logs'), {'ok': 0, 'warning': 0, 'error': 0, 'total': 0}) as edge_logs,
  coalesce(any_value(health) filter (source = 'supavisor_logs'), {'ok': 0, 'warning': 0, 'error': 0, 'total': 0}) as supavisor_logs,
  coalesce(any_value(health) filter (source = 'function_logs'), {'ok': 0, 'warning': 0, 'error': 0, 'total': 0}) as function_logs,
  coalesce(any_value(health) filter (source = 'etl_replication_logs'), {'ok': 0, 'warning': 0, 'error': 0, 'total': 0}) as etl_replication_logs
from buckets
left join counts on counts.bucket = buckets.bucket
group by buckets.bucket
order by buckets.bucket
