-- Which store this is: rows that it forwards to another database carry it (decision 0025). A copy of the store has the same.
create table node (id uuid not null);
insert into node values (gen_random_uuid());

-- The last shipment of each source that has one. It is open until its rows are known to be in the other database; then they leave the
-- source's table. first_id and last_id tell whether the rows at the front of the table are still its own.
create table shipments (
  source varchar not null,
  seq bigint not null,
  rows bigint not null,
  day date not null,
  first_id varchar not null,
  last_id varchar not null,
  sha256 varchar not null,
  endpoint varchar not null,
  is_open boolean not null
);

-- rows = stored + removed + forwarded, always.
alter table ledger add column forwarded bigint;
update ledger set forwarded = 0;
