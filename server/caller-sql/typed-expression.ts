import type { Bounds } from '../records/bounds.ts';
import type { Path } from '../records/shapes.ts';
import { attributesText } from './attributes.ts';
import { reject, shown } from './error.ts';
import { found, type Step, withoutNull } from './json-paths.ts';
import type { Dialect } from './parse/lexer.ts';
import { literal, type Sql, sql } from './sql-fragment.ts';

/**
 * What an expression gives. `json`: a value of a record, of any JSON type, which its use decides; `timestamp`: a moment,
 * `datetime`: a date and time of day without a zone, both TIMESTAMP in the engine; `map`: a record whose values are asked for by dotted
 * names, as JSON (attributes.ts); `null`: NULL without a type.
 */
export type Kind =
  | 'text'
  | 'number'
  | 'bool'
  | 'timestamp'
  | 'datetime'
  | 'date'
  | 'time'
  | 'interval'
  | 'json'
  | 'array'
  | 'map'
  | 'null';

/**
 * A checked expression of the caller's. Every one is total: whatever values it meets, it gives NULL rather than an error,
 * so that no row, and none that the caller may not see, can make a query fail.
 */
export interface Expression {
  readonly kind: Kind;
  /**
   * In the engine: VARCHAR, a number, BOOLEAN, TIMESTAMP, DATE, TIME, INTERVAL, JSON, a list. For a record's field it is made when it is
   * asked for, and then costs more than `text`: do not take it, nor copy the expression, without need.
   */
  readonly sql: Sql;
  /** The kind of an array's elements. */
  readonly element?: Kind;
  /** Gives an element of an array, counted from 0, where that costs less than the array; undefined where none is known. */
  readonly elementAt?: (index: number) => Sql | undefined;
  /** The text of JSON: strings without their quotes, other values as their JSON text, NULL for JSON's null. */
  readonly text?: Sql;
  /** The number that the text of JSON from a record is, NULL for other texts. */
  readonly number?: Sql;
  /** Gives members of JSON that is a member itself, by all the steps to them. */
  readonly member?: (steps: readonly Step[]) => Expression;
  /** The value of a literal. */
  readonly literal?: string;
  /** How many times longer than a stored text a text in it may be. */
  readonly maxExpansion?: number;
  readonly aggregate?: boolean;
  readonly window?: boolean;
  /** Whether it may be NULL where no column is: in ClickHouse a sum of such values is NULL without any, and of others 0. */
  readonly nullable?: boolean;
  /** Whether a subquery stands in it. */
  readonly nested?: boolean;
  /** Whether a column of the query that it stands in is in it, and whether one of a query farther out is. */
  readonly own?: boolean;
  readonly outer?: boolean;
  /** The column of a view that it is. */
  readonly column?: ColumnOf;
  /** The JSON column of a view that it is a member of, at any depth. */
  readonly memberOf?: ColumnOf;
  /** The names that lead to it there, where nothing else does. */
  readonly path?: Path;
  /** Texts that stand in columns of views where a condition holds, in whatever letter case. */
  readonly texts?: readonly TextIn[];
  /** What members of views' JSON columns are where a condition holds. */
  readonly bounds?: Bounds<ColumnOf> | undefined;
  /** The count of an interval, where it is a literal. */
  readonly span?: { readonly unit: string; readonly count: number };
  /** The map that has a list of names. */
  readonly namesOf?: Sql;
  /** The values that a column has where a condition holds. */
  readonly oneOf?: OneOf;
}

export interface OneOf {
  readonly column: ColumnOf;
  readonly values: readonly string[];
}

/** What a column is where all of these hold, or one of them; null where that is not known. */
export function oneOfAll(parts: readonly Expression[], isAnd: boolean): OneOf | null {
  const known = parts.flatMap(({ oneOf }) => oneOf ?? []);
  const [first] = known;
  const isSame = (other: OneOf) =>
    other.column.relation === first?.column.relation && other.column.name === first.column.name;
  if (!first) return null;
  const same = known.filter(isSame);
  if (isAnd)
    return {
      column: first.column,
      values: first.values.filter((value) => same.every(({ values }) => values.includes(value))),
    };
  return same.length === parts.length
    ? { column: first.column, values: same.flatMap(({ values }) => values) }
    : null;
}

export interface ColumnOf {
  readonly relation: object;
  readonly name: string;
}

export interface TextIn {
  readonly column: ColumnOf;
  readonly text: string;
  /** Whether it stands in a string of the column's JSON, which may be written with escapes. */
  readonly escaped: boolean;
}

/** Returns what stands in a column of a view where `value` has all of `texts` in it; nothing where it is not read from one. */
export function textsHeldBy(
  { column, memberOf }: Expression,
  texts: readonly string[],
): readonly TextIn[] {
  if (column) return texts.map((text) => ({ column, text, escaped: false }));
  if (!memberOf) return [];
  return texts.flatMap(stringPieces).map((text) => ({ column: memberOf, text, escaped: true }));
}

/**
 * The pieces of a text that stand within one string of any JSON whose text has it: a record's is written anew, and a number may be
 * written as 1e9.
 */
function stringPieces(text: string): string[] {
  const pieces = text.split(/[{}[\]:,"\\\p{Cc}]+/u);
  return pieces.filter((piece) => /[^-+.\de]/i.test(piece.replaceAll(/infinity|nan/gi, '')));
}

/** NULL. The engine has functions of one name for several types, and would not know which of them is meant. */
export const NULL: Expression = { kind: 'null', sql: 'null::varchar', nullable: true };

/** What NULL is as a value of each kind. An array's is that of its elements, which whoever asks for one says. */
const NULLS: Readonly<Record<Kind, string>> = {
  text: 'null::varchar',
  number: 'null::bigint',
  bool: 'null::boolean',
  timestamp: 'null::timestamp',
  datetime: 'null::timestamp',
  date: 'null::date',
  time: 'null::time',
  interval: 'null::interval',
  json: 'null::json',
  map: 'null::json',
  array: 'null',
  null: NULL.sql as string,
};

/** Texts may grow this much within a query: functions that put texts together are not bounded by the memory limit. */
export const MAX_EXPANSION = 32;

/** A JSON value as an expression. */
export function jsonOf(value: Sql, rest: Partial<Expression> = {}): Expression {
  return { kind: 'json', sql: value, text: sql`json_extract_string(${value}, '$')`, ...rest };
}

/** What a column holds, read at `place`. */
export function readFrom(
  { kind, element, maxExpansion }: Pick<Expression, 'kind' | 'element' | 'maxExpansion'>,
  place: string,
  rest: Partial<Expression> = {},
): Expression {
  if (kind === 'null') return NULL;
  const whole = { maxExpansion: maxExpansion ?? 1, ...(element ? { element } : {}), ...rest };
  return kind === 'json' ? jsonOf(place, whole) : { kind, sql: place, ...whole };
}

/** A value within a JSON value, which may be an element that was taken out of a list (`found`). */
export function within(value: Expression, steps: readonly Step[], isElement = false): Expression {
  if (value.member) return value.member(steps);
  const column = value.column ?? value.memberOf;
  const start = isElement ? { place: [] } : {};
  return {
    kind: 'json',
    sql: withoutNull(found('json_extract', value.sql, steps, start)),
    text: found('json_extract_string', value.sql, steps, start),
    member: (more) => within(value, [...steps, ...more], isElement),
    ...flags([value]),
    ...(column ? { memberOf: column } : {}),
  };
}

/** What holds of an expression because it holds of a part of it. */
export function flags(
  parts: readonly Expression[],
): Pick<
  Expression,
  'aggregate' | 'window' | 'nullable' | 'nested' | 'own' | 'outer' | 'maxExpansion'
> {
  return {
    nullable: parts.some(({ nullable }) => nullable),
    aggregate: parts.some(({ aggregate }) => aggregate),
    window: parts.some(({ window }) => window),
    nested: parts.some(({ nested }) => nested),
    own: parts.some(({ own }) => own),
    outer: parts.some(({ outer }) => outer),
    maxExpansion: Math.max(1, ...parts.map(({ maxExpansion }) => maxExpansion ?? 1)),
  };
}

const NAMES: Readonly<Record<Kind, string>> = {
  text: 'a string',
  number: 'a number',
  bool: 'a condition',
  timestamp: 'a timestamp',
  datetime: 'a datetime',
  date: 'a date',
  time: 'a time of day',
  interval: 'an interval',
  json: 'a value',
  array: 'an array',
  map: 'a map',
  null: 'NULL',
};

export function nameOf(kind: Kind): string {
  return NAMES[kind];
}

const MOMENT =
  /^\s*\d{4}-\d{1,2}-\d{1,2}(?:[Tt ]+\d{1,2}:\d{1,2}(?::\d{1,2}(?:\.\d{1,9})?)?)?\s*(?:Z|z|UTC|[+-]\d{1,2}(?::?\d{2})?)?\s*$/;
const DIGITS = /^\s*(\d+)-(\d+)-(\d+)(?:[Tt ]+(\d+):(\d+)(?::(\d+))?)?/;
/** Tells whether there is a day of this date, and such a time of day. Expects a MOMENT. */
function isOnCalendar(text: string): boolean {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = (DIGITS.exec(text) ?? [])
    .slice(1)
    .map((part) => Number(part ?? 0));
  const days = new Date(Date.UTC(2000, month, 0)).setUTCFullYear(year, month, 0);
  const isDay = month >= 1 && month <= 12 && day >= 1 && day <= new Date(days).getUTCDate();
  const isMidnight = hour === 24 && minute === 0 && second === 0;
  return isDay && (hour < 24 || isMidnight) && minute < 60 && second < 60;
}
const MOMENTS: readonly Kind[] = ['timestamp', 'datetime', 'date'];

/** Whether the kind is a point in time. */
export function isMoment(kind: Kind): boolean {
  return MOMENTS.includes(kind);
}

/**
 * Returns the value as one of the kind `to`, NULL if it cannot be read as one. Throws SqlRefused if no value of its kind can be, or
 * if a literal cannot.
 */
export function as(value: Expression, to: Kind, at: number | null): Sql {
  const { kind } = value;
  if (kind === 'null') return NULLS[to];
  if (kind === to) return value.sql;
  if (to === 'number' && value.number) return value.number;
  const text = kind === 'json' ? (value.text ?? value.sql) : value.sql;
  const readable = kind === 'json' || kind === 'text';
  switch (to) {
    case 'text':
      return textOf(value, at);
    case 'json':
      return jsonText(value, at);
    case 'number':
      if (kind === 'text' && value.literal !== undefined && Number.isNaN(Number(value.literal)))
        reject(at, `Expected a number, got the string ${shown(value.literal)}`);
      if (readable || kind === 'bool') return sql`try_cast(${text} as double)`;
      break;
    case 'bool':
      if (readable)
        return sql`(case lower(${text}) when 'true' then true when 'false' then false end)`;
      if (kind === 'number') return sql`(${value.sql} <> 0)`;
      break;
    case 'timestamp':
    case 'datetime':
      if (readable) return momentOf(value, text, at);
      if (isMoment(kind)) return sql`try_cast(${value.sql} as timestamp)`;
      break;
    case 'date':
      if (readable) return sql`try_cast(${momentOf(value, text, at)} as date)`;
      if (isMoment(kind)) return sql`try_cast(${value.sql} as date)`;
      break;
    case 'time':
      if (readable) return sql`try_cast(${text} as time)`;
      if (kind === 'timestamp' || kind === 'datetime') return sql`try_cast(${value.sql} as time)`;
      break;
  }
  return reject(at, `Expected ${NAMES[to]}, got ${NAMES[kind]}`);
}

function momentOf(value: Expression, text: Sql, at: number | null): Sql {
  if (value.literal !== undefined && !MOMENT.test(value.literal))
    reject(at, `Expected a timestamp such as '2026-11-20T14:00:00Z', got ${shown(value.literal)}`);
  if (value.literal !== undefined && !isOnCalendar(value.literal))
    reject(at, `There is no such moment: ${shown(value.literal)}`);
  const moment = sql`try_cast(try_cast(${text} as timestamptz) as timestamp)`;
  if (value.literal !== undefined) return moment;
  // Near the ends of the engine's range a zone is beyond it, and the cast an error for all that it is tried.
  return sql`(case when regexp_matches(${text}, '^\\s*\\d{4}-\\d') then ${moment} end)`;
}

function textOf(value: Expression, at: number | null): Sql {
  switch (value.kind) {
    case 'json':
      return value.text ?? value.sql;
    case 'timestamp':
      // `||` forgets that a NULL is a text where the NULL is known beforehand.
      return sql`(${fraction(value.sql, '%Y-%m-%d %H:%M:%S')} || '+00')::varchar`;
    case 'datetime':
      return fraction(value.sql, '%Y-%m-%d %H:%M:%S');
    case 'array':
      return reject(at, 'Expected a string, got an array; ARRAY_TO_STRING makes one of it');
    case 'map':
      return attributesText(value.sql);
    default:
      return sql`(${value.sql})::varchar`;
  }
}

/** A moment in this form, with its microseconds where there are any. */
function fraction(value: Sql, form: string): Sql {
  return sql`(case when epoch_us(${value}) % 1000000 = 0 then strftime(${value}, '${form}') else strftime(${value}, '${form}.%f') end)`;
}

/** The value as JSON, moments as an answer gives them. */
function jsonText(value: Expression, at: number | null): Sql {
  return value.kind === 'array'
    ? sql`to_json(${shownArray(value, at)})`
    : sql`to_json(${shownOf(value, at)})`;
}

/**
 * The value as an answer shows it: timestamps as microseconds since the epoch, datetimes as ISO 8601. To clients of ClickHouse timestamps
 * are ISO 8601 as well, always with microseconds, and conditions are 1 and 0.
 */
export function shownOf(value: Expression, at: number | null, dialect: Dialect = 'bigquery'): Sql {
  if (dialect === 'clickhouse') {
    if (value.kind === 'timestamp') return sql`strftime(${value.sql}, '%Y-%m-%dT%H:%M:%S.%f')`;
    if (value.kind === 'bool' && value.sql !== 'true' && value.sql !== 'false')
      return sql`(${value.sql})::tinyint`;
    if (value.kind === 'array') return shownArray(value, at, dialect);
  }
  switch (value.kind) {
    case 'timestamp':
      return sql`epoch_us(${value.sql})`;
    case 'datetime':
      return fraction(value.sql, '%Y-%m-%dT%H:%M:%S');
    case 'date':
    case 'time':
    case 'interval':
      return sql`(${value.sql})::varchar`;
    // Whoever writes the answer takes it apart.
    case 'map':
      return value.sql;
    case 'array':
      return value.element === 'json' ? sql`to_json(${value.sql})` : shownArray(value, at);
    default:
      return value.sql;
  }
}

function shownArray(value: Expression, at: number | null, dialect: Dialect = 'bigquery'): Sql {
  const element = value.element ?? 'null';
  if (element === 'number' || element === 'text' || element === 'bool' || element === 'json')
    return value.sql;
  return sql`list_transform(${value.sql}, lambda e: ${shownOf({ kind: element, sql: 'e' }, at, dialect)})`;
}

/** A constant string, as an expression. */
export function textLiteral(value: string): Expression {
  return { kind: 'text', sql: literal(value), literal: value };
}

/** Values as one kind, for CASE, COALESCE, IF, arrays and set operations. */
export function alike(
  values: readonly Expression[],
  at: number | null,
): { kind: Kind; element?: Kind; values: Sql[] } {
  const kinds = [...new Set(values.map(({ kind }) => kind).filter((kind) => kind !== 'null'))];
  const kind = common(kinds);
  const elements = [...new Set(values.flatMap(({ element }) => (element ? [element] : [])))];
  if (kind === 'array' && elements.length > 1) reject(at, 'Expected arrays of one kind');
  return {
    kind,
    ...(kind === 'array' ? { element: elements[0] ?? 'null' } : {}),
    values: values.map((value) => as(value, kind, at)),
  };
}

function common(kinds: readonly Kind[]): Kind {
  const [first = 'null'] = kinds;
  if (kinds.length <= 1) return first;
  // A literal beside fields: what comes of it is of the literal's kind; of several such, JSON holds them all.
  const firm = kinds.filter((kind) => kind !== 'json');
  if (firm.length === 1) return firm[0] === 'text' ? 'text' : 'json';
  if (firm.every(isMoment)) return firm.includes('timestamp') ? 'timestamp' : 'datetime';
  return 'json';
}

/** Two values as they can be compared. */
export function comparable(left: Expression, right: Expression, at: number | null): [Sql, Sql] {
  if (left.kind === 'array' && right.kind === 'array' && left.element !== right.element)
    reject(at, 'Arrays of different kinds cannot be compared');
  const kind = comparedAs(left.kind, right.kind, at);
  return [as(left, kind, at), as(right, kind, at)];
}

function comparedAs(left: Kind, right: Kind, at: number | null): Kind {
  if (left === 'json' && right === 'json') return 'text';
  if (left === right) return left;
  if (left === 'null' || right === 'null') {
    const other = left === 'null' ? right : left;
    return other === 'json' ? 'text' : other;
  }
  const [a, b] = left === 'json' ? [right, left] : [left, right];
  if (b === 'json' && a !== 'array' && a !== 'interval') return a;
  if (isMoment(a) && isMoment(b)) return [a, b].includes('timestamp') ? 'timestamp' : 'datetime';
  if (isMoment(a) && b === 'text') return a;
  if (isMoment(b) && a === 'text') return b;
  if ((a === 'number' && b === 'text') || (a === 'text' && b === 'number')) return 'number';
  // Conditions are 1 and 0.
  if ((a === 'number' && b === 'bool') || (a === 'bool' && b === 'number')) return 'number';
  if ((a === 'bool' && b === 'text') || (a === 'text' && b === 'bool')) return 'bool';
  if ((a === 'time' && b === 'text') || (a === 'text' && b === 'time')) return 'time';
  return reject(
    at,
    `${NAMES[left]} cannot be compared with ${NAMES[right]}`.replace(/^./, (c) => c.toUpperCase()),
  );
}

/** What sorts values: of fields numbers by their size, before all texts. */
export function sortKeys(value: Expression, at: number | null): Sql[] {
  if (value.kind === 'json') {
    const json = sql`(${value.sql})::varchar`;
    // A text of digits is a text.
    const number = sql`case when not starts_with(${json}, '"') then try_cast(${json} as double) end`;
    return [number, as(value, 'text', at)];
  }
  if (value.kind === 'array') reject(at, 'ORDER BY takes no array');
  return [value.sql];
}

/** The bytes that a value takes in an answer, about. */
export function sizeOf(value: Sql, kind: Kind): Sql | null {
  if (kind === 'text') return sql`coalesce(strlen(${value}), 0)`;
  if (kind === 'json' || kind === 'array' || kind === 'map')
    return sql`coalesce(strlen((${value})::varchar), 0)`;
  return null;
}
