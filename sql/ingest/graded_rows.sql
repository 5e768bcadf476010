-- Rows with `severity` and `status`, of {rows}, which have `found`: what stands in their metadata. Where that tells neither, all names of
-- fields are looked for. A status tells the severity where nothing else does.
(
  select *, coalesce(
    said,
    case when status >= 500 then 'error' when status >= 400 then 'warn' when status >= 100 then 'info' end
  ) as severity
  from (
    select
      * exclude (said, status),
      case when more_found is null then said else {severity_more} end as said,
      case when more_found is null then status else {status_more} end as status
    from (
      select *, case when more_found is not null then {more_listed} end as more_listed
      from (
        select *, case when said is null and status is null and not coalesce(is_read, false) then {more_found} end as more_found
        from (
          select *, {severity_found} as said, {status_found} as status
          from {rows}
        )
      )
    )
  )
)
