-- Members of metadata have columns of their own, which the service adds as its settings say (decision 0019). `member_state` tells what
-- holds of a row: 0 until it is settled.
alter table edge_logs add column member_state bigint default 0;
alter table postgres_logs add column member_state bigint default 0;
alter table function_edge_logs add column member_state bigint default 0;
alter table function_logs add column member_state bigint default 0;
alter table auth_logs add column member_state bigint default 0;
alter table realtime_logs add column member_state bigint default 0;
alter table storage_logs add column member_state bigint default 0;
alter table postgrest_logs add column member_state bigint default 0;
alter table pgbouncer_logs add column member_state bigint default 0;

-- The members of each source that have columns, separated by blanks. Rows that were filled for an earlier generation are filled again.
create table member_sets (
  source varchar not null,
  generation bigint not null,
  members varchar not null
);
