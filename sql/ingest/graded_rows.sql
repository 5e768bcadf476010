-- Rows with `severity` and `status`, of {rows}, which have `found`: what stands in their metadata. A status tells the severity where nothing
-- else does.
(
  select *, coalesce(
    said,
    case when status >= 500 then 'error' when status >= 400 then 'warn' when status >= 100 then 'info' end
  ) as severity
  from (
    select *, {severity_found} as said, {status_found} as status
    from {rows}
  )
)
