-- What a FileState is (ingest/types.ts): streams are told by proofs of their bytes, and inodes by their birth. Of a copy nothing is kept, it
-- is compared with its original anew. A proof is "at/length:hash" (server/store/write/file-states.ts).
create table file_states as
select
  id,
  source,
  path,
  inode,
  ''::varchar as birth,
  "offset",
  case
    when "offset" = 0 then ''
    when head_length = "offset" then head_length || '/' || head_length || ':' || head_hash
    else head_length || '/' || head_length || ':' || head_hash || ' ' || "offset" || '/' || anchor_length || ':' || anchor_hash
  end as proofs,
  open_line as unterminated,
  gone,
  finished,
  updated_at
from files
where shadow_of is null;
drop table files;
create table files (
  id bigint not null,
  source varchar not null,
  path varchar not null,
  inode varchar not null,
  birth varchar not null,
  "offset" bigint not null,
  proofs varchar not null,
  unterminated boolean not null,
  gone boolean not null,
  finished varchar,
  updated_at timestamp not null
);
insert into files select * from file_states;
drop table file_states;
