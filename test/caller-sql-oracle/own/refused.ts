import type { Request } from '../request.ts';

/** Requests that must be refused, with words of the message. Requests for more than the views stand in test/faults/sql/attacks.ts. */
export const REFUSED: readonly Request[] = [
  refused('select *', 'select * from edge_logs', /\*/),
  refused(
    'the fields of a record',
    'select m.* from edge_logs cross join unnest(metadata) as m',
    /\*/,
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
    'a unit that is not there',
    'select timestamp_trunc(timestamp, fortnight) as t from edge_logs',
    /fortnight/i,
  ),
  refused(
    'a moment that is not on the calendar',
    "select id from edge_logs where timestamp > '2026-02-30'",
    /There is no such moment: "2026-02-30"/,
  ),
  refused(
    'an escape that is not there',
    "select id from edge_logs where regexp_contains(event_message, '\\d+')",
    /r'…'/,
  ),
  refused('a type that is not there', 'select cast(id as widget) as t from edge_logs', /widget/i),
];

function refused(name: string, sql: string, says: RegExp): Request {
  return { name: `refused: ${name}`, sql, refused: says };
}
