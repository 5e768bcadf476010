import { dictionary } from '../dictionary.ts';
import { reject, shown } from '../error.ts';
import { join, literal, type Sql, sql } from '../sql-fragment.ts';
import { as, type Expression, isMoment, type Kind, nameOf } from '../typed-expression.ts';
import type { Functions } from './builder.ts';
import {
  type Call,
  constantText,
  expr,
  guarded,
  type SqlFunction,
  simple,
  takes,
} from './builder.ts';
import { formatOf } from './date-formats.ts';

const UNITS = dictionary<string>({
  microsecond: 'microsecond',
  millisecond: 'millisecond',
  second: 'second',
  minute: 'minute',
  hour: 'hour',
  day: 'day',
  week: 'week',
  isoweek: 'week',
  month: 'month',
  quarter: 'quarter',
  year: 'year',
  isoyear: 'isoyear',
});
const PARTS = dictionary<string>({
  ...UNITS,
  dayofweek: 'dow',
  dow: 'dow',
  isodow: 'isodow',
  dayofyear: 'doy',
  doy: 'doy',
  epoch: 'epoch',
  isoyear: 'isoyear',
});

function unitOf(
  value: string | undefined,
  units: Readonly<Record<string, string>>,
  { at, name }: Call,
): string {
  const unit = value?.toLowerCase() ?? '';
  return (
    units[unit] ??
    units[unit.replace(/s$/, '')] ??
    reject(
      at,
      `${name.toUpperCase()} takes one of ${Object.keys(units).join(', ')}${unit ? `, got ${shown(unit)}` : ''}`,
    )
  );
}

function moment(value: Expression, at: number | null): Kind {
  if (value.kind === 'date') return 'date';
  if (value.kind === 'datetime') return 'datetime';
  if (
    isMoment(value.kind) ||
    value.kind === 'text' ||
    value.kind === 'json' ||
    value.kind === 'null'
  )
    return 'timestamp';
  return reject(at, `Expected a timestamp, got ${nameOf(value.kind)}`);
}

/** `*_TRUNC(value, unit)`; the engine's own form has the unit first, as a string. */
const truncated = takes({
  least: 2,
  most: 3,
  words: [1],
  build(args, info) {
    const [first, second, zone] = args;
    const swapped =
      info.word(1) === undefined && first.kind === 'text' && first.literal !== undefined;
    const value = swapped ? second : first;
    const word = (swapped ? first.literal : (info.word(1) ?? second.literal))?.toLowerCase();
    const unit = unitOf(word, UNITS, info);
    const kind = moment(value, info.at);
    const read = as(value, kind === 'date' ? 'date' : kind, info.at);
    // BigQuery's weeks begin on Sunday, the engine's and ISO's on Monday.
    const sunday = word === 'week' && info.dialect === 'bigquery' && !swapped;
    const cut = (point: Sql) =>
      sunday
        ? sql`(date_trunc('week', ${point} + interval 1 day) - interval 1 day)`
        : sql`date_trunc('${unit}', ${point})`;
    if (zone && kind === 'timestamp') {
      const there = zoneOf(zone, [value], info);
      return expr(kind, beginIn(there, read, cut, SHORT_UNITS[unit]), [value]);
    }
    return expr(kind, kind === 'date' ? sql`${cut(read)}::date` : cut(read), [value]);
  },
});

/** Microseconds of the units that are not longer than what a clock is set back by. */
const SHORT_UNITS = dictionary<number>({
  microsecond: 1,
  millisecond: 1000,
  second: 1_000_000,
  minute: 60_000_000,
  hour: 3_600_000_000,
});

/**
 * Returns the moment that a unit began in a zone; `cut` gives the time of day. A unit of `micros` is counted back from the moment, as an hour
 * may occur twice. A longer one begins right behind the microsecond before, as midnight may occur twice, or never.
 */
export function beginIn(zone: Zone, moment: Sql, cut: (local: Sql) => Sql, micros?: number): Sql {
  const local = zone.local(moment);
  if (micros === undefined)
    return sql`(${zone.moment(sql`(${cut(local)} - interval 1 microsecond)`)} + interval 1 microsecond)`;
  // The rest is positive for years before 1970, too.
  const whole = BigInt(micros) * BigInt(Math.ceil(1e17 / micros));
  return sql`(${moment} - to_microseconds((epoch_us(${local}) + ${String(whole)}) % ${String(micros)}))`;
}

export interface Zone {
  /** A moment as the time of day there. */
  local(moment: Sql): Sql;
  /** The moment that a time of day there is. */
  moment(local: Sql): Sql;
}

/**
 * A zone by its name, or by its distance from UTC, which the engine does not take: `+05:30`; for times that come of `args`. Throws SqlRefused
 * for another text.
 */
export function zoneOf(value: Expression, args: readonly Expression[], info: Call): Zone {
  const zone = constantText(value, info);
  const [, sign, hours, minutes = '0'] = /^([+-])(\d\d?)(?::([0-5]\d))?$/.exec(zone) ?? [];
  if (sign && Number(hours) <= 14) {
    const distance = `interval ${Number(hours) * 60 + Number(minutes)} minute`;
    const back = sign === '+' ? '-' : '+';
    // Near the ends of the engine's range there is no such time, and NULL.
    return {
      local: (moment) => guarded(args, sql`${moment} ${sign} ${distance}`),
      moment: (local) => guarded(args, sql`${local} ${back} ${distance}`),
    };
  }
  if (!isZone(zone))
    reject(info.at, `Expected a time zone such as "Europe/Berlin" or "+02:00", got ${shown(zone)}`);
  const name = literal(zone);
  return {
    local: (moment) => sql`timezone(${name}, timezone('UTC', ${moment}))`,
    moment: (local) => sql`timezone('UTC', timezone(${name}, ${local}))`,
  };
}

function isZone(name: string): boolean {
  try {
    Intl.DateTimeFormat('en', { timeZone: name });
    return /^[A-Za-z]/.test(name);
  } catch {
    return false;
  }
}

function shifted(sign: '+' | '-'): SqlFunction {
  return takes({
    least: 2,
    most: 2,
    build(args, { at }) {
      const [value, interval] = args;
      const kind = moment(value, at);
      const sum = guarded(
        args,
        sql`${as(value, kind, at)} ${sign} ${as(interval, 'interval', at)}`,
      );
      return expr(kind, kind === 'date' ? sql`${sum}::date` : sum, args);
    },
  });
}

function counted(unit: string, whole: boolean, a: Sql, b: Sql): Sql {
  if (whole) return sql`datesub('${unit}', ${a}, ${b})`;
  if (unit !== 'week') return sql`datediff('${unit}', ${a}, ${b})`;
  // The engine counts weeks as seven days, not by their borders.
  return sql`(datediff('day', date_trunc('week', ${a}), date_trunc('week', ${b})) // 7)`;
}

/** How many units lie between: whole ones for timestamps, borders for dates, as BigQuery counts. */
function between(whole: boolean): SqlFunction {
  return takes({
    least: 3,
    most: 3,
    words: [2],
    build(args, info) {
      const swapped =
        info.word(2) === undefined && args[0]?.literal !== undefined && args[0].kind === 'text';
      const unit = unitOf(swapped ? args[0]?.literal : info.word(2), UNITS, info);
      const [later, earlier] = swapped ? [args[2], args[1]] : [args[0], args[1]];
      // BigQuery's weeks begin on Sunday.
      const shift = !whole && !swapped && info.word(2) === 'week' ? ' + interval 1 day' : '';
      const [a, b] = [earlier, later].map((each) => sql`${as(each, 'timestamp', info.at)}${shift}`);
      return expr(
        'number',
        guarded([later, earlier], counted(unit, whole && !swapped, a ?? '', b ?? '')),
        [later, earlier],
      );
    },
  });
}

const part = takes({
  least: 2,
  most: 2,
  build(args, info) {
    const [name, value] = args;
    const wanted = constantText(name, info).toLowerCase();
    const point = as(value, value.kind === 'time' ? 'time' : 'timestamp', info.at);
    if (wanted === 'date') return expr('date', sql`${point}::date`, [value]);
    if (wanted === 'time') return expr('time', sql`${point}::time`, [value]);
    const field = unitOf(wanted, PARTS, info);
    const read = sql`date_part('${field}', ${point})`;
    // The engine counts seconds before the fraction, too, in these; and Sunday as 0.
    if (field === 'millisecond' || field === 'microsecond')
      return expr('number', sql`(${read} % ${field === 'millisecond' ? '1000' : '1000000'})`, [
        value,
      ]);
    return expr(
      'number',
      wanted === 'dayofweek' && info.dialect === 'bigquery' ? sql`(${read} + 1)` : read,
      [value],
    );
  },
});

function converted(kind: 'timestamp' | 'datetime' | 'date' | 'time'): SqlFunction {
  return takes({
    least: 1,
    most: kind === 'datetime' ? 6 : kind === 'date' ? 3 : 2,
    build(args, info) {
      const [value, zone] = args;
      if (args.length >= 3) return assembled(kind, args, info);
      if (!zone) return expr(kind, as(value, kind, info.at), [value]);
      const there = zoneOf(zone, [value], info);
      if (kind === 'timestamp')
        return expr(kind, there.moment(as(value, 'datetime', info.at)), [value]);
      const point = there.local(as(value, 'timestamp', info.at));
      return expr(kind, kind === 'datetime' ? point : sql`${point}::${kind}`, [value]);
    },
  });
}

/** `DATE(year, month, day)` and `DATETIME(year, …, second)`. */
function assembled(kind: Kind, args: readonly Expression[], { at }: Call): Expression {
  const numbers = args.map((arg) => sql`try_cast(${as(arg, 'number', at)} as bigint)`);
  while (kind !== 'date' && numbers.length < 6) numbers.push('0');
  const form =
    kind === 'date' ? '{:04d}-{:02d}-{:02d}' : '{:04d}-{:02d}-{:02d} {:02d}:{:02d}:{:02d}';
  // By way of text: what is not a date is NULL then, also where it comes of a subquery, around which the engine takes no `try`.
  const type = kind === 'date' ? 'date' : 'timestamp';
  const text = sql`format(${literal(form)}, ${join(numbers, ', ')})`;
  return expr(kind, sql`try_cast(${text} as ${type})`, args);
}

const formatted = takes({
  least: 2,
  most: 3,
  build(args, info) {
    const first = args[0]?.literal !== undefined && args[0].kind === 'text';
    const [format, value] = first ? [args[0], args[1]] : [args[1], args[0]];
    const point = as(value, 'timestamp', info.at);
    const read = args[2] ? zoneOf(args[2], [value], info).local(point) : point;
    const seconds = sql`(epoch_us(${point}) // 1000000)::varchar`;
    const parts = formatOf(format, info.at).map((form) =>
      form === null ? seconds : sql`strftime(${read}, ${literal(form)})`,
    );
    const [only = literal(''), ...more] = parts;
    return expr('text', more.length === 0 ? only : sql`(${join(parts, ' || ')})::varchar`, [value]);
  },
});

function parsed(kind: 'timestamp' | 'datetime' | 'date'): SqlFunction {
  return takes({
    least: 2,
    most: 3,
    build([format, value], info) {
      const swapped = info.name === 'strptime' || info.name === 'try_strptime';
      const [form, ...more] = formatOf(swapped ? value : format, info.at);
      if (typeof form !== 'string' || more.length > 0)
        return reject(info.at, `${info.name.toUpperCase()} cannot read this format`);
      // A fraction may be absent.
      const forms = [form, form.replace('.%f', '')].map(literal);
      const source = as(swapped ? format : value, 'text', info.at);
      const read = sql`try_strptime(${source}, [${forms.join(', ')}])::timestamp`;
      // `%z` of the engine knows no "Z".
      const zoned = form.includes('%z')
        ? sql`coalesce(${read}, case when ends_with(${source}, 'Z') then try_strptime(replace(${source}, 'Z', '+0000'), [${forms.join(', ')}])::timestamp end)`
        : read;
      return expr(kind, kind === 'date' ? sql`${zoned}::date` : zoned, [swapped ? format : value]);
    },
  });
}

function sinceEpoch(unit: 'seconds' | 'millis' | 'micros'): SqlFunction {
  const divisor = { seconds: '1000000', millis: '1000', micros: '1' }[unit];
  return simple('number', ['timestamp'], ([point = '']) => sql`(epoch_us(${point}) // ${divisor})`);
}

function fromEpoch(factor: string): SqlFunction {
  return {
    least: 1,
    most: 1,
    build(args, { at }) {
      const count = as(args[0] as Expression, 'number', at);
      const micros = sql`try_cast((${count})::double * ${factor} as bigint)`;
      const moment = sql`(case when ${micros} between -62135596800000000 and 253370764800000000 then make_timestamp(${micros}) end)`;
      return expr('timestamp', moment, args);
    },
  };
}

const present = (kind: Kind, form: Sql): SqlFunction => ({
  least: 0,
  most: 1,
  build: () => expr(kind, form, []),
});

/** Moments, their parts and differences. */
export const TIMES: Functions = {
  current_timestamp: present('timestamp', 'now()::timestamp'),
  now: present('timestamp', 'now()::timestamp'),
  current_datetime: present('datetime', 'now()::timestamp'),
  current_date: present('date', 'now()::timestamp::date'),
  today: present('date', 'now()::timestamp::date'),
  current_time: present('time', 'now()::timestamp::time'),
  timestamp_of: converted('timestamp'),
  datetime_of: converted('datetime'),
  date_of: converted('date'),
  time_of: converted('time'),
  timestamp: converted('timestamp'),
  datetime: converted('datetime'),
  date: converted('date'),
  time: converted('time'),
  timestamp_trunc: truncated,
  datetime_trunc: truncated,
  date_trunc: truncated,
  time_trunc: truncated,
  timestamp_add: shifted('+'),
  datetime_add: shifted('+'),
  date_add: shifted('+'),
  timestamp_sub: shifted('-'),
  datetime_sub: shifted('-'),
  date_sub: shifted('-'),
  timestamp_diff: between(true),
  datetime_diff: between(false),
  date_diff: between(false),
  datediff: between(false),
  date_part: part,
  extract: part,
  format_timestamp: formatted,
  format_datetime: formatted,
  format_date: formatted,
  format_time: formatted,
  strftime: formatted,
  parse_timestamp: parsed('timestamp'),
  parse_datetime: parsed('datetime'),
  parse_date: parsed('date'),
  strptime: parsed('timestamp'),
  try_strptime: parsed('timestamp'),
  unix_seconds: sinceEpoch('seconds'),
  unix_millis: sinceEpoch('millis'),
  unix_micros: sinceEpoch('micros'),
  epoch: sinceEpoch('seconds'),
  epoch_ms: sinceEpoch('millis'),
  epoch_us: sinceEpoch('micros'),
  unix_date: simple(
    'number',
    ['date'],
    ([day = '']) => sql`datediff('day', date '1970-01-01', ${day})`,
  ),
  timestamp_seconds: fromEpoch('1000000'),
  timestamp_millis: fromEpoch('1000'),
  timestamp_micros: fromEpoch('1'),
  to_timestamp: fromEpoch('1000000'),
  timezone: takes({
    least: 2,
    most: 2,
    build([zone, value], info) {
      return expr('datetime', zoneOf(zone, [value], info).local(as(value, 'timestamp', info.at)), [
        value,
      ]);
    },
  }),
};
