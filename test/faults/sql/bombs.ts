import { LONG } from '../case.ts';

/** SQL that costs more than it may, by kind. Each is asked in both dialects. */
export type Bombs = Readonly<Record<string, string>>;

/** As long as SQL may be. */
const MOST = 64 * 1024;
/** The end of the texts that are filled up to it. */
const SPARE = 100;

const FROM = 'from edge_logs';
const TEXT = "string_agg(event_message, ',')";

/** `open`, then as many of `part` as fit, then the same number of `end`s. */
function filled(open: string, part: string, close: string, end = ''): string {
  const count = Math.floor(
    (MOST - SPARE - Buffer.byteLength(open + close)) / Buffer.byteLength(part + end),
  );
  return deep(count, open, part, close, end);
}

function deep(count: number, open: string, part: string, close: string, end = ''): string {
  return open + part.repeat(count) + close + end.repeat(count);
}

const NUMBERS =
  'from unnest(generate_array(1, 10000)) as p cross join unnest(generate_array(1, 10000)) as q';

/** What takes more memory beside the engine's the longer it may run. */
export const GROWING: Bombs = {
  'the top of many groups': `select p * 10000 + q as k, approx_top_count(q, 100) as c ${NUMBERS} group by k limit 2`,
  'some tops of groups': `select p as k, ${Array.from({ length: 8 }, (_, n) => `approx_top_count(p * ${n + 1} + q, 100) as c${n}`).join(', ')} ${NUMBERS} group by k limit 2`,
  'the quantiles of many groups': `select p * 10000 + q as k, approx_quantiles(q, 100) as c ${NUMBERS} group by k limit 2`,
};

/** What holds a text, or several, for each of very many groups. */
export const HELD: Bombs = {
  'the greatest text of many groups': `select concat(cast(p as string), '-long-long-long-', cast(q as string)) as k, max(concat('textlonglonglonglong', cast(p as string))) as c ${NUMBERS} group by k`,
  'the least text of many groups': `select p * 10000 + q as k, min(concat('textlonglonglonglong', cast(p as string))) as c ${NUMBERS} group by k limit 2`,
  'a median of many groups': `select p * 10000 + q as k, percentile_cont(q, 0.5) as c ${NUMBERS} group by k limit 2`,
};

/** These take memory that the engine's own limit does not count, by joins, groups, texts and lists, and by steps that each enlarge the last. */
export const MEMORY = {
  joins: {
    ...Object.fromEntries(
      [4, 8, 12, 24].map((count) => [
        `a cross join of ${count} views`,
        `select count(*) as n from ${Array.from({ length: count }, (_, i) => `edge_logs t${i}`).join(', ')}`,
      ]),
    ),
    'joins of joins': `with ${Array.from({ length: 5 }, (_, k) => `a${k} as (select t0.event_message as m, count(*) as n from edge_logs t0 ${Array.from({ length: 9 }, (_unused, i) => `join edge_logs t${i + 1} on t${i}.id = t${i + 1}.id`).join(' ')} group by t0.event_message)`).join(', ')} select count(*) as n from a0, a1, a2, a3, a4`,
  },
  groups: {
    'many tops of groups': `select p as k, ${Array.from({ length: 300 }, (_, n) => `approx_top_count(p * ${n + 1} + q, 100) as c${n}`).join(', ')} ${NUMBERS} group by k limit 2`,
    'sixty parts, each sorted': `${Array.from({ length: 60 }, () => 'select id, row_number() over (partition by event_message order by timestamp) as n from edge_logs').join(' union all ')} order by n`,
    'quantiles without end': `select approx_quantiles(length(event_message), 1000000000) as x ${FROM}`,
    'quantiles of many': `select approx_quantiles(length(event_message), 100000) as x ${FROM}`,
    'top without end': `select approx_top_count(event_message, 1000000000) as x ${FROM}`,
    'top of the engine': `select approx_top_k(event_message, 1000000000) as x ${FROM}`,
    'the largest without end': `select max(event_message, 1000000000) as x ${FROM}`,
    'a frame over all': `select max(l) as x from (select length(string_agg(event_message, ',') over (order by id rows between unbounded preceding and unbounded following)) as l ${FROM})`,
    'histogram of all': `select histogram(concat(a.id, b.id)) as x from edge_logs a, edge_logs b`,
    'distinct of all pairs':
      'select count(distinct concat(a.id, b.id)) as n from edge_logs a, edge_logs b',
    'order of all pairs':
      'select concat(a.id, b.id) as x from edge_logs a, edge_logs b order by x desc limit 1',
    'a huge window of pairs':
      'select row_number() over (order by a.event_message, b.event_message) as n from edge_logs a, edge_logs b limit 1',
  },
  texts: {
    repeat: "select length(repeat('x', 1000000000)) as x",
    'repeat of four thousand million': "select length(repeat('x', 4000000000)) as x",
    'repeat by rows': `select max(length(repeat(event_message, 1000000))) as x ${FROM}`,
    'repeat of a repeat': "select length(repeat(repeat(repeat('x', 1000), 1000), 1000)) as x",
    lpad: "select length(lpad('x', 1000000000, 'y')) as x",
    rpad: "select length(rpad('x', 1000000000, 'y')) as x",
    'text of all texts': `select length(string_agg(a.event_message, ',')) as n from edge_logs a, edge_logs b`,
    'text of all texts, doubled': `with a as (select ${TEXT} as t ${FROM}), b as (select concat(t, t, t, t, t, t, t, t) as t from a), c as (select concat(t, t, t, t, t, t, t, t) as t from b), d as (select concat(t, t, t, t, t, t, t, t) as t from c), e as (select concat(t, t, t, t, t, t, t, t) as t from d), f as (select concat(t, t, t, t, t, t, t, t) as t from e) select length(t) as n from f`,
    'text that grows by replacing': `with a as (select ${TEXT} as t ${FROM}), b as (select replace(t, 'e', t) as t from a), c as (select replace(t, 'e', t) as t from b) select length(t) as n from c`,
    'text that grows by an expression': `select length(regexp_replace(regexp_replace(regexp_replace(${TEXT}, '.', '\\0\\0\\0\\0\\0\\0\\0\\0\\0', 'g'), '.', '\\0\\0\\0\\0\\0\\0\\0\\0\\0', 'g'), '.', '\\0\\0\\0\\0\\0\\0\\0\\0\\0', 'g')) as n ${FROM}`,
    'replace by replace': `select length(replace(replace(replace(replace(${TEXT}, '', 'x'), 'e', '${'y'.repeat(5000)}'), 'y', '${'z'.repeat(5000)}'), 'z', '${'w'.repeat(5000)}')) as n ${FROM}`,
    'split of a long text': `select array_length(split(${TEXT}, '')) as n ${FROM}`,
    'expressions that find all': `select array_length(regexp_extract_all(${TEXT}, '.')) as n ${FROM}`,
    'a format of a thousand million': "select length(format('%1000000000d', 1)) as x",
    'a format of the engine': "select length(format('{:1000000000}', 1)) as x",
    printf: "select length(printf('%1000000000d', 1)) as x",
    'a format of time': `select length(format_timestamp('${'%A'.repeat(15_000)}', timestamp)) as x ${FROM}`,
    strftime: `select length(strftime(timestamp, '${'%A'.repeat(15_000)}')) as x ${FROM}`,
    bitstring: "select bitstring('1', 2000000000) as x",
    bar: 'select bar(1, 0, 2, 1000000000) as x',
    bignum: "select repeat('9', 1000000)::bignum::varchar as x",
    levenshtein: "select levenshtein(repeat('a', 50000), repeat('b', 50000)) as x",
    'a power of bits': 'select 1 << 1000000000 as x',
    to_base: 'select to_base(1, 2, 1000000000) as x',
    'space in a cast': 'select cast(1 as char(1000000000)) as x',
    'a long text with another one for each row': `with a as (select ${TEXT} as t ${FROM}) select max(length(concat(t, b.id))) as n from a, edge_logs b`,
    'a long text in capitals for each row': `with a as (select ${TEXT} as t ${FROM}) select max(length(upper(concat(b.id, t)))) as n from a, edge_logs b`,
    'parts of a long text for each row': `with a as (select ${TEXT} as t ${FROM}) select count(distinct substr(t, length(b.id))) as n from a, edge_logs b`,
    'a long text split for each row': `with a as (select ${TEXT} as t ${FROM}) select max(array_length(split(concat(b.id, t), ','))) as n from a, edge_logs b`,
    'a long text of long texts': `with a as (select ${TEXT} as t ${FROM}), b as (select string_agg(t, ',') as t from a, edge_logs) select length(t) as n from b`,
  },
  lists: {
    range: 'select length(range(1000000000)) as x',
    'len of range': 'select len(range(1000000000)) as x',
    generate_series: 'select len(generate_series(1, 1000000000)) as x',
    generate_array: 'select array_length(generate_array(1, 1000000000)) as x',
    'generate_array in FROM': 'select count(*) as n from unnest(generate_array(1, 1000000000)) x',
    'generate_array by small steps': 'select array_length(generate_array(0, 1, 0.0000000001)) as x',
    generate_timestamp_array:
      "select array_length(generate_timestamp_array('1970-01-01', '2200-01-01', interval 1 microsecond)) as x",
    generate_date_array:
      "select array_length(generate_date_array('0001-01-01', '9999-12-31')) as x",
    'range as a table': 'select count(*) as n from range(1000000000000)',
    'unnest of range': 'select count(*) as n from unnest(range(1000000000)) as t(x)',
    'list of all texts': `select array_length(array_agg(a.event_message)) as n from edge_logs a, edge_logs b`,
    'all in lists of lists': `with a as (select array_agg(event_message) as l ${FROM}), b as (select array_agg(l) as l from a, edge_logs) select count(l) as n from b`,
    'records of all': `select to_json_string(array_agg(struct(id as i, event_message as m))) as x ${FROM}`,
    'concat of lists': `with a as (select array_agg(id) as l ${FROM}), b as (select array_concat(l, l, l, l, l, l, l, l) as l from a), c as (select array_concat(l, l, l, l, l, l, l, l) as l from b), d as (select array_concat(l, l, l, l, l, l, l, l) as l from c), e as (select array_concat(l, l, l, l, l, l, l, l) as l from d) select array_length(l) as n from e`,
    'a list that is resized': 'select len(list_resize([1], 1000000000)) as x',
    'an array of nothing': 'select len(array_resize([1], 1000000000)) as x',
    'lists in a frame': `select max(array_length(l)) as x from (select array_agg(event_message) over (order by id) as l ${FROM})`,
    'distinct lists in a frame': `select max(array_length(l)) as x from (select array_agg(distinct event_message) over (order by id) as l ${FROM})`,
    'a long list in a record for each row': `with a as (select array_agg(event_message) as l ${FROM}) select max(length(to_json_string(struct(l as l, b.id as i)))) as n from a, edge_logs b`,
    'a long list in a record, as an answer': `with a as (select array_agg(event_message) as l ${FROM}) select struct(l as l, b.id as i) as x from a, edge_logs b`,
    'a list of long texts': `with a as (select ${TEXT} as t ${FROM}), b as (select array_agg(t) as l from a, edge_logs) select array_length(l) as n from b`,
  },
  steps: {
    'records of records by CTEs': `with a0 as (select m ${FROM} cross join unnest(metadata) m limit 1)${Array.from({ length: 8 }, (_, i) => `, a${i + 1} as (select struct(${Array.from({ length: 90 }, (_unused, k) => `m as m${k}`).join(',')}) as m from a${i})`).join('')} select length(to_json_string(m)) as n from a8`,
    'texts of lists by CTEs': `with a0 as (select event_message as t ${FROM} limit 1)${Array.from({ length: 8 }, (_, i) => `, a${i + 1} as (select array_to_string([${Array(900).fill('t').join(',')}], '') as t from a${i})`).join('')} select length(t) as n from a8`,
    'texts of texts by CTEs': `with a0 as (select event_message as t ${FROM} limit 1)${Array.from({ length: 20 }, (_, i) => `, a${i + 1} as (select concat(t, t) as t from a${i})`).join('')} select length(t) as n from a20`,
    'texts of unions by CTEs': `with a0 as (select event_message as t ${FROM})${Array.from({ length: 10 }, (_, i) => `, a${i + 1} as (select string_agg(t, '') as t from (select t from a${i} union all select t from a${i}))`).join('')} select length(t) as n from a10`,
    'texts by expressions by CTEs': `with a0 as (select ${TEXT} as t ${FROM})${Array.from({ length: 6 }, (_, i) => `, a${i + 1} as (select regexp_replace(t, '.', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx') as t from a${i})`).join('')} select length(t) as n from a6`,
  },
} satisfies Record<string, Bombs>;

/** What takes time. */
export const TIME: Bombs = {
  'four times itself':
    'select count(*) as n from edge_logs a, edge_logs b, edge_logs c, edge_logs d where a.id > concat(b.id, c.id, d.id)',
  'joins without a condition': `select sum(length(concat(a.event_message, b.event_message, c.event_message))) as n from edge_logs a cross join edge_logs b cross join edge_logs c`,
  'a join by inequality':
    "select count(*) as n from edge_logs a join edge_logs b on a.event_message < b.event_message join edge_logs c on b.event_message < c.event_message where concat(a.id, b.id, c.id) like '%zz%'",
  'a condition for each pair':
    "select count(*) as n from edge_logs a where exists (select 1 from edge_logs b where b.id > a.id and b.event_message like concat('%', a.event_message, 'z%'))",
  'a scalar for each row':
    'select sum((select count(*) from edge_logs b where length(concat(b.id, a.id)) > 3)) as n from edge_logs a',
  'sub-queries in sub-queries':
    'select sum((select sum((select sum(length(concat(a.id, b.id, c.id))) from edge_logs c where c.id <> b.id and c.id > a.id)) from edge_logs b where b.id <> a.id)) as n from edge_logs a',
  'a recursion without end':
    'with recursive t as (select 1 as n union all select n + 1 from t) select count(*) as n from t',
  'a recursion that doubles':
    'with recursive t as (select 1 as n union all select a.n from t a, t b) select count(*) as n from t',
  'patterns of many stars': `select count(*) as n from edge_logs a, edge_logs b where concat(a.event_message, b.event_message) like '${'%a'.repeat(500)}%'`,
  'patterns of the row':
    'select count(*) as n from edge_logs a, edge_logs b where a.event_message like b.event_message',
  'hashes of hashes': `select count(*) as n from edge_logs a, edge_logs b where ${'to_hex(md5('.repeat(50)}concat(a.id, b.id)${'))'.repeat(50)} = 'x'`,
  'a frame for each row': `select max(x) as x from (select count(distinct b.event_message) over (order by a.event_message rows between 100000 preceding and 100000 following) as x from edge_logs a, edge_logs b)`,
  'a median in a frame': `select max(x) as x from (select approx_quantiles(length(event_message), 100) over (order by id) as x ${FROM})`,
  'a range frame': `select max(x) as x from (select string_agg(event_message) over (order by timestamp range between interval 1000 day preceding and interval 1000 day following) as x ${FROM})`,
  'numbers that are counted':
    'select count(*) as n from unnest(generate_array(1, 1000000)) a, unnest(generate_array(1, 1000000)) b',
  'unnest of a list for each row': `with a as (select array_agg(event_message) as l ${FROM}) select count(*) as n from a cross join edge_logs cross join unnest(l) x cross join unnest(l) y`,
  'set operations of pairs':
    'select a.id from edge_logs a, edge_logs b except distinct select concat(a.id, b.id) from edge_logs a, edge_logs b',
  distances: `select max(editdist3(a.event_message, b.event_message)) as x from edge_logs a, edge_logs b`,
  'edit distances': `select max(edit_distance(a.event_message, b.event_message)) as x from edge_logs a, edge_logs b`,
  sleep: 'select sleep_ms(60000) as x',
  pg_sleep: 'select pg_sleep(60) as x',
};

/** Patterns of LIKE that take time. */
export const LIKES: Bombs = { ...likes('like'), ...likes('ilike') };

/** Calls that can stand in each other: what opens them, what ends them, what stands within. */
const NESTED: readonly (readonly [name: string, open: string, end: string, seed: string])[] = [
  ...'lower upper reverse initcap trim ltrim rtrim to_json_string parse_json to_json'
    .split(' ')
    .map((name) => [name, `${name}(`, ')', 'id'] as const),
  ...'abs sign ceil floor sqrt exp ln log10 trunc round'
    .split(' ')
    .map((name) => [name, `${name}(`, ')', 'length(id)'] as const),
  ...'greatest least coalesce ifnull nullif concat'
    .split(' ')
    .flatMap((name) => [
      [name, `${name}(`, ", 'a')", 'id'] as const,
      [name, `${name}('a', `, ')', 'id'] as const,
      [name, `${name}(`, ', metadata)', 'metadata'] as const,
    ]),
  ...'mod div pow safe_divide safe_add safe_subtract safe_multiply log greatest'
    .split(' ')
    .map((name) => [name, `${name}(`, ', 2)', 'length(id)'] as const),
  ...'regexp_extract json_value json_query json_query_array split'
    .split(' ')
    .map((name) => [name, `${name}(`, ", '$.a')", 'id'] as const),
  ...'timestamp datetime date time'
    .split(' ')
    .map((name) => [name, `${name}(`, ')', 'timestamp'] as const),
  ...'timestamp datetime date'
    .split(' ')
    .map((name) => [name, `${name}(`, ", 'Europe/Berlin')", 'timestamp'] as const),
  ...'week month day'
    .split(' ')
    .map((unit) => [unit, 'timestamp_trunc(', `, ${unit})`, 'timestamp'] as const),
  ['format and parse', "parse_timestamp('%F %T', format_timestamp('%F %T', ", '))', 'timestamp'],
  [
    'format and parse with a zone',
    "parse_timestamp('%F %T%Ez', format_timestamp('%F %T%z', ",
    '))',
    'timestamp',
  ],
  ['seconds', 'timestamp_seconds(unix_seconds(', '))', 'timestamp'],
  ['if', 'if(true, ', ', null)', 'id'],
  ['case', 'case when true then (', ') else id end', 'id'],
  ['regexp_replace', 'regexp_replace(', ", 'a', '')", 'id'],
  ['replace', 'replace(', ", 'a', 'b')", 'id'],
  ['substr', 'substr(', ', 1, 2)', 'id'],
  ['left', 'left(', ', 9)', 'id'],
  ['array and text', 'array_to_string(split(', ", ','), ',')", 'id'],
  ['array and place', '[', '][offset(0)]', 'id'],
  ['struct', 'struct(', ' as a)', 'id'],
  ['struct and member', 'struct(', ' as a).a', 'id'],
  ['array_length', 'array_length([', '])', '1'],
  ['array_reverse', 'array_reverse(', ')', '[1]'],
  ['scalar', '(select ', ')', '1'],
  ['minus', '- (', ')', 'length(id)'],
  ['plus', '(', ' + length(id))', 'length(id)'],
  ['not', 'not (', ')', 'true'],
  ['is null', '((', ') is null)', 'id'],
  ['is not distinct', '((', ') is not distinct from metadata)', 'metadata'],
  ['cast to JSON', 'cast(', ' as json)', 'id'],
  ['cast to JSON and text', 'cast(cast(', ' as json) as string)', 'id'],
  ['cast to a number and text', 'cast(cast(', ' as int64) as string)', 'id'],
  ['extract and time', 'timestamp_seconds(extract(second from ', '))', 'timestamp'],
  ['at time zone', '((', ") at time zone 'Europe/Berlin')", 'timestamp'],
  ['greatest of moments', 'greatest(', ', timestamp)', 'timestamp'],
];

/** Patterns with which a matcher that goes back looks at a text in more ways than can be counted. */
function likes(word: string): Bombs {
  const long = 'a'.repeat(5000);
  const ways = `${'%a_'.repeat(12)}%b`;
  return {
    [`${word}, constants`]: `select '${long}' ${word} '${ways}' as x`,
    [`${word}, a text of the query`]: `select count(*) as n ${FROM} where concat(id, '${long}') ${word} '${ways}'`,
    [`${word}, a text of the rows`]: `select ${TEXT} ${word} '${'%e_'.repeat(12)}%\u0001' as x ${FROM}`,
    [`${word}, a pattern of the row`]: `select count(*) as n ${FROM} where concat(id, '${long}') ${word} concat('${'%a'.repeat(12)}%b', id)`,
    [`${word} with an escape`]: `select '${long}' ${word} '${ways}' escape '!' as x`,
  };
}

/** These take time or memory before anything runs: as much of a part as fits, parts in each other, and a number of parts. */
export const PLANS = {
  long: {
    '200 joins': `select count(*) as n from edge_logs t0 ${Array.from({ length: 200 }, (_, i) => `join edge_logs t${i + 1} on t${i}.id = t${i + 1}.id`).join(' ')}`,
    '200 crosses': `select count(*) as n from ${Array.from({ length: 200 }, (_, i) => `edge_logs t${i}`).join(', ')}`,
    'as many views as fit': filled('select 1 as x from edge_logs', ',edge_logs', ''),
    '28 doublings': `with t0 as (select id from edge_logs)${Array.from({ length: 28 }, (_, i) => `, t${i + 1} as (select a.id from t${i} a, t${i} b)`).join('')} select count(*) as n from t28`,
    '28 doublings by union': `with t0 as (select id from edge_logs)${Array.from({ length: 28 }, (_, i) => `, t${i + 1} as (select id from t${i} union all select id from t${i})`).join('')} select count(*) as n from t28`,
    '60 doublings of an expression': `with t0 as (select length(id) as x from edge_logs)${Array.from({ length: 60 }, (_, i) => `, t${i + 1} as (select x + x as x from t${i})`).join('')} select max(x) as n from t60`,
    '60 doublings of a filter': `with t0 as (select id from edge_logs)${Array.from({ length: 60 }, (_, i) => `, t${i + 1} as (select id from t${i} where id in (select id from t${i}))`).join('')} select count(*) as n from t60`,
    '1000 CTEs': `with t0 as (select id from edge_logs)${Array.from({ length: 1000 }, (_, i) => `, t${i + 1} as (select id from t${i})`).join('')} select count(*) as n from t1000`,
    '20000 columns': `select ${Array.from({ length: 8000 }, (_, i) => `id a${i}`)
      .join(', ')
      .slice(0, 60_000)
      .replace(/,[^,]*$/, '')} ${FROM}`,
    'a list of 20000 numbers': filled(
      'select count(*) as n from edge_logs where length(id) in (1',
      ',1',
      ')',
    ),
    'a list of other numbers': `select count(*) as n from edge_logs where length(id) in (${Array.from({ length: 9000 }, (_, i) => i).join(',')})`,
    'a list of texts': filled("select count(*) as n from edge_logs where id in ('a'", ",'a'", ')'),
    'a list of columns': filled('select count(*) as n from edge_logs where id in (id', ',id', ')'),
    'not in a list of columns': filled(
      'select count(*) as n from edge_logs where id not in (event_message',
      ',id',
      ')',
    ),
    unions: filled('select 1 as x', ' union all select 1', ''),
    'unions in brackets': filled('', '(', 'select 1 as x', ')'),
    'unions of unions': filled('select 1', ' union all (select 1', '', ')'),
    'distinct unions': filled('select 1 as x', ' union distinct select 1', ''),
    excepts: filled('select 1 as x', ' except distinct select 1', ''),
    brackets: filled('select ', '(', '1', ')'),
    '900 brackets': deep(900, 'select ', '(', '1', ')'),
    lists: filled('select ', '[', '1', ']'),
    '900 lists': deep(900, 'select ', '[', '1', ']'),
    '90 lists': deep(90, 'select ', '[', '1', ']'),
    structs: filled('select ', 'struct(', '1', ')'),
    braces: filled('select ', "{'a':", '1', '}'),
    '90 braces': deep(90, 'select ', "{'a':", '1', '}'),
    'structs side by side': filled('select ', 'struct(1),', '1'),
    'members of a struct': filled('select struct(1', ',1', ') as x'),
    'named members of a struct': filled('select struct(1 as a', ',1 as a', ') as x'),
    'indexes side by side': filled('select 1', ',metadata[0].a', ' as x from edge_logs'),
    'other fields side by side': `select ${Array.from({ length: 3000 }, (_, i) => `m.a${i} as a${i}`).join(',')} from edge_logs cross join unnest(metadata) m`,
    'casts side by side': filled('select 1', ',cast(id as int64)', ' as x from edge_logs'),
    'one-letter strings': filled("select ''", ",''", ' as x'),
    'one-letter names': filled('select a.a', ',a.a', ' from edge_logs a'),
    'joins with unnest': filled('select 1 as x from edge_logs', ' left join unnest(metadata)', ''),
    'joins with aliases': filled('select 1 as x from edge_logs', ' join unnest(metadata) a', ''),
    nots: filled('select ', 'not ', 'true as x'),
    minuses: filled('select ', '- ', '1 as x'),
    'minuses without a space': filled('select ', '-(', '1', ')'),
    pluses: filled('select ', '+ ', '1 as x'),
    tildes: filled('select ', '~ ', '1 as x'),
    sums: filled('select 1', '+1', ' as x'),
    'sums of columns': filled('select length(id)', '+length(id)', ' as x from edge_logs'),
    ands: filled('select true', ' and true', ' as x'),
    'ands of conditions': filled(
      "select count(*) as n from edge_logs where id = 'a'",
      " and id <> 'b'",
      '',
    ),
    ors: filled("select count(*) as n from edge_logs where id = 'a'", " or id = 'a'", ''),
    'ors of likes': filled(
      "select count(*) as n from edge_logs where id like '%a'",
      " or id like '%b%c'",
      '',
    ),
    'ands of ors': filled(
      "select count(*) as n from edge_logs where (id='a' or id='b')",
      " and (id='a' or id='b')",
      '',
    ),
    bars: filled("select 'a'", "||'a'", ' as x'),
    comparisons: filled('select 1', ' = 1', ' as x'),
    'is null': filled('select id', ' is null', ' as x from edge_logs'),
    'is not true': filled('select true', ' is not true', ' as x'),
    betweens: filled('select 1', ' between 0 and 1', ' as x'),
    likes: filled("select 'a'", " like 'a'", ' as x'),
    ins: filled('select 1', ' in (1)', ' as x'),
    casts: filled('select 1', '::int', ' as x'),
    'casts by words': filled('select ', 'cast(', '1', ' as int)'),
    cases: filled('select ', 'case when true then ', '1', ' end'),
    whens: filled('select case', ' when 1=1 then 1', ' end as x'),
    'cases of a value': filled('select case id', " when 'a' then 1", ' end as x from edge_logs'),
    ifs: filled('select ', 'if(true,', '1', ',1)'),
    coalesces: filled('select coalesce(id', ',id', ') as x from edge_logs'),
    'coalesces in each other': filled('select ', 'coalesce(', 'id', ')').concat(
      ' as x from edge_logs',
    ),
    concats: filled("select concat('a'", ",'a'", ') as x'),
    'concats in each other': filled('select ', 'concat(', "'a'", ')'),
    functions: filled('select ', 'lower(', "'a'", ')'),
    'functions that double': `select ${Array.from({ length: 40 }, () => 'x').reduce((sql) => (sql.length < 30_000 ? `concat(${sql},${sql})` : sql), 'id')} as x ${FROM}`,
    'sub-queries': filled('select ', '(select ', '1', ')'),
    '100 sub-queries': deep(100, 'select ', '(select ', '1', ')'),
    'sub-queries in FROM': filled('select 1 as x from ', '(select 1 from ', 'edge_logs', ')'),
    '100 sub-queries in FROM': deep(
      100,
      'select 1 as x from ',
      '(select 1 as x from ',
      'edge_logs',
      ')',
    ),
    'exists in exists': filled(
      'select 1 as x from edge_logs',
      ' where exists (select 1 from edge_logs',
      '',
      ')',
    ),
    '30 exists in exists': `select 1 as x from edge_logs t0${Array.from(
      { length: 30 },
      (_, i) => ` where exists (select 1 from edge_logs t${i + 1} where t${i + 1}.id = t${i}.id`,
    )
      .map((text) => text.replace(/ where (?=exists)/, (found) => found))
      .join(' and true')
      .replaceAll(' and true where exists', ' and exists')}${')'.repeat(30)}`,
    'scalars side by side': filled('select 1', ',(select count(*) from edge_logs)', ' as x'),
    'scalars by columns': filled(
      'select 1',
      ',(select max(b.id) from edge_logs b where b.id=a.id)',
      ' as x from edge_logs a',
    ),
    'CTEs in CTEs': filled('', 'with a as (', 'select 1 as x', ') select x from a'),
    fields: filled('select metadata', '.a', ' as x from edge_logs'),
    'fields of a record': filled(
      'select m',
      '.a',
      ' as x from edge_logs cross join unnest(metadata) m',
    ),
    indexes: filled('select metadata', '[0]', ' as x from edge_logs'),
    'fields and indexes': filled('select metadata', '[0].a', ' as x from edge_logs'),
    unnests: `select 1 as x from edge_logs cross join unnest(metadata) m0${Array.from({ length: 1500 }, (_, i) => ` cross join unnest(m${i}.a) m${i + 1}`).join('')}`,
    '100 unnests': `select m100.a as x from edge_logs cross join unnest(metadata) m0${Array.from({ length: 100 }, (_, i) => ` cross join unnest(m${i}.a) m${i + 1}`).join('')}`,
    'left unnests': `select 1 as x from edge_logs left join unnest(metadata) m0 on true${Array.from({ length: 100 }, (_, i) => ` left join unnest(m${i}.a) m${i + 1} on true`).join('')}`,
    'group by many': filled('select count(*) as n from edge_logs group by id', ',concat(id)', ''),
    'order by many': filled('select id from edge_logs order by id', ',concat(id)', ''),
    'order by the same': filled('select id from edge_logs order by 1', ',1', ''),
    'partition by many': filled(
      'select count(*) over (partition by id',
      ',concat(id)',
      ') as n from edge_logs',
    ),
  },
  deep: {
    ...Object.fromEntries(
      [12, 25, 50, 200].flatMap((depth) => [
        [`${depth} indexes`, deep(depth, 'select metadata', '[0]', ' as x from edge_logs')],
        [
          `${depth} indexes of JSON`,
          deep(depth, 'select parse_json(id)', '[0]', ' as x from edge_logs'),
        ],
        [
          `${depth} fields and indexes`,
          deep(depth, 'select m', '.a[0]', ' as x from edge_logs cross join unnest(metadata) m'),
        ],
        [
          `${depth} other indexes`,
          deep(depth, 'select m', '[1].a', ' as x from edge_logs cross join unnest(metadata) m'),
        ],
        [
          `${depth} comparisons of comparisons`,
          deep(depth, 'select ', '(m.a < ', 'm.b', ')').concat(
            ' as x from edge_logs cross join unnest(metadata) m',
          ),
        ],
        [
          `${depth} betweens`,
          deep(depth, 'select ', '((', 'm.a', ') between m.a and m.b)').concat(
            ' as x from edge_logs cross join unnest(metadata) m',
          ),
        ],
        [
          `${depth} ins`,
          deep(depth, 'select ', '((', 'm.a', ') in (m.b, m.c, m.d))').concat(
            ' as x from edge_logs cross join unnest(metadata) m',
          ),
        ],
        [
          `${depth} casts to and fro`,
          deep(depth, 'select ', 'cast(cast(', 'timestamp', ' as string) as datetime)').concat(
            ' as x from edge_logs',
          ),
        ],
        [
          `${depth} additions of times`,
          deep(depth, 'select ', '(', 'timestamp', ' + interval 1 day)').concat(
            ' as x from edge_logs',
          ),
        ],
        ...NESTED.flatMap(([name, open, end, seed]) => [
          [
            `${depth} of ${name}${end}`,
            deep(depth, 'select ', open, seed, end).concat(' as x from edge_logs'),
          ],
        ]),
      ]),
    ),
  },
  large: {
    'a large value in a large list': `select (coalesce(${Array.from({ length: 90 }, (_, i) => `m.b${i}`).join(',')})) in (${Array.from({ length: 7000 }, () => 'm.a').join(',')}) as x from edge_logs cross join unnest(metadata) m`,
    'a case of a large value': `select case concat(${Array.from({ length: 19 }, () => `concat(${Array.from({ length: 19 }, () => "'a'").join(',')})`).join(',')}) ${Array.from({ length: 3000 }, (_, i) => `when '${i}' then 1`).join(' ')} end as x from edge_logs`,
    'a case of a larger value': `select case ${Array.from({ length: 1500 }, () => 'true').join(' and ')} ${Array.from({ length: 1500 }, () => 'when true then 1').join(' ')} end as x`,
    ...Object.fromEntries(
      [4, 8, 12, 20, 38].map((depth) => [
        `${depth} correlated in each other`,
        `select id from edge_logs t0 where ${Array.from({ length: depth }, (_, i) => `exists (select 1 from edge_logs t${i + 1} where t${i + 1}.id = t${i}.id and t${i + 1}.id <> t0.event_message and `).join('')}true${')'.repeat(depth)}`,
      ]),
    ),
    '11 doublings of joins': `with t0 as (select id from edge_logs)${Array.from({ length: 11 }, (_, i) => `, t${i + 1} as (select a.id from t${i} a join t${i} b on a.id = b.id)`).join('')} select count(*) as n from t11`,
    '11 doublings of crosses': `with t0 as (select id from edge_logs)${Array.from({ length: 11 }, (_, i) => `, t${i + 1} as (select a.id from t${i} a, t${i} b)`).join('')} select count(*) as n from t11`,
    '11 doublings of sub-queries': `with t0 as (select id from edge_logs)${Array.from({ length: 11 }, (_, i) => `, t${i + 1} as (select id from t${i} where id in (select id from t${i}))`).join('')} select count(*) as n from t11`,
    '20 doublings of an expression': `with t0 as (select length(id) as x from edge_logs)${Array.from({ length: 20 }, (_, i) => `, t${i + 1} as (select x + x as x from t${i})`).join('')} select max(x) as n from t20`,
    '20 doublings by 100': `with t0 as (select length(id) as x from edge_logs)${Array.from({ length: 20 }, (_, i) => `, t${i + 1} as (select ${Array(100).fill('x').join(' + ')} as x from t${i})`).join('')} select max(x) as n from t20`,
    '23 tables in a circle': `select count(*) as n from ${Array.from({ length: 23 }, (_, i) => `edge_logs t${i}`).join(', ')} where ${Array.from({ length: 23 }, (_, i) => `t${i}.id = t${(i + 1) % 23}.event_message`).join(' and ')}`,
    '23 tables, each with each': `select count(*) as n from ${Array.from({ length: 23 }, (_, i) => `edge_logs t${i}`).join(', ')} where ${Array.from(
      { length: 23 },
      (_, i) => Array.from({ length: i }, (_unused, k) => `t${i}.id = t${k}.id`),
    )
      .flat()
      .join(' and ')}`,
    '2000 unions': deep(2000, 'select 1 as x', ' union all select 1', ''),
    '500 unions': deep(500, 'select 1 as x', ' union all select 1', ''),
    '500 distinct unions': deep(500, 'select 1 as x', ' union distinct select 1', ''),
    '60 unions in brackets': `${'('.repeat(55)}select 1 as x${' union all select 1)'.repeat(55)}`,
    '2000 ands': deep(2000, 'select count(*) as n from edge_logs where true', " and id <> 'b'", ''),
    '900 sums': deep(900, 'select 1', '+1', ' as x'),
    '400 concats': deep(400, "select 'a'", "||'a'", ' as x'),
    '60 cases': deep(58, 'select ', 'case when true then (', '1', ') end'),
    '900 cases': deep(900, 'select ', 'case when true then ', '1', ' end'),
    '2000 columns': `select ${Array.from({ length: 2000 }, (_, i) => `id as a${i}`).join(', ')} from edge_logs`,
    '1000 fields': `select ${Array.from({ length: 1000 }, (_, i) => `m.a${i}`).join(', ')} from edge_logs cross join unnest(metadata) m`,
    '100 windows': `select ${Array.from({ length: 100 }, (_, i) => `count(*) over (order by substr(id, ${i + 1})) as a${i}`).join(', ')} from edge_logs`,
    '500 distinct counts': `select ${Array.from({ length: 500 }, (_, i) => `count(distinct substr(id, ${i + 1})) as a${i}`).join(', ')} from edge_logs`,
    '500 quantiles': `select ${Array.from({ length: 500 }, (_, i) => `approx_quantiles(length(id) + ${i}, 1000) as a${i}`).join(', ')} from edge_logs`,
    windows: filled('select 1', ',count(*) over (order by id)', ' as x from edge_logs'),
    'windows in windows': filled('select ', 'sum(', '1', ')over()').concat(' as x from edge_logs'),
    aggregates: filled('select count(*)', ',max(id)', ' as x from edge_logs'),
    'distinct aggregates': filled('select 1', ',count(distinct id)', ' as x from edge_logs'),
    values: filled('select x from (values (1)', ',(1)', ') v(x)'),
    'a text of 60 KB': `select length('${'x'.repeat(60_000)}') as x`,
    'a name of 60 KB': `select id as ${'x'.repeat(60_000)} ${FROM}`,
    'a field of 60 KB': `select m.${'x'.repeat(60_000)} as x ${FROM} cross join unnest(metadata) m`,
    'a number of 60 KB': `select ${'9'.repeat(60_000)} as x`,
    'a fraction of 60 KB': `select 0.${'9'.repeat(60_000)} as x`,
    'a comment of 60 KB': `select 1 as x -- ${'x'.repeat(60_000)}`,
    'spaces of 60 KB': `select${' '.repeat(60_000)}1 as x`,
    'comments in comments': filled('select 1 as x ', '/*', '', '*/'),
    'open comments': filled('select 1 as x ', '/*', ''),
    quotes: filled('select ', "'", ' as x'),
    'back-quotes': filled('select ', '`', ' as x'),
    backslashes: filled("select '", '\\', "' as x"),
    'double quotes': filled('select ', '"', ' as x'),
    points: filled('select a', '.', ' as x'),
    commas: filled('select 1', ',', ' as x'),
    semicolons: filled('select 1 as x', ';', ''),
    dollars: filled('select ', '$', ' as x'),
    'question marks': filled('select ', '?', ' as x'),
    ats: filled('select ', '@', 'x'),
    stars: filled('select ', '*', ' from edge_logs'),
    selects: filled('', 'select ', '1'),
    froms: filled('select 1 ', 'from ', 'edge_logs'),
    withs: filled('', 'with ', 'select 1'),
    lambdas: filled('select ', 'x -> ', '1'),
    intervals: filled('select timestamp', ' + interval 1 day', ' as x from edge_logs'),
    'time zones': filled('select timestamp', " at time zone 'UTC'", ' as x from edge_logs'),
    collations: filled('select id', ' collate nocase', ' as x from edge_logs'),
    'text of four bytes a letter': filled("select '", '😀', "' as x"),
    zeros: filled("select 'a", '\u0000', "' as x"),
  },
} satisfies Record<string, Bombs>;

/** An answer that is too large. */
export const RESULTS: Bombs = {
  'all pairs': 'select a.event_message as a, b.event_message as b from edge_logs a, edge_logs b',
  'all texts in one value': `select ${TEXT} as x ${FROM}`,
  'all pairs in one value': `select string_agg(concat(a.event_message, b.event_message), ',') as x from edge_logs a, edge_logs b`,
  'a list of all': `select array_agg(event_message) as x ${FROM}`,
  'a list of all records': `select array_agg(struct(id as i, event_message as m)) as x ${FROM}`,
  'the same list in each row': `with a as (select array_agg(event_message) as l ${FROM}) select l from a cross join edge_logs`,
  'the same text in many columns': `with a as (select ${TEXT} as t ${FROM}) select ${Array.from({ length: 500 }, (_, i) => `t as t${i}`).join(', ')} from a`,
  'the same text in many rows': `with a as (select ${TEXT} as t ${FROM}) select t from a cross join edge_logs`,
  'the same record in many columns': `select ${Array.from({ length: 500 }, (_, i) => `m as m${i}`).join(', ')} ${FROM} cross join unnest(metadata) m`,
  'the same row in many columns': `select ${Array.from({ length: 500 }, (_, i) => `t as t${i}`).join(', ')} from edge_logs t`,
  'long names in each row': `select ${Array.from({ length: 25 }, (_, i) => `id as ${'x'.repeat(2000)}${i}`).join(', ')} ${FROM}`,
  'records in records': `select ${'struct('.repeat(20)}event_message as a${' as a)'.repeat(19)}) as x ${FROM}`,
  'text of what must be escaped': `with a as (select ${TEXT} as t ${FROM}) select regexp_replace(t, '.', '\\\\x01') as x from a cross join edge_logs`,
};

/** Expressions that are long in the making or in the matching. */
export const EXPRESSIONS: Bombs = Object.fromEntries([
  ...[
    '(a?){1000}',
    '((a?){100}){100}',
    '(((a{0,30}){0,30}){0,30}){0,30}',
    '(x+x+)+y',
    '(.*)*',
    '(.*){99}(.*){99}',
    '.{100}.{100}.{100}.{100}.{100}.{100}.{100}.{100}.{100}.{100}',
    '[a-h].{80}(z|y{2}x{2})',
    // An interrupt is seen once 2048 rows are matched: some seconds.
    LONG ? '(?i)(?s)[^x].{99}[^y].{99}z' : '(?i)(?s)[^x].{49}[^y].{49}z',
    '\\pL{100}\\PN{100}',
    '(?:(?:(?:(?:a{1,100}){1,100})))',
    'a{101}',
    'a{100000}',
    'a**',
    '(',
    '[',
    '\\',
    '\\Q',
    '(?P<a>.)(?P<a>.)',
    '(?<=a)b',
    '(a)\\1',
    '(?i'.repeat(100),
    '('.repeat(400) + ')'.repeat(400),
    `${'(a|'.repeat(200)}a${')'.repeat(200)}`,
    'x'.repeat(1000),
    'x'.repeat(1001),
    `(${Array.from({ length: 150 }, (_, i) => `a${i}`).join('|')}){50}`,
    '[\u{0}-\u{10ffff}]{100}',
    '\\x{10ffff}{100}',
    '.*.*.*.*.*.*.*.*.*.*.*.*.*.*.*.*.*.*.*.*=.*',
  ].flatMap((expression) => {
    const text = `r'${expression}'`;
    return [
      [
        `${expression.slice(0, 40)}, ${expression.length}, contains`,
        `select count(*) as n ${FROM} where regexp_contains(event_message, ${text})`,
      ],
      [
        `${expression.slice(0, 40)}, ${expression.length}, in all as one`,
        `select length(regexp_replace(${TEXT}, ${text}, 'x')) as n ${FROM}`,
      ],
    ];
  }),
  ['of the row', `select count(*) as n ${FROM} where regexp_contains(id, event_message)`],
  [
    'made of the row',
    `select count(*) as n ${FROM} where regexp_contains(id, concat('(', event_message, '?){100}'))`,
  ],
  [
    'made of constants',
    `select count(*) as n ${FROM} where regexp_contains(id, concat('(a?){', '1000', '}'))`,
  ],
  [
    'chosen by a case',
    `select count(*) as n ${FROM} where regexp_contains(id, case when true then 'a' else 'b' end)`,
  ],
  [
    'by a query',
    `select count(*) as n ${FROM} where regexp_contains(id, (select max(id) ${FROM}))`,
  ],
  [
    'the engine’s',
    `select count(*) as n ${FROM} where regexp_matches(event_message, '(a?){1000}')`,
  ],
  ['the engine’s operator', `select count(*) as n ${FROM} where event_message ~ '(a?){1000}'`],
  [
    'the engine’s, full',
    `select count(*) as n ${FROM} where regexp_full_match(event_message, '(a?){1000}')`,
  ],
  [
    'the engine’s, with options',
    `select count(*) as n ${FROM} where regexp_matches(event_message, 'a', 'zzz')`,
  ],
  ['similar to', `select count(*) as n ${FROM} where event_message similar to '(a?){1000}'`],
  ['split', `select array_length(regexp_split_to_array(event_message, '(a?){1000}')) as n ${FROM}`],
  [
    'replaced all',
    `select length(regexp_replace(event_message, '(a?){1000}', 'x', 'g')) as n ${FROM}`,
  ],
  [
    'in a join',
    `select count(*) as n from edge_logs a, edge_logs b where regexp_contains(concat(a.event_message, b.event_message), r'[a-h].{80}(z|y{2}x{2})')`,
  ],
]);
