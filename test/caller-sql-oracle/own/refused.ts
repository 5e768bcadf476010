import type { Request } from '../request.ts';

/** Requests that must be refused, with what the message has to name. */
export const REFUSED: readonly Request[] = [
  refused('select *', 'select * from edge_logs', /\*/),
  refused('t.*', 'select t.* from edge_logs as t', /\*/),
  refused(
    'the fields of a record',
    'select m.* from edge_logs cross join unnest(metadata) as m',
    /\*/,
  ),
  refused('a wildcard in a subquery', 'select id from (select * from edge_logs) as t', /\*/),
  refused(
    'all but one',
    'select * except (metadata) from edge_logs',
    /\*|except|wildcard|columns/i,
  ),
  refused('a view that is not there', 'select id from no_such_logs', /no_such_logs/),
  refused('a page of none of the builds', 'select id from warehouse_logs', /warehouse_logs/),
  refused(
    'a source in a subquery',
    'select id from edge_logs where id in (select id from `postgres.logs`)',
    /postgres\.logs/,
  ),
  refused(
    'a source in an expression',
    'with a as (select id from `cloudflare.logs.prod`) select id from a',
    /cloudflare\.logs\.prod/,
  ),
  refused(
    'a source in a union',
    'select id from edge_logs union all select id from `gotrue.logs.prod`',
    /gotrue\.logs\.prod/,
  ),
  refused('a table behind a view', 'select id from main.edge_logs', /main/),
  refused('a table of the service', 'select id from rejected', /rejected/),
  refused('the ledger', 'select 1 as a from edge_logs, ledger', /ledger/),
  refused(
    'the catalogue',
    'select table_name from information_schema.tables',
    /information_schema/,
  ),
  refused('a file', "select content from read_text('/etc/passwd')", /read_text/i),
  refused('a file as a table', "select a from '/etc/passwd'", /./),
  refused('a function of the engine', 'select name from duckdb_settings()', /./),
  refused('the environment', "select getenv('HOME') as a", /getenv/i),
  refused('the user of the session', 'select session_user() as me', /session_user/i),
  refused('another database', "select a from external_query('x', 'select 1')", /external_query/i),
  refused('a function that is not there', 'select frobnicate(id) from edge_logs', /frobnicate/i),
  refused(
    'a function with too few arguments',
    'select starts_with(id) from edge_logs',
    /starts_with/i,
  ),
  refused('a column that is not there', 'select nope from realtime_logs', /nope/),
  refused(
    'a column of an alias that is not there',
    'select t.nope from realtime_logs as t',
    /nope/,
  ),
  refused('an alias that is not there', 'select x.id from realtime_logs as t', /x/),
  refused('a parameter that is not there', 'select id from edge_logs where id = @user', /user/),
  refused('two statements', 'select 1 as a; select 2 as a', /./),
  refused('an insertion', "insert into edge_logs (id) values ('x')", /SELECT/i),
  refused('a deletion', 'delete from edge_logs where true', /SELECT/i),
  refused('a new table', 'create table t as select 1 as a', /SELECT/i),
  refused('a dropped table', 'drop table edge_logs', /SELECT/i),
  refused('a setting', "set memory_limit = '1GB'", /./),
  refused('an attached database', "attach '/tmp/x.db' as x", /./),
  refused('an export', "copy edge_logs to '/tmp/x.csv'", /./),
  refused('a pragma', 'pragma database_list', /./),
  refused('a script', 'declare x int64 default 1', /./),
  refused('nothing but a comment', '-- nothing', /./),
  refused('an open string', "select 'open from edge_logs", /./),
  refused('an open bracket', 'select count(* from edge_logs', /./),
  refused('a missing FROM', 'select id edge_logs where id = 1 and', /./),
  refused('a misspelt word', 'select id form edge_logs', /./),
  refused('a column outside of the groups', 'select id, count(*) as n from edge_logs', /id/),
  refused('an aggregate in WHERE', 'select id from edge_logs where count(*) > 1', /./),
  refused(
    'a pattern with an open group',
    "select id from edge_logs where regexp_contains(event_message, '(')",
    /regular expression|pattern/i,
  ),
  refused(
    'a pattern of a star alone',
    "select id from edge_logs where regexp_contains(event_message, '*')",
    /regular expression|pattern/i,
  ),
  refused(
    'a pattern that looks ahead',
    "select id from edge_logs where regexp_contains(event_message, 'a(?=b)')",
    /regular expression|pattern/i,
  ),
  refused(
    'a pattern with too many repeats',
    "select id from edge_logs where regexp_contains(event_message, 'a{1000}')",
    /100/,
  ),
  refused(
    'a pattern that is too long',
    `select id from edge_logs where regexp_contains(event_message, '${'a'.repeat(1001)}')`,
    /1000/,
  ),
  refused(
    'a pattern of each row',
    'select id from edge_logs where regexp_contains(event_message, id)',
    /constant|literal/i,
  ),
  refused(
    'a unit that is not there',
    'select timestamp_trunc(timestamp, fortnight) as t from edge_logs',
    /fortnight/i,
  ),
  refused('a type that is not there', 'select cast(id as widget) as t from edge_logs', /widget/i),
];

function refused(name: string, sql: string, says: RegExp): Request {
  return { name: `refused: ${name}`, sql, refused: says };
}
