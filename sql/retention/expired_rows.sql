-- The last of the first {until} rows that has expired, and how many there are up to it. Rows stand in the order they
-- were stored in, so one that is followed by an expired row has expired, and one that follows a row to keep has not,
-- whatever a wrong clock stamped them with.
with head as (
  select rowid as position, {stamp} as stamp
  from {table}
  where rowid < {until} and {belongs}
),
kept as (
  select coalesce(min(position), {until}) as position
  from head
  where stamp >= make_timestamp_ms({cutoff}) and stamp <= make_timestamp_ms({wall})
),
last_expired as (
  select max(head.position) as position
  from head, kept
  where
    head.position < kept.position
    and head.stamp >= make_timestamp_ms({earliest})
    and head.stamp < make_timestamp_ms({cutoff})
)
select
  last_expired.position as last,
  count(*) as rows,
  epoch_ms(min(stamp)) as oldest,
  epoch_ms(max(stamp)) as newest
from head, last_expired
where head.position <= last_expired.position
group by last_expired.position
