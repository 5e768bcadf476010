-- Rows with `severity` and `status`, of {rows}, which have `own_word` and `own_status`, what stands beside their metadata, and `found`, what
-- stands in it. What stands beside it says how grave a row is where it can be read, {own_severity}, and else what stands in it: settling
-- reads that alone.
(
  select *, coalesce({own_severity}, {severity}) as severity, http_status as status
  from (
    select
      *,
      lower(own_word) as own,
      lower(coalesce({word_found})) as word,
      case when regexp_full_match(code, '[1-5]\d\d') then code::smallint end as http_status
    from (
      select *, coalesce({status_found}, own_status) as code
      from {rows}
    )
  )
)
