-- The row groups of a table from the first to the last: rows (deleted ones too), the first and last {stamp} in ms since
-- the epoch, and the bytes that are freed once this row group and all before it are gone: a block that several row
-- groups share counts for the last of them. Bytes of what is not written back yet are 0.
with segments as (
  select
    row_group_id,
    column_name,
    segment_type,
    count,
    stats,
    list_append(additional_block_ids, block_id) as blocks
  from pragma_storage_info('{table}')
),
users as (
  select row_group_id, unnest(blocks) as block
  from segments
),
last_users as (
  select block, max(row_group_id) as row_group_id
  from users
  where block >= 0
  group by block
),
sizes as (
  select row_group_id, count(*) * (select block_size from pragma_database_size() where database_name = current_database()) as bytes
  from last_users
  group by row_group_id
),
stamps as (
  select
    row_group_id,
    sum(count)::bigint as rows,
    epoch_ms(min(try_cast(regexp_extract(stats, 'Min: ([^,\]]+)', 1) as timestamp))) as oldest,
    epoch_ms(max(try_cast(regexp_extract(stats, 'Max: ([^,\]]+)', 1) as timestamp))) as newest
  from segments
  where column_name = '{stamp}' and segment_type = 'TIMESTAMP'
  group by row_group_id
)
select rows, oldest, newest, coalesce(bytes, 0)::bigint as bytes
from stamps
left join sizes using (row_group_id)
order by row_group_id
