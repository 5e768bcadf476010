-- The lines of staging files that carry their own metadata and a message, each as one row: the common case, in one parallel
-- scan. classify_lines.sql classifies the lines that this leaves out, one by one; `usable` must be the same in both.
with lines as (
  select
    *,
    coalesce("timestamp", "@timestamp", time, ts, date) as stamp,
    {metadata_found} as found
  from read_ndjson(
    {staging},
    columns = {
      id: 'VARCHAR',
      project: 'VARCHAR',
      timestamp: 'VARCHAR',
      "@timestamp": 'VARCHAR',
      time: 'VARCHAR',
      ts: 'VARCHAR',
      date: 'VARCHAR',
      event_message: 'VARCHAR',
      message: 'VARCHAR',
      msg: 'VARCHAR',
      log: 'VARCHAR',
      severity: 'VARCHAR',
      level: 'VARCHAR',
      status: 'VARCHAR',
      metadata: 'JSON'
    },
    filename = true,
    ignore_errors = true,
    maximum_object_size = {max_object}
  )
),
dated as (
  select *, {timestamp} as moment
  from lines
)
select
  filename,
  coalesce(id, uuid()::varchar) as id,
  moment as timestamp,
  coalesce(project, {project_found}) as project,
  coalesce(event_message, message, msg, rtrim(log, chr(13) || chr(10))) as event_message,
  metadata,
  {now} as ingested_at,
  coalesce(severity, level) as own_word,
  status as own_status,
  {kept}
  {request_columns}
from dated
where
  moment >= timestamp '1970-01-01'
  and moment < timestamp '2201-01-01'
  and coalesce(event_message, message, msg, log) is not null
  -- The scan writes JSON anew, without blanks: to ask for its type would be to read all of it again.
  and (starts_with(metadata, '{') or starts_with(metadata, '['))
