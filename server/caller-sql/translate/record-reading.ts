import { dashed, isArray, type MemberColumns, recordAt, type Shape } from '../../records/shapes.ts';
import { type Extract, found, type Step } from '../json-paths.ts';
import { type Sql, sql } from '../sql-fragment.ts';

export interface Source {
  readonly from: Sql;
  /** The JSON column, and those that are handed on, in quotes where they need them. */
  readonly column: string;
  readonly kept: readonly string[];
  /** The columns of the column's members, which `from` then has beside the others. */
  readonly members: MemberColumns | null;
  readonly reach: Reach;
}

/**
 * Which rows a statement can read: those whose members have columns that are filled, and others only where a query is not told by these;
 * those whose records are there once each; or all. The fewer they are, the sooner it is planned. It fails with BEYOND_REACH once it meets
 * another row.
 */
export type Reach = 'columns' | 'singles' | 'all';

/** What the error of a statement says that met a row which it cannot read. */
export const BEYOND_REACH = 'a row is beyond what this statement reads';
/** Fails as such a statement does. */
export const FAILS = `error('${BEYOND_REACH}')`;

/** A member of a record that is a value. */
export interface Field {
  readonly name: string;
  readonly path: readonly string[];
  asText: boolean;
  asJson: boolean;
  asNumber: boolean;
  /** Whether it is read as JSON in conditions, too. */
  isWhole: boolean;
}

/** A value of a record: NULL for JSON's null. */
export interface Value {
  readonly json: Sql;
  readonly text: Sql;
}

/** A column of a field, in each of the forms that are asked for: the first as JSON, or else as a text. */
export interface Form {
  readonly name: string;
  readonly type: 'JSON' | 'VARCHAR' | 'DOUBLE';
  readonly of: (value: Value) => Sql;
}

/** A read of a record in another way than as one of its members. */
export interface Extra {
  readonly record: ReadRecord;
  readonly steps: readonly Step[];
  readonly name: string;
}

/** A record that a query unnests, or reads by a dotted name. */
export interface ReadRecord {
  /** The record that it is a member of; null for the column's own. */
  readonly parent: ReadRecord | null;
  /** From the column's value. */
  readonly path: readonly string[];
  /** Whether a row without it is kept. */
  readonly left: boolean;
  /** Whether only the first of several counts: a dotted name leads through it, without UNNEST. */
  readonly isFirst: boolean;
  readonly name: string;
  /** Where its element stands in the slower way. */
  readonly place: string;
  readonly fields: ReadonlyMap<string, Field>;
  /** Whether the query names a member of it. */
  readonly isNamed: () => boolean;
}

/** What a query reads of the records of a column: it may grow until it is written. Its columns begin with `row`. */
export interface Reading {
  readonly row: string;
  readonly records: readonly ReadRecord[];
  readonly extras: readonly Extra[];
}

/** A reading, with what every way to read the records needs of it. */
export interface RecordReading extends Reading {
  /** Returns the columns that hold what is read of the records: those of the forms, then those of the extras. */
  names(): string[];
  fields(): Field[];
  /** Returns the forms of all fields. */
  forms(): Form[];
  /** Returns the fields in their forms. */
  inForms(read: (field: Field) => Value): Sql[];
  /** Returns the members that are asked for, as nested objects; leaves are fields. */
  tree(): Branch;
  /** Returns the value of a field by its own key, or by the one with dashes. */
  byKeys(path: readonly string[], read: (path: readonly string[]) => Sql): Sql;
  /** Returns the last name of a member with dashes; null where another member has that name, or it has no underscores. */
  twinOf(path: readonly string[]): string | null;
  /** Holds where the column may have one of the records under a key with dashes, which a structure does not find; null without such. */
  underDashes(column: string): string | null;
}

export type Branch = Shape<Field>;

/** Opens a reading for the ways to read it. It follows `reading`, which may still grow. */
export function openReading(reading: Reading): RecordReading {
  const { row, records, extras } = reading;
  return { ...reading, names, fields, forms, inForms, tree, byKeys, twinOf, underDashes };

  function names(): string[] {
    return [...forms(), ...extras].map(({ name }) => `${row}_${name}`);
  }

  function fields(): Field[] {
    return records.flatMap(({ fields }) => [...fields.values()]);
  }

  function forms(): Form[] {
    return fields().flatMap(formsOf);
  }

  function formsOf(field: Field): Form[] {
    const { name, asText, asJson, asNumber } = field;
    const text: Omit<Form, 'name'> = { type: 'VARCHAR', of: (value) => value.text };
    const made: Form[] = [
      asJson ? { name, type: 'JSON', of: ({ json }) => json } : { name, ...text },
    ];
    if (asText && asJson) made.push({ name: `${name}_text`, ...text });
    if (asNumber)
      made.push({
        name: `${name}_number`,
        type: 'DOUBLE',
        of: (value) => sql`try_cast(${value.text} as double)`,
      });
    return made;
  }

  function inForms(read: (field: Field) => Value): Sql[] {
    return fields().flatMap((field) => {
      const value = read(field);
      return formsOf(field).map(({ of }) => of(value));
    });
  }

  function underDashes(column: string): string | null {
    const keys = new Set(records.filter(mayHaveDashes).map(({ path }) => dashedKey(path)));
    if (keys.size === 0) return null;
    return `(${[...keys].map((key) => `contains(${column}, '"${key.replaceAll("'", "''")}"')`).join(' or ')})`;
  }

  function tree(): Branch {
    const root: Branch = new Map();
    for (const record of records) {
      const branch = record.path.reduce(descend, root);
      for (const [name, field] of record.fields) branch.set(name, field);
    }
    return root;
  }

  function byKeys(path: readonly string[], read: (path: readonly string[]) => Sql): Sql {
    const twin = twinOf(path);
    if (twin === null) return read(path);
    return sql`coalesce(${read(path)}, ${read([...path.slice(0, -1), twin])})`;
  }

  function twinOf(path: readonly string[]): string | null {
    return dashed(path.at(-1) ?? '', recordAt(tree(), path.slice(0, -1)).keys());
  }
}

/** Whether nothing is asked of the column's records but how many there are: an object, whatever is in it, is one. */
export function isCounted({ records, extras }: Reading): boolean {
  const [record, ...more] = records;
  return record?.path.length === 0 && !record.isNamed() && more.length === 0 && extras.length === 0;
}

/** A field that was read as JSON. Read as a text, a number would be written as the engine writes it, and not as it does JSON's. */
export function asValue(json: Sql): Value {
  return { json, text: sql`json_extract_string(${json}, '$')` };
}

function descend(branch: Branch, name: string): Branch {
  const below = branch.get(name);
  if (below instanceof Map) return below;
  const made: Branch = new Map();
  branch.set(name, made);
  return made;
}

/** Describes how a column is read whose records are elements of arrays, or else of objects. */
export function byShape(column: string, ofArrays: Sql, ofObjects: Sql): Sql {
  return sql`case when ${isArray(column)} then ${ofArrays} else ${ofObjects} end`;
}

/** Whether a record may stand under a key with dashes, where its name has underscores. */
export function mayHaveDashes({ path }: Pick<ReadRecord, 'path'>): boolean {
  return path.at(-1)?.includes('_') ?? false;
}

/** The key with dashes for the last name of a path. */
export function dashedKey(path: readonly string[]): string {
  return path.at(-1)?.replaceAll('_', '-') ?? '';
}

/** Where a record stands whose way is known: each record of it is an object, or with `arrays` the first element of an array. */
interface Place {
  readonly path: readonly string[];
  readonly arrays: boolean;
  /** Whether a record on the way is one of those; others may be either. All are by default. */
  readonly isKnown?: (path: readonly string[]) => boolean;
  readonly dashes?: boolean;
}

/** The value that `steps` lead to from a record. */
export function extracted(
  extract: Extract,
  column: string,
  { path, arrays, isKnown = () => true, dashes = true }: Place,
  steps: readonly Step[],
): Sql {
  const unknown = path.findIndex((_, i) => !isKnown(path.slice(0, i + 1)));
  const known = unknown < 0 ? path : path.slice(0, unknown);
  const place = arrays ? [0, ...known.flatMap((name) => [name, 0])] : known;
  return found(extract, column, [...path.slice(known.length), ...steps], { place, dashes });
}
