-- What each source has in each row group of the rejected lines, and the bytes of their rests, which stand elsewhere; {first_rows}
-- lists the first row of each row group,
-- {piece_bytes} is what the line's own row holds of it at most.
with groups as (
  select unnest({first_rows}) as first_row, generate_subscripts({first_rows}, 1) - 1 as group_index
)
select
  source,
  group_index,
  count(*) as rows,
  epoch_ms(min(rejected_at)) as oldest,
  epoch_ms(max(rejected_at)) as newest,
  coalesce(sum(rest), 0)::bigint as rest_bytes
from (
  select rowid as position, source, rejected_at, greatest(coalesce(kept, 0) - {piece_bytes}, 0) as rest
  from rejected
) as lines
asof join groups on lines.position >= groups.first_row
group by source, group_index
order by group_index
