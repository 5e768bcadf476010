import { isSource, type Source } from '../../ingest/index.ts';
import type { Arm, Arms, FetchedView, Kind, View } from '../caller-sql/index.ts';
import { deadlineIn } from '../deadline.ts';
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
import {
  type Condition,
  columnRef,
  columnsIn,
  type Definition,
  identifier,
  isConstant,
  isEmpty,
  NOWHERE,
  namedBy,
  neededBy,
  readTree,
  type SelectNode,
  selectsOf,
  textOf,
  withTables,
  writeTree,
} from './statement-tree.ts';

const STANDARD = 'STANDARD_HANDLING';
const RECURSIVE = 'RECURSIVE_CTE_NODE';

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

/** Bounds a statement that prepares an endpoint, for all requests. It takes some ms, and may wait for a connection. */
export const PREPARE_MS = 30_000;

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
  /** Returns what stands for the table of a source. */
  readonly table: (source: Source) => string;
  /** Its column of how many rows a row stands for. */
  readonly times: string;
}

type Query = Pick<SavedQuery, 'sql' | 'union' | 'maps' | 'afterMembers' | 'sandboxing'>;

/** The engine's own parser. */
interface Parser {
  parsed(statement: string): Promise<SelectNode | undefined>;
  deserialized(node: SelectNode): Promise<string>;
}

/**
 * Returns the parts of a saved query. Where rows are fetched before they are asked, views read from what `fetched` calls them, in place of
 * the tables of sources. Throws what the engine finds wrong with it.
 */
export async function partsOf(
  query: Query,
  readers: Pick<Readers, 'query' | 'describe'> & Pick<Store, 'members'>,
  fetched: FetchedNames | null = null,
): Promise<Parts> {
  const { sql, sandboxing } = query;
  const parser = parserOf(readers);
  const statement = await parser.parsed(sql);
  const definitions = statement?.cte_map.map ?? [];
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
    const viewOf = viewMaker(query, definitions, { parser, readers, fetched, tablesOf });
    for (const definition of sandboxing ? definitions : [])
      views.set(definition.key.toLowerCase(), await viewOf(definition));
    return views;
  };
  const main = statement && { ...statement, cte_map: { map: [] } };
  const needed = neededBy(main, definitions);
  const isAllNeeded = !main || needed.length === definitions.length;
  return {
    viewsOf,
    tables: tables(main),
    sql: isAllNeeded ? sql : await parser.deserialized({ ...main, cte_map: { map: needed } }),
  };
}

function parserOf(readers: Pick<Readers, 'query'>): Parser {
  const text = async (statement: string, value: string) => {
    const limits = { maxRows: 1, deadline: deadlineIn(PREPARE_MS) };
    const { rows } = await readers.query(statement, { value }, limits);
    return String(rows[0]?.[0] ?? '');
  };
  return {
    async parsed(statement) {
      const tree = await text('select json_serialize_sql($value::varchar)', statement);
      return readTree(tree).statements[0]?.node;
    },
    deserialized: (node) =>
      text(
        'select json_deserialize_sql($value::json)',
        writeTree({ error: false, statements: [{ node }] }),
      ),
  };
}

interface Making {
  readonly parser: Parser;
  readonly readers: Pick<Readers, 'describe'> & Pick<Store, 'members'>;
  readonly fetched: FetchedNames | null;
  /** The tables that each of the views reads, by the view's name in lower case. */
  readonly tablesOf: ReadonlyMap<string, readonly string[]>;
}

/** Returns what makes the views of a query, to be called with its definitions in their order. */
function viewMaker(
  { union, maps, afterMembers }: Query,
  definitions: readonly Definition[],
  { parser, readers, fetched, tablesOf }: Making,
): (definition: Definition) => Promise<View> {
  const { parsed, deserialized } = parser;
  const names = definitions.map(({ key }) => key.toLowerCase());
  const withFetched = <T>(tree: T) => (fetched ? withTables(tree, fetched.table, names) : tree);
  /** The rows of sources by the names of their views, with the columns of members. */
  const wholes = new Map<string, Whole>();

  return async (definition) => {
    const { key, value } = definition;
    const { node } = value.query;
    const earlier = neededBy(node, definitions.slice(0, definitions.indexOf(definition)));
    // A view that names itself can be read by its name alone.
    const recursive = node.type === RECURSIVE && (await parsed(`select * from ${identifier(key)}`));
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
    const held = (set?.held ?? []).map(({ member, column }) => columnRef(column, columnOf(member)));
    const list = [...(node.select_list ?? []), ...more, ...held];
    const wide = withFetched({ ...alone, select_list: list });
    if (rows) {
      const called = (node: SelectNode) => ({
        key,
        value: { ...value, query: { ...value.query, node } },
      });
      wholes.set(key.toLowerCase(), { plain: called(withFetched(alone)), wide: called(wide), set });
    }
    const arms = key === union ? await armsOf(node, wholes, deserialized) : null;
    return {
      name: key,
      sql: fetched || set ? await deserialized(wide) : body,
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
        const isLate = afterMembers.includes(name);
        return [{ name, kind: kind === 'json' && maps.includes(name) ? 'map' : kind, isLate }];
      }),
      tables: tablesOf.get(key.toLowerCase()) ?? [],
    };
  };
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

/** The columns that are messages as they are stored, of a view whose items are all columns; of metadata, SQL of callers sees values. */
function textColumns({ select_list: list = [] }: SelectNode): ReadonlySet<string> {
  const names = list.flatMap(({ alias, column_names: [...path] = [] }) => {
    const name = path.at(-1) ?? '';
    return /^event_message$/i.test(name) ? [alias || name] : [];
  });
  return new Set(names);
}

function columnsOf({ members }: MemberSet, isFetched: boolean): string[] {
  return ['member_state', ...(isFetched ? [] : ['text_block']), ...members.map(columnOf)];
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
