import fc from 'fast-check';

/** What an expression gives, as BigQuery calls it. */
type Kind =
  | 'string'
  | 'int64'
  | 'bool'
  | 'timestamp'
  | 'datetime'
  | 'date'
  | 'time'
  | 'strings'
  | 'numbers';

const KINDS = ['string', 'int64', 'bool', 'timestamp', 'datetime', 'date', 'time'] as const;
type Simple = (typeof KINDS)[number];

const FORMATS = ['%Y-%m-%d', '%H:%M:%S', '%F %T', '%s', '%A', '%E3S', '%j %U', '100 %%'];
const PATTERNS = ["r'\\d+'", "r'(\\w+)'", "r'^m'", "'[^a-z ]+'", "r'é'"];
const ZONES = ["'Europe/Berlin'", "'UTC'", "'+05:30'", "'-8'", "'+14:00'"];
const UNITS = ['second', 'minute', 'hour', 'day'];

const words = (...texts: string[]) => fc.constantFrom(...texts);

/** Puts generated parts into a text, one after the other. */
function form(
  texts: TemplateStringsArray,
  ...parts: (fc.Arbitrary<string | number> | string)[]
): fc.Arbitrary<string> {
  const all = parts.map((part) => (typeof part === 'string' ? fc.constant(part) : part));
  return fc
    .tuple(...all)
    .map((values) => texts.map((text, i) => text + String(values[i] ?? '')).join(''));
}

/** Expressions of each kind that BigQuery takes, over the columns of a view. */
function expressions(from: Readonly<Partial<Record<Simple, readonly string[]>>>) {
  return fc.letrec<Record<Kind | 'any' | 'interval' | 'json', string>>((tie) => {
    const [text, number, bool, moment] = [
      tie('string'),
      tie('int64'),
      tie('bool'),
      tie('timestamp'),
    ];
    const [civil, day, time] = [tie('datetime'), tie('date'), tie('time')];
    const [strings, numbers, any] = [tie('strings'), tie('numbers'), tie('any')];
    const count = fc.integer({ min: 0, max: 9 });
    const format = words(...FORMATS.map((each) => `'${each}'`));
    const unit = words(...UNITS);
    const zone = words(...ZONES);
    const pattern = words(...PATTERNS);
    /** What there is of every kind: a column, NULL with its type and without, and choices between values. */
    const choices = (kind: Simple, same: fc.Arbitrary<string>) => [
      form`if(${bool}, ${same}, ${same})`,
      form`if(${bool}, ${same}, null)`,
      form`case when ${bool} then ${same} end`,
      form`case when ${bool} then null when ${bool} then ${same} else ${same} end`,
      form`case ${number} when 1 then ${same} when 2 then ${same} else null end`,
      form`coalesce(${same}, ${same})`,
      form`ifnull(null, ${same})`,
      form`nullif(${same}, ${same})`,
      form`(select ${same})`,
      form`(select max(${same}) from auth_logs)`,
      form`safe_cast(null as ${kind})`,
    ];
    const leaves = (kind: Simple, ...others: string[]) =>
      words(...(from[kind] ?? []), 'null', `cast(null as ${kind})`, ...others);
    const least = { maxDepth: 4, depthSize: 'small' } as const;
    const of = (kind: Simple, leaf: fc.Arbitrary<string>, ...made: fc.Arbitrary<string>[]) =>
      fc.oneof(
        { ...least, depthIdentifier: 'e' },
        { arbitrary: leaf, weight: 6 },
        { arbitrary: fc.oneof(...made), weight: 5 },
        { arbitrary: fc.oneof(...choices(kind, tie(kind))), weight: 3 },
      );
    return {
      string: of(
        'string',
        leaves('string', "''", "'x'", "'é 日本'", "'2026-08-21'", "'7'", '\'{"a": 1}\''),
        form`cast(${any} as string)`,
        form`concat(${text}, ${any})`,
        form`${text} || ${text}`,
        form`${words('upper', 'lower', 'reverse', 'trim', 'ltrim', 'initcap')}(${text})`,
        form`substr(${text}, ${number}, ${number})`,
        form`${words('left', 'right')}(${text}, ${number})`,
        form`${words('lpad', 'rpad')}(${text}, ${count}, 'é')`,
        form`repeat(${text}, 2)`,
        form`${words('lpad', 'repeat', 'json_value', 'regexp_extract')}(${text}, null)`,
        form`replace(${text}, 'a', 'b')`,
        form`format('%s and %t', ${any}, ${any})`,
        form`format('%5d %.1f', ${number}, ${number})`,
        form`${words('format_timestamp', 'format_datetime')}(${format}, ${moment})`,
        form`format_timestamp(${format}, ${moment}, ${zone})`,
        form`format_date('%Y %m', ${day})`,
        form`string(${fc.oneof(moment, civil, day)})`,
        form`regexp_extract(${text}, ${pattern})`,
        form`regexp_replace(${text}, ${pattern}, 'x')`,
        form`json_value(${text}, '$.a')`,
        form`json_value(${tie('json')}, '$.b')`,
        form`array_to_string(${strings}, ', ')`,
        form`${strings}[offset(${count})]`,
        form`${words('greatest', 'least')}(${text}, ${text})`,
      ),
      int64: of(
        'int64',
        leaves('int64', '0', '1', '-3', '1.5', '9223372036854775807', '1e300'),
        form`cast(${fc.oneof(text, number, bool)} as ${words('int64', 'float64', 'numeric')})`,
        form`safe_cast(${text} as int64)`,
        form`(${number} ${words('+', '-', '*', '/')} ${number})`,
        form`-(${number})`,
        form`${words('length', 'byte_length', 'char_length')}(${text})`,
        form`strpos(${text}, ${text})`,
        form`${words('abs', 'sign', 'ceil', 'floor', 'sqrt', 'exp', 'ln', 'trunc', 'round')}(${number})`,
        form`round(${number}, ${words('2', 'null')})`,
        form`array_length(null)`,
        form`${words('mod', 'div', 'safe_divide', 'safe_add', 'pow', 'greatest', 'least')}(${number}, ${number})`,
        form`extract(${words('year', 'dayofweek', 'hour', 'week')} from ${fc.oneof(moment, civil)})`,
        form`extract(${words('year', 'day')} from ${day})`,
        form`extract(${words('year', 'hour')} from ${moment} at time zone ${zone})`,
        form`log(${number}, ${number})`,
        form`timestamp_diff(${moment}, ${moment}, ${unit})`,
        form`date_diff(${day}, ${day}, ${words('day', 'week', 'month')})`,
        form`${words('unix_seconds', 'unix_millis', 'unix_micros')}(${moment})`,
        form`unix_date(${day})`,
        form`array_length(${fc.oneof(strings, numbers)})`,
        form`${numbers}[safe_offset(${count})]`,
      ),
      bool: of(
        'bool',
        leaves('bool', 'true', 'false'),
        ...[text, number, bool, moment, civil, day, time].map(
          (same) => form`(${same} ${words('=', '<>', '<', '>=')} ${same})`,
        ),
        ...[text, number, moment, day].map((same) => form`(${same} in (${same}, ${same}, null))`),
        ...[text, number, moment, day].map((same) => form`(${same} between ${same} and ${same})`),
        form`(${any} is ${words('', 'not ')}null)`,
        form`(${bool} ${words('and', 'or')} ${bool})`,
        form`(not ${bool})`,
        form`(${text} ${words('like', 'not like')} ${words("'%a%'", "'m_s%'", "'é%'", 'null')})`,
        form`${words('starts_with', 'ends_with', 'contains_substr')}(${text}, ${text})`,
        form`regexp_contains(${text}, ${pattern})`,
        form`(${text} in unnest(${strings}))`,
        form`(${text} is distinct from ${text})`,
        form`exists (select ${any} from auth_logs where ${bool})`,
        form`(${number} in (select ${number} from auth_logs))`,
      ),
      timestamp: of(
        'timestamp',
        leaves('timestamp', 'current_timestamp()', "timestamp '2026-08-21 12:00:00+00'"),
        form`timestamp_trunc(${moment}, ${unit})`,
        form`timestamp_trunc(${moment}, ${unit}, ${zone})`,
        form`timestamp(${fc.oneof(text, civil)}, ${zone})`,
        form`${words('timestamp_add', 'timestamp_sub')}(${moment}, ${tie('interval')})`,
        form`cast(${fc.oneof(text, civil, day)} as timestamp)`,
        form`timestamp(${fc.oneof(civil, day)})`,
        form`${words('timestamp_seconds', 'timestamp_millis', 'timestamp_micros')}(${number})`,
        form`parse_timestamp('%Y-%m-%d', ${text})`,
        form`${words('greatest', 'least')}(${moment}, ${moment})`,
      ),
      datetime: of(
        'datetime',
        leaves('datetime', 'current_datetime()', "datetime '2026-08-21 12:00:00'"),
        form`cast(${fc.oneof(moment, day)} as datetime)`,
        form`datetime(${moment}, ${zone})`,
        form`datetime_trunc(${civil}, ${unit})`,
        form`datetime_add(${civil}, ${tie('interval')})`,
        form`parse_datetime('%Y-%m-%d', ${text})`,
      ),
      date: of(
        'date',
        leaves('date', 'current_date()', "date '2026-08-21'"),
        form`cast(${fc.oneof(moment, civil)} as date)`,
        form`date(${fc.oneof(moment, civil)})`,
        form`date(${moment}, ${zone})`,
        form`date_trunc(${day}, ${words('week', 'month', 'year')})`,
        form`date_add(${day}, interval ${count} day)`,
        form`date(${number}, ${number}, ${number})`,
        form`parse_date('%Y-%m-%d', ${text})`,
      ),
      time: of(
        'time',
        leaves('time', "time '12:00:00'"),
        form`cast(${fc.oneof(moment, civil)} as time)`,
        form`time(${fc.oneof(moment, civil)})`,
      ),
      interval: form`interval ${count} ${unit}`,
      json: words('m.request', 'm', 'm.list', 'm.nothing'),
      strings: fc.oneof(
        { ...least, depthIdentifier: 'e' },
        words("['a', 'é']", "['x']"),
        form`[${text}, ${text}]`,
        form`split(${text}, ' ')`,
        form`regexp_extract_all(${text}, ${pattern})`,
      ),
      numbers: fc.oneof(
        { ...least, depthIdentifier: 'e' },
        words('[1, 2]'),
        form`[${number}, ${number}]`,
        form`generate_array(1, ${count})`,
      ),
      any: fc.oneof(text, number, bool, moment, civil, day, time),
    };
  });
}

const OF_VIEW = expressions({
  string: ['id', 'event_message', 'm.request.path', 'm.level'],
  int64: ['m.response.status_code'],
  timestamp: ['timestamp'],
});

/** A few expressions, each with its kind. */
const few = (of: ReturnType<typeof expressions>) =>
  fc.array(
    fc.constantFrom(...KINDS).chain((kind) => of[kind].map((sql) => ({ kind, sql }))),
    { minLength: 1, maxLength: 3 },
  );

const FROM = 'from edge_logs cross join unnest(metadata) as m';

const aggregate = (kind: Simple, sql: string): fc.Arbitrary<string> =>
  words(
    `max(${sql})`,
    `any_value(${sql})`,
    `count(distinct ${sql})`,
    `array_agg(${sql} ignore nulls limit 3)`,
    `max(if(${sql} is null, null, ${sql}))`,
    `string_agg(cast(${sql} as string), ', ')`,
    `countif(${sql} is null)`,
    ...(kind === 'int64' ? [`sum(${sql})`, `avg(${sql})`, `approx_quantiles(${sql}, 4)`] : []),
    ...(kind === 'bool' ? [`logical_or(${sql})`] : []),
  );

/** Statements whose parts fit each other in kind, in the dialect of BigQuery. */
export const TYPED: fc.Arbitrary<string> = fc.oneof(
  fc
    .tuple(few(OF_VIEW), OF_VIEW.bool)
    .map(
      ([list, where]) =>
        `select ${list.map(({ sql }, i) => `${sql} as x${i}`).join(', ')} ${FROM} where ${where}`,
    ),
  fc
    .tuple(few(OF_VIEW), words('asc', 'desc'), words('', 'distinct '))
    .map(
      ([list, direction, distinct]) =>
        `select ${distinct}${list.map(({ sql }, i) => `${sql} as x${i}`).join(', ')} ${FROM} order by ${list.map((_, i) => `x${i} ${direction}`).join(', ')} limit 5`,
    ),
  few(OF_VIEW).chain((list) =>
    fc.tuple(...list.map(({ kind, sql }) => aggregate(kind, sql))).map((made) => {
      const keys = list.map(({ sql }, i) => `${sql} as k${i}`);
      const values = made.map((value, i) => `${value} as a${i}`);
      const order = list.map(({ sql }) => `count(${sql}) desc`).join(', ');
      return `select ${[...keys, ...values].join(', ')} ${FROM} group by ${list.map((_, i) => `k${i}`).join(', ')} order by ${order}`;
    }),
  ),
  few(OF_VIEW).chain((list) =>
    fc.tuple(...list.map(({ kind, sql }) => aggregate(kind, sql))).map((made) => {
      const values = made.map((value, i) => `${value} as a${i}`);
      const held = list.map(({ sql }) => `count(${sql}) >= 0`).join(' and ');
      return `select ${values.join(', ')} ${FROM} having ${held}`;
    }),
  ),
  // What a table of the caller's own hands on keeps its kind.
  few(OF_VIEW).chain((list) => {
    const columns: Partial<Record<Simple, string[]>> = {};
    list.forEach(({ kind }, i) => {
      columns[kind] = [...(columns[kind] ?? []), `x${i}`];
    });
    return few(expressions(columns)).map(
      (outer) =>
        `with t as (select ${list.map(({ sql }, i) => `${sql} as x${i}`).join(', ')} ${FROM}) select ${outer.map(({ sql }, i) => `${sql} as y${i}`).join(', ')} from t`,
    );
  }),
  few(OF_VIEW).map((list) => {
    const columns = list.map((_, i) => `x${i}`).join(', ');
    return `with t as (select ${list.map(({ sql }, i) => `${sql} as x${i}`).join(', ')} ${FROM}) select ${columns}, count(*) as n from t group by ${columns}`;
  }),
  fc
    .constantFrom(...KINDS)
    .chain((kind) => fc.tuple(OF_VIEW[kind], OF_VIEW[kind], words('union all', 'union distinct')))
    .map(
      ([left, right, union]) =>
        `select ${left} as x ${FROM} ${union} select ${right} as x ${FROM} order by x limit 7`,
    ),
  fc
    .tuple(
      few(OF_VIEW),
      OF_VIEW.any,
      OF_VIEW.any,
      words('row_number()', 'rank()', 'count(*)', 'lag(id)', 'ntile(2)'),
    )
    .map(
      ([list, by, order, name]) =>
        `select ${list.map(({ sql }, i) => `lead(${sql}) over (order by ${order}) as x${i}`).join(', ')}, ${name} over (partition by ${by} order by ${order}) as r ${FROM}`,
    ),
);
