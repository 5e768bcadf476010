-- Rows with `severity` and `status`, of {rows}, which have `found`: what stands in their metadata.
(
  select *, {severity} as severity, http_status as status
  from (
    select *, case when regexp_full_match(code, '[1-5]\d\d') then code::smallint end as http_status
    from (
      select *, lower({word_found}) as word, {status_found} as code
      from {rows}
    )
  )
)
