-- Which texts may stand in a block of rows, so that a search passes over those that cannot have what it looks for (decision 0020). Rows
-- that are not settled have no block.
alter table edge_logs add column text_block bigint;
alter table postgres_logs add column text_block bigint;
alter table function_edge_logs add column text_block bigint;
alter table function_logs add column text_block bigint;
alter table auth_logs add column text_block bigint;
alter table realtime_logs add column text_block bigint;
alter table storage_logs add column text_block bigint;
alter table postgrest_logs add column text_block bigint;
alter table pgbouncer_logs add column text_block bigint;

-- A bitmap of the six-character pieces of messages and metadata, in 16 parts of one length (server/store/text-filter/grams.ts).
create table text_filters (
  source varchar not null,
  block bigint not null,
  s0 blob not null using compression uncompressed,
  s1 blob not null using compression uncompressed,
  s2 blob not null using compression uncompressed,
  s3 blob not null using compression uncompressed,
  s4 blob not null using compression uncompressed,
  s5 blob not null using compression uncompressed,
  s6 blob not null using compression uncompressed,
  s7 blob not null using compression uncompressed,
  s8 blob not null using compression uncompressed,
  s9 blob not null using compression uncompressed,
  s10 blob not null using compression uncompressed,
  s11 blob not null using compression uncompressed,
  s12 blob not null using compression uncompressed,
  s13 blob not null using compression uncompressed,
  s14 blob not null using compression uncompressed,
  s15 blob not null using compression uncompressed
);
