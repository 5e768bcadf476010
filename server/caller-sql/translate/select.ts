import { attributeRows } from '../attributes.ts';
import { reject, shown, Uncountable } from '../error.ts';
import { nodeOf, nodesOf, only, type TreeNode } from '../parse/tree.ts';
import { join, ofGroups, print, type Sql, sql } from '../sql-fragment.ts';
import { as, type Expression, readFrom } from '../typed-expression.ts';
import type { Context, Query } from './context.ts';
import { from } from './from.ts';
import { keysOf, MAX_KEYS, type Modifiers, modifiersOf, type Order, orderOf } from './ordering.ts';
import { type Column, NOWHERE, type Scope } from './scope.ts';
import {
  type Alias,
  aliasOf,
  nameOf,
  ordinal,
  type SelectItem,
  unnamed,
  withAliases,
} from './select-list.ts';
import { type From, isNarrow, noteArms, noteRows, type Table } from './table-refs.ts';

const MAX_COLUMNS = 500;

/** Checks a SELECT, clause by clause, and writes it anew. */
export function select(context: Context, node: TreeNode, outer: Scope, depth: number): Query {
  const at = context.at(node);
  only(
    node,
    [
      'modifiers',
      'cte_map',
      'select_list',
      'from_table',
      'where_clause',
      'group_expressions',
      'group_sets',
      'aggregate_handling',
      'having',
      'qualify',
    ],
    at,
  );
  const source = from(context, nodeOf(node.from_table), outer, depth);
  const { alias: _, noAggregates: __, ...farther } = outer;
  const grouped =
    outer !== NOWHERE ||
    nodesOf(node.group_expressions).length > 0 ||
    node.aggregate_handling === 'FORCE_AGGREGATES';
  const plainScope: Scope = { ...farther, relations: source.relations, select: {}, outer, grouped };
  const list = nodesOf(node.select_list);
  if (list.length > MAX_COLUMNS) reject(at, `A query may have ${MAX_COLUMNS} columns at most`);
  const unnested = arrayJoins(context, at);
  const names =
    context.dialect === 'clickhouse' ? namesOf(context, list, plainScope, unnested) : null;
  const scope = names?.scope ?? plainScope;
  const of = (child: unknown) => context.expression(nodeOf(child), scope);
  const items = list.map(
    (child, i): SelectItem => ({
      name: nameOf(context, child),
      value: names?.value(i) ?? of(child),
    }),
  );
  const alias = aliasOf(context, items, scope);

  const condition =
    node.where_clause === undefined
      ? null
      : context.expression(nodeOf(node.where_clause), { ...scope, noAggregates: true });
  const records = () =>
    source.tables.flatMap(({ records, members }) =>
      [...records].map(([column, each]) => ({ each, members: members.get(column) ?? null })),
    );
  const where =
    condition &&
    records().reduce(
      (written, { each, members }) => each.apart(written, members),
      plain(condition, 'WHERE', context.at(nodeOf(node.where_clause))),
    );
  if (condition) {
    noteRows(context, source.tables, condition);
    for (const table of source.tables) noteArms(table, condition);
  }
  const groups = grouping(context, node, items, alias, of, at);
  const withNames = (child: unknown) =>
    names ? of(child) : withAliases(context, child, items, scope);
  const conditionOf = (child: unknown, clause: string) => {
    const value = alias(nodeOf(child)) ?? withNames(child);
    return clause === 'HAVING' && value.window
      ? reject(at, 'HAVING cannot hold a window function')
      : as(value, 'bool', at);
  };
  const having = node.having === undefined ? null : conditionOf(node.having, 'HAVING');
  const qualify = node.qualify === undefined ? null : conditionOf(node.qualify, 'QUALIFY');

  const modifiers = modifiersOf(context, node, at);
  const orders = orderOf(context, modifiers.orders, items, alias, withNames);
  const aggregated =
    groups !== null || having !== null || items.some(({ value }) => value.aggregate);
  if (!aggregated) for (const { each } of records()) each.standApart();
  if (aggregated && groups !== 'all') checkGroups(context, list, items, groups ?? []);
  if (context.counting && (!aggregated || source.view === null)) throw new Uncountable();
  const newest = newestOf(source, modifiers, orders, {
    aggregated,
    qualify: qualify !== null,
    items,
    unnested: unnested.rows.length > 0,
  });
  const windowed = qualify !== null || items.some(({ value }) => value.window);
  const isTakenApart =
    !aggregated &&
    !windowed &&
    !modifiers.distinct &&
    (modifiers.limit ?? modifiers.offset) === null;
  const { keys, hidden } = keysOf(
    [...orders, ...newest.orders],
    modifiers.distinct || groups === 'all',
    at,
  );

  const inGroups = (piece: Sql) =>
    groups === null || groups === 'all' ? piece : ofGroups(piece, groups);
  const columns = [
    ...items.map(({ value }, i) => sql`${inGroups(value.sql)} as c${String(i + 1)}`),
    ...hidden.map(inGroups),
  ];
  const clauses = [
    sql`select ${modifiers.distinct ? 'distinct ' : ''}${join(columns, ', ')}`,
    fromClause(source.sql, unnested.rows),
    whereClause([...(where === null ? [] : [where]), ...unnested.conditions]),
    groups === null
      ? ''
      : groups === 'all'
        ? ' group by all'
        : sql` group by ${join(groups, ', ')}`,
    having === null ? '' : sql` having ${inGroups(having)}`,
    qualify === null ? '' : sql` qualify ${inGroups(qualify)}`,
  ];
  return {
    columns: items.map(({ name, value }, i) => columnOf(name ?? unnamed(items, i), value)),
    rows: clauses,
    keys,
    limit: modifiers.limit,
    offset: modifiers.offset,
    newestOf: newest.table && {
      view: newest.table.view,
      isNarrow: () => {
        const { table } = newest.table ?? {};
        // Later keys order rows of one timestamp alone, among those that were found.
        const conditions = [
          ...(where === null ? [] : [where]),
          ...keys.slice(0, 1).map((key) => key.sql),
        ];
        return table !== undefined && isNarrow(table, conditions);
      },
    },
    tables: isTakenApart ? outer.joined.tables : 1,
  };
}

/** Lists that are taken apart beside FROM, each once. */
interface ArrayJoins {
  readonly rows: Sql[];
  /** What the rows must meet. */
  readonly conditions: Sql[];
  readonly element: NonNullable<Scope['arrayJoin']>;
}

function arrayJoins(context: Context, at: number | null): ArrayJoins {
  const rows: Sql[] = [];
  const conditions: Sql[] = [];
  const known = new Map<string, Expression>();
  return {
    rows,
    conditions,
    element(key, list) {
      const found = known.get(key);
      if (found) return found;
      context.count('unnested values', at);
      const id = `t${context.fresh()}`;
      const { element = 'null', maxExpansion = 1, namesOf } = list;
      const names = namesOf === undefined ? null : attributeRows(namesOf, id);
      rows.push(names?.rows ?? sql`(select unnest(${list.sql}) as v) as ${id}`);
      if (names) conditions.push(names.where);
      const place = names?.name ?? `${id}.v`;
      const value = readFrom({ kind: element, maxExpansion }, place, { own: true });
      known.set(key, value);
      return value;
    },
  };
}

function fromClause(source: Sql, unnested: readonly Sql[]): Sql {
  const [first, ...more] = source === '' ? unnested : [source, ...unnested];
  if (first === undefined) return '';
  return sql` from ${first}${more.map((rows) => sql` cross join lateral ${rows}`)}`;
}

function whereClause(conditions: readonly Sql[]): Sql {
  if (conditions.length === 0) return '';
  return sql` where ${join(
    conditions.map((condition) => sql`(${condition})`),
    ' and ',
  )}`;
}

/** A SELECT whose names mean columns of its result first, wherever they stand but in these columns themselves. */
function namesOf(
  context: Context,
  list: readonly TreeNode[],
  plain: Scope,
  { element }: ArrayJoins,
): { readonly scope: Scope; value(i: number): Expression } {
  const names = list.map((child) => nameOf(context, child)?.toLowerCase());
  const made = new Map<number, Expression>();
  const busy = new Set<number>();
  const scope: Scope = {
    ...plain,
    arrayJoin: element,
    alias(name) {
      const i = names.indexOf(name);
      if (i < 0) return null;
      if (!busy.has(i)) return value(i);
      if (i !== [...busy].at(-1)) isCut = true;
      return null;
    },
  };
  /** Whether a name was a column because what it names was being worked out: then the value is one for this place only. */
  let isCut = false;
  function value(i: number): Expression {
    const known = made.get(i);
    if (known) return known;
    const wasCut = isCut;
    isCut = false;
    busy.add(i);
    const found = context.expression(nodeOf(list[i]), scope);
    busy.delete(i);
    if (!isCut) made.set(i, found);
    isCut = busy.size > 0 && (isCut || wasCut);
    return found;
  }
  return { scope, value };
}

function plain(value: Expression, clause: string, at: number | null): Sql {
  if (value.aggregate) reject(at, `${clause} cannot hold an aggregate function; HAVING can`);
  if (value.window) reject(at, `${clause} cannot hold a window function; QUALIFY can`);
  return as(value, 'bool', at);
}

function grouping(
  context: Context,
  node: TreeNode,
  items: readonly SelectItem[],
  alias: Alias,
  of: (child: unknown) => Expression,
  at: number | null,
): Sql[] | 'all' | null {
  if (node.aggregate_handling === 'FORCE_AGGREGATES') return 'all';
  const groups = nodesOf(node.group_expressions);
  if (groups.length > MAX_KEYS) reject(at, `GROUP BY takes ${MAX_KEYS} expressions at most`);
  const sets = Array.isArray(node.group_sets) ? node.group_sets : [];
  if (sets.length > 1 || (Array.isArray(sets[0]) && sets[0].length !== groups.length))
    reject(at, 'ROLLUP, CUBE and GROUPING SETS are not supported');
  if (groups.length === 0) return null;
  return groups.map((group) => {
    const value = ordinal(context, group, items) ?? alias(group) ?? of(group);
    if (value.aggregate || value.window)
      reject(context.at(group), 'GROUP BY cannot hold an aggregate function');
    if (value.kind === 'array') reject(context.at(group), 'GROUP BY cannot hold an array');
    // A bare number would be the place of a column to the engine.
    return value.literal !== undefined && value.kind === 'number'
      ? sql`(${value.sql})::varchar`
      : value.sql;
  });
}

/** A column of a table as the statement that is written names it; texts in quotes are left out. */
const COLUMN = /\bt\d+\.(?:"|record_|v\b|o\b|c\d)/;

/** A column of the result that is neither grouped by nor aggregated is an error to the engine, which cannot say where. */
function checkGroups(
  context: Context,
  nodes: readonly TreeNode[],
  items: readonly SelectItem[],
  groups: readonly Sql[],
) {
  items.forEach(({ name, value }, i) => {
    const at = context.at(nodes[i] ?? {});
    if (value.aggregate || value.window || value.nested) return;
    context.later(() => {
      const text = print(value.sql);
      // The longest first: one may be a part of another.
      const printed = groups.map(print).sort((a, b) => b.length - a.length);
      const rest = printed.reduce((left, group) => left.replaceAll(group, ''), text);
      if (COLUMN.test(rest.replaceAll(/'(?:[^']|'')*'/g, '')))
        reject(
          at,
          `Each column of the result must be in GROUP BY or within an aggregate function, ${shown(name ?? unnamed(items, i))} is not`,
        );
    });
  });
}

function columnOf(name: string, { kind, element, maxExpansion }: Expression): Column {
  return { name, kind, maxExpansion: maxExpansion ?? 1, ...(element ? { element } : {}) };
}

/**
 * Whether the newest rows of one view are asked for: then they can be looked for among the newest first. Rows of one view in no
 * particular order are given newest first, too.
 */
function newestOf(
  source: From,
  modifiers: Modifiers,
  orders: readonly Order[],
  {
    aggregated,
    qualify,
    items,
    unnested,
  }: {
    aggregated: boolean;
    qualify: boolean;
    items: readonly SelectItem[];
    unnested: boolean;
  },
): { table: { view: string; table: Table } | null; orders: Order[] } {
  const windowed = items.some(({ value }) => value.window);
  const [table, ...others] = source.tables;
  const timestamp = table?.relation.column('timestamp');
  if (
    source.view === null ||
    !table ||
    others.length > 0 ||
    !timestamp ||
    timestamp.kind !== 'timestamp' ||
    aggregated ||
    qualify ||
    windowed ||
    unnested ||
    modifiers.distinct
  )
    return { table: null, orders: [] };
  if (orders.length === 0)
    return {
      table: { view: source.view, table },
      orders: [{ column: null, value: timestamp, descending: true, nulls: 'last' }],
    };
  const [first] = orders;
  const column = first?.value.column;
  const isNewest =
    first?.descending &&
    first.nulls === 'last' &&
    column?.relation === table.relation &&
    column.name === 'timestamp';
  return { table: isNewest ? { view: source.view, table } : null, orders: [] };
}
