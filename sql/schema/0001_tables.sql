-- The nine sources, the files they come from, and the books that are kept on them.
-- No index and no unique constraint: with one, a kill can end in a database that refuses to delete (decision 0001).
create table edge_logs (
  id varchar not null,
  timestamp timestamp not null,
  project varchar,
  event_message varchar not null using compression zstd,
  metadata json using compression zstd,
  ingested_at timestamp not null,
  path varchar,
  url varchar,
  host varchar
);
create table postgres_logs (id varchar not null, timestamp timestamp not null, project varchar, event_message varchar not null using compression zstd, metadata json using compression zstd, ingested_at timestamp not null);
create table function_edge_logs (id varchar not null, timestamp timestamp not null, project varchar, event_message varchar not null using compression zstd, metadata json using compression zstd, ingested_at timestamp not null);
create table function_logs (id varchar not null, timestamp timestamp not null, project varchar, event_message varchar not null using compression zstd, metadata json using compression zstd, ingested_at timestamp not null);
create table auth_logs (id varchar not null, timestamp timestamp not null, project varchar, event_message varchar not null using compression zstd, metadata json using compression zstd, ingested_at timestamp not null);
create table realtime_logs (id varchar not null, timestamp timestamp not null, project varchar, event_message varchar not null using compression zstd, metadata json using compression zstd, ingested_at timestamp not null);
create table storage_logs (id varchar not null, timestamp timestamp not null, project varchar, event_message varchar not null using compression zstd, metadata json using compression zstd, ingested_at timestamp not null);
create table postgrest_logs (id varchar not null, timestamp timestamp not null, project varchar, event_message varchar not null using compression zstd, metadata json using compression zstd, ingested_at timestamp not null);
create table pgbouncer_logs (id varchar not null, timestamp timestamp not null, project varchar, event_message varchar not null using compression zstd, metadata json using compression zstd, ingested_at timestamp not null);

-- What a KnownFile is (ingest/types.ts), as of the last committed batch.
create table files (
  id bigint not null,
  source varchar not null,
  path varchar not null,
  inode varchar not null,
  "offset" bigint not null,
  head_length bigint not null,
  head_hash varchar not null,
  anchor_length bigint not null,
  anchor_hash varchar not null,
  open_line boolean not null,
  shadow_of bigint,
  gone boolean not null,
  finished varchar,
  updated_at timestamp not null
);

-- Cumulative since the beginning; lines = rows + rejected, always.
create table ledger (
  source varchar not null,
  bytes bigint not null,
  lines bigint not null,
  rows bigint not null,
  rejected bigint not null,
  repaired bigint not null,
  undated bigint not null
);

create table rejected (
  source varchar not null,
  file varchar not null,
  "offset" bigint not null,
  length bigint not null,
  reason varchar not null,
  line blob not null,
  rejected_at timestamp not null
);

insert into ledger
select unnest(['edge_logs', 'postgres_logs', 'function_edge_logs', 'function_logs', 'auth_logs', 'realtime_logs', 'storage_logs', 'postgrest_logs', 'pgbouncer_logs']), 0, 0, 0, 0, 0, 0;
