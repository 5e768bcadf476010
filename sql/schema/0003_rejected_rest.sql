-- Of a rejected line beyond 4 KiB the row holds the beginning; the rest stands here in pieces of 4 KiB, `start` being the first byte of
-- each in the line (decision 0014).
create table rejected_rest (
  source varchar not null,
  file varchar not null,
  "offset" bigint not null,
  rejected_at timestamp not null,
  start bigint not null,
  piece blob not null
);

-- The bytes that were kept of a line, here and there; NULL for one of before: all of them are in its row.
alter table rejected add column kept bigint;
