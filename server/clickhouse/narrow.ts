import type { Bounds } from '../records/bounds.ts';
import type { Shape } from '../records/shapes.ts';
import { as, isUnreadable, isVerbatimNumber, named, quoted } from './expressions.ts';

/** The parts of rows that are asked for, where that is less than all of them. */
export interface Narrow {
  /** Columns of the table. */
  readonly columns: ReadonlySet<string>;
  /** The members of `metadata` that are asked for; null: all of it. */
  readonly members: Shape<null> | null;
  /** Where columns hold all of these members, of rows that such were filled for: nothing else of `metadata` is given of those. */
  readonly filled: Filled | null;
  /** What stands in columns of each row, in whatever letter case: others may be left out. */
  readonly texts: readonly { readonly column: string; readonly text: string }[];
  /** What members of `metadata` are in each row, by the columns of `filled`: others may be left out. */
  readonly bounds: Bounds<string> | undefined;
  /** Gives one row for all that are the same, with their number; null: each by itself. */
  readonly counted: Counted | null;
}

/** Columns of members. */
export interface Filled {
  /** Names the members that columns were filled for. */
  readonly set: string;
  /** The least `member_state` of a row whose columns are filled. */
  readonly from: bigint;
  readonly columns: readonly string[];
}

/** What of two timestamps must be the same where one row is given for both. */
export interface Counted {
  readonly unit: 'second' | 'minute' | 'hour' | 'day' | null;
  /** Each lies before, at or behind these, µs since the epoch. */
  readonly moments: readonly bigint[];
}

const MICROS = {
  second: 1_000_000n,
  minute: 60_000_000n,
  hour: 3_600_000_000n,
  day: 86_400_000_000n,
};
/** A hundred years: what is added to a moment so that a division rounds down before 1970, too. */
const ORIGIN = 36_525n * MICROS.day;

/** A SELECT of rows, each column called `c_…`. */
export interface NarrowSelect {
  readonly list: string;
  /** What holds of the rows, beside what they are asked by; with the parameters `values`. */
  readonly condition: string;
  readonly values: Readonly<Record<string, string>>;
  /** The SELECT of its rows, called `t`, that gives one for all that are the same, where `c_times` tells how many. */
  readonly counts: { readonly list: string; readonly groups: string } | null;
}

/** The SELECTs that give each row once: where columns hold the members, one of those that have them filled, and one of the others. */
export function narrowSelects(narrow: Narrow): NarrowSelect[] {
  const { columns, members, filled, bounds } = narrow;
  const own = [...columns].filter((name) => name !== 'metadata');
  const metadata = columns.has('metadata') ? [members ? cutTo(members) : 'metadata'] : [];
  const values = own.map((name): Value => [name, name]);
  const all: Value[] = [...values, ...metadata.map((value): Value => ['metadata', value])];
  if (!filled) return [oneSelect(narrow, all, '', texts(narrow, 'metadata'))];
  const isFilled = isFilledBy(filled);
  const none = `cast(null, 'Nullable(String)')`;
  const ofMembers = (state: string, value: (column: string) => string): Value[] => [
    ['member_state', state],
    ...filled.columns.map((column): Value => [column, value(named(column))]),
  ];
  const byColumns = [
    ...values,
    ...ofMembers('member_state', (column) => column),
    ['metadata', none] as const,
  ];
  const byJson = [...values, ...ofMembers('toUInt64(0)', () => none), ...all.slice(-1)];
  return [
    oneSelect(
      narrow,
      byColumns,
      ` and ${isFilled}${bounds ? ` and ${within(bounds)}` : ''}`,
      texts(narrow, textOf(filled)),
    ),
    oneSelect(narrow, byJson, ` and not ${isFilled}`, texts(narrow, 'metadata')),
  ];
}

/** The condition on rows that leaves out those which `narrow` does not ask for, as far as columns tell; it takes the parameters `values`. */
export function narrowCondition(narrow: Narrow): Pick<NarrowSelect, 'condition' | 'values'> {
  const { filled, bounds } = narrow;
  if (!filled) return { condition: '', values: {} };
  const { condition, values } = texts(narrow, textOf(filled));
  const isWanted = `${bounds ? within(bounds) : 'true'}${condition}`;
  return { condition: ` and (not ${isFilledBy(filled)} or ${isWanted})`, values };
}

function isFilledBy({ set, from }: Filled): string {
  return `(member_set = ${quoted(set)} and member_state >= ${from})`;
}

/** Each text that is sought in metadata stands in one of the members that are read. */
function textOf({ columns }: Filled): string {
  return concatenated(columns.map(named));
}

/** ClickHouse does not read each number to its last digit. */
const MARGIN = 1e-9;

/** Whether columns of members, which hold JSON, are within bounds; true where another value than a plain number or text may be. */
function within(bounds: Bounds<string>): string {
  if ('all' in bounds) return `(${bounds.all.map(within).join(' and ')})`;
  if ('any' in bounds) return `(${bounds.any.map(within).join(' or ')})`;
  const column = named(bounds.of);
  if ('texts' in bounds) {
    const wanted = bounds.texts.map((text) => quoted(JSON.stringify(text))).join(', ');
    const isOther = `not startsWith(${column}, '"') or position(${column}, '\\\\') > 0`;
    return `(${column} is not null and (${column} in (${wanted}) or ${isOther}))`;
  }
  const wide = (bound: number, sign: number) =>
    bound + sign * MARGIN * Math.max(1, Math.abs(bound));
  const number = `toFloat64OrNull(${column})`;
  const tests = [
    ...(bounds.least === Number.NEGATIVE_INFINITY
      ? []
      : [`${number} >= ${wide(bounds.least, -1)}`]),
    ...(bounds.most === Number.POSITIVE_INFINITY ? [] : [`${number} <= ${wide(bounds.most, 1)}`]),
  ];
  return `(${column} is not null and coalesce(${tests.join(' and ')}, true))`;
}

/** A column, and what gives it. */
type Value = readonly [name: string, value: string];

function oneSelect(
  { counted }: Pick<Narrow, 'counted'>,
  columns: readonly Value[],
  condition: string,
  sought: Pick<NarrowSelect, 'condition' | 'values'>,
): NarrowSelect {
  const conditions = { condition: condition + sought.condition, values: sought.values };
  const list = columns.map(([column, value]) => `${value} as ${named(`c_${column}`)}`).join(', ');
  return { list, counts: counted && countsOf(counted, columns), ...conditions };
}

/** One row for all of a `list` that are the same, by the names that it gives its columns. */
function countsOf({ unit, moments }: Counted, columns: readonly Value[]): NarrowSelect['counts'] {
  const isMoment = (column: string) => column === 'timestamp';
  const list = columns.map(([column]) => {
    const own = named(`c_${column}`);
    return isMoment(column) ? `any(t.${own}) as ${own}` : `t.${own} as ${own}`;
  });
  const keys = columns.flatMap(([column]) =>
    isMoment(column) ? [] : [`t.${named(`c_${column}`)}`],
  );
  const micros = 'toUnixTimestamp64Micro(t.c_timestamp)';
  if (columns.some(([column]) => isMoment(column)))
    keys.push(
      ...(unit === null ? [] : [`intDiv(${micros} + ${ORIGIN}, ${MICROS[unit]})`]),
      ...moments.map((moment) => `sign(${micros} - (${moment}))`),
    );
  return {
    list: [...list, 'count() as c_times'].join(', '),
    groups: keys.length === 0 ? "''" : keys.join(', '),
  };
}

function concatenated(values: readonly string[]): string {
  return `concat('', ${values.map((value) => `coalesce(${value}, '')`).join(", '\\0', ") || "''"})`;
}

/** The condition that leaves out rows without the texts. Not all of them: those with escapes or other letters stay. */
function texts(
  { texts }: Pick<Narrow, 'texts'>,
  metadata: string,
): Pick<NarrowSelect, 'condition' | 'values'> {
  // Letters of other alphabets have cases of their own.
  const plain = texts.filter(({ text }) => /^[\x20-\x7e]+$/.test(text));
  const tests = plain.map(({ column }, i) => {
    const isMetadata = column === 'metadata';
    const value = `coalesce(${isMetadata ? metadata : column}, '')`;
    const escapes = isMetadata ? ` or position(${value}, '\\\\') > 0` : '';
    return ` and (positionCaseInsensitive(${value}, {text${i}:String}) > 0 or lengthUTF8(${value}) < length(${value})${escapes})`;
  });
  return {
    condition: tests.join(''),
    values: Object.fromEntries(plain.map(({ text }, i) => [`text${i}`, text])),
  };
}

/** Stands in a cut record for a value that would be written in another way than it stands there. */
const OTHER = "'\\0'";

/**
 * `metadata` with no other members than these, as the same records and arrays. Whole where a member would be written in another way than
 * it stands there: ClickHouse writes numbers, records and arrays anew, and reads no number with more than 64 bits.
 */
function cutTo(shape: Shape<null>): string {
  const cut = as('c', cutValue('m', shape, 0), `if(position(c, ${OTHER}) > 0, m, c)`);
  return `if(metadata is null, null, ${as('m', 'assumeNotNull(metadata)', cut)})`;
}

/** A value that is a record, or an array of them. */
function cutValue(value: string, shape: Shape<null>, depth: number): string {
  const [each, cut] = [`e${depth}`, `l${depth}`];
  const isArray = `startsWith(${value}, '[')`;
  const records = `if(${isArray}, JSONExtractArrayRaw(${value}), [${value}])`;
  const whole = `if(${isArray}, concat('[', arrayStringConcat(${cut}, ','), ']'), ${cut}[1])`;
  const list = as(cut, `arrayMap(${each} -> ${cutRecord(each, shape, depth)}, ${records})`, whole);
  return `if(${isUnreadable(value)}, ${OTHER}, ${list})`;
}

function cutRecord(record: string, shape: Shape<null>, depth: number): string {
  const members = [...shape].map(([name, below]) => {
    const key = quoted(name);
    const raw = `v${depth}`;
    const value = below === null ? plainValue(record, name, raw) : cutValue(raw, below, depth + 1);
    const member = `if(${raw} = '', '', concat(${quoted(`${JSON.stringify(name)}:`)}, ${value}))`;
    // Nothing where the record has no such member.
    return as(raw, `JSONExtractRaw(${record}, ${key})`, member);
  });
  const list =
    members.length === 0
      ? "'{}'"
      : `concat('{', arrayStringConcat(arrayFilter(s -> s != '', [${members.join(', ')}]), ','), '}')`;
  return `multiIf(not startsWith(${record}, '{'), ${record}, ${isUnreadable(record)}, ${OTHER}, ${list})`;
}

/** A member of a record that is a value, as ClickHouse writes it. */
function plainValue(record: string, name: string, raw: string): string {
  const type = `JSONType(${record}, ${quoted(name)})`;
  const isThere = isVerbatimNumber('m', name, raw);
  return `multiIf(${type} in ('String', 'Bool', 'Null'), ${raw}, ${type} in ('Int64', 'UInt64', 'Double') and ${isThere}, ${raw}, ${OTHER})`;
}
