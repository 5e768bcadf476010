-- The table of a source beside those of Supabase, as the numbered files of sql/schema make these. A file there that changes the tables of
-- sources must change all that the ledger names.
create table {source} (
  id varchar not null,
  timestamp timestamp not null,
  project varchar,
  event_message varchar not null using compression zstd,
  metadata json using compression zstd,
  ingested_at timestamp not null,
  member_state bigint default 0,
  text_block bigint,
  severity varchar,
  status smallint
);
insert into ledger (source, bytes, lines, rows, rejected, repaired, undated, forwarded, future, doubled) values ('{source}', 0, 0, 0, 0, 0, 0, 0, 0, 0);
