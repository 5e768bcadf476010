import { dictionary } from '../../dictionary.ts';
import { reject, shown } from '../../error.ts';
import { literal, type Sql, sql } from '../../sql-fragment.ts';
import { as, type Expression, isMoment, type Kind, NULL, nameOf } from '../../typed-expression.ts';
import {
  type Call,
  constantText,
  expr,
  type Functions,
  guarded,
  type SqlFunction,
  simple,
  takes,
} from '../builder.ts';
import { beginIn, TIMES, zoneOf } from '../datetime.ts';

/** A moment of a text, a number of seconds, or another moment. */
function momentOf(value: Expression, at: number | null): Sql {
  if (value.kind === 'number') {
    const seconds = sql`(${value.sql})::double`;
    return sql`(case when ${seconds} between -62135596800 and 253370764800 then make_timestamp(try_cast(${seconds} * 1000000 as bigint)) end)`;
  }
  return as(value, 'timestamp', at);
}

const seconds = (moment: Sql) => sql`date_trunc('second', ${moment})`;

/** A moment, `datetime` to the second; a zone says where a text without one was written. */
function toMoment(kind: 'timestamp' | 'datetime', zoneAt: number): SqlFunction {
  return takes({
    least: 1,
    most: 3,
    build(args, info) {
      const [value] = args;
      const zone = args[zoneAt];
      const read = momentOf(value, info.at);
      const local = value.kind === 'text' || value.kind === 'json';
      const moment = zone && local ? zoneOf(zone, [value], info).moment(read) : read;
      return expr(kind, kind === 'datetime' ? seconds(moment) : moment, [value]);
    },
  });
}

/** Begins of units; the result is to the second, and a date where ClickHouse gives one. */
function startOf(unit: string, kind: 'datetime' | 'date', micros?: number): SqlFunction {
  return takes({
    least: 1,
    most: 2,
    build([value, zone], info) {
      const point = as(value, 'timestamp', info.at);
      // The second argument of weeks is how they begin, and of no other date.
      const there = zone && kind === 'datetime' ? zoneOf(zone, [value], info) : null;
      const cut = (moment: Sql) => sql`date_trunc('${unit}', ${moment})`;
      if (there) return expr(kind, beginIn(there, point, cut, micros), [value]);
      return expr(kind, kind === 'date' ? sql`(${cut(point)})::date` : cut(point), [value]);
    },
  });
}

/** Microseconds. */
const SECOND = 1_000_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Begins of so many minutes, counted from the hour. */
function startOfMinutes(count: number): SqlFunction {
  return takes({
    least: 1,
    most: 2,
    build([value, zone], info) {
      const point = as(value, 'timestamp', info.at);
      const cut = (moment: Sql) =>
        sql`time_bucket(interval '${String(count)} minutes', ${moment}, timestamp '2000-01-01')`;
      const there = zone ? zoneOf(zone, [value], info) : null;
      const begin = there ? beginIn(there, point, cut, count * MINUTE) : cut(point);
      return expr('datetime', begin, [value]);
    },
  });
}

/** Where intervals of a unit are counted from; of others the day, or the year 0. */
const ORIGINS: Readonly<Record<string, string>> = {
  week: '1970-01-05',
  month: '1900-01-01',
  quarter: '1900-01-01',
};

/** `toStartOfInterval(moment, INTERVAL 5 minute)`. */
const startOfInterval = takes({
  least: 2,
  most: 3,
  build([value, interval, zone], info) {
    const { at } = info;
    const { unit, count } =
      interval.span ?? reject(at, 'TOSTARTOFINTERVAL takes an interval such as INTERVAL 5 MINUTE');
    if (count < 1) reject(at, `An interval is one or more, got ${count}`);
    const point = as(value, 'timestamp', at);
    const there = zone ? zoneOf(zone, [value], info) : null;
    const isDate = unit === 'week' || unit in ORIGINS || unit === 'year';
    const cut = (local: Sql) =>
      unit === 'hour'
        ? sql`(date_trunc('day', ${local}) + to_hours((date_part('hour', ${local}) // ${String(count)}) * ${String(count)}))`
        : unit === 'year'
          ? sql`try_cast(format('{:04d}-01-01', (date_part('year', ${local}) // ${String(count)}) * ${String(count)}) as date)`
          : sql`time_bucket(to_${unit}s(${String(count)}), ${local}, timestamp '${ORIGINS[unit] ?? '1970-01-01'}')`;
    const safe = (local: Sql) => guarded([value], cut(local));
    if (isDate)
      return expr('date', sql`(${safe(there ? there.local(point) : point)})::date`, [value]);
    const micros = count * ({ second: SECOND, minute: MINUTE, hour: HOUR }[unit] ?? HOUR + 1);
    const begin = there
      ? beginIn(there, point, safe, micros <= HOUR ? micros : undefined)
      : safe(point);
    return expr('datetime', begin, [value]);
  },
});

const part = (field: string, more = '') =>
  takes({
    least: 1,
    most: 2,
    build([value, zone], info) {
      const point = as(value, 'timestamp', info.at);
      const local = zone ? zoneOf(zone, [value], info).local(point) : point;
      return expr('number', sql`(date_part('${field}', ${local})${more})`, [value]);
    },
  });

const digits = (form: string) =>
  simple(
    'number',
    ['timestamp'],
    ([moment = '']) => sql`try_cast(strftime(${moment}, '${form}') as bigint)`,
    1,
  );

const epoch = (divisor: string) =>
  simple('number', ['timestamp'], ([moment = '']) => sql`(epoch_us(${moment}) // ${divisor})`, 1);

const unix = (factor: string, kind: 'timestamp' | 'datetime'): SqlFunction =>
  takes({
    least: 1,
    most: 2,
    build([value], { at }) {
      const micros = sql`try_cast((${as(value, 'number', at)})::double * ${factor} as bigint)`;
      const moment = sql`(case when ${micros} between -62135596800000000 and 253370764800000000 then make_timestamp(${micros}) end)`;
      return expr(kind, moment, [value]);
    },
  });

/** An interval whose count is a literal. */
function spanOf(unit: string, { kind, literal: count }: Expression): Partial<Expression> {
  const number = Number(count);
  return kind === 'number' && Number.isInteger(number) ? { span: { unit, count: number } } : {};
}

const INTERVAL_UNITS = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'];

/** `toIntervalHour(2)`, `addHours(moment, 2)` and `subtractHours(moment, 2)`. */
const SHIFTS: Functions = Object.fromEntries(
  INTERVAL_UNITS.flatMap((unit) => {
    const interval = (count: Expression, { at }: Call) => {
      const number = sql`(${as(count, 'number', at)})::double`;
      return sql`(case when abs(${number}) <= 1e6 then to_${unit}s((${number})::integer) end)`;
    };
    const shift = (sign: '+' | '-') =>
      takes({
        least: 2,
        most: 2,
        build(args, info) {
          const [value, count] = args;
          const point = as(value, 'timestamp', info.at);
          const isDay = value.kind === 'date' && !['second', 'minute', 'hour'].includes(unit);
          const kind =
            isDay || !isMoment(value.kind) || value.kind === 'date' ? 'datetime' : value.kind;
          const moved = guarded(args, sql`${point} ${sign} ${interval(count, info)}`);
          return isDay ? expr('date', sql`(${moved})::date`, args) : expr(kind, moved, args);
        },
      });
    return [
      [
        `tointerval${unit}`,
        takes({
          least: 1,
          most: 1,
          build: ([count], info) =>
            expr('interval', interval(count, info), [count], spanOf(unit, count)),
        }),
      ],
      [`add${unit}s`, shift('+')],
      [`subtract${unit}s`, shift('-')],
    ];
  }),
);

const UNITS = dictionary<string>({
  microsecond: 'microsecond',
  millisecond: 'millisecond',
  second: 'second',
  ss: 'second',
  minute: 'minute',
  mi: 'minute',
  hour: 'hour',
  hh: 'hour',
  day: 'day',
  dd: 'day',
  week: 'week',
  month: 'month',
  mm: 'month',
  quarter: 'quarter',
  year: 'year',
  yyyy: 'year',
});

function unitOf(value: Expression, info: Call): string {
  const written = constantText(value, info).toLowerCase();
  return (
    UNITS[written] ??
    UNITS[written.replace(/s$/, '')] ??
    reject(
      info.at,
      `${info.name.toUpperCase()} takes a unit such as 'minute', got ${shown(written)}`,
    )
  );
}

/** `dateDiff('minute', from, to)`: how many borders of the unit lie between. */
const difference = takes({
  least: 3,
  most: 4,
  build([unit, from, to], info) {
    const [a, b] = [from, to].map((each) => as(each, 'timestamp', info.at));
    const name = unitOf(unit, info);
    const count =
      name === 'week'
        ? sql`(datediff('day', date_trunc('week', ${a ?? ''}), date_trunc('week', ${b ?? ''})) // 7)`
        : sql`datediff('${name}', ${a ?? ''}, ${b ?? ''})`;
    return expr('number', guarded([from, to], count), [from, to]);
  },
});

const truncated = takes({
  least: 2,
  most: 3,
  build([unit, value, zone], info) {
    const name = unitOf(unit, info);
    const isDate = ['week', 'month', 'quarter', 'year'].includes(name);
    return startOf(name, isDate ? 'date' : 'datetime').build(
      [value, ...(zone ? [zone] : [])] as Expression[],
      info,
    );
  },
});

/** What ClickHouse's format writes, in the words of the engine. */
const FORMATS = dictionary<string>({
  a: '%a',
  b: '%b',
  c: '%m',
  C: '%C',
  d: '%d',
  D: '%m/%d/%y',
  e: '%-d',
  f: '%f',
  F: '%Y-%m-%d',
  H: '%H',
  h: '%I',
  i: '%M',
  I: '%I',
  j: '%j',
  k: '%H',
  l: '%I',
  m: '%m',
  M: '%B',
  n: '\n',
  p: '%p',
  r: '%I:%M %p',
  R: '%H:%M',
  s: '%S',
  S: '%S',
  t: '\t',
  T: '%H:%M:%S',
  u: '%u',
  W: '%A',
  w: '%w',
  y: '%y',
  Y: '%Y',
  z: '+0000',
  '%': '%%',
});

const formatted = takes({
  least: 2,
  most: 3,
  build([value, format, zone], info) {
    const form = constantText(format, info).replaceAll(/%(.?)/gs, (whole, sign: string) => {
      return (
        FORMATS[sign] ?? reject(info.at, `There is no specifier ${shown(whole)} in FORMATDATETIME`)
      );
    });
    const point = as(value, 'timestamp', info.at);
    const read = zone ? zoneOf(zone, [value], info).local(point) : point;
    return expr('text', sql`strftime(${read}, ${literal(form)})`, [value]);
  },
});

/** The same that gives NULL for a text which names no moment, where a literal else is refused. */
function orNull(convert: SqlFunction): SqlFunction {
  return {
    ...convert,
    build: ([value = NULL, ...more], info) => {
      const unsure = value.kind === 'text' ? expr('text', value.sql, [value]) : value;
      return convert.build([unsure, ...more], info);
    },
  };
}

const toDate: SqlFunction = takes({
  least: 1,
  most: 2,
  build([value, zone], info) {
    const { at, name } = info;
    if (value.kind === 'number')
      return reject(
        at,
        `${name.toUpperCase()} takes a string or a moment, got ${nameOf(value.kind)}`,
      );
    if (!zone || value.kind === 'date') return expr('date', as(value, 'date', at), [value]);
    const local = zoneOf(zone, [value], info).local(as(value, 'timestamp', at));
    return expr('date', sql`(${local})::date`, [value]);
  },
});

const present = (kind: Kind, form: string): SqlFunction => ({
  least: 0,
  most: 2,
  build: () => expr(kind, form, []),
});

/** Moments by ClickHouse's names, in lower case. DateTime, to the second, is a `datetime` here, and DateTime64 a `timestamp`. */
export const CLICKHOUSE_TIMES: Functions = {
  ...SHIFTS,
  now: present('datetime', "date_trunc('second', now()::timestamp)"),
  now64: present('timestamp', 'now()::timestamp'),
  today: present('date', 'now()::timestamp::date'),
  yesterday: present('date', '(now()::timestamp::date - 1)'),
  todate: toDate,
  todate32: toDate,
  date_of: toDate,
  todatetime: toMoment('datetime', 1),
  todatetime32: toMoment('datetime', 1),
  todatetime64: toMoment('timestamp', 2),
  todatetimeornull: orNull(toMoment('datetime', 1)),
  todatetime64ornull: orNull(toMoment('timestamp', 2)),
  parsedatetimebesteffort: toMoment('datetime', 1),
  parsedatetimebesteffortornull: orNull(toMoment('datetime', 1)),
  parsedatetime64besteffort: toMoment('timestamp', 2),
  parsedatetime64besteffortornull: orNull(toMoment('timestamp', 2)),
  tostartofsecond: startOf('second', 'datetime', SECOND),
  tostartofminute: startOf('minute', 'datetime', MINUTE),
  tostartoffiveminutes: startOfMinutes(5),
  tostartoffiveminute: startOfMinutes(5),
  tostartoftenminutes: startOfMinutes(10),
  tostartoffifteenminutes: startOfMinutes(15),
  tostartofhour: startOf('hour', 'datetime', HOUR),
  tostartofday: startOf('day', 'datetime'),
  tomonday: startOf('week', 'date'),
  tostartofweek: simple(
    'date',
    ['timestamp'],
    ([moment = '']) => sql`(date_trunc('week', ${moment} + interval 1 day) - interval 1 day)::date`,
    1,
  ),
  tostartofmonth: startOf('month', 'date'),
  tostartofquarter: startOf('quarter', 'date'),
  tostartofyear: startOf('year', 'date'),
  tostartofinterval: startOfInterval,
  date_trunc: truncated,
  datetrunc: truncated,
  toyear: part('year'),
  toquarter: part('quarter'),
  tomonth: part('month'),
  todayofmonth: part('day'),
  todayofyear: part('doy'),
  todayofweek: part('isodow'),
  tohour: part('hour'),
  tominute: part('minute'),
  tosecond: part('second', '::bigint % 60'),
  toyyyymm: digits('%Y%m'),
  toyyyymmdd: digits('%Y%m%d'),
  tounixtimestamp: epoch('1000000'),
  tounixtimestamp64second: epoch('1000000'),
  tounixtimestamp64milli: epoch('1000'),
  tounixtimestamp64micro: epoch('1'),
  tounixtimestamp64nano: simple(
    'number',
    ['timestamp'],
    ([moment = '']) => sql`try_cast(epoch_us(${moment})::hugeint * 1000 as bigint)`,
  ),
  fromunixtimestamp: unix('1000000', 'datetime'),
  fromunixtimestamp64second: unix('1000000', 'timestamp'),
  fromunixtimestamp64milli: unix('1000', 'timestamp'),
  fromunixtimestamp64micro: unix('1', 'timestamp'),
  datediff: difference,
  date_diff: difference,
  timestampdiff: difference,
  formatdatetime: formatted,
  timezone: TIMES.timezone as SqlFunction,
};
