-- Inserts the rows among the lines that classify_lines.sql classified.
insert into {table} by name
with rows as (
  select *, json_extract_string(metadata, {metadata_paths}) as found
  from classified
  where reason is null
)
select
  id,
  coalesce(moment, {now}) as timestamp,
  coalesce(project, found[1], found[2], found[3], found[4], {default_project}) as project,
  event_message,
  metadata,
  {now} as ingested_at
  {request_columns}
from rows
order by ordinal
