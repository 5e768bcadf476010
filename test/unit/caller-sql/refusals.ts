/** Statements over the view `logs`, and the sentence of each refusal. */
export const REFUSALS: readonly (readonly [name: string, sql: string, sentence: string])[] = [
  [
    'a table that is no view',
    'select id from files',
    'There is no table "files" here; there are logs (line 1, column 16)',
  ],
  [
    'a table behind a view',
    'select id from main.logs',
    'There is no table "main.logs" here; there are logs (line 1, column 16)',
  ],
  [
    'a table function',
    "select id from read_text('/etc/passwd')",
    'FROM takes no function but UNNEST, got "read_text" (line 1, column 16)',
  ],
  [
    'a function that reads files',
    "select read_text('/etc/passwd') as t",
    'There is no function READ_TEXT here (line 1, column 8)',
  ],
  [
    'a name in a path that no field can have',
    "select json_value('{}', '') as x, json_value(metadata, '$.\"a\"') as y from logs",
    'A field cannot be called "" (line 1, column 8)',
  ],
  ['an order by an array', 'select id from logs order by [id]', 'ORDER BY takes no array'],
  [
    'a function of the session',
    'select session_user()',
    'There is no function SESSION_USER here (line 1, column 8)',
  ],
  [
    'a word of the session',
    'select current_user',
    'Field "current_user" does not exist (line 1, column 8)',
  ],
  [
    'a wildcard',
    'select * from logs',
    'A * is not allowed: name the columns, such as id, ts, n, metadata (count(*) is fine) (line 1, column 8)',
  ],
  [
    'a column that is not there',
    'select nope from logs',
    'Field "nope" does not exist; there are id, ts, n, metadata (line 1, column 8)',
  ],
  [
    'a column of an alias, in the second line',
    'select\n  id, e.nope from logs e',
    'There is no column "nope" in "e"; there are id, ts, n, metadata (line 2, column 7)',
  ],
  [
    'a type that is not there',
    'select cast(id as widget) from logs',
    'There is no type "widget" here; there are STRING, INT64, FLOAT64, BOOL, TIMESTAMP, DATETIME, DATE, TIME, INTERVAL, JSON (line 1, column 8)',
  ],
  ['a change of data', 'update logs set n = 1', 'Only SELECT is allowed (line 1, column 1)'],
  ['a misspelt word', 'selec id', 'Only SELECT is allowed (line 1, column 1)'],
  ['a word too many', 'select id id id from logs', 'Syntax error here (line 1, column 14)'],
  [
    'two statements',
    'select 1; select 2',
    'Only one statement is allowed, without a ";" in it (line 1, column 9)',
  ],
  ['a string that does not end', "select 'x", 'This string does not end (line 1, column 8)'],
  ['a bracket that does not end', 'select (1', 'This "(" is not closed (line 1, column 8)'],
  [
    'brackets that are deep',
    `select ${'('.repeat(100)}1${')'.repeat(100)}`,
    'Brackets may stand 60 deep at most (line 1, column 68)',
  ],
  [
    'a table of its own under the name of a view',
    'with logs as (select 1 as x) select x from logs',
    '"logs" is a table of this endpoint: call yours otherwise (line 1, column 6)',
  ],
  [
    'a recursive table',
    'with recursive a as (select 1 as x union all select x + 1 from a) select x from a',
    'Only SELECT is allowed',
  ],
  [
    'two columns of one name',
    'select id, id from logs',
    'Two columns of the result are called "id": give one of them another name, with AS',
  ],
  [
    'a column outside of the groups',
    'select id, count(*) from logs',
    'Each column of the result must be in GROUP BY or within an aggregate function, "id" is not (line 1, column 8)',
  ],
  [
    'a column of an outer query in an aggregate',
    'select e.id, (select max(e.id) as m from logs) as x from logs e',
    'MAX takes nothing but columns of an outer query here (line 1, column 22)',
  ],
  [
    'a text that is no moment',
    "select id from logs where ts > 'yesterday'",
    'Expected a timestamp such as \'2026-11-20T14:00:00Z\', got "yesterday" (line 1, column 30)',
  ],
  [
    'a time zone that is not there',
    "select format_timestamp('%F', ts, 'nowhere') as x from logs",
    'Expected a time zone such as "Europe/Berlin" or "+02:00", got "nowhere" (line 1, column 8)',
  ],
  [
    'an expression of the row',
    'select regexp_contains(id, id) from logs',
    'A regular expression must be a string literal (line 1, column 8)',
  ],
  [
    'an expression of single bytes',
    "select regexp_contains(id, r'\\C') as a from logs",
    'A regular expression may not match single bytes by \\C, in "\\\\C" (line 1, column 8)',
  ],
  [
    'a text that grows',
    'select repeat(id, 100) from logs',
    'The text that REPEAT makes could become more than 32 times as long as a stored one (line 1, column 8)',
  ],
  [
    'a wrong number of arguments',
    'select lower(id, id) as a from logs',
    'LOWER takes one argument, got 2 (line 1, column 8)',
  ],
  [
    'a query for a LIMIT',
    'select id from logs limit (select 1)',
    'LIMIT and OFFSET take a whole number, not negative (line 1, column 27)',
  ],
];
