-- The shipments of each node whose rows are there: runs of successive numbers, the lowest first, and the time when the first row of each run
-- was stored. Rows of other writers have number 0. The limit cuts off newer runs, and so makes no gap.
select
  _node as node,
  toString(min(_seq)) as first,
  toString(max(_seq)) as last,
  toString(toUnixTimestamp64Milli(argMin(oldest, _seq))) as oldest_ms
from (
  select
    _node,
    _seq,
    min(ingested_at) as oldest,
    row_number() over (partition by _node order by _seq) as place
  from {table}
  where _seq > 0
  group by _node, _seq
)
group by _node, _seq - place
order by node, min(_seq)
limit 100000
