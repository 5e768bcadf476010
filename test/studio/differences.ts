/**
 * Requests that are not answered as BigQuery's documentation has it, by their names. A request that is answered rightly
 * must leave the list; none may be added without a reason.
 */
export const DIFFERENCES: ReadonlySet<string> = new Set([
  // UNION ALL drops rows that are equal.
  'equal rows of a union stay',
  'sets',
  'how many of each kind the unified page has, by its level',

  // A column that begins with NULL in a union is a text: numbers become texts, and moments do not fit.
  'unified-all',
  'unified-filtered',
  'numbers stay numbers beside nothing',
  'a column of a common table expression that begins with nothing',
  'entries of two views side by side',

  // A text of digits in a field is ordered, and is the least or the most, as a number.
  'report: errors of the database by code',
  'the least and the most of texts are texts',

  // COUNT(*) OVER () is an internal error.
  'counts beside the rows',

  // COUNTIF of no rows, or of nothing but NULL, is NULL instead of 0.
  'nothing to count is none',
  'what is counted by nothing is none',

  // The number behind a minus may not have a fraction.
  'halves are rounded away from zero: round(-2.5)',
  'halves are rounded away from zero: cast(-0.5 as int64)',
  'halves are rounded away from zero: floor(-1.2)',
  'halves are rounded away from zero: trunc(-1.7)',

  // A backslash in the pattern of LIKE takes nothing of its meaning from % and _.
  'list-postgres_logs-backslash',
  'count-postgres_logs-backslash',
  'chart-hour-postgres_logs-backslash',
  "what a text holds: 'a%c' like 'a\\\\%c'",

  // JSON_VALUE gives objects, and JSON_QUERY and JSON_EXTRACT of a text give no text.
  "JSON in a text: json_value('{\"a\":1}', '$')",
  "JSON in a text: json_value('{\"a\":{}}', '$.a')",
  'JSON in a text: json_query(\'{"a":{"b":1}}\', \'$.a\')',
  'JSON in a text: json_extract(\'{"a":"x"}\', \'$.a\')',
  'lists in JSON: json_extract_array(\'[1,{"a":2}]\')',

  // APPROX_COUNT_DISTINCT is wrong by up to a fifth; BigQuery's is right to a hundredth.
  'counts of distinct values, exact and not',

  // ARRAY_AGG knows neither LIMIT nor IGNORE NULLS.
  'lists of what was seen',
  'whole records by their hour',
  'lists without what is missing',

  // Functions and clauses that are missing.
  'the most frequent values, roughly',
  'hours without entries, too',
  'an array with the places of its elements',
  "format: format('%s took %d ms', 'GET', 15)",
  "format: format('%05.1f', 3.14159)",
  "format: format('%x', 255)",
  "format: format('100%%')",
  'JSON as a value: string(parse_json(\'{"a":"x"}\').a)',
  'moments as texts: string(timestamp_trunc(t, second))',
  "sums of times: timestamp_add(timestamp '2026-08-21 12:00:00', interval 2 * 5 second)",
  "sums of times: date '2026-08-21' - 1",

  // Casts and comparisons at their edges.
  "casts that fail give nothing: safe_cast('yes' as bool)",
  "a text with a fraction is no whole number: safe_cast('1.5' as int64)",
  "a text with a fraction is no whole number: safe_cast('1e3' as int64)",
  "texts as moments: safe_cast('yesterday' as timestamp)",
  "texts as moments: safe.timestamp('tomorrow')",
  "blanks and paddings: initcap('hello world')",
  "differences of moments count whole units, those of dates count boundaries: date_diff(date '2026-08-23', date '2026-08-22', week)",
  'the parameter of the project in any letter case',

  // Refused, but the message does not say where the fault is, or not what it is.
  'refused: all but one',
  'refused: a parameter that is not there',
  'refused: a new table',
  'refused: a dropped table',
  'refused: a missing FROM',
  'refused: a column outside of the groups',
  'refused: an aggregate in WHERE',
  'refused: a pattern with an open group',
  'refused: a pattern of a star alone',
  'refused: a pattern that looks ahead',
  'unsupported: select array(select x from unnest([3, 1]) as x) as a',
  'unsupported: with edge_logs as (select 7 as id) select id from edge_logs',
]);
