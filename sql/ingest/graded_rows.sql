-- Rows with `severity` and `status`, of {rows}, which have `own_word` and `own_status`, what stands beside their metadata, and `found`, what
-- stands in it. What stands beside it counts where it can be read, {own_severity}: else what stands in it does, which is all that
-- settling reads.
(
  select *, {severity} as severity, http_status as status
  from (
    select
      *,
      lower(coalesce(case when own_word is not null and {own_severity} is not null then own_word end, {word_found})) as word,
      case when regexp_full_match(code, '[1-5]\d\d') then code::smallint end as http_status
    from (
      select *, coalesce({status_found}, own_status) as code
      from {rows}
    )
  )
)
