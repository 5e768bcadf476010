/**
 * How the records of a JSON column are nested, in SQL: each is an object, or each is the only element of an array, as Logflare nests
 * them. Callers' SQL reads both by one `from_json` (docs/decisions/0010), and member columns hold what that gives
 * (docs/decisions/0019).
 */

/** Members by name: records, and the values of which `L` tells more. */
export type Shape<L> = Map<string, Shape<L> | L>;

/** The members that lead to a record or a value; none to the column's own. */
export type Path = readonly string[];

/**
 * Columns that hold members of a JSON column, as `from_json` gives them, of the rows that they were filled for: of those each record in
 * `bits` is there once or not at all, and all are objects, or all are only elements of arrays.
 */
export interface MemberColumns {
  /** The column that tells what holds of a row: `filledFrom` and more where the columns were filled, and then a bit for each record that is there. */
  readonly state: string;
  readonly filledFrom: bigint;
  /** The place of each record's bit, and the column of each member, by `pathKey`; the JSON column's own record has no steps. */
  readonly bits: ReadonlyMap<string, number>;
  readonly columns: ReadonlyMap<string, string>;
  /** Columns that hold further members, as texts, of rows whose state is `heldFrom` and more. */
  readonly held: ReadonlyMap<string, string>;
  readonly heldFrom: bigint;
}

/** Whether a column holds the member. */
export function hasColumn({ columns, held }: MemberColumns, member: Path): boolean {
  return columns.has(pathKey(member)) || held.has(pathKey(member));
}

/** The record of a shape that `path` leads to, which is there. */
export function recordAt<L>(shape: Shape<L>, [name, ...rest]: Path): Shape<L> {
  if (name === undefined) return shape;
  const below = shape.get(name);
  if (!(below instanceof Map)) throw new Error(`BUG: there is no record ${name}`);
  return recordAt(below, rest);
}

/** Stands where a record is asked for, but none of its members: a structure may not be empty. */
export const NONE = '-';

/**
 * The key with dashes under which a value is found, too, as Logflare stores all keys with underscores: `user-agent` for `user_agent`. Null
 * for a name without underscores, and where one of `siblings` is called so.
 */
export function dashed(name: string, siblings: Iterable<string>): string | null {
  if (!name.includes('_')) return null;
  const twin = name.replaceAll('_', '-');
  for (const other of siblings) if (other.toLowerCase() === twin.toLowerCase()) return null;
  return twin;
}

/** The value `name` of a record that was read by a structure of `shape`. */
export function valueAt(record: string, name: string, shape: Shape<unknown>): string {
  const twin = dashed(name, shape.keys());
  const own = `${record}.${identifier(name)}`;
  return twin === null ? own : `coalesce(${own}, ${record}.${identifier(twin)})`;
}

/** The structure for `from_json`; `arrays`: each record is an array of such. A value with underscores is read by its key with dashes, too. */
export function structureOf<L>(
  shape: Shape<L>,
  typeOf: (leaf: L) => 'JSON' | 'VARCHAR',
  arrays = false,
): object {
  const members = [...shape].flatMap(([name, below]) => {
    if (below instanceof Map) return [[name, structureOf(below, typeOf, arrays)]];
    const twin = dashed(name, shape.keys());
    return [name, ...(twin === null ? [] : [twin])].map((key) => [key, typeOf(below)]);
  });
  const record = members.length === 0 ? { [NONE]: 'VARCHAR' } : Object.fromEntries(members);
  return arrays ? [record] : record;
}

/** Reads a column as both kinds of records: `o` of objects, `a` of arrays, where it is the one or the other. */
export function readShapes<L>(
  column: string,
  shape: Shape<L>,
  typeOf: (leaf: L) => 'JSON' | 'VARCHAR',
): string {
  const arrays = fromJson(column, structureOf(shape, typeOf, true));
  return `{o: ${readObjects(column, shape, typeOf)}, a: case when ${isArray(column)} then ${arrays} end}`;
}

/** Reads a column as a record, in rows where the column holds an object. */
export function readObjects<L>(
  column: string,
  shape: Shape<L>,
  typeOf: (leaf: L) => 'JSON' | 'VARCHAR',
): string {
  return `case when not ${isArray(column)} then ${fromJson(column, structureOf(shape, typeOf))} end`;
}

function fromJson(column: string, structure: object): string {
  return `from_json(${column}, ${quoted(JSON.stringify(structure))})`;
}

export function isArray(column: string): string {
  return `starts_with(${column}, '[')`;
}

/** Holds where neither the column nor any record that `paths` lead to is an array. */
export function areObjects(column: string, paths: readonly Path[]): string {
  const inner = paths.filter((path) => path.length > 0).map((path) => pathTo(path));
  if (inner.length === 0) return `not ${isArray(column)}`;
  const types = `json_type(${column}, [${inner.join(', ')}])`;
  return `not ${isArray(column)} and (not contains(${column}, '[') or not list_contains(${types}, 'ARRAY'))`;
}

/**
 * Holds where each record is the only element of its array, or there is none; `read` is the column as `readShapes` gives it. Of each
 * path, what it begins with is one of `paths`, too.
 */
export function areSingles(column: string, read: string, paths: readonly Path[]): string {
  const tests = paths.map((path) => {
    const list = listAt(read, path);
    const one = `len(${list}) = 0 or (len(${list}) = 1 and ${list}[1] is not null)`;
    return path.length === 0 ? `(${one})` : `(${list} is null or ${one})`;
  });
  return [...tests, ...haveNoOthers(column, paths)].join(' and ');
}

/** Holds where no record but the column's own is something else than an array or `null`: the structure makes NULL of both. */
function haveNoOthers(column: string, paths: readonly Path[]): string[] {
  const inner = paths.filter((path) => path.length > 0).map((path) => pathTo(path, true));
  if (inner.length === 0) return [];
  return [`list_has_all(['ARRAY', 'NULL'], json_type(${column}, [${inner.join(', ')}]))`];
}

/**
 * Holds for NULL, and for no row besides those that `areObjects` or `areSingles` holds for; of these not where the only element of an array
 * is something else than an object. It takes the engine's planner a third as long, and reads the arrays once more.
 */
export function areSingleOrObjects(column: string, paths: readonly Path[]): string {
  const list = (each: readonly string[]) => `[${each.join(', ')}]`;
  const arrays = list(paths.map((path) => (path.length === 0 ? "'$'" : pathTo(path, true))));
  const records = list(paths.map((path) => pathToFirst(path)));
  const singles = `list_max(json_array_length(${column}, ${arrays})) <= 1
    and list_has_all(['ARRAY', 'NULL'], json_type(${column}, ${arrays}))
    and list_has_all(['OBJECT'], json_type(${column}, ${records}))`;
  return `coalesce(case when ${isArray(column)} then ${singles} else ${areObjects(column, paths)} end, true)`;
}

/** Expressions over a column in which each record is the only element of an array. */
export interface SingleRecords {
  /** A structure of lists, to be selected under the name that `singleRecords` was given; the others read it. */
  readonly read: string;
  /** Returns whether a record is there. */
  isThere(record: Path): string;
  /** Returns whether no array holds more than its record; `count` is an expression for the number of records that are there. */
  areSingles(count: string): string;
  /** Returns a member, as `from_json` gives it. */
  valueAt(member: Path): string;
}

/**
 * Reads a column of arrays by lists of paths: nested lists of records would take four times the memory. `read` is the name under which the
 * structure is selected, and `records` lead to the `members` of `shape`.
 */
export function singleRecords<L>(
  column: string,
  read: string,
  shape: Shape<L>,
  records: readonly Path[],
  members: readonly Path[],
): SingleRecords {
  const list = (paths: readonly string[]) => `[${paths.join(', ')}]`;
  const arrays = list(records.map((path) => (path.length === 0 ? "'$'" : pathTo(path, true))));
  const firsts = list(records.map((path) => pathToFirst(path)));
  const namesOf = (member: Path) => {
    const [record, name] = [member.slice(0, -1), member.at(-1) ?? ''];
    const twin = dashed(name, recordAt(shape, record).keys());
    return [name, ...(twin === null ? [] : [twin])].map((key) => pathTo([...record, key], true));
  };
  const values = [...new Set(members.flatMap(namesOf))];
  const places = new Map(records.map((path, i) => [pathKey(path), i + 1]));
  return {
    read: `{
      lengths: json_array_length(${column}, ${arrays}),
      firsts: json_type(${column}, ${firsts}),
      members: json_extract(${column}, ${list(values)})
    }`,
    isThere: (record) =>
      `coalesce(${read}.firsts[${places.get(pathKey(record))}] = 'OBJECT', false)`,
    areSingles: (count) => `coalesce(list_max(${read}.lengths), 0) <= 1
      and coalesce(list_sum(${read}.lengths), 0) = ${count}
      and case
        when list_contains(${read}.lengths, 0) then list_has_all(['ARRAY', 'NULL'], json_type(${column}, ${arrays}))
        else true
      end`,
    valueAt(member) {
      const found = namesOf(member).map(
        (path) => `nullif(${read}.members[${values.indexOf(path) + 1}], 'null')`,
      );
      return found.length === 1 ? String(found[0]) : `coalesce(${found.join(', ')})`;
    },
  };
}

/** Where the record is, of records that are objects: NULL without one. */
export function objectAt(read: string, path: Path): string {
  return [`${read}.o`, ...path.map(identifier)].join('.');
}

/** Where the array is that the record is the only element of. */
export function listAt(read: string, path: Path): string {
  if (path.length === 0) return `${read}.a`;
  return `${listAt(read, path.slice(0, -1))}[1].${identifier(path.at(-1) ?? '')}`;
}

/** The JSON path to a record or value; `arrays`: through records that are the first elements of arrays. Names hold no `"`. */
export function pathTo(path: Path, arrays = false): string {
  const steps = path.map((name) => `."${name}"`);
  return quoted(arrays ? `$[0]${steps.join('[0]')}` : `$${steps.join('')}`);
}

/** The JSON path to the first element of the array that holds a record. */
function pathToFirst(path: Path): string {
  return quoted(`$[0]${path.map((name) => `."${name}"[0]`).join('')}`);
}

/** A path as one text, which no other path has. */
export function pathKey(path: Path): string {
  return JSON.stringify(path);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
