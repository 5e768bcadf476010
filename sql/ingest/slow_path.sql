-- Inserts the rows among the lines that classify_lines.sql classified.
insert into {table} by name
with rows as (
  select *, json_extract_string(metadata, {metadata_paths}) as found
  from classified
  where reason is null
),
coded as (
  select
    *,
    lower(coalesce(own_word, {word_found})) as word,
    coalesce({status_found}, own_status) as code
  from rows
),
graded as (
  select *, {code} as http_status
  from coded
)
select
  id,
  coalesce(moment, {now}) as timestamp,
  coalesce(project, {project_found}, {default_project}) as project,
  {severity} as severity,
  http_status as status,
  event_message,
  metadata,
  {now} as ingested_at
  {request_columns}
from graded
order by ordinal
