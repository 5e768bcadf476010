-- A moment in UTC, cut to the microsecond, from the text {text}; NULL when it is in none of the forms that are taken.
-- (The session's time zone is UTC.) The form is checked first, because DuckDB's own casts also take 'infinity', 'epoch', BC and names of zones.
case
  -- What most clients write: without a zone to reckon with, this takes a third of the time.
  when regexp_full_match({text}, '\d{4}-\d\d-\d\d[T ]\d\d:\d\d:[0-5]\d(\.\d{1,9})?Z') then try_cast({text} as timestamp)
  when regexp_full_match({text}, '\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d([.,]\d{1,9})?)?([zZ]| UTC| GMT|[+-]([01]\d|2[0-3]):?[0-5]\d)?') then
    try_cast(
      case
        when regexp_matches({text}, '[tz,]|:60|^.{16}[Z+-]| (UTC|GMT)$') then
          regexp_replace(
            regexp_replace(regexp_replace(replace(upper({text}), ',', '.'), ' (UTC|GMT)$', 'Z'), '^(.{16})([Z+-]|$)', '\1:00\2'),
            '(:\d\d:)60(\.\d+)?',
            '\159.999999'
          )
        else {text}
      end as timestamptz
    )::timestamp
  when regexp_full_match({text}, '\d{10}|\d{13}|\d{16}|\d{19}') then
    make_timestamp(({text}::hugeint * 1000000 // power(10, length({text}) - 10)::hugeint)::bigint)
  when regexp_full_match({text}, '\d{10}\.\d+') then
    make_timestamp(left({text}, 10)::bigint * 1000000 + rpad(left(substr({text}, 12), 6), 6, '0')::bigint)
end
