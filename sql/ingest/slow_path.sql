-- Inserts the rows among the lines that classify_lines.sql classified.
insert into {table} by name
with rows as (
  select *, {metadata_found} as found
  from classified
  where reason is null
)
select
  id,
  coalesce(moment, {now}) as timestamp,
  coalesce(project, {project_found}, {default_project}) as project,
  severity,
  status,
  event_message,
  metadata,
  {now} as ingested_at
  {request_columns}
from {graded_rows}
order by ordinal
