import type { Shape } from '../records/shapes.ts';

/** What is asked for of rows, where that is less than all of them. */
export interface Narrow {
  /** Columns of the table. */
  readonly columns: ReadonlySet<string>;
  /** The members of `metadata` that are asked for; null: all of it. */
  readonly members: Shape<null> | null;
  /** What stands in columns of each row, in whatever letter case: others may be left out. */
  readonly texts: readonly { readonly column: string; readonly text: string }[];
  /** Gives one row for all that are the same, with their number; null: each by itself. */
  readonly counted: Counted | null;
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

/** The columns of a SELECT, each called `c_…`, and what its rows are grouped by; `times` tells how many rows each stands for. */
export function narrowSelect({ columns, members, counted }: Narrow): {
  list: string;
  groups: string | null;
} {
  const values = [...columns].map((name): [string, string] => [
    name,
    name === 'metadata' && members ? cutTo(members) : name,
  ]);
  const isMoment = (name: string) => counted !== null && name === 'timestamp';
  const list = values.map(([name, value]) =>
    isMoment(name) ? `any(${value}) as c_${name}` : `${value} as c_${name}`,
  );
  if (!counted) return { list: list.join(', '), groups: null };
  const keys = values.flatMap(([name]) => (isMoment(name) ? [] : [`c_${name}`]));
  const micros = 'toUnixTimestamp64Micro(timestamp)';
  const { unit, moments } = counted;
  if (columns.has('timestamp'))
    keys.push(
      ...(unit === null ? [] : [`intDiv(${micros} + ${ORIGIN}, ${MICROS[unit]})`]),
      ...moments.map((moment) => `sign(${micros} - (${moment}))`),
    );
  return {
    list: [...list, 'count() as c_times'].join(', '),
    groups: keys.length === 0 ? "''" : keys.join(', '),
  };
}

/** The condition that leaves out rows without the texts, with its parameters. Not all of them: those with escapes or other letters stay. */
export function textCondition({ texts }: Pick<Narrow, 'texts'>): {
  sql: string;
  values: Record<string, string>;
} {
  // Letters of other alphabets have cases of their own.
  const plain = texts.filter(({ text }) => /^[\x20-\x7e]+$/.test(text));
  const tests = plain.map(({ column }, i) => {
    const value = `coalesce(${column}, '')`;
    const escapes = column === 'metadata' ? ` or position(${value}, '\\\\') > 0` : '';
    return ` and (positionCaseInsensitive(${value}, {text${i}:String}) > 0 or lengthUTF8(${value}) < length(${value})${escapes})`;
  });
  return {
    sql: tests.join(''),
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

/** Whether ClickHouse cannot read a value that it may have written itself. */
function isUnreadable(value: string): string {
  return `(JSONType(${value}) = 'Null' and ${value} != 'null')`;
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
  const key = `${JSON.stringify(name)}:`;
  const times = (text: string) => `countSubstrings(m, ${text})`;
  const found = `${times(`concat(${quoted(key)}, ${raw}, ',')`)} + ${times(`concat(${quoted(key)}, ${raw}, '}')`)}`;
  // A number stands in these digits wherever a member of this name does.
  const isThere = `(${found}) > 0 and (${found}) = ${times(quoted(key))}`;
  return `multiIf(${type} in ('String', 'Bool', 'Null'), ${raw}, ${type} in ('Int64', 'UInt64', 'Double') and ${isThere}, ${raw}, ${OTHER})`;
}

/** `body` with a name for a value. */
function as(name: string, value: string, body: string): string {
  return `arrayMap(${name} -> ${body}, [${value}])[1]`;
}

function quoted(text: string): string {
  return `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
}
