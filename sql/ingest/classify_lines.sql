-- Every line of a batch that fast_path.sql left out, with its ordinal among the lines that are not blank, and what
-- becomes of it: `reason` is NULL for a row. A line that DuckDB cannot read arrives here as the JSON null.
create or replace temp table classified as
with lines as (
  select row_number() over () as ordinal, json
  from read_ndjson_objects({staging}, ignore_errors = true, maximum_object_size = {max_object})
),
-- Docker and journald write what a program says as text. Where that is an object, its members are the line's.
-- Step by step, as what a name stands for would else be planned, and done, anew at each place where it is used.
typed as (
  select
    ordinal,
    json,
    -- Each function of JSON holds what it read of 2,048 lines: these are asked at once.
    json_type(json, ['$.log', '$.MESSAGE', '$.event_message', '$.message', '$.msg', '$.metadata', '$']) as types
  from lines
),
named as (
  select *, case when types[1] is not null then 'log' else 'MESSAGE' end as wrapper
  from typed
),
said as (
  select
    *,
    case
      when
        coalesce(types[1], types[2]) = 'VARCHAR'
        and coalesce(types[3], 'NULL') = 'NULL'
        and coalesce(types[4], 'NULL') = 'NULL'
        and coalesce(types[5], 'NULL') = 'NULL'
        and coalesce(types[6], 'NULL') not in ('OBJECT', 'ARRAY')
        then json_extract_string(json, '$.' || wrapper)
    end as said_text
  from named
),
repaired as (
  select
    *,
    -- Half a surrogate pair becomes U+FFFD, as it does in a line; where a backslash is escaped, the halves cannot be told.
    case
      when contains(said_text, '\\') or contains(said_text, chr(1)) or not regexp_matches(said_text, '\\u[dD]') then said_text
      else
        replace(
          regexp_replace(
            regexp_replace(said_text, '\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})', chr(1) || '\1' || chr(1) || '\2', 'g'),
            '\\u[dD][89a-fA-F][0-9a-fA-F]{2}',
            '\\ufffd',
            'g'
          ),
          chr(1),
          '\u'
        )
    end as inside
  from said
),
judged_text as (
  select
    *,
    coalesce(
      starts_with(inside, '{')
        -- Deeper than a line may be, or half a character: neither may come to the engine's functions.
        and length(inside) - length(translate(inside, '[{', '')) <= {max_depth}
        and not regexp_matches(
          case
            when contains(inside, '\\') then inside
            else regexp_replace(inside, '\\u[dD][89abAB]..\\u[dD][c-fC-F]..', '', 'g')
          end,
          '\\u[dD][89a-fA-F]'
        )
        and json_valid(inside),
      false
    ) as is_wrapped
  from repaired
),
wrapped as (
  select
    *,
    case when is_wrapped then json_extract_string(json, {outer_paths}) end as outer_texts
  from judged_text
),
unpacked as (
  select
    * exclude (json),
    coalesce(outer_texts[2], outer_texts[3], outer_texts[4], outer_texts[5], outer_texts[6], outer_texts[7], outer_texts[8], outer_texts[9]) as outer_stamp,
    case
      when is_wrapped then
        json_merge_patch(
          json,
          json_object(wrapper, null, {no_times}),
          try_cast(inside as json),
          -- What the line itself says, or a push for it.
          case when outer_texts[1] is null then '{}'::json else json_object('project', outer_texts[1]) end
        )
      else json
    end as json
  from wrapped
),
fields as (
  select
    *,
    json_extract(json, ['$.id', '$.project', '$.timestamp', '$."@timestamp"', '$.time', '$.ts', '$.date', '$.event_message', '$.message', '$.msg', '$.log', '$.MESSAGE', '$.metadata', '$."@t"', '$.eventTime', '$.__REALTIME_TIMESTAMP', '$."@m"', '$."@mt"', '$.severity', '$.level', '$.status']) as field
  from unpacked
),
texts as (
  select
    *,
    list_transform(field, lambda f: case when json_type(f) = 'NULL' then null else f ->> '$' end) as text,
    case when json_type(field[13]) in ('OBJECT', 'ARRAY') then field[13] end as metadata
  from fields
),
stamps as (
  select
    *,
    text[1] as id,
    text[2] as project,
    coalesce(text[3], text[4], text[5], text[6], text[7]) as fast_stamp,
    coalesce(fast_stamp, text[14], text[15], text[16], outer_stamp) as stamp,
    coalesce(text[8], text[9], text[10], rtrim(text[11], chr(13) || chr(10))) as message,
    coalesce(text[8], text[9], text[10]) is not null as has_message,
    coalesce(text[12], text[17], text[18]) as other_message,
    coalesce(text[19], text[20]) as own_word,
    text[21] as own_status,
    metadata
  from texts
),
dated as (
  select *, coalesce({timestamp}, {outer_timestamp}) as moment
  from stamps
),
judged as (
  select
    *,
    case
      when types[7] is distinct from 'OBJECT' then 'it is not a JSON object'
      when stamp is not null and moment is null then 'unsupported timestamp format'
      when year(moment) not between 1970 and 2200 then 'its timestamp is not within the years 1970 to 2200'
    end as reason,
    coalesce(
      not is_wrapped
        and fast_stamp is not null
        and year(moment) between 1970 and 2200
        and message is not null
        and metadata is not null,
      false
    ) as usable
  from dated
)
select
  ordinal,
  reason,
  coalesce(id, uuid()::varchar) as id,
  project,
  moment,
  own_word,
  own_status,
  coalesce(message, other_message, '') as event_message,
  -- A flat log: all its fields but those that have a column of their own are its metadata.
  case
    when reason is not null then null
    when metadata is not null then metadata
    else nullif(json_merge_patch(
      json,
      '{"id":null,"project":null,"timestamp":null,"@timestamp":null,"time":null,"ts":null,"date":null,"event_message":null,"message":null,"msg":null,"MESSAGE":null,"@t":null,"eventTime":null,"__REALTIME_TIMESTAMP":null,"@m":null,"@mt":null'
        -- Beside a message, what Elastic's programs call log is a record of its own.
        || case
          when has_message and (case when is_wrapped then json_type(json, '$.log') else types[1] end) = 'OBJECT' then ''
          else ',"log":null'
        end
        || case when types[6] = 'NULL' then ',"metadata":null' else '' end
        || '}'
    )::varchar, '{}')::json
  end as metadata
from judged
where not usable
