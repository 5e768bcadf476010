-- A source's rows from every node. A partition is the day that rows were stored on, so that a shipment lies in one of them: it is there
-- whole or not at all (decision 0023). `_node` and `_seq` name the shipment. The columns of members hold them as JSON, of rows whose
-- `member_state` says so; `member_set` names the members that were looked for (decision 0028). What an INSERT confirms is on the disk: by
-- default ClickHouse leaves that to the system, and a loss of power takes what was confirmed in the half minute before.
create table {name} {on_cluster} (
  id String codec(ZSTD),
  timestamp DateTime64(6, 'UTC') codec(Delta, ZSTD),
  project LowCardinality(Nullable(String)),
  severity LowCardinality(Nullable(String)),
  status Nullable(Int16),
  event_message String codec(ZSTD(3)),
  metadata Nullable(String) codec(ZSTD(3)),
  ingested_at DateTime64(6, 'UTC') codec(Delta, ZSTD),
  {request_columns}
  member_set LowCardinality(String),
  member_state UInt64 codec(ZSTD),
  {member_columns}
  _node LowCardinality(String),
  _seq UInt64 codec(Delta, ZSTD),
  index by_seq _seq type minmax granularity 1,
  index by_time timestamp type minmax granularity 1
)
engine = {engine}
partition by toDate(ingested_at)
order by (project, timestamp)
ttl toDateTime(ingested_at) + interval {days} day
settings ttl_only_drop_parts = 1, allow_nullable_key = 1, fsync_after_insert = 1, fsync_part_directory = 1, {window};
