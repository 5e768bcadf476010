import { isSource, type Source } from '../../ingest/index.ts';
import type { Arm, Arms, FetchedView, Kind, View } from '../caller-sql/index.ts';
import { type MemberColumns, pathKey } from '../records/shapes.ts';
import {
  columnOf,
  filledFrom,
  heldFrom,
  knownMembers,
  type MemberSet,
  type Readers,
  type Store,
  shipped,
} from '../store/index.ts';
import type { SavedQuery, Views } from './query-file.ts';

/** The syntax tree of a statement, as far as it matters here. */
interface Tree {
  readonly error: boolean;
  readonly statements: readonly { readonly node: SelectNode }[];
}

interface SelectNode {
  readonly type?: string;
  readonly cte_map: { readonly map: readonly Definition[] };
  readonly select_list?: readonly SelectItem[];
  readonly from_table?: Readonly<Record<string, unknown>>;
  readonly [clause: string]: unknown;
}

interface SelectItem {
  readonly class?: string;
  readonly alias?: string;
  readonly column_names?: readonly string[];
}

const STANDARD = 'STANDARD_HANDLING';
const RECURSIVE = 'RECURSIVE_CTE_NODE';

interface Definition {
  readonly key: string;
  readonly value: { readonly query: { readonly node: SelectNode } };
}

/** The engine's types, by what they are to SQL of a caller; a column of another type is not to be had there. */
const KINDS: readonly (readonly [RegExp, Kind])[] = [
  [/^JSON$/, 'json'],
  [/^VARCHAR$/, 'text'],
  [/^TIMESTAMP$/, 'timestamp'],
  [/^BOOLEAN$/, 'bool'],
  [/^DATE$/, 'date'],
  [/^TIME$/, 'time'],
  [/^U?(?:TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)$|^FLOAT$|^DOUBLE$|^DECIMAL/, 'number'],
];

const MAX_ROWS = { maxRows: 1 };

/** What a saved query is made of. */
export interface Parts {
  /** Its common table expressions: what SQL of a caller may name at its endpoint. None where it takes none. Each call asks the engine anew. */
  viewsOf(): Promise<Views>;
  /** The tables of the store that it reads, without those of views that it does not use. */
  readonly tables: readonly string[];
  /** Its statement without the views that it does not use, which the engine would plan each time. */
  readonly sql: string;
}

/** What rows are called that are fetched before they are asked. */
export interface FetchedNames {
  /** What stands for the table of a source. */
  table(source: Source): string;
  /** Its column of how many rows a row stands for. */
  readonly times: string;
}

/**
 * The parts of a saved query. Where rows are fetched before they are asked, views read from what `fetched` calls them, in place of the
 * tables of sources. Throws what the engine finds wrong with it.
 */
export async function partsOf(
  { sql, union, maps, sandboxing }: Pick<SavedQuery, 'sql' | 'union' | 'maps' | 'sandboxing'>,
  readers: Pick<Readers, 'query' | 'describe'> & Pick<Store, 'members'>,
  fetched: FetchedNames | null = null,
): Promise<Parts> {
  const text = async (statement: string, value: string) => {
    const { rows } = await readers.query(statement, { value }, MAX_ROWS);
    return String(rows[0]?.[0] ?? '');
  };
  const deserialized = (node: SelectNode) =>
    text(
      'select json_deserialize_sql($value::json)',
      writeTree({ error: false, statements: [{ node }] }),
    );
  const parsed = async (statement: string) =>
    readTree(await text('select json_serialize_sql($value::varchar)', statement)).statements[0]
      ?.node;
  const statement = await parsed(sql);
  const definitions = statement?.cte_map.map ?? [];
  const names = definitions.map(({ key }) => key.toLowerCase());
  /** The tables that each of the views reads. */
  const tablesOf = new Map<string, readonly string[]>();
  const tables = (part: unknown) => [
    ...new Set(
      namedBy(part).flatMap((name) => tablesOf.get(name) ?? [name.replace(/^main\./, '')]),
    ),
  ];
  for (const { key, value } of definitions)
    tablesOf.set(key.toLowerCase(), tables(value.query.node));
  const viewsOf = async (): Promise<Views> => {
    const views = new Map<string, View>();
    /** The rows of sources by the names of their views, with the columns of members. */
    const wholes = new Map<string, Whole>();
    for (const [index, definition] of sandboxing ? definitions.entries() : []) {
      const { key, value } = definition;
      const { node } = value.query;
      const earlier = neededBy(node, definitions.slice(0, index));
      // A view that names itself can be read by its name alone.
      const recursive =
        node.type === RECURSIVE && (await parsed(`select * from ${identifier(key)}`));
      const alone = recursive
        ? { ...recursive, cte_map: { map: [...earlier, definition] } }
        : { ...node, cte_map: { map: [...earlier, ...node.cte_map.map] } };
      const body = await deserialized(alone);
      const { columns, types } = await readers.describe(body);
      const rows = earlier.length === 0 ? rowsOf(node) : null;
      const own = rows && setOf(rows, readers.members);
      const set = own && fetched ? shipped(own.set) : (own?.set ?? null);
      const more = [
        ...(fetched && rows ? [fetched.times] : []),
        ...(set ? columnsOf(set, fetched !== null) : []),
      ].map((name) => columnRef(name));
      const held = (set?.held ?? []).map(({ member, column }) =>
        columnRef(column, columnOf(member)),
      );
      const list = [...(node.select_list ?? []), ...more, ...held];
      const wide = { ...alone, select_list: list };
      const source = fetched ? withTables(wide, fetched, names) : wide;
      if (rows) {
        const called = (node: SelectNode) => ({
          key,
          value: { ...value, query: { ...value.query, node } },
        });
        const plain = fetched ? withTables(alone, fetched, names) : alone;
        wholes.set(key.toLowerCase(), { plain: called(plain), wide: called(source), set });
      }
      const arms = key === union ? await armsOf(node, wholes, deserialized) : null;
      views.set(key.toLowerCase(), {
        name: key,
        sql: fetched || set ? await deserialized(source) : body,
        ...(fetched && rows
          ? { fetched: await fetchedView(node, rows, fetched.times, deserialized) }
          : {}),
        ...(set && own
          ? {
              members: new Map([[own.name, memberColumns(set)]]),
              known: new Map([[own.name, new Set(knownMembers(set.source).map(pathKey))]]),
              texts: textColumns(node),
            }
          : {}),
        ...(arms ? { arms } : {}),
        columns: columns.flatMap((name, i) => {
          const kind = KINDS.find(([pattern]) => pattern.test(types[i] ?? ''))?.[1];
          if (!kind) return [];
          return [{ name, kind: kind === 'json' && maps.includes(name) ? 'map' : kind }];
        }),
        tables: tablesOf.get(key.toLowerCase()) ?? [],
      });
    }
    return views;
  };
  const main = statement && { ...statement, cte_map: { map: [] } };
  const needed = neededBy(main, definitions);
  const isAllNeeded = !main || needed.length === definitions.length;
  return {
    viewsOf,
    tables: tables(main),
    sql: isAllNeeded ? sql : await deserialized({ ...main, cte_map: { map: needed } }),
  };
}

/** A tree with other tables in place of those of sources; `views` are names that stand for no table, unless the schema is said. */
function withTables<T>(tree: T, fetched: FetchedNames, views: readonly string[]): T {
  if (Array.isArray(tree)) return tree.map((each) => withTables(each, fetched, views)) as T;
  if (typeof tree !== 'object' || tree === null) return tree;
  const below = Object.fromEntries(
    Object.entries(tree).map(([key, value]) => [key, withTables(value, fetched, views)]),
  );
  const { type, table_name: table, schema_name: schema, alias } = below;
  const name = String(table ?? '').toLowerCase();
  const isTable = type === 'BASE_TABLE' && isSource(name) && (schema || !views.includes(name));
  return (
    isTable
      ? {
          ...below,
          schema_name: '',
          catalog_name: '',
          table_name: fetched.table(name),
          alias: alias || name,
        }
      : below
  ) as T;
}

/** Clauses after which a row of the view is not a row of the table. */
const CHANGING = ['group_expressions', 'group_sets', 'having', 'qualify', 'sample'];

/** The rows of one source's table, columns of them by other names perhaps. */
interface TableRows {
  readonly source: Source;
  readonly columns: readonly { readonly name: string; readonly column: string }[];
}

/** The rows that a view gives, where each is a row of a source's table and all that it has are columns of it; null for any other view. */
function rowsOf(node: SelectNode): TableRows | null {
  const { select_list: list = [], from_table: table, modifiers } = node;
  const name = String(table?.table_name ?? '').toLowerCase();
  const isTable = table?.type === 'BASE_TABLE' && table.schema_name === 'main' && isSource(name);
  if (!isTable || node.type !== 'SELECT_NODE' || node.cte_map.map.length > 0) return null;
  const clauses = [
    modifiers,
    table.column_name_alias,
    table.sample,
    ...CHANGING.map((clause) => node[clause]),
  ];
  const { aggregate_handling: handling = STANDARD } = node;
  const isSame = clauses.every(isEmpty) && handling === STANDARD;
  const columns = list.flatMap(({ class: kind, column_names: names = [], alias = '' }) => {
    const ofTable = names.length === 2 && [name, table.alias].includes(names[0]?.toLowerCase());
    const isColumn = kind === 'COLUMN_REF' && (names.length === 1 || ofTable);
    const column = names.at(-1)?.toLowerCase() ?? '';
    return isColumn ? [{ name: alias.toLowerCase() || column, column }] : [];
  });
  return isSame && columns.length === list.length ? { source: name, columns } : null;
}

/** The view of a source's rows, without and with the columns of members. */
interface Whole {
  readonly plain: Definition;
  readonly wide: Definition;
  readonly set: MemberSet | null;
}

/** The SELECTs of a union, each of the rows of one source, which a constant column of them names. Throws where it is another. */
async function armsOf(
  node: SelectNode,
  wholes: ReadonlyMap<string, Whole>,
  deserialized: (node: SelectNode) => Promise<string>,
): Promise<Arms> {
  const arms: Arm[] = [];
  let column = '';
  for (const arm of selectsOf(node)) {
    const view = String(arm.from_table?.table_name ?? '').toLowerCase();
    const whole = wholes.get(view);
    const constant = arm.select_list?.find((item) => textOf(item) === view);
    if (!whole || !constant?.alias)
      throw new Error('BUG: --! union has an arm that is not the rows of a source, with its name');
    column = constant.alias;
    const { set } = whole;
    const names = set ? ['member_state', ...set.members.map(columnOf)] : [];
    const more = names.map((name) => columnRef(name));
    const { select_list: list = [] } = arm;
    const wide = { ...arm, select_list: [...list, ...more], cte_map: { map: [whole.wide] } };
    arms.push({
      value: view,
      view,
      sql: await deserialized({ ...arm, cte_map: { map: [whole.plain] } }),
      wide: await deserialized(wide),
      members: set && memberColumns(set),
    });
  }
  return { column, each: arms };
}

/** The SELECTs that a set operation puts together, in their order. */
function selectsOf(node: SelectNode): SelectNode[] {
  const { left, right, children } = node as unknown as Readonly<Record<string, SelectNode>>;
  if (Array.isArray(children)) return children.flatMap(selectsOf);
  return left && right ? [...selectsOf(left), ...selectsOf(right)] : [node];
}

/** The text of a constant; null for anything else. */
function textOf(item: SelectItem): string | null {
  const { value } = item as { readonly value?: { readonly value?: unknown } };
  return item.class === 'CONSTANT' && typeof value?.value === 'string' ? value.value : null;
}

/**
 * The members that have columns in the table whose rows a view gives, with `metadata` as it is, and what that is called; null for any other
 * view.
 */
function setOf(
  { source, columns }: TableRows,
  sets: Store['members'],
): { readonly set: MemberSet; readonly name: string } | null {
  // What stands there besides could take a column's name, or be another each time that it is asked.
  const isPlain = columns.every(
    ({ name }) => !/^(?:(?:member_state|text_block)$|metadata\.)/.test(name),
  );
  const [metadata, ...others] = columns.filter(({ column }) => column === 'metadata');
  const isTaken = columns.some((each) => each !== metadata && each.name === 'metadata');
  const set = sets.get(source);
  return isPlain && metadata && others.length === 0 && !isTaken && set
    ? { set, name: metadata.name }
    : null;
}

/** Clauses of an expression that gives the same for each row. */
const CONSTANT = new Set(['CAST', 'TYPE', 'CONSTANT', 'PARAMETER', 'OPERATOR_COALESCE']);

/** How a view makes its rows of those of a source that were fetched. */
async function fetchedView(
  node: SelectNode,
  { columns }: TableRows,
  times: string,
  deserialized: (node: SelectNode) => Promise<string>,
): Promise<FetchedView> {
  const where = node.where_clause as Condition | undefined;
  const isAnd = where?.type === 'CONJUNCTION_AND';
  const conditions = isAnd ? (where.children ?? []) : where ? [where] : [];
  const timed = conditions.filter((condition) => columnsIn(condition).includes('timestamp'));
  const constants = timed.map(({ class: kind, left, right }) =>
    kind === 'COMPARISON' && left?.class === 'COLUMN_REF' && right && isConstant(right)
      ? right
      : null,
  );
  const known = constants.filter((constant) => constant !== null);
  const select = { ...node, select_list: known, where_clause: undefined, from_table: NOWHERE };
  const isKnown = known.length === constants.length;
  return {
    columns: new Map(columns.map(({ name, column }) => [name, column])),
    filter: new Set(columnsIn(where)),
    moments: !isKnown ? null : known.length === 0 ? '' : await deserialized(select),
    times,
  };
}

const NOWHERE = { type: 'EMPTY', alias: '' };

interface Condition extends SelectItem {
  readonly type?: string;
  readonly children?: readonly Condition[];
  readonly left?: Condition;
  readonly right?: Condition;
}

/** The columns that a tree names, in lower case, without their tables. */
function columnsIn(tree: unknown): string[] {
  if (Array.isArray(tree)) return tree.flatMap(columnsIn);
  if (typeof tree !== 'object' || tree === null) return [];
  const { class: kind, column_names: names } = tree as SelectItem;
  if (kind === 'COLUMN_REF') return [names?.at(-1)?.toLowerCase() ?? ''];
  return Object.values(tree).flatMap(columnsIn);
}

function isConstant(tree: unknown): boolean {
  if (Array.isArray(tree)) return tree.every(isConstant);
  if (typeof tree !== 'object' || tree === null) return true;
  const { class: kind, type } = tree as Condition;
  const isKnown = kind === undefined || CONSTANT.has(kind) || CONSTANT.has(type ?? '');
  return isKnown && Object.values(tree).every(isConstant);
}

/** The columns that are messages as they are stored, of a view whose items are all columns; of metadata, SQL of callers sees values. */
function textColumns({ select_list: list = [] }: SelectNode): ReadonlySet<string> {
  const names = list.flatMap(({ alias, column_names: [...path] = [] }) => {
    const name = path.at(-1) ?? '';
    return /^event_message$/i.test(name) ? [alias || name] : [];
  });
  return new Set(names);
}

function isEmpty(clause: unknown): boolean {
  return clause === undefined || clause === null || (Array.isArray(clause) && clause.length === 0);
}

function columnsOf({ members }: MemberSet, isFetched: boolean): string[] {
  return ['member_state', ...(isFetched ? [] : ['text_block']), ...members.map(columnOf)];
}

function columnRef(name: string, alias = ''): SelectItem & { readonly type: string } {
  return { class: 'COLUMN_REF', type: 'COLUMN_REF', alias, column_names: [name] };
}

function memberColumns(set: MemberSet): MemberColumns {
  return {
    state: 'member_state',
    filledFrom: filledFrom(set),
    bits: new Map(set.records.map((path, bit) => [pathKey(path), bit])),
    columns: new Map(set.members.map((path) => [pathKey(path), columnOf(path)])),
    held: new Map(set.held.map(({ member }) => [pathKey(member), columnOf(member)])),
    heldFrom: heldFrom(set),
  };
}

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
/** Begins the text that stands for a number which JavaScript's cannot hold; no text of SQL has a NUL. */
const NUMBER = '\0number:';

/** Reads a tree without the places in the text. Numbers keep all their digits. */
function readTree(json: string): Tree {
  const exact = json.replace(TOKEN, (token) =>
    token.startsWith('"') || String(Number(token)) === token
      ? token
      : JSON.stringify(NUMBER + token),
  );
  return JSON.parse(exact, (key, value) => (key === 'query_location' ? 0 : value));
}

function writeTree(tree: Tree): string {
  return JSON.stringify(tree).replace(TOKEN, (token) => {
    const value = token.startsWith('"') ? JSON.parse(token) : '';
    return value.startsWith(NUMBER) ? value.slice(NUMBER.length) : token;
  });
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Returns the definitions that a tree names, and those that these name. */
function neededBy(tree: unknown, definitions: readonly Definition[]): Definition[] {
  const named = new Set(namedBy(tree));
  const needed = definitions.toReversed().filter(({ key, value }) => {
    if (!named.has(key.toLowerCase())) return false;
    for (const name of namedBy(value)) named.add(name);
    return true;
  });
  return needed.toReversed();
}

/** What stands for a table anywhere in a tree, in lower case: `view` or `main.table`. */
function namedBy(tree: unknown): string[] {
  if (Array.isArray(tree)) return tree.flatMap(namedBy);
  if (typeof tree !== 'object' || tree === null) return [];
  const { type, table_name: name, schema_name: schema } = tree as Record<string, unknown>;
  const below = Object.values(tree).flatMap(namedBy);
  return type === 'BASE_TABLE'
    ? [`${schema ? `${schema}.` : ''}${name}`.toLowerCase(), ...below]
    : below;
}
