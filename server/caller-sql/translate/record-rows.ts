import {
  areObjects,
  areSingleOrObjects,
  areSingles,
  dashed,
  hasColumn,
  isArray,
  listAt,
  type MemberColumns,
  NONE,
  objectAt,
  pathKey,
  readShapes,
  recordAt,
  type Shape,
  valueAt,
} from '../../records/shapes.ts';
import { type Extract, found, pathOf, type Step } from '../json-paths.ts';
import { identifier, join, type Sql, sql } from '../sql-fragment.ts';

/**
 * The rows of a relation, each with what a query reads of the records of one JSON column. All fields are taken out by one pass over the
 * column, `from_json` with the structure that is asked for; one UNNEST gives the rows (docs/decisions/0010). There are two structures: of
 * records that are objects, and of records that are the only elements of arrays. Other values go a slower way, element by element. Where
 * members of the column have columns of their own, the rows that these were filled for are read by them (docs/decisions/0019).
 */
export interface RecordRows {
  /** The rows of `source`: the columns `kept`, and `names`. */
  rows(source: Source): Sql;
  /** The columns that hold what is read of the records, in the order of `rows`. */
  names(): string[];
  /** Whether the query is told by the columns of members, and reads less of the JSON than all that it names. */
  haveColumns(members: MemberColumns): boolean;
}

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
const FAILS = `error('${BEYOND_REACH}')`;

/**
 * So many members without columns are read sooner one by one than by one pass over the JSON. Measured with lines of a kilobyte: two take 0.45
 * of it, three 0.7, five 0.8, eight 1.2.
 */
const FEW = 5;

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
interface Value {
  readonly json: Sql;
  readonly text: Sql;
}

/** A column of a field, in each of the forms that are asked for: the first as JSON, or else as a text. */
interface Form {
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

/** Writes the rows of what is read. */
export function recordRows({ row, records, extras }: Reading): RecordRows {
  return { rows, names, haveColumns };

  function names(): string[] {
    return [...allForms(), ...extras].map(({ name }) => `${row}_${name}`);
  }

  function rows(source: Source): Sql {
    const { members, reach } = source;
    const others = reach === 'all' || isCounted() ? byElements : bySingles;
    if (!members || !haveColumns(members)) return others(source, null);
    const state = `v.${identifier(members.state)}`;
    const { filledFrom, heldFrom, held } = members;
    const isHeld = allFields().some(({ path }) => held.has(pathKey(path)));
    const from = isHeld ? heldFrom : filledFrom;
    const byOwn = byColumns(source, members, `${state} >= ${from}`);
    if (reach === 'columns')
      return sql`(${byOwn} union all select * from ${none(source, `${state} < ${from}`)})`;
    const filled = `${state} >= ${filledFrom} and ${state} < ${heldFrom}`;
    const withoutHeld = isHeld ? [byColumns(source, { ...members, held: new Map() }, filled)] : [];
    const rest = sql`select * from ${others(source, `${state} < ${filledFrom}`)}`;
    return sql`(${join([byOwn, ...withoutHeld, rest], ' union all ')})`;
  }

  function allFields(): Field[] {
    return records.flatMap(({ fields }) => [...fields.values()]);
  }

  function allForms(): Form[] {
    return allFields().flatMap(formsOf);
  }

  function formsOf(field: Field): Form[] {
    const { name, asText, asJson, asNumber } = field;
    const text: Omit<Form, 'name'> = { type: 'VARCHAR', of: (value) => value.text };
    const forms: Form[] = [
      asJson ? { name, type: 'JSON', of: ({ json }) => json } : { name, ...text },
    ];
    if (asText && asJson) forms.push({ name: `${name}_text`, ...text });
    if (asNumber)
      forms.push({
        name: `${name}_number`,
        type: 'DOUBLE',
        of: (value) => sql`try_cast(${value.text} as double)`,
      });
    return forms;
  }

  /** The rows where `condition` holds, which the columns were filled for: those have one record where the query unnests one, or none. */
  function byColumns(
    { from, column, kept }: Source,
    members: MemberColumns,
    condition: string,
  ): Sql {
    const { state, bits, columns, held } = members;
    const isKnown = (path: readonly string[]) => bits.has(pathKey(path));
    const value = `v.${column}`;
    const ofShape = (read: (arrays: boolean) => Sql) => byShape(value, read(true), read(false));
    const notNull: Sql[] = [];
    const fields = inForms(({ name, path, asJson }) => {
      const own = columns.get(pathKey(path));
      if (own !== undefined) return asValue(`v.${identifier(own)}`);
      const ofLine = held.get(pathKey(path));
      if (ofLine !== undefined) {
        const text = `v.${identifier(ofLine)}`;
        return { json: `to_json(${text})`, text };
      }
      const extract = (as: Extract, each: readonly string[]) =>
        ofShape((arrays) => {
          const at = { path: each.slice(0, -1), arrays, isKnown, dashes: false };
          return extracted(as, value, at, each.slice(-1));
        });
      const given = `${row}_${name}`;
      const json = byKeys(path, (each) => {
        const found = each === path ? `v.${given}` : extract('json_extract', each);
        return sql`nullif(${found}, 'null'::json)`;
      });
      if (asJson) notNull.push(sql`${json} as ${given}`);
      return {
        json: extract('json_extract', path),
        text: byKeys(path, (each) => extract('json_extract_string', each)),
      };
    });
    const others = extras.map(({ record, steps }) =>
      ofShape((arrays) =>
        extracted('json_extract', value, { path: record.path, arrays, isKnown }, steps),
      ),
    );
    const columnNames = names();
    const list = [
      ...kept.map((name) => `v.${name}`),
      ...[...fields, ...others].map((each, i) => sql`${each} as ${columnNames[i] ?? ''}`),
    ];
    const needed = records
      .filter(({ left }) => !left)
      .map(({ path }) => bits.get(pathKey(path)) ?? 0);
    const mask = needed.reduce((sum, bit) => sum | (1n << BigInt(bit)), 0n);
    const place = `v.${identifier(state)}`;
    const present = mask === 0n ? '' : ` and ${place} & ${mask} = ${mask}`;
    const rows = sql`select ${join(list, ', ')} from ${from} as v where ${condition}${present}`;
    // The engine writes nullif(a, b) as a condition with `a` twice, and would take a value out of the JSON each time.
    return notNull.length === 0
      ? rows
      : sql`select v.* replace (${join(notNull, ', ')}) from (${rows}) as v`;
  }

  /** The fields in their forms. */
  function inForms(read: (field: Field) => Value): Sql[] {
    return allFields().flatMap((field) => {
      const value = read(field);
      return formsOf(field).map(({ of }) => of(value));
    });
  }

  function haveColumns(members: MemberColumns): boolean {
    const { bits } = members;
    if (!records.every(({ path, isFirst }) => isFirst || bits.has(pathKey(path)))) return false;
    // Where columns were filled a record under a key with dashes was not looked for.
    if (records.some(mayHaveDashes)) return false;
    const own = allFields().filter(({ path }) => hasColumn(members, path)).length;
    return own > 0 || allFields().length + extras.length <= FEW;
  }

  /**
   * No rows; fails with BEYOND_REACH where there is one for which `condition` holds. Each value that a query may compare fails by itself:
   * the engine drops rows by what is cheapest to compare, and would else drop this one for a NULL.
   */
  function none({ from, kept }: Source, condition: string): Sql {
    const fails = `case when ${condition} then ${FAILS} end`;
    const types = [...allForms().map(({ type }) => type), ...extras.map(() => 'JSON')];
    const list = [
      ...kept.map((name) => `v.${name}`),
      ...names().map((name, i) => `(${fails})::${types[i]} as ${name}`),
    ];
    return sql`(select ${list.join(', ')} from ${from} as v where ${condition} and ${fails})`;
  }

  /**
   * The rows where `condition` holds, each with the one record that it has. Fails with BEYOND_REACH where it has more, whatever is
   * compared first.
   */
  function bySingles({ from, column, kept }: Source, condition: string | null): Sql {
    const [value, read] = [`v.${column}`, `v.${row}_s`];
    const where = condition === null ? '' : ` where ${condition}`;
    const list = kept.map((name) => `v.${name}`).join(', ');
    const paths = records.map(({ path }) => path);
    const dashes = underDashes(value);
    const isKnown = `${dashes ? `not coalesce(${dashes}, false) and ` : ''}${areSingleOrObjects(value, paths)}`;
    const orFail = (then: Sql) => sql`case when ${isKnown} then ${then} else ${FAILS} end`;
    const made = sql`(select ${list}, ${orFail(readShapes(value, tree(), () => 'JSON'))} as ${row}_s from ${from} as v${where})`;
    const fields = inForms(({ path }) => {
      const [record, name] = [path.slice(0, -1), path.at(-1) ?? ''];
      const at = (place: string) => valueAt(place, name, recordAt(tree(), record));
      return asValue(byShape(value, at(`${listAt(read, record)}[1]`), at(objectAt(read, record))));
    });
    const others = extras.map(({ record, steps }) => {
      const extract = (arrays: boolean) =>
        extracted('json_extract', value, { path: record.path, arrays }, steps);
      return byShape(value, extract(true), extract(false));
    });
    const columnNames = names();
    const columns = [
      ...fields.map((field, i) => sql`${field} as ${columnNames[i] ?? ''}`),
      ...others.map((other, i) => sql`${orFail(other)} as ${columnNames[fields.length + i] ?? ''}`),
    ];
    const needed = records.filter(({ left }) => !left).map(({ path }) => path);
    const all = (of: (path: readonly string[]) => string) =>
      needed.map((path) => `${of(path)} is not null`).join(' and ');
    const present =
      needed.length === 0
        ? orFail('true')
        : byShape(
            value,
            all((path) => `${listAt(read, path)}[1]`),
            all((path) => objectAt(read, path)),
          );
    return sql`(select ${join([list, ...columns], ', ')} from ${made} as v where ${present})`;
  }

  /** The rows where `condition` holds, by one UNNEST of a list of elements. */
  function byElements({ from, column, kept }: Source, condition: string | null): Sql {
    const value = `v.${column}`;
    const where = condition === null ? '' : ` where ${condition}`;
    const read = structure(value);
    const list = kept.map((name) => `v.${name}`).join(', ');
    const made = read
      ? sql`(select ${list}, ${read} as ${row}_s from ${from} as v${where})`
      : sql`(select ${list} from ${from} as v${where})`;
    const rows = sql`(select ${list}, unnest(${listOf(value, `v.${row}_s`)}) as ${row} from ${made} as v)`;
    const places = [
      ...inForms(({ path }) => asValue([`v.${row}.r`, ...path.map(identifier)].join('.'))),
      ...extras.map(({ name }) => `v.${row}.${name}`),
    ];
    const columnNames = names();
    const columns = [
      ...kept.map((name) => `v.${name}`),
      ...places.map((place, i) => sql`${place} as ${columnNames[i] ?? ''}`),
    ];
    const needed = records.filter(({ left }) => !left);
    const tests = needed.map(
      ({ path }) => sql`${[`v.${row}.r`, ...path.map(identifier)].join('.')} is not null`,
    );
    const present = tests.length === 0 ? '' : sql` where ${join(tests, ' and ')}`;
    return sql`(select ${join(columns, ', ')} from ${rows} as v${present})`;
  }

  /** Returns what the column is read as before its list is made; null when nothing needs that. */
  function structure(column: string): Sql | null {
    return isCounted() ? null : readShapes(column, tree(), () => 'JSON');
  }

  /** The list whose elements are the rows, with what `structure` gives at `read`. */
  function listOf(column: string, read: string): Sql {
    if (isCounted()) {
      const one = sql`[${element(built(tree(), []), () => '')}]`;
      return sql`case when starts_with(${column}, '{') then ${one} else ${slow(column)} end`;
    }
    const paths = records.map(({ path }) => path);
    const hasTwins = allFields().some(({ path }) => twinOf(path) !== null);
    // What was read is the structure itself, unless it has keys with dashes beside others.
    const objects = hasTwins ? members(tree(), objectAt(read, []), '') : objectAt(read, []);
    const of = (structure: Sql, arrays: boolean) =>
      element(structure, ({ record, steps }) =>
        extracted('json_extract', column, { path: record.path, arrays }, steps),
      );
    const singles = members(tree(), `${listAt(read, [])}[1]`, '[1]');
    const dashes = underDashes(column);
    const known = dashes ? `not (${dashes}) and ` : '';
    return sql`case when ${known}${areObjects(column, paths)} then [${of(objects, false)}] when ${known}${areSingles(column, read, paths)} then [${of(singles, true)}] else ${slow(column)} end`;
  }

  /** Holds where the column may have one of the records under a key with dashes, which a structure does not find; null without such. */
  function underDashes(column: string): string | null {
    const keys = new Set(records.filter(mayHaveDashes).map(({ path }) => dashedKey(path)));
    if (keys.size === 0) return null;
    return `(${[...keys].map((key) => `contains(${column}, '"${key.replaceAll("'", "''")}"')`).join(' or ')})`;
  }

  /** Whether nothing is asked of the column's records but how many there are: an object, whatever is in it, is one. */
  function isCounted(): boolean {
    const [record, ...more] = records;
    return (
      record?.path.length === 0 && !record.isNamed() && more.length === 0 && extras.length === 0
    );
  }

  /** What was read of a record, with that of the records within it, which are objects, or the first ones of arrays. */
  function members(branch: Branch, place: string, first: '' | '[1]'): Sql {
    const list = [...branch].map(([name, below]) => {
      const value =
        below instanceof Map
          ? members(below, `${place}.${identifier(name)}${first}`, first)
          : valueAt(place, name, branch);
      return sql`${identifier(name)}: ${value}`;
    });
    const record =
      list.length === 0 ? sql`{${identifier(NONE)}: null::varchar}` : sql`{${join(list, ', ')}}`;
    return sql`case when ${place} is not null then ${record} end`;
  }
  function element(structure: Sql, readAs: (extra: Extra) => Sql): Sql {
    const members = extras.map((each) => sql`${each.name}: ${readAs(each)}`);
    return sql`{${join([sql`r: ${structure}`, ...members], ', ')}}`;
  }

  /** The members that are asked for, as nested objects; leaves are fields. */
  function tree(): Branch {
    const root: Branch = new Map();
    for (const record of records) {
      const branch = record.path.reduce(descend, root);
      for (const [name, field] of record.fields) branch.set(name, field);
    }
    return root;
  }

  /**
   * Element by element, in the order that the records were unnested in: a list of structures, to which each record adds a member. Lambdas
   * within each other would be shorter, but the engine's binder takes twice as long for each.
   */
  function slow(column: string): Sql {
    const list = records.reduce<Sql>((rows, record) => {
      const each = sql`list_transform(${elements(column, record)}, lambda e: struct_insert(s, ${record.name} := e))`;
      return sql`flatten(list_transform(${rows}, lambda s: ${each}))`;
    }, '[{n: 0}]');
    const made = element(built(tree(), []), ({ record, steps }) =>
      found('json_extract', record.place, steps, { place: [] }),
    );
    return sql`list_transform(${list}, lambda s: ${made})`;
  }

  function built(branch: Branch, path: readonly string[]): Sql {
    const members = [...branch].map(([name, below]) => {
      const value = below instanceof Map ? built(below, [...path, name]) : fieldValue(below);
      return sql`${identifier(name)}: ${value}`;
    });
    return members.length === 0
      ? sql`{${identifier(NONE)}: null::varchar}`
      : sql`{${join(members, ', ')}}`;
  }

  function fieldValue(field: Field): Sql {
    const record = records.find(({ fields }) => [...fields.values()].includes(field));
    if (!record) throw new Error('BUG: a field without its record');
    return byKeys(field.path, (path) => {
      const value = sql`json_extract(${record.place}, ${pathOf(path.slice(record.path.length))})`;
      return sql`nullif(${value}, 'null'::json)`;
    });
  }

  /** The value of a field by its own key, or by the one with dashes. */
  function byKeys(path: readonly string[], read: (path: readonly string[]) => Sql): Sql {
    const twin = twinOf(path);
    if (twin === null) return read(path);
    return sql`coalesce(${read(path)}, ${read([...path.slice(0, -1), twin])})`;
  }

  function twinOf(path: readonly string[]): string | null {
    return dashed(path.at(-1) ?? '', recordAt(tree(), path.slice(0, -1)).keys());
  }
}
type Branch = Shape<Field>;

/** A field that was read as JSON. Read as a text, a number would be written as the engine writes it, and not as it does JSON's. */
function asValue(json: Sql): Value {
  return { json, text: sql`json_extract_string(${json}, '$')` };
}

function descend(branch: Branch, name: string): Branch {
  const below = branch.get(name);
  if (below instanceof Map) return below;
  const made: Branch = new Map();
  branch.set(name, made);
  return made;
}

/** What there is of a record: a value itself, or its elements; of none one NULL, where the row is to stay. */
function elements(column: string, record: ReadRecord): Sql {
  const { left, isFirst, parent, path } = record;
  const from = parent?.place ?? column;
  const step = parent ? path.slice(-1) : [];
  const keys = mayHaveDashes(record) ? [step, [dashedKey(path)]] : [step];
  const ways = keys.flatMap((key) => (isFirst ? [[...key, 0], key] : [key])).map(pathOf);
  const found =
    ways.length === 1
      ? sql`json_extract(${from}, ${ways[0] ?? ''})`
      : sql`list_any_value(json_extract(${from}, [${ways.join(', ')}]))`;
  if (isFirst) return sql`[${found}]`;
  const value = parent ? found : column;
  const list = sql`list_filter(case when json_type(${value}) = 'ARRAY' then from_json(${value}, '["JSON"]') else [${value}] end, lambda o: json_type(o) <> 'NULL')`;
  return left ? sql`coalesce(nullif(${list}, []), [null])` : list;
}

/** Describes how a column is read whose records are elements of arrays, or else of objects. */
function byShape(column: string, ofArrays: Sql, ofObjects: Sql): Sql {
  return sql`case when ${isArray(column)} then ${ofArrays} else ${ofObjects} end`;
}

/** Whether a record may stand under a key with dashes, where its name has underscores. */
export function mayHaveDashes({ path }: Pick<ReadRecord, 'path'>): boolean {
  return path.at(-1)?.includes('_') ?? false;
}

/** The key with dashes for the last name of a path. */
function dashedKey(path: readonly string[]): string {
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
function extracted(
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
