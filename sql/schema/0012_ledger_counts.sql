alter table ledger add column future bigint;
alter table ledger add column doubled bigint;
update ledger set future = 0, doubled = 0;

-- Undated rows of each source by the field that looks like their moment, and by the form of its text; at most 20 of a source.
create table undated_forms (
  source varchar not null,
  field varchar not null,
  form varchar not null,
  rows bigint not null
);
