-- The last of the first {until} rows that has expired, and how many there are up to it. Rows stand in the order they
-- were stored in, so one that is followed by an expired row has expired, and one that follows a row to keep has not,
-- whatever a wrong clock stamped them with. Rows that were sorted stand in another order, but only within a run of {run} rows, and only
-- where the clock was not set back: of these each goes by its own stamp, up to `near`.
with head as (
  select rowid as position, {stamp} as stamp, {sorted} as sorted
  from {table}
  where rowid < {until} and {belongs}
),
kept as (
  select coalesce(min(position), {until}) as position
  from head
  where stamp >= make_timestamp_ms({cutoff}) and stamp <= make_timestamp_ms({wall})
),
expired as (
  select
    coalesce(max(head.position) filter (head.position < kept.position), -1) as last,
    max(kept.position) + {run} as near
  from head, kept
  where
    head.position < kept.position + {run}
    and head.stamp >= make_timestamp_ms({earliest})
    and head.stamp < make_timestamp_ms({cutoff})
)
select
  last,
  near,
  count(*) as rows,
  epoch_ms(min(stamp)) as oldest,
  epoch_ms(max(stamp)) as newest
from head, expired
where
  position <= last
  or (
    sorted
    and position < near
    and stamp >= make_timestamp_ms({earliest})
    and stamp < make_timestamp_ms({cutoff})
  )
group by last, near
