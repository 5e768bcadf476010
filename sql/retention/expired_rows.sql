-- The last of the first {until} rows that has expired, and how many there are up to it. Rows stand in the order they
-- were stored in, so one that is followed by an expired row has expired, and one that follows a row to keep has not,
-- whatever a wrong clock stamped them with. Rows that were sorted stand in another order within a run of {run} rows; as only those are sorted
-- that have later stamps than all before them, each of these goes by its own. The last run may go on in the next row group.
with head as (
  select rowid as position, {stamp} as stamp, {sorted} as sorted
  from {table}
  where (rowid < {until} or (rowid < {until} + {run} and {sorted})) and {belongs}
),
kept as (
  select coalesce(min(position), {until}) as position
  from head
  where stamp >= make_timestamp_ms({cutoff}) and stamp <= make_timestamp_ms({wall})
),
expired as (
  select coalesce(max(head.position), -1) as last
  from head, kept
  where
    head.position < kept.position
    and head.stamp >= make_timestamp_ms({earliest})
    and head.stamp < make_timestamp_ms({cutoff})
)
select
  last,
  count(*) as rows,
  epoch_ms(min(stamp)) as oldest,
  epoch_ms(max(stamp)) as newest
from head, expired
where
  (position <= last and not sorted)
  or (
    sorted
    and stamp >= make_timestamp_ms({earliest})
    and stamp < make_timestamp_ms({cutoff})
  )
group by last
