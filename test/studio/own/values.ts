import type { Line } from '../answer.ts';
import { microseconds } from '../form.ts';
import type { Request } from '../request.ts';

/** Requests without a FROM clause, or over literals alone: what the functions of the dialect give. */
export const VALUES: readonly Request[] = [
  gives('unnamed columns are numbered', "select 1, 'x' as b, 2.5, true", {
    f0_: 1,
    b: 'x',
    f1_: 2.5,
    f2_: true,
  }),
  gives(
    'keywords and functions in any letter case',
    "SeLeCt UPPER('a') AS A, cOaLeScE(NULL, 2) As b",
    {
      A: 'A',
      b: 2,
    },
  ),
  gives(
    'comments of three kinds and a trailing semicolon',
    "# one\nselect /* two\n lines */ 1 as a -- three\n, '-- no comment' as b, '/* nor this */' as c;\n",
    { a: 1, b: '-- no comment', c: '/* nor this */' },
  ),
  gives(
    'strings in all their quotes',
    `select 'it\\'s' as a, "it's" as b, '''it's "so"''' as c, """a\n"b" """ as d, r'\\d+' as e, R"\\n" as f, 'a\\tb\\\\c' as g, '\\u00e9\\x41' as h`,
    {
      a: "it's",
      b: "it's",
      c: 'it\'s "so"',
      d: 'a\n"b" ',
      e: '\\d+',
      f: '\\n',
      g: 'a\tb\\c',
      h: 'éA',
    },
  ),
  gives('back-quoted names', 'select 1 as `select`, 2 as `a b`', { select: 1, 'a b': 2 }),
  gives(
    'nothing in a concatenation makes nothing of it',
    "select concat('a', 'b', 'c') as a, concat('a', null) as b, 'a' || null as c, 'a' || 'b' as d",
    { a: 'abc', b: null, c: null, d: 'ab' },
  ),
  gives(
    'nothing among the greatest and least makes nothing of them',
    'select greatest(1, 7, 3) as a, least(4, 2.5) as b, greatest(1, null) as c, least(null, 1) as d',
    { a: 7, b: 2.5, c: null, d: null },
  ),
  gives(
    'conditional expressions',
    "select if(1 > 2, 'a', 'b') as a, if(null, 1, 2) as b, nullif(5, 5) as c, ifnull(null, 'x') as d, case 3 when 1 then 'a' when 3 then 'c' end as e, case when false then 1 end as f",
    { a: 'b', b: 2, c: null, d: 'x', e: 'c', f: null },
  ),
  gives(
    'division, whole and not',
    'select 7 / 2 as a, div(7, 2) as b, div(-7, 2) as c, mod(7, 3) as d, mod(-7, 3) as e, safe_divide(1, 0) as f, safe_divide(1, 4) as g, abs(-3) as h',
    { a: 3.5, b: 3, c: -3, d: 1, e: -1, f: null, g: 0.25, h: 3 },
  ),
  gives(
    'halves are rounded away from zero',
    'select round(2.5) as a, round(-2.5) as b, round(3.14159, 2) as c, round(1234, -2) as d, cast(2.5 as int64) as e, cast(-0.5 as int64) as f, cast(3.5 as int64) as g, ceil(1.2) as h, floor(-1.2) as i, trunc(-1.7) as j',
    { a: 3, b: -3, c: 3.14, d: 1200, e: 3, f: -1, g: 4, h: 2, i: -2, j: -1 },
  ),
  gives(
    'casts that fail give nothing',
    "select safe_cast('x' as int64) as a, safe_cast('12' as int64) as b, safe_cast('1.5' as float64) as c, safe_cast('yes' as bool) as d, safe_cast('2026-13-01' as date) as e, safe_cast(true as string) as f, cast('0x1f' as int64) as g, cast('true' as bool) as h",
    { a: null, b: 12, c: 1.5, d: null, e: null, f: 'true', g: 31, h: true },
  ),
  gives(
    'a text with a fraction is no whole number',
    "select safe_cast('1.5' as int64) as a, safe_cast(' 7' as int64) as b, safe_cast('' as int64) as c",
    { a: null, b: 7, c: null },
  ),
  gives(
    'lengths are those of characters',
    "select length('日本😀') as a, char_length('é') as b, byte_length('é') as c, reverse('añ') as d, upper('ärger ü') as e, lower('ÄB') as f",
    { a: 3, b: 1, c: 2, d: 'ña', e: 'ÄRGER Ü', f: 'äb' },
  ),
  gives(
    'parts of texts',
    "select substr('abcdef', 2, 3) as a, substr('abcdef', -2) as b, substring('abcdef', 3) as c, left('abc', 2) as d, right('abc', 2) as e, split('a/b/c', '/')[offset(1)] as f, split('a/b/c', '/')[ordinal(1)] as g, split('a/b', '/')[safe_offset(5)] as h, substr('abc', 9) as i",
    { a: 'bcd', b: 'ef', c: 'cdef', d: 'ab', e: 'bc', f: 'b', g: 'a', h: null, i: '' },
  ),
  gives(
    'a text is split at commas, or at what is named',
    "select split('a,b,,c') as a, split('/rest/v1', '/') as b, array_length(split('a b c', ' ')) as c",
    { a: ['a', 'b', '', 'c'], b: ['', 'rest', 'v1'], c: 3 },
  ),
  gives(
    'blanks and paddings',
    "select trim('  a ') as a, ltrim('xxa', 'x') as b, rtrim('/a/', '/') as c, lpad('7', 3, '0') as d, rpad('a', 3, '.') as e, repeat('ab', 2) as f, replace('a-b-c', '-', '') as g, initcap('hello world') as h",
    { a: 'a', b: 'a', c: '/a', d: '007', e: 'a..', f: 'abab', g: 'abc', h: 'Hello World' },
  ),
  gives(
    'what a text holds',
    "select strpos('hello', 'l') as a, strpos('hello', 'z') as b, instr('hello', 'lo') as c, starts_with('/rest', '/r') as d, ends_with('a.png', '.png') as e, contains_substr('Some ERROR here', 'error') as f, 'abc' like 'a_c' as g, 'a%c' like 'a\\\\%c' as h, 'abc' not like '%z%' as i",
    { a: 3, b: 0, c: 4, d: true, e: true, f: true, g: true, h: true, i: true },
  ),
  gives(
    'regular expressions',
    "select regexp_contains('path /rest/v1', r'/rest/v\\d') as a, regexp_extract('id=42;', r'id=(\\d+)') as b, regexp_extract('ab12', r'[0-9]+') as c, regexp_extract('abc', r'\\d+') as d, regexp_replace('/users/17/posts/4', r'\\d+', ':id') as e, regexp_replace('a.b', r'(\\w)\\.(\\w)', r'\\2-\\1') as f, regexp_extract_all('a1b22', r'\\d+') as g, regexp_contains('X', '(?i)x') as h",
    {
      a: true,
      b: '42',
      c: '12',
      d: null,
      e: '/users/:id/posts/:id',
      f: 'b-a',
      g: ['1', '22'],
      h: true,
    },
  ),
  gives(
    'format',
    "select format('%s took %d ms', 'GET', 15) as a, format('%05.1f', 3.14159) as b, format('%x', 255) as c, format('100%%') as d, to_hex(md5('a')) as e",
    { a: 'GET took 15 ms', b: '003.1', c: 'ff', d: '100%', e: '0cc175b9c0f1b6a831c399e269772661' },
  ),
  gives(
    'JSON in a text',
    `select json_value('{"a":{"b":[1,"x"]},"n":null}', '$.a.b[1]') as a, json_extract_scalar('{"a":1.5}', '$.a') as b, json_query('{"a":{"b":1}}', '$.a') as c, json_extract('{"a":"x"}', '$.a') as d, json_value('{"a":{}}', '$.a') as e, json_value('no json', '$.a') as f, json_value('{"a":null}', '$.a') as g, json_value('{"a b":true}', '$."a b"') as h`,
    { a: 'x', b: '1.5', c: '{"b":1}', d: '"x"', e: null, f: null, g: null, h: 'true' },
  ),
  gives(
    'lists in JSON',
    `select json_extract_array('[1,{"a":2}]') as a, json_value_array('["x","y"]') as b, json_extract_string_array('{"t":["p","q"]}', '$.t') as c, array_length(json_query_array('{"t":[1,2,3]}', '$.t')) as d`,
    { a: ['1', '{"a":2}'], b: ['x', 'y'], c: ['p', 'q'], d: 3 },
  ),
  gives(
    'JSON as a value',
    `select json_value(parse_json('{"a":{"b":"x"}}'), '$.a.b') as a, to_json_string(struct(1 as a, 'x' as b, null as c)) as b, to_json_string([1, 2]) as c, json_value(safe.parse_json('{'), '$.a') as d, string(parse_json('{"a":"x"}').a) as e, int64(parse_json('{"n":3}').n) as f`,
    { a: 'x', b: '{"a":1,"b":"x","c":null}', c: '[1,2]', d: null, e: 'x', f: 3 },
  ),
  gives(
    'a record is an array of one, an array of records is not',
    "select struct(1 as a, 'x' as b) as r, [struct(1 as a), struct(2)] as l, [1, 2] as n, struct(struct(true as c) as b) as d",
    {
      r: [{ a: 1, b: 'x' }],
      l: [{ a: 1 }, { a: 2 }],
      n: [1, 2],
      d: [{ b: [{ c: true }] }],
    },
  ),
  gives(
    'arrays',
    "select array_length([1, 2, 3]) as a, array_to_string(['a', 'b'], '-') as b, array_concat([1], [2, 3]) as c, array_reverse([1, 2]) as d, generate_array(1, 7, 3) as e, array(select x * 2 from unnest([3, 1]) as x order by x) as f, 2 in unnest([1, 2]) as g, [10, 20][offset(1)] as h, [10, 20][safe_ordinal(1)] as i, exists(select 1 from unnest([1, 2]) as x where x > 1) as j",
    {
      a: 3,
      b: 'a-b',
      c: [1, 2, 3],
      d: [2, 1],
      e: [1, 4, 7],
      f: [2, 6],
      g: true,
      h: 20,
      i: 10,
      j: true,
    },
  ),
  {
    name: 'an array with the places of its elements',
    sql: "select x, place from unnest(['a', 'b', 'c']) as x with offset as place where place > 0 order by place desc",
    rows: () => ({
      rows: [
        { x: 'c', place: 2 },
        { x: 'b', place: 1 },
      ],
      by: (row) => row.place,
    }),
  },
  gives(
    'moments are integers of microseconds, other times are texts',
    "select timestamp('2026-08-21 12:00:00') as a, timestamp '2026-08-21T12:00:00.25+02:00' as b, date '2026-08-21' as c, datetime '2026-08-21 12:00:00' as d, datetime(timestamp('2026-08-21T12:00:00.5Z')) as e, time(timestamp '2026-08-21 09:05:00') as f, date(timestamp '2026-08-21 23:30:00', 'Asia/Tokyo') as g, datetime(timestamp '2026-08-21 12:00:00', 'America/New_York') as h, timestamp('2026-08-21 12:00:00', 'America/New_York') as i",
    {
      a: microseconds('2026-08-21T12:00:00Z'),
      b: microseconds('2026-08-21T10:00:00Z') + 250_000,
      c: '2026-08-21',
      d: '2026-08-21T12:00:00',
      e: '2026-08-21T12:00:00.500000',
      f: '09:05:00',
      g: '2026-08-22',
      h: '2026-08-21T08:00:00',
      i: microseconds('2026-08-21T16:00:00Z'),
    },
  ),
  gives(
    'moments as numbers and back',
    "select unix_seconds(t) as a, unix_millis(t) as b, unix_micros(t) as c, timestamp_seconds(1787313600) as d, timestamp_millis(1787313600123) as e, timestamp_micros(1787313600123456) as f from (select timestamp '2026-08-21 12:00:00.123456' as t)",
    {
      a: 1_787_313_600,
      b: 1_787_313_600_123,
      c: 1_787_313_600_123_456,
      d: microseconds('2026-08-21T12:00:00Z'),
      e: 1_787_313_600_123_000,
      f: 1_787_313_600_123_456,
    },
  ),
  gives(
    'differences of moments count whole units, those of dates count boundaries',
    "select timestamp_diff(timestamp '2026-08-21 12:00:00', timestamp '2026-08-21 10:30:00', minute) as a, timestamp_diff(timestamp '2026-08-21 12:00:00', timestamp '2026-08-21 10:30:00', hour) as b, timestamp_diff(timestamp '2026-08-20 01:00:00', timestamp '2026-08-21 00:00:00', day) as c, date_diff(date '2026-09-01', date '2026-08-31', month) as d, date_diff(date '2026-08-23', date '2026-08-22', week) as e, datetime_diff(datetime '2026-08-21 00:00:00', datetime '2026-08-20 23:59:59', day) as f, timestamp_diff(timestamp '2026-08-21 12:00:00.5', timestamp '2026-08-21 12:00:00', millisecond) as g",
    { a: 90, b: 1, c: 0, d: 1, e: 1, f: 1, g: 500 },
  ),
  gives(
    'sums of times',
    "select timestamp_add(timestamp '2026-08-21 12:00:00', interval 90 minute) as a, timestamp_sub(timestamp '2026-08-21 12:00:00', interval 2 day) as b, timestamp '2026-08-21 12:00:00' - interval 1 hour as c, date_add(date '2026-01-31', interval 1 month) as d, date_sub(date '2026-03-01', interval 1 week) as e, datetime_add(datetime '2026-08-21 12:00:00', interval 3 hour) as f, timestamp_add(timestamp '2026-08-21 12:00:00', interval 2 * 5 second) as g",
    {
      a: microseconds('2026-08-21T13:30:00Z'),
      b: microseconds('2026-08-19T12:00:00Z'),
      c: microseconds('2026-08-21T11:00:00Z'),
      d: '2026-02-28',
      e: '2026-02-22',
      f: '2026-08-21T15:00:00',
      g: microseconds('2026-08-21T12:00:10Z'),
    },
  ),
  gives(
    'parts of moments: Sunday is day 1, a millisecond is one of a second',
    "select extract(year from t) as a, extract(dayofweek from t) as b, extract(dayofyear from t) as c, extract(hour from t) as d, extract(hour from t at time zone 'America/New_York') as e, extract(millisecond from t) as f, extract(microsecond from t) as g, extract(date from t) as h, extract(isoweek from t) as i, extract(quarter from t) as j, extract(second from t) as k from (select timestamp '2026-08-21 12:34:56.789012' as t)",
    {
      a: 2026,
      b: 6,
      c: 233,
      d: 12,
      e: 8,
      f: 789,
      g: 789_012,
      h: '2026-08-21',
      i: 34,
      j: 3,
      k: 56,
    },
  ),
  gives(
    'beginnings of units: a week begins on Sunday unless it is told',
    "select timestamp_trunc(t, hour) as a, timestamp_trunc(t, week) as b, timestamp_trunc(t, isoweek) as c, timestamp_trunc(t, week(monday)) as d, timestamp_trunc(t, month) as e, date_trunc(date(t), week) as f, date_trunc(date(t), quarter) as g, datetime_trunc(datetime(t), minute) as h, timestamp_trunc(t, day, 'Europe/Berlin') as i from (select timestamp '2026-08-21 23:34:56' as t)",
    {
      a: microseconds('2026-08-21T23:00:00Z'),
      b: microseconds('2026-08-16T00:00:00Z'),
      c: microseconds('2026-08-17T00:00:00Z'),
      d: microseconds('2026-08-17T00:00:00Z'),
      e: microseconds('2026-08-01T00:00:00Z'),
      f: '2026-08-16',
      g: '2026-07-01',
      h: '2026-08-21T23:34:00',
      i: microseconds('2026-08-21T22:00:00Z'),
    },
  ),
  gives(
    'moments as texts',
    "select format_timestamp('%Y-%m-%d %H:%M:%S', t) as a, format_timestamp('%F %T', t, 'Europe/Berlin') as b, format_timestamp('%H:00', t) as c, format_timestamp('%A, %d %b %y', t) as d, format_timestamp('%E3S', t) as e, format_date('%d/%m/%Y', date(t)) as f, format_datetime('%I %p', datetime(t)) as g, cast(timestamp_trunc(t, second) as string) as h, string(timestamp_trunc(t, second)) as i, cast(date(t) as string) as j, format_timestamp('%j %u %%', t) as k from (select timestamp '2026-08-21 15:04:05.678' as t)",
    {
      a: '2026-08-21 15:04:05',
      b: '2026-08-21 17:04:05',
      c: '15:00',
      d: 'Friday, 21 Aug 26',
      e: '05.678',
      f: '21/08/2026',
      g: '03 PM',
      h: '2026-08-21 15:04:05+00',
      i: '2026-08-21 15:04:05+00',
      j: '2026-08-21',
      k: '233 5 %',
    },
  ),
  gives(
    'texts as moments',
    "select parse_timestamp('%Y-%m-%d %H:%M', '2026-08-21 12:30') as a, parse_timestamp('%d/%b/%Y:%H:%M:%S %z', '21/Aug/2026:12:00:01 +0200') as b, parse_date('%Y%m%d', '20260821') as c, safe.parse_timestamp('%F', 'yesterday') as d, parse_datetime('%F %T', '2026-08-21 12:00:00') as e, safe_cast('yesterday' as timestamp) as f, cast('2026-08-21T12:00:00Z' as timestamp) as g, safe.timestamp('tomorrow') as h",
    {
      a: microseconds('2026-08-21T12:30:00Z'),
      b: microseconds('2026-08-21T10:00:01Z'),
      c: '2026-08-21',
      d: null,
      e: '2026-08-21T12:00:00',
      f: null,
      g: microseconds('2026-08-21T12:00:00Z'),
      h: null,
    },
  ),
  gives(
    'what is unknown',
    "select null = null as a, 1 is distinct from null as b, not null as c, (1 = 2) is false as d, 1 in (2, null) as e, 1 not in (2, 3) as f, 5 between 1 and 5 as g, (null and false) as h, 'a' <> 'b' as i",
    { a: null, b: true, c: null, d: true, e: null, f: true, g: true, h: false, i: true },
  ),
  {
    name: 'nulls come first, or last when descending',
    sql: 'select x from unnest([3, null, 1]) as x order by x',
    rows: () => ({ rows: [{ x: null }, { x: 1 }, { x: 3 }], by: (row) => row.x }),
  },
  {
    name: 'nulls come where they are told',
    sql: 'select x from unnest([3, null, 1]) as x order by x desc nulls first limit 2',
    rows: () => ({ rows: [{ x: null }, { x: 3 }], by: (row) => row.x }),
  },
  {
    name: 'sets',
    sql: '(select 1 as a union all select 1) union all (select x from unnest([2, 2, 3]) as x except distinct select 3) union all (select 5 intersect distinct select 5)',
    rows: () => ({ rows: [{ a: 1 }, { a: 1 }, { a: 2 }, { a: 5 }] }),
  },
  {
    name: 'sets without doubles',
    sql: 'select x from unnest([1, 2, 2]) as x union distinct select 2 order by x',
    rows: () => ({ rows: [{ x: 1 }, { x: 2 }], by: (row) => row.x }),
  },
  {
    name: 'a common table expression hides a view of its name',
    sql: 'with edge_logs as (select 7 as id) select id from edge_logs',
    rows: () => ({ rows: [{ id: 7 }] }),
  },
  gives(
    'no end of numbers fails',
    'select 7 / (x - 1) as a, safe_cast(9e30 as int64) as b, sqrt(x) as c from unnest([1]) as x',
    { a: null, b: null, c: 1 },
  ),
  gives(
    'the present',
    "select current_timestamp() > timestamp '2026-01-01' as a, current_date() > date '2026-01-01' as b, CURRENT_TIMESTAMP() - interval 1 hour < current_timestamp as c, timestamp_diff(current_timestamp(), current_timestamp(), second) as d",
    { a: true, b: true, c: true, d: 0 },
  ),
  gives('addresses', "select net.host('https://www.example.co:8000/a?b') as a", {
    a: 'www.example.co',
  }),
];

function gives(name: string, sql: string, row: Line): Request {
  return { name, sql, rows: () => ({ rows: [row] }) };
}
