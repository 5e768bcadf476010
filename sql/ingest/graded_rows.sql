-- Rows with `severity` and `status`, of {rows}, which have `own_word` and `own_status`, what stands beside their metadata, and `found`, what
-- stands in it.
(
  select *, {severity} as severity, http_status as status
  from (
    select
      *,
      lower(coalesce(own_word, {word_found})) as word,
      case when regexp_full_match(code, '[1-5]\d\d') then code::smallint end as http_status
    from (
      select *, coalesce({status_found}, own_status) as code
      from {rows}
    )
  )
)
