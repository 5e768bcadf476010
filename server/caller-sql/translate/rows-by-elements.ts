import {
  areObjects,
  areSingles,
  listAt,
  NONE,
  objectAt,
  readShapes,
  valueAt,
} from '../../records/shapes.ts';
import { found, pathOf } from '../json-paths.ts';
import { identifier, join, type Sql, sql } from '../sql-fragment.ts';
import {
  asValue,
  type Branch,
  dashedKey,
  type Extra,
  extracted,
  type Field,
  isCounted,
  mayHaveDashes,
  type ReadRecord,
  type RecordReading,
  type Source,
} from './record-reading.ts';

/** Returns the rows where `condition` holds, by one UNNEST of a list of elements. */
export function byElements(
  reading: RecordReading,
  { from, column, kept }: Source,
  condition: string | null,
): Sql {
  const { row, records, extras, names, inForms } = reading;
  const value = `v.${column}`;
  const where = condition === null ? '' : ` where ${condition}`;
  const read = structure(reading, value);
  const list = kept.map((name) => `v.${name}`).join(', ');
  const made = read
    ? sql`(select ${list}, ${read} as ${row}_s from ${from} as v${where})`
    : sql`(select ${list} from ${from} as v${where})`;
  const rows = sql`(select ${list}, unnest(${listOf(reading, value, `v.${row}_s`)}) as ${row} from ${made} as v)`;
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
function structure(reading: RecordReading, column: string): Sql | null {
  return isCounted(reading) ? null : readShapes(column, reading.tree(), () => 'JSON');
}

/** Returns the list whose elements are the rows, with what `structure` gives at `read`. */
function listOf(reading: RecordReading, column: string, read: string): Sql {
  const { records, extras, fields, tree, twinOf, underDashes } = reading;
  if (isCounted(reading)) {
    const one = sql`[${element(extras, built(reading, tree()), () => '')}]`;
    return sql`case when starts_with(${column}, '{') then ${one} else ${slow(reading, column)} end`;
  }
  const paths = records.map(({ path }) => path);
  const hasTwins = fields().some(({ path }) => twinOf(path) !== null);
  // What was read is the structure itself, unless it has keys with dashes beside others.
  const objects = hasTwins ? members(tree(), objectAt(read, []), '') : objectAt(read, []);
  const of = (structure: Sql, arrays: boolean) =>
    element(extras, structure, ({ record, steps }) =>
      extracted('json_extract', column, { path: record.path, arrays }, steps),
    );
  const singles = members(tree(), `${listAt(read, [])}[1]`, '[1]');
  const dashes = underDashes(column);
  const known = dashes ? `not (${dashes}) and ` : '';
  return sql`case when ${known}${areObjects(column, paths)} then [${of(objects, false)}] when ${known}${areSingles(column, read, paths)} then [${of(singles, true)}] else ${slow(reading, column)} end`;
}

/** Returns a record as it was read, with the records within it, which are objects, or the first ones of arrays. */
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

/** Returns the element of the list for a row: its record, and what is read of it in other ways. */
function element(extras: readonly Extra[], structure: Sql, readAs: (extra: Extra) => Sql): Sql {
  const members = extras.map((each) => sql`${each.name}: ${readAs(each)}`);
  return sql`{${join([sql`r: ${structure}`, ...members], ', ')}}`;
}

/**
 * Returns the list element by element, in the order that the records were unnested in: a list of structures, to which each record adds a member. Lambdas
 * within each other would be shorter, but the engine's binder takes twice as long for each.
 */
function slow(reading: RecordReading, column: string): Sql {
  const { records, extras, tree } = reading;
  const list = records.reduce<Sql>((rows, record) => {
    const each = sql`list_transform(${elements(column, record)}, lambda e: struct_insert(s, ${record.name} := e))`;
    return sql`flatten(list_transform(${rows}, lambda s: ${each}))`;
  }, '[{n: 0}]');
  const made = element(extras, built(reading, tree()), ({ record, steps }) =>
    found('json_extract', record.place, steps, { place: [] }),
  );
  return sql`list_transform(${list}, lambda s: ${made})`;
}

/** Returns the members of a record of the slower way as a structure. */
function built(reading: RecordReading, branch: Branch): Sql {
  const members = [...branch].map(([name, below]) => {
    const value = below instanceof Map ? built(reading, below) : fieldValue(reading, below);
    return sql`${identifier(name)}: ${value}`;
  });
  return members.length === 0
    ? sql`{${identifier(NONE)}: null::varchar}`
    : sql`{${join(members, ', ')}}`;
}

function fieldValue({ records, byKeys }: RecordReading, field: Field): Sql {
  const record = records.find(({ fields }) => [...fields.values()].includes(field));
  if (!record) throw new Error('BUG: a field without its record');
  return byKeys(field.path, (path) => {
    const value = sql`json_extract(${record.place}, ${pathOf(path.slice(record.path.length))})`;
    return sql`nullif(${value}, 'null'::json)`;
  });
}

/** Returns the elements of a record: a value itself, those of an array, or one NULL where there is none and the row is to stay. */
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
