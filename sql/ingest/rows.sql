-- Reads the lines of staging files, which are all in normal form (server/lines/normal.ts), as rows, in one parallel scan. A line with `~`
-- was read in Node.js, and has its moment, severity and status beside it. Others are stored as they came.
with lines as (
  select
    * replace (coalesce("~metadata"::json, metadata) as metadata)
  from read_ndjson(
    {staging},
    columns = {
      id: 'VARCHAR',
      project: 'VARCHAR',
      timestamp: 'VARCHAR',
      event_message: 'VARCHAR',
      metadata: 'JSON',
      "~": 'BOOLEAN',
      "~at": 'BIGINT',
      "~severity": 'VARCHAR',
      "~status": 'SMALLINT',
      "~metadata": 'VARCHAR'
    },
    filename = true,
    ignore_errors = true,
    maximum_object_size = {max_object}
  )
),
looked_into as (
  select *, {metadata_listed} as listed
  from (
    select *, {metadata_found} as found
    from (select *, {root} as root from lines)
  )
)
select
  filename,
  coalesce(id, uuid()::varchar) as id,
  coalesce(make_timestamp("~at"), "timestamp"::timestamp, {now}) as timestamp,
  case when "~" then project else coalesce(project, {project_found}) end as project,
  event_message,
  metadata,
  {now} as ingested_at,
  "~" as is_read,
  "~severity" as read_severity,
  "~status" as read_status,
  found,
  listed
  {request_columns}
from looked_into
-- The scan makes a row of nulls of a line that is not JSON. It is left out here, and found because rows are missing then.
where event_message is not null
