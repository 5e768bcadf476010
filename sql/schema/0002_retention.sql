-- What retention took away, cumulative: stored = rows - removed, always; the same holds for rejected lines.
alter table ledger add column removed bigint default 0;
alter table ledger add column removed_rejected bigint default 0;

-- The moment up to which retention believes the machine's clock (decision 0007); one row, none before its first run.
create table retention_clock (
  trusted_at timestamp not null
);
