-- Every line of a batch that fast_path.sql left out, with its ordinal among the lines that are not blank, and what
-- becomes of it: `reason` is NULL for a row. A line that DuckDB cannot read arrives here as the JSON null.
create or replace temp table classified as
with lines as (
  select row_number() over () as ordinal, json
  from read_ndjson_objects({staging}, ignore_errors = true, maximum_object_size = {max_object})
),
fields as (
  select
    ordinal,
    json,
    json_extract(json, ['$.id', '$.project', '$.timestamp', '$."@timestamp"', '$.time', '$.ts', '$.date', '$.event_message', '$.message', '$.msg', '$.log', '$.MESSAGE', '$.metadata']) as field
  from lines
),
texts as (
  select
    ordinal,
    json,
    list_transform(field, lambda f: case when json_type(f) = 'NULL' then null else f ->> '$' end) as text,
    case when json_type(field[13]) in ('OBJECT', 'ARRAY') then field[13] end as metadata
  from fields
),
stamps as (
  select
    ordinal,
    json,
    text[1] as id,
    text[2] as project,
    coalesce(text[3], text[4], text[5], text[6], text[7]) as stamp,
    coalesce(text[8], text[9], text[10], text[11]) as message,
    text[12] as journal_message,
    metadata
  from texts
),
dated as (
  select *, {timestamp} as moment
  from stamps
),
judged as (
  select
    *,
    case
      when json_type(json) is distinct from 'OBJECT' then 'it is not a JSON object'
      when stamp is not null and moment is null then 'unsupported timestamp format'
      when year(moment) not between 1970 and 2200 then 'its timestamp is not within the years 1970 to 2200'
    end as reason,
    coalesce(year(moment) between 1970 and 2200 and message is not null and metadata is not null, false) as usable
  from dated
)
select
  ordinal,
  reason,
  coalesce(id, uuid()::varchar) as id,
  project,
  moment,
  coalesce(message, journal_message, '') as event_message,
  -- A flat log: all its fields but those that have a column of their own are its metadata.
  case
    when reason is not null then null
    when metadata is not null then metadata
    else nullif(json_merge_patch(
      json,
      '{"id":null,"project":null,"timestamp":null,"@timestamp":null,"time":null,"ts":null,"date":null,"event_message":null,"message":null,"msg":null,"log":null,"MESSAGE":null'
        || case when json_type(json, '$.metadata') = 'NULL' then ',"metadata":null}' else '}' end
    )::varchar, '{}')::json
  end as metadata
from judged
where not usable
