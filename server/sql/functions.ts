import {
  alike,
  as,
  comparable,
  type Expression,
  flags,
  isMoment,
  jsonOf,
  type Kind,
  MAX_GROWTH,
  nameOf,
  pathsOf,
  type Step,
  sortKeys,
  within,
} from './expression.ts';
import { formatOf } from './formats.ts';
import type { Dialect } from './lexer.ts';
import { hasGroup, patternOf } from './patterns.ts';
import { refuse, shown } from './refusal.ts';
import { join, literal, type Sql, sql } from './rope.ts';

/** A call, as far as its arguments are not all there is to it. */
export interface Call {
  /** As the caller knows it. */
  readonly name: string;
  readonly at: number | null;
  readonly dialect: Dialect;
  readonly distinct: boolean;
  /** The bare word that an argument is, such as `hour`; undefined for any other expression. */
  word(index: number): string | undefined;
  /** The names of a structure's members; undefined for those without. */
  readonly names: readonly (string | undefined)[];
  /** `order by …` within an aggregate, or nothing. */
  readonly order: Sql;
}

type Build = (args: readonly Expression[], call: Call) => Expression;

interface Function {
  readonly least: number;
  readonly most: number;
  readonly build: Build;
  readonly aggregate?: boolean;
  /** Arguments that are bare words, not expressions. */
  readonly words?: readonly number[];
}

/** A made expression, with what its arguments hand on. */
export function made(
  kind: Kind,
  value: Sql,
  args: readonly Expression[],
  rest: Partial<Expression> = {},
): Expression {
  const whole = { ...flags(args), ...rest };
  return kind === 'json' ? jsonOf(value, whole) : { kind, sql: value, ...whole };
}

/** Throws SqlRefused when a text could become too long. */
function grown(growth: number, { at, name }: Call): { growth: number } {
  if (growth > MAX_GROWTH)
    refuse(
      at,
      `The text that ${name.toUpperCase()} makes could become more than ${MAX_GROWTH} times as long as a stored one`,
    );
  return { growth };
}

const growthOf = (value: Expression | undefined) => value?.growth ?? 1;

/** A whole number that stands in the SQL itself. */
function constant(
  value: Expression | undefined,
  least: number,
  most: number,
  { at, name }: Call,
): number {
  const number = Number(value?.literal ?? Number.NaN);
  if (value?.kind !== 'number' || !Number.isInteger(number) || number < least || number > most)
    refuse(
      at,
      `${name.toUpperCase()} takes a whole number from ${least} to ${most} here, written as such`,
    );
  return number;
}

function constantText(value: Expression | undefined, { at, name }: Call): string {
  return value?.literal !== undefined && value.kind === 'text'
    ? value.literal
    : refuse(at, `${name.toUpperCase()} takes a string literal here`);
}

/** Arguments of fixed kinds, one result. The engine's function takes them as they are; it must be total. */
function simple(
  kind: Kind,
  kinds: readonly Kind[],
  form: (args: readonly Sql[]) => Sql,
  least = kinds.length,
): Function {
  return {
    least,
    most: kinds.length,
    build: (args, { at }) =>
      made(kind, form(args.map((arg, i) => as(arg, kinds[i] ?? 'text', at))), args),
  };
}

const call = (name: string) => (args: readonly Sql[]) => sql`${name}(${join(args, ', ')})`;

const text = (name: string, kinds: readonly Kind[] = ['text'], least?: number) =>
  simple('text', kinds, call(name), least);
/** Over doubles, which overflow to infinity and not to an error. */
const number = (name: string, guard?: (value: Sql) => Sql): Function =>
  simple('number', ['number'], ([value = '']) => {
    const double = sql`(${value})::double`;
    const result = sql`${name}(${double})`;
    return guard ? sql`(case when ${guard(double)} then ${result} end)` : result;
  });

const over = (form: (a: Sql, b: Sql) => Sql): Function =>
  simple('number', ['number', 'number'], ([a = '', b = '']) =>
    form(sql`(${a})::double`, sql`(${b})::double`),
  );

/** `try` where the engine takes it: not around aggregates and subqueries, whose rows have passed the view's filter already. */
export function guarded(args: readonly Expression[], value: Sql): Sql {
  return args.some(({ aggregate, window, nested }) => aggregate || window || nested)
    ? value
    : sql`try(${value})`;
}

const UNITS: Readonly<Record<string, string>> = {
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
};
const PARTS: Readonly<Record<string, string>> = {
  ...UNITS,
  dayofweek: 'dow',
  dow: 'dow',
  isodow: 'isodow',
  dayofyear: 'doy',
  doy: 'doy',
  epoch: 'epoch',
  isoyear: 'isoyear',
};

function unitOf(
  value: string | undefined,
  units: Readonly<Record<string, string>>,
  { at, name }: Call,
): string {
  const unit = value?.toLowerCase() ?? '';
  return (
    units[unit] ??
    units[unit.replace(/s$/, '')] ??
    refuse(
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
  return refuse(at, `Expected a timestamp, got ${nameOf(value.kind)}`);
}

/** `*_TRUNC(value, unit)`; the engine's own form has the unit first, as a string. */
const truncated: Function = {
  least: 2,
  most: 3,
  words: [1],
  build(args, info) {
    const [first, second, zone] = args;
    if (!first || !second) throw new Error('BUG: arguments were counted');
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
      const name = zoneOf(zone, info);
      return made(kind, sql`timezone('UTC', timezone(${name}, ${cut(local(read, name))}))`, [
        value,
      ]);
    }
    return made(kind, kind === 'date' ? sql`${cut(read)}::date` : cut(read), [value]);
  },
};

function zoneOf(value: Expression, info: Call): string {
  const zone = constantText(value, info);
  if (!/^[A-Za-z][\w+/-]{0,60}$/.test(zone) && !/^[+-]\d\d?(:\d\d)?$/.test(zone))
    refuse(info.at, `Expected a time zone such as "Europe/Berlin", got ${shown(zone)}`);
  return literal(zone);
}

/** A moment as the time of day in a zone. */
function local(point: Sql, zone: string): Sql {
  return sql`timezone(${zone}, timezone('UTC', ${point}))`;
}

function shifted(sign: '+' | '-'): Function {
  return {
    least: 2,
    most: 2,
    build(args, { at }) {
      const [value, interval] = args;
      if (!value || !interval) throw new Error('BUG: arguments were counted');
      const kind = moment(value, at);
      const sum = guarded(
        args,
        sql`${as(value, kind, at)} ${sign} ${as(interval, 'interval', at)}`,
      );
      return made(kind, kind === 'date' ? sql`${sum}::date` : sum, args);
    },
  };
}

/** How many units lie between: whole ones for timestamps, borders for dates, as BigQuery counts. */
function between(whole: boolean): Function {
  return {
    least: 3,
    most: 3,
    words: [2],
    build(args, info) {
      const swapped =
        info.word(2) === undefined && args[0]?.literal !== undefined && args[0].kind === 'text';
      const unit = unitOf(swapped ? args[0]?.literal : info.word(2), UNITS, info);
      const [later, earlier] = swapped ? [args[2], args[1]] : [args[0], args[1]];
      if (!later || !earlier) throw new Error('BUG: arguments were counted');
      const [a, b] = [as(earlier, 'timestamp', info.at), as(later, 'timestamp', info.at)];
      return made(
        'number',
        guarded(
          [later, earlier],
          sql`${whole && !swapped ? 'datesub' : 'datediff'}('${unit}', ${a}, ${b})`,
        ),
        [later, earlier],
      );
    },
  };
}

const part: Function = {
  least: 2,
  most: 2,
  build(args, info) {
    const [name, value] = args;
    if (!name || !value) throw new Error('BUG: arguments were counted');
    const wanted = constantText(name, info).toLowerCase();
    const point = as(value, value.kind === 'time' ? 'time' : 'timestamp', info.at);
    if (wanted === 'date') return made('date', sql`${point}::date`, [value]);
    if (wanted === 'time') return made('time', sql`${point}::time`, [value]);
    const field = unitOf(wanted, PARTS, info);
    const read = sql`date_part('${field}', ${point})`;
    // The engine counts seconds before the fraction, too, in these; and Sunday as 0.
    if (field === 'millisecond' || field === 'microsecond')
      return made('number', sql`(${read} % ${field === 'millisecond' ? '1000' : '1000000'})`, [
        value,
      ]);
    return made(
      'number',
      wanted === 'dayofweek' && info.dialect === 'bigquery' ? sql`(${read} + 1)` : read,
      [value],
    );
  },
};

function converted(kind: 'timestamp' | 'datetime' | 'date' | 'time'): Function {
  return {
    least: 1,
    most: kind === 'datetime' ? 6 : kind === 'date' ? 3 : 2,
    build(args, info) {
      const [value, zone] = args;
      if (!value) throw new Error('BUG: arguments were counted');
      if (value.kind === 'number' && args.length >= 3) return assembled(kind, args, info);
      if (!zone) return made(kind, as(value, kind, info.at), [value]);
      const name = zoneOf(zone, info);
      if (kind === 'timestamp')
        return made(
          kind,
          sql`timezone('UTC', timezone(${name}, ${as(value, 'datetime', info.at)}))`,
          [value],
        );
      const point = local(as(value, 'timestamp', info.at), name);
      return made(kind, kind === 'datetime' ? point : sql`${point}::${kind}`, [value]);
    },
  };
}

/** `DATE(year, month, day)` and `DATETIME(year, …, second)`. */
function assembled(kind: Kind, args: readonly Expression[], { at }: Call): Expression {
  const numbers = args.map((arg) => sql`try_cast(${as(arg, 'number', at)} as bigint)`);
  while (kind !== 'date' && numbers.length < 6) numbers.push('0');
  return made(
    kind,
    guarded(args, sql`${kind === 'date' ? 'make_date' : 'make_timestamp'}(${join(numbers, ', ')})`),
    args,
  );
}

const formatted: Function = {
  least: 2,
  most: 3,
  build(args, info) {
    const first = args[0]?.literal !== undefined && args[0].kind === 'text';
    const [format, value] = first ? [args[0], args[1]] : [args[1], args[0]];
    if (!format || !value) throw new Error('BUG: arguments were counted');
    const point = as(value, 'timestamp', info.at);
    const read = args[2] ? local(point, zoneOf(args[2], info)) : point;
    return made('text', sql`strftime(${read}, ${literal(formatOf(format, info.at))})`, [value]);
  },
};

function parsed(kind: 'timestamp' | 'datetime' | 'date'): Function {
  return {
    least: 2,
    most: 3,
    build([format, value], info) {
      if (!format || !value) throw new Error('BUG: arguments were counted');
      const swapped = info.name === 'strptime' || info.name === 'try_strptime';
      const form = formatOf(swapped ? value : format, info.at);
      // A fraction may be absent.
      const forms = [form, form.replace('.%f', '')].map(literal);
      const source = as(swapped ? format : value, 'text', info.at);
      const read = sql`try_strptime(${source}, [${forms.join(', ')}])::timestamp`;
      // `%z` of the engine knows no "Z".
      const zoned = form.includes('%z')
        ? sql`coalesce(${read}, case when ends_with(${source}, 'Z') then try_strptime(replace(${source}, 'Z', '+0000'), [${forms.join(', ')}])::timestamp end)`
        : read;
      return made(kind, kind === 'date' ? sql`${zoned}::date` : zoned, [swapped ? format : value]);
    },
  };
}

function sinceEpoch(unit: 'seconds' | 'millis' | 'micros'): Function {
  const divisor = { seconds: '1000000', millis: '1000', micros: '1' }[unit];
  return simple('number', ['timestamp'], ([point = '']) => sql`(epoch_us(${point}) // ${divisor})`);
}

function fromEpoch(factor: string): Function {
  return {
    least: 1,
    most: 1,
    build(args, { at }) {
      const count = as(args[0] as Expression, 'number', at);
      const micros = sql`try_cast((${count})::double * ${factor} as bigint)`;
      return made('timestamp', guarded(args, sql`make_timestamp(${micros})`), args);
    },
  };
}

const matches: Function = {
  least: 2,
  most: 2,
  build([value, pattern], { at }) {
    if (!value || !pattern) throw new Error('BUG: arguments were counted');
    return made(
      'bool',
      sql`regexp_matches(${as(value, 'text', at)}, ${literal(patternOf(pattern, at))})`,
      [value],
    );
  },
};

const extracted: Function = {
  least: 2,
  most: 3,
  build([value, pattern, group], info) {
    if (!value || !pattern) throw new Error('BUG: arguments were counted');
    const expression = patternOf(pattern, info.at);
    // The engine counts groups, BigQuery takes the one that there is.
    const index =
      group && info.dialect === 'duckdb'
        ? constant(group, 0, 9, info)
        : hasGroup(expression)
          ? 1
          : 0;
    const [source, quoted] = [as(value, 'text', info.at), literal(expression)];
    return made(
      'text',
      sql`case when regexp_matches(${source}, ${quoted}) then regexp_extract(${source}, ${quoted}, ${String(index)}) end`,
      [value],
    );
  },
};

const extractedAll: Function = {
  least: 2,
  most: 2,
  build([value, pattern], info) {
    if (!value || !pattern) throw new Error('BUG: arguments were counted');
    const expression = patternOf(pattern, info.at);
    const found = sql`regexp_extract_all(${as(value, 'text', info.at)}, ${literal(expression)}, ${hasGroup(expression) ? '1' : '0'})`;
    return made('array', found, [value], { element: 'text', ...grown(growthOf(value) * 16, info) });
  },
};

const replacedAll: Function = {
  least: 3,
  most: 4,
  build([value, pattern, replacement], info) {
    if (!value || !pattern || !replacement) throw new Error('BUG: arguments were counted');
    const to = constantText(replacement, info);
    const references = to.match(/\\\d/g)?.length ?? 0;
    const replaced = sql`regexp_replace(${as(value, 'text', info.at)}, ${literal(patternOf(pattern, info.at))}, ${literal(to)}, 'g')`;
    return made(
      'text',
      replaced,
      [value],
      grown(growthOf(value) * (1 + references + to.length), info),
    );
  },
};

const replacedText: Function = {
  least: 3,
  most: 3,
  build([value, from, to], info) {
    if (!value || !from || !to) throw new Error('BUG: arguments were counted');
    const [old, fresh] = [constantText(from, info), constantText(to, info)];
    if (old === '') return made('text', as(value, 'text', info.at), [value]);
    const growth = growthOf(value) * Math.max(1, fresh.length / old.length);
    return made(
      'text',
      sql`replace(${as(value, 'text', info.at)}, ${literal(old)}, ${literal(fresh)})`,
      [value],
      grown(growth, info),
    );
  },
};

const concatenated: Function = {
  least: 1,
  most: 20,
  build(args, info) {
    const growth = args.reduce(
      (sum, arg) => sum + (arg.literal === undefined ? growthOf(arg) : 0),
      0,
    );
    const parts = args.map((arg) => as(arg, 'text', info.at));
    return made('text', sql`(${join(parts, ' || ')})`, args, grown(Math.max(1, growth), info));
  },
};

function padded(name: string): Function {
  return {
    least: 2,
    most: 3,
    build([value, length, fill], info) {
      if (!value || !length) throw new Error('BUG: arguments were counted');
      const count = constant(length, 0, 1000, info);
      const filling = fill ? constantText(fill, info) : ' ';
      if (filling === '') refuse(info.at, 'The filling may not be empty');
      return made(
        'text',
        sql`${name}(${as(value, 'text', info.at)}, ${String(count)}, ${literal(filling)})`,
        [value],
      );
    },
  };
}

const repeated: Function = {
  least: 2,
  most: 2,
  build([value, times], info) {
    if (!value || !times) throw new Error('BUG: arguments were counted');
    const count = constant(times, 0, 100, info);
    return made(
      'text',
      sql`repeat(${as(value, 'text', info.at)}, ${String(count)})`,
      [value],
      grown(growthOf(value) * count, info),
    );
  },
};

/** A count of characters, not negative; NULL for no number. */
function count(value: Expression, at: number | null): Sql {
  return sql`least(greatest(try_cast(${as(value, 'number', at)} as bigint), 0), 1000000000)`;
}

const substring: Function = {
  least: 2,
  most: 3,
  build(args, { at }) {
    const [value, start, length] = args;
    if (!value || !start) throw new Error('BUG: arguments were counted');
    const place = sql`try_cast(${as(start, 'number', at)} as bigint)`;
    // From the first character for 0, too; and from the end for less.
    const from = sql`case when ${place} = 0 then 1 when abs((${place})::double) < 1000000000 then ${place} end`;
    const most = length ? sql`, ${count(length, at)}` : '';
    return made('text', sql`substring(${as(value, 'text', at)}, ${from}${most})`, args);
  },
};

function edge(name: string): Function {
  return {
    least: 2,
    most: 2,
    build(args, { at }) {
      const [value, length] = args;
      if (!value || !length) throw new Error('BUG: arguments were counted');
      return made('text', sql`${name}(${as(value, 'text', at)}, ${count(length, at)})`, args);
    },
  };
}

const trimmed = (name: string) => text(name, ['text', 'text'], 1);

function jsonPath(value: Expression | undefined, info: Call): Step[] {
  const path = value === undefined ? '$' : constantText(value, info);
  const step = /\.([A-Za-z_][\w-]*)|\[(\d{1,6})\]|\.?"((?:[^"\\])*)"|\['([^'\\]*)'\]/y;
  const steps: Step[] = [];
  // The engine's operators also take a bare name.
  if (!path.startsWith('$'))
    return path.startsWith('/')
      ? refuse(info.at, `Expected a path such as '$.a.b', got ${shown(path)}`)
      : [path];
  for (let at = 1; at < path.length; at = step.lastIndex) {
    step.lastIndex = at;
    const [whole, name, place, quoted, bracketed] = step.exec(path) ?? [];
    if (!whole) return refuse(info.at, `Expected a path such as '$.a.b[0]', got ${shown(path)}`);
    steps.push(place === undefined ? (name ?? quoted ?? bracketed ?? '') : Number(place));
  }
  return steps;
}

/** JSON of a value: a text is read as such, where it is JSON. */
function jsonFrom(value: Expression): Expression {
  return value.kind === 'text'
    ? jsonOf(sql`try_cast(${value.sql} as json)`, flags([value]))
    : value;
}

/** A member of JSON as it is stored. Of a record's fields one-element arrays are looked through; of JSON texts nothing is. */
function jsonMember(value: Expression, steps: readonly Step[], at: number | null): Expression {
  if (value.kind === 'json') return steps.length === 0 ? value : within(value, steps);
  if (value.kind !== 'text') return refuse(at, `Expected JSON, got ${nameOf(value.kind)}`);
  const path = literal(
    `$${steps.map((step) => (typeof step === 'number' ? `[${step}]` : `."${step}"`)).join('')}`,
  );
  pathsOf(steps);
  const source = jsonFrom(value).sql;
  return {
    kind: 'json',
    sql: sql`json_extract(${source}, ${path})`,
    text: sql`json_extract_string(${source}, ${path})`,
    ...flags([value]),
  };
}

const jsonValue: Function = {
  least: 1,
  most: 2,
  build([value, path], info) {
    if (!value) throw new Error('BUG: arguments were counted');
    const found = jsonMember(value, jsonPath(path, info), info.at);
    return { kind: 'text', sql: found.text ?? found.sql, ...flags([value]) };
  },
};

const jsonQuery: Function = {
  least: 1,
  most: 2,
  build([value, path], info) {
    if (!value) throw new Error('BUG: arguments were counted');
    const found = jsonMember(value, jsonPath(path, info), info.at);
    return found;
  },
};

const jsonArray: Function = {
  least: 1,
  most: 2,
  build([value, path], info) {
    if (!value) throw new Error('BUG: arguments were counted');
    const found = jsonMember(value, jsonPath(path, info), info.at).sql;
    return made(
      'array',
      sql`case when json_type(${found}) = 'ARRAY' then from_json(${found}, '["JSON"]') end`,
      [value],
      { element: 'json', ...grown(growthOf(value) * 2, info) },
    );
  },
};

const NULLABLE = 'coalesce';

const chosen: Build = (args, { at }) => {
  const { kind, element, values } = alike(args, at);
  return made(kind, sql`${NULLABLE}(${join(values, ', ')})`, args, element ? { element } : {});
};

function extreme(name: string): Function {
  return {
    least: 1,
    most: 20,
    build(args, { at }) {
      const fields =
        args.every(({ kind }) => kind === 'json' || kind === 'number') &&
        args.some(({ kind }) => kind === 'number');
      const { kind, values } = fields
        ? { kind: 'number' as const, values: args.map((arg) => as(arg, 'number', at)) }
        : alike(args, at);
      // BigQuery gives NULL when one of them is; the engine passes over it.
      const nulls = join(
        values.map((value) => sql`${value} is null`),
        ' or ',
      );
      return made(
        kind,
        sql`case when ${nulls} then null else ${name}(${join(values, ', ')}) end`,
        args,
      );
    },
  };
}

function aggregate(kind: Kind, take: Kind, form: (value: Sql) => Sql): Function {
  return {
    least: 1,
    most: 1,
    aggregate: true,
    build([value], { at, distinct }) {
      if (!value) throw new Error('BUG: arguments were counted');
      return made(kind, form(sql`${distinct ? 'distinct ' : ''}${as(value, take, at)}`), [value], {
        aggregate: true,
      });
    },
  };
}

const numeric = (name: string) => aggregate('number', 'number', (value) => sql`${name}(${value})`);

const counted: Function = {
  least: 1,
  most: 1,
  aggregate: true,
  build([value], { at, distinct }) {
    if (!value) throw new Error('BUG: arguments were counted');
    const counted =
      value.kind === 'json'
        ? as(value, 'text', at)
        : value.kind === 'null'
          ? 'null::varchar'
          : value.sql;
    return made('number', sql`count(${distinct ? 'distinct ' : ''}${counted})`, [value], {
      aggregate: true,
    });
  },
};

/** The least or greatest: of fields the number, where there are numbers, else the text. */
function outermost(name: 'min' | 'max'): Function {
  return {
    least: 1,
    most: 1,
    aggregate: true,
    build([value], { at }) {
      if (!value) throw new Error('BUG: arguments were counted');
      const rest = { aggregate: true, ...(value.element ? { element: value.element } : {}) };
      if (value.kind !== 'json')
        return made(
          value.kind,
          sql`${name}(${value.kind === 'null' ? 'null::varchar' : value.sql})`,
          [value],
          rest,
        );
      const [number = '', text = ''] = sortKeys(value, at);
      return made(
        'json',
        sql`coalesce(to_json(${name}(${number})), to_json(${name}(${text})))`,
        [value],
        rest,
      );
    },
  };
}

const anyValue: Function = {
  least: 1,
  most: 1,
  aggregate: true,
  build([value], _info) {
    if (!value) throw new Error('BUG: arguments were counted');
    const rest = { aggregate: true, ...(value.element ? { element: value.element } : {}) };
    return made(
      value.kind,
      sql`any_value(${value.kind === 'null' ? 'null::varchar' : value.sql})`,
      [value],
      rest,
    );
  },
};

const quantiles: Function = {
  least: 2,
  most: 2,
  aggregate: true,
  build([value, count], info) {
    if (!value || !count) throw new Error('BUG: arguments were counted');
    const buckets = constant(count, 1, 1000, info);
    const shares = Array.from({ length: buckets + 1 }, (_, i) => String(i / buckets));
    const kind: Kind = isMoment(value.kind) ? value.kind : 'number';
    return made(
      'array',
      sql`quantile_disc(${as(value, kind, info.at)}, [${shares.join(', ')}])`,
      [value],
      { aggregate: true, element: kind },
    );
  },
};

function quantile(name: string): Function {
  return {
    least: 2,
    most: 2,
    aggregate: true,
    build([value, share], { at, name: called }) {
      if (!value || !share) throw new Error('BUG: arguments were counted');
      const wanted = Number(share.literal);
      if (share.kind !== 'number' || !(wanted >= 0 && wanted <= 1))
        refuse(at, `${called.toUpperCase()} takes a number from 0 to 1 here`);
      return made('number', sql`${name}(${as(value, 'number', at)}, ${String(wanted)})`, [value], {
        aggregate: true,
      });
    },
  };
}

const listed: Function = {
  least: 1,
  most: 1,
  aggregate: true,
  build([value], { distinct, order, at }) {
    if (!value) throw new Error('BUG: arguments were counted');
    if (value.kind === 'array') refuse(at, 'An array of arrays can not be made');
    const item = value.kind === 'null' ? 'null::varchar' : value.sql;
    return made('array', sql`list(${distinct ? 'distinct ' : ''}${item}${order})`, [value], {
      aggregate: true,
      element: value.kind,
      growth: 16,
    });
  },
};

const strung: Function = {
  least: 1,
  most: 2,
  aggregate: true,
  build([value, separator], info) {
    if (!value) throw new Error('BUG: arguments were counted');
    const between = separator ? constantText(separator, info) : ',';
    if (between.length > 100) refuse(info.at, 'A separator may have 100 characters');
    const item = as(value, 'text', info.at);
    return made(
      'text',
      sql`string_agg(${info.distinct ? 'distinct ' : ''}${item}, ${literal(between)}${info.order})`,
      [value],
      { aggregate: true, growth: 16 },
    );
  },
};

const picked = (name: string): Function => ({
  least: 2,
  most: 2,
  aggregate: true,
  build([value, by], { at }) {
    if (!value || !by) throw new Error('BUG: arguments were counted');
    const key = by.kind === 'json' ? as(by, 'text', at) : by.sql;
    return made(
      value.kind,
      sql`${name}(${value.kind === 'null' ? 'null::varchar' : value.sql}, ${key})`,
      [value, by],
      { aggregate: true, ...(value.element ? { element: value.element } : {}) },
    );
  },
});

const structure: Function = {
  least: 1,
  most: 100,
  build(args, { at, names }) {
    const members = args.flatMap((arg, i) => [
      literal(names[i] ?? `_field_${i + 1}`),
      arg.kind === 'null' ? 'null' : as(arg, 'json', at),
    ]);
    return made('json', sql`json_object(${join(members, ', ')})`, args);
  },
};

const array: Function = {
  least: 0,
  most: 1000,
  build(args, { at }) {
    const { kind, values } = alike(args, at);
    if (kind === 'array') refuse(at, 'An array of arrays can not be made');
    return made('array', sql`[${join(values, ', ')}]`, args, { element: kind });
  },
};

const arrayLength: Function = {
  least: 1,
  most: 1,
  build([value], { at }) {
    if (!value) throw new Error('BUG: arguments were counted');
    if (value.kind === 'json')
      return made(
        'number',
        sql`case when json_type(${value.sql}) = 'ARRAY' then json_array_length(${value.sql})::bigint end`,
        [value],
      );
    return value.kind === 'array'
      ? made('number', sql`len(${value.sql})`, [value])
      : refuse(at, `Expected an array, got ${nameOf(value.kind)}`);
  },
};

const arrayText: Function = {
  least: 2,
  most: 3,
  build([value, separator], info) {
    if (!value || !separator) throw new Error('BUG: arguments were counted');
    if (value.kind !== 'array') refuse(info.at, `Expected an array, got ${nameOf(value.kind)}`);
    const between = constantText(separator, info);
    const item = as(
      {
        kind: value.element ?? 'text',
        sql: 'e',
        ...(value.element === 'json' ? { text: "json_extract_string(e, '$')" } : {}),
      },
      'text',
      info.at,
    );
    const texts =
      value.element === 'text' ? value.sql : sql`list_transform(${value.sql}, lambda e: ${item})`;
    return made(
      'text',
      sql`array_to_string(${texts}, ${literal(between)})`,
      [value],
      grown(growthOf(value) * (1 + between.length), info),
    );
  },
};

const length: Function = {
  least: 1,
  most: 1,
  build: (args, info) =>
    args[0]?.kind === 'array'
      ? arrayLength.build(args, info)
      : made('number', sql`length(${as(args[0] as Expression, 'text', info.at)})`, args),
};

/** A negative number has no power that is no whole number, as a real number. */
const power = over(
  (a, b) => sql`(case when ${a} >= 0 or ${b} = trunc(${b}) then pow(${a}, ${b}) end)`,
);

const nullIf: Function = {
  least: 2,
  most: 2,
  build(args, { at }) {
    const [value, other] = args;
    if (!value || !other) throw new Error('BUG: arguments were counted');
    const [left, right] = comparable(value, other, at);
    return made(
      value.kind,
      sql`case when ${left} = ${right} then null else ${value.kind === 'null' ? 'null' : value.sql} end`,
      args,
      value.element ? { element: value.element } : {},
    );
  },
};

const present = (kind: Kind, form: Sql): Function => ({
  least: 0,
  most: 1,
  build: () => made(kind, form, []),
});

/**
 * Every function that the SQL of a caller may name, by the name that the parser gives it. Total ones only: none fails
 * on a value, and none gives a text that is much longer than those it is given.
 */
const FUNCTIONS: Readonly<Record<string, Function>> = {
  lower: text('lower'),
  upper: text('upper'),
  reverse: text('reverse'),
  initcap: simple(
    'text',
    ['text'],
    ([value = '']) => sql`(upper(left(${value}, 1)) || lower(substring(${value}, 2)))`,
  ),
  trim: trimmed('trim'),
  ltrim: trimmed('ltrim'),
  rtrim: trimmed('rtrim'),
  left: edge('left'),
  right: edge('right'),
  substr: substring,
  substring,
  length,
  len: length,
  char_length: length,
  character_length: length,
  byte_length: simple('number', ['text'], call('strlen')),
  octet_length: simple('number', ['text'], call('strlen')),
  strlen: simple('number', ['text'], call('strlen')),
  starts_with: simple('bool', ['text', 'text'], call('starts_with')),
  prefix: simple('bool', ['text', 'text'], call('starts_with')),
  ends_with: simple('bool', ['text', 'text'], call('ends_with')),
  suffix: simple('bool', ['text', 'text'], call('ends_with')),
  contains: simple('bool', ['text', 'text'], call('contains')),
  contains_substr: simple(
    'bool',
    ['text', 'text'],
    ([value = '', part = '']) => sql`contains(lower(${value}), lower(${part}))`,
  ),
  strpos: simple('number', ['text', 'text'], call('strpos')),
  instr: simple('number', ['text', 'text'], call('strpos')),
  position: simple('number', ['text', 'text'], call('strpos')),
  concat: concatenated,
  '||': concatenated,
  replace: replacedText,
  lpad: padded('lpad'),
  rpad: padded('rpad'),
  repeat: repeated,
  split: {
    least: 1,
    most: 2,
    build([value, by], info) {
      if (!value) throw new Error('BUG: arguments were counted');
      const separator = by ? constantText(by, info) : ',';
      return made(
        'array',
        sql`string_split(${as(value, 'text', info.at)}, ${literal(separator)})`,
        [value],
        { element: 'text', ...grown(growthOf(value) * 16, info) },
      );
    },
  },
  regexp_contains: matches,
  regexp_matches: matches,
  regexp_extract: extracted,
  regexp_substr: extracted,
  regexp_extract_all: extractedAll,
  regexp_replace: replacedAll,
  json_value: jsonValue,
  json_extract_scalar: jsonValue,
  json_extract_string: jsonValue,
  '->>': jsonValue,
  json_query: jsonQuery,
  json_extract: jsonQuery,
  '->': jsonQuery,
  json_query_array: jsonArray,
  json_extract_array: jsonArray,
  json_value_array: jsonArray,
  json_extract_string_array: jsonArray,
  json_array_length: arrayLength,
  parse_json: {
    least: 1,
    most: 1,
    build: ([value], { at }) =>
      value?.kind === 'json'
        ? value
        : jsonFrom({
            kind: 'text',
            sql: as(value as Expression, 'text', at),
            ...flags([value as Expression]),
          }),
  },
  to_json: {
    least: 1,
    most: 1,
    build: (args, { at }) => made('json', as(args[0] as Expression, 'json', at), args),
  },
  to_json_string: {
    least: 1,
    most: 2,
    build: (args, info) =>
      made(
        'text',
        sql`(${as(args[0] as Expression, 'json', info.at)})::varchar`,
        args.slice(0, 1),
        grown(growthOf(args[0]) * 2, info),
      ),
  },
  struct_pack: structure,
  row: structure,
  list_value: array,
  array,
  array_length: arrayLength,
  array_to_string: arrayText,
  array_reverse: {
    least: 1,
    most: 1,
    build: ([value], { at }) =>
      value?.kind === 'array'
        ? made('array', sql`list_reverse(${value.sql})`, [value], {
            element: value.element ?? 'null',
          })
        : refuse(at, 'Expected an array'),
  },

  abs: number('abs'),
  sign: number('sign'),
  ceil: number('ceil'),
  ceiling: number('ceil'),
  floor: number('floor'),
  sqrt: number('sqrt', (value) => sql`${value} >= 0`),
  exp: number('exp'),
  ln: number('ln', (value) => sql`${value} > 0`),
  log10: number('log10', (value) => sql`${value} > 0`),
  trunc: number('trunc'),
  round: {
    least: 1,
    most: 2,
    build(args, info) {
      const digits = args[1] ? `, ${constant(args[1], -15, 15, info)}` : '';
      return made(
        'number',
        sql`round((${as(args[0] as Expression, 'number', info.at)})::double${digits})`,
        args,
      );
    },
  },
  pow: power,
  power,
  log: simple(
    'number',
    ['number', 'number'],
    ([value = '', base = '2.718281828459045']) =>
      sql`(case when (${value})::double > 0 and (${base})::double > 0 then ln((${value})::double) / nullif(ln((${base})::double), 0) end)`,
    1,
  ),
  mod: over((a, b) => sql`(${a} % ${b})`),
  div: over((a, b) => sql`(trunc(${a} / ${b}))`),
  safe_divide: over((a, b) => sql`(${a} / ${b})`),
  ieee_divide: over((a, b) => sql`(${a} / ${b})`),
  safe_add: over((a, b) => sql`(${a} + ${b})`),
  safe_subtract: over((a, b) => sql`(${a} - ${b})`),
  safe_multiply: over((a, b) => sql`(${a} * ${b})`),
  safe_negate: number('-'),
  greatest: extreme('greatest'),
  least: extreme('least'),
  is_nan: simple('bool', ['number'], ([value = '']) => sql`isnan(${value}::double)`),
  is_inf: simple('bool', ['number'], ([value = '']) => sql`isinf(${value}::double)`),

  nullif: nullIf,
  coalesce: { least: 1, most: 100, build: chosen },
  ifnull: { least: 2, most: 2, build: chosen },

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
  timezone: {
    least: 2,
    most: 2,
    build([zone, value], info) {
      if (!zone || !value) throw new Error('BUG: arguments were counted');
      return made('datetime', local(as(value, 'timestamp', info.at), zoneOf(zone, info)), [value]);
    },
  },

  count: counted,
  count_star: {
    least: 0,
    most: 0,
    aggregate: true,
    build: () => made('number', 'count(*)', [], { aggregate: true }),
  },
  countif: aggregate('number', 'bool', (value) => sql`count_if(${value})`),
  count_if: aggregate('number', 'bool', (value) => sql`count_if(${value})`),
  sum: numeric('sum'),
  avg: numeric('avg'),
  mean: numeric('avg'),
  stddev: numeric('stddev_samp'),
  stddev_samp: numeric('stddev_samp'),
  stddev_pop: numeric('stddev_pop'),
  variance: numeric('var_samp'),
  var_samp: numeric('var_samp'),
  var_pop: numeric('var_pop'),
  median: numeric('median'),
  min: outermost('min'),
  max: outermost('max'),
  any_value: anyValue,
  first: anyValue,
  logical_and: aggregate('bool', 'bool', (value) => sql`bool_and(${value})`),
  bool_and: aggregate('bool', 'bool', (value) => sql`bool_and(${value})`),
  logical_or: aggregate('bool', 'bool', (value) => sql`bool_or(${value})`),
  bool_or: aggregate('bool', 'bool', (value) => sql`bool_or(${value})`),
  approx_count_distinct: {
    least: 1,
    most: 1,
    aggregate: true,
    build: ([value], { at }) =>
      made(
        'number',
        sql`approx_count_distinct(${value?.kind === 'json' ? as(value, 'text', at) : (value as Expression).sql})`,
        [value as Expression],
        { aggregate: true },
      ),
  },
  approx_quantiles: quantiles,
  quantile_cont: quantile('quantile_cont'),
  quantile_disc: quantile('quantile_disc'),
  approx_quantile: quantile('quantile_cont'),
  percentile_cont: quantile('quantile_cont'),
  percentile_disc: quantile('quantile_disc'),
  array_agg: listed,
  list: listed,
  string_agg: strung,
  group_concat: strung,
  listagg: strung,
  max_by: picked('arg_max'),
  min_by: picked('arg_min'),
  arg_max: picked('arg_max'),
  arg_min: picked('arg_min'),
};

/** The function of this name; undefined when callers may not name it. */
export function functionOf(name: string): Function | undefined {
  return Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
}

export const FUNCTION_NAMES: readonly string[] = Object.keys(FUNCTIONS);
