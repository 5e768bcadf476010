import type { Context, Key, OwnTable, OwnTables, Query } from './context.ts';
import { alike, as, type Expression, groupKey, jsonOf, sortKeys } from './expression.ts';
import { type From, from } from './from.ts';
import { made } from './functions/index.ts';
import { refuse, shown } from './refusal.ts';
import { join, print, type Sql, sql } from './rope.ts';
import type { Column, Scope } from './scope.ts';
import { table } from './table.ts';
import { nodeOf, nodesOf, only, type TreeNode, textsOf } from './tree.ts';
import { whole } from './whole.ts';

const MAX_COLUMNS = 500;
const MAX_DEPTH = 10;
/** What is sorted or grouped by. */
const MAX_KEYS = 100;
const MAX_LIMIT = 1_000_000;

interface Item {
  readonly name: string | null;
  readonly value: Expression;
}

/** Checks a SELECT, or a set operation of several. Throws SqlRefused. */
export function query(
  context: Context,
  node: TreeNode,
  outer: Scope | null,
  tables: OwnTables,
  depth: number,
): Query {
  const at = context.at(node);
  if (depth > MAX_DEPTH) refuse(at, `Queries may stand ${MAX_DEPTH} deep in each other at most`);
  const { own, definitions } = ownTables(context, node, outer, tables, depth);
  const checked =
    node.type === 'SELECT_NODE'
      ? select(context, node, outer, own, depth)
      : node.type === 'SET_OPERATION_NODE'
        ? setOperation(context, node, outer, own, depth)
        : refuse(at, 'Only SELECT is allowed');
  return { ...checked, rows: sql`${definitions}${checked.rows}` };
}

/** The caller's own common table expressions, and those farther out. */
function ownTables(
  context: Context,
  node: TreeNode,
  outer: Scope | null,
  tables: OwnTables,
  depth: number,
): { own: OwnTables; definitions: Sql } {
  const own = new Map(tables);
  const entries = node.cte_map === undefined ? [] : nodesOf(nodeOf(node.cte_map).map);
  const definitions = entries.map((entry) => {
    const name = context.name(String(entry.key));
    const value = nodeOf(entry.value);
    only(value, ['query', 'materialized'], null);
    if (context.views.has(name.toLowerCase()))
      refuse(
        context.spelled.placeOf(name),
        `${shown(name)} is a table of this endpoint: call yours otherwise`,
      );
    context.count('tables', null);
    const checked = context.query(nodeOf(nodeOf(value.query).node), outer, own, depth + 1);
    const table: OwnTable = { id: `w${context.fresh()}`, columns: checked.columns, uses: 0 };
    own.set(name.toLowerCase(), table);
    // Made once: written out at each place, twenty that each name the one before twice would be a million.
    const once = { spell: () => (table.uses > 1 ? 'materialized ' : '') };
    return sql`${table.id} as ${once}(${whole(checked)})`;
  });
  return {
    own,
    definitions: definitions.length === 0 ? '' : sql`with ${join(definitions, ', ')} `,
  };
}

function select(
  context: Context,
  node: TreeNode,
  outer: Scope | null,
  own: OwnTables,
  depth: number,
): Query {
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
  const source = from(context, nodeOf(node.from_table), outer, own, depth);
  const scope: Scope = { relations: source.relations, outer };
  const of = (child: unknown) => context.expression(nodeOf(child), scope, own);

  const list = nodesOf(node.select_list);
  if (list.length > MAX_COLUMNS) refuse(at, `A query may have ${MAX_COLUMNS} columns at most`);
  const items = list.map((child): Item => ({ name: nameOf(context, child), value: of(child) }));
  const alias = aliasOf(context, items, scope);

  const where =
    node.where_clause === undefined
      ? null
      : plain(of(node.where_clause), 'WHERE', context.at(nodeOf(node.where_clause)));
  const groups = grouping(context, node, items, alias, of, at);
  const condition = (child: unknown, clause: string) => {
    const value = alias(nodeOf(child)) ?? withAliases(context, child, items, scope, own);
    return clause === 'HAVING' && value.window
      ? refuse(at, 'HAVING can not hold a window function')
      : as(value, 'bool', at);
  };
  const having = node.having === undefined ? null : condition(node.having, 'HAVING');
  const qualify = node.qualify === undefined ? null : condition(node.qualify, 'QUALIFY');

  const modifiers = modifiersOf(context, node, at);
  const orders = orderOf(context, modifiers.orders, items, alias, (child) =>
    withAliases(context, child, items, scope, own),
  );
  const aggregated =
    groups !== null || having !== null || items.some(({ value }) => value.aggregate);
  if (aggregated && groups !== 'all') checkGroups(context, list, items, groups ?? []);
  const newest = newestOf(source, modifiers, orders, {
    aggregated,
    qualify: qualify !== null,
    items,
  });
  const { keys, hidden } = keysOf(
    context,
    [...orders, ...newest.orders],
    modifiers.distinct || groups === 'all',
    at,
  );

  const columns = [
    ...items.map(({ value }, i) => sql`${groupKey(value)} as c${String(i + 1)}`),
    ...hidden,
  ];
  const clauses = [
    sql`select ${modifiers.distinct ? 'distinct ' : ''}${join(columns, ', ')}`,
    source.sql === '' ? '' : sql` from ${source.sql}`,
    where === null ? '' : sql` where ${where}`,
    groups === null
      ? ''
      : groups === 'all'
        ? ' group by all'
        : sql` group by ${join(groups, ', ')}`,
    having === null ? '' : sql` having ${having}`,
    qualify === null ? '' : sql` qualify ${qualify}`,
  ];
  return {
    columns: items.map(({ name, value }, i) => columnOf(name ?? unnamed(items, i), value)),
    rows: clauses,
    keys,
    limit: modifiers.limit,
    offset: modifiers.offset,
    newestOf: newest.view,
  };
}

/** A column of a table as the statement that is written names it; texts in quotes are left out. */
const COLUMN = /\bt\d+\.(?:"|record_|v\b|o\b|c\d)/;

/** A column of the result that is neither grouped by nor aggregated is an error to the engine, which can not say where. */
function checkGroups(
  context: Context,
  nodes: readonly TreeNode[],
  items: readonly Item[],
  groups: readonly Sql[],
) {
  items.forEach(({ name, value }, i) => {
    const at = context.at(nodes[i] ?? {});
    if (value.aggregate || value.window || value.nested) return;
    context.later(() => {
      const text = print(groupKey(value));
      const rest = groups.reduce<string>((left, group) => left.replaceAll(print(group), ''), text);
      if (COLUMN.test(rest.replaceAll(/'(?:[^']|'')*'/g, '')))
        refuse(
          at,
          `Each column of the result must be in GROUP BY or within an aggregate function, ${shown(name ?? unnamed(items, i))} is not`,
        );
    });
  });
}

function columnOf(name: string, { kind, element, growth }: Expression): Column {
  return { name, kind, growth: growth ?? 1, ...(element ? { element } : {}) };
}

function nameOf(context: Context, node: TreeNode): string | null {
  const alias = context.name(String(node.alias ?? ''));
  if (alias !== '') return alias;
  const names = textsOf(node.column_names);
  const last = names.at(-1);
  if (node.class === 'COLUMN_REF' && last !== undefined) return context.name(last);
  const [, member] = node.type === 'STRUCT_EXTRACT' ? nodesOf(node.children) : [];
  return member ? context.name(String(nodeOf(member.value).value)) : null;
}

/** BigQuery counts the columns that have no name. */
function unnamed(items: readonly Item[], index: number): string {
  return `f${items.slice(0, index).filter(({ name }) => name === null).length}_`;
}

type Alias = (node: TreeNode) => Expression | null;

/**
 * What a bare name means in GROUP BY, ORDER BY and HAVING: the column of the result before that of a table, in BigQuery; the other
 * way round in the engine's dialect.
 */
function aliasOf(context: Context, items: readonly Item[], scope: Scope): Alias {
  return (node) => {
    const names = textsOf(node.column_names);
    if (node.class !== 'COLUMN_REF' || names.length !== 1) return null;
    const name = context.name(names[0] ?? '').toLowerCase();
    const item = items.find((each) => each.name?.toLowerCase() === name);
    if (!item) return null;
    const stored = scope.relations.some((relation) => relation.column(name));
    return context.dialect === 'duckdb' && stored ? null : item.value;
  };
}

/** An expression in which the names of the result's columns stand for what they are. */
function withAliases(
  context: Context,
  node: unknown,
  items: readonly Item[],
  scope: Scope,
  own: OwnTables,
): Expression {
  const names = items.flatMap(({ name }) => (name === null ? [] : [name]));
  const relation = {
    alias: null,
    columns: names,
    column: (name: string) =>
      items.find((each) => each.name?.toLowerCase() === name.toLowerCase())?.value ?? null,
    whole: () => jsonOf('null'),
  };
  const inner: Scope = { relations: [relation], outer: scope };
  const tables: Scope = {
    relations: scope.relations,
    outer: { relations: [relation], outer: scope.outer },
  };
  return context.expression(nodeOf(node), context.dialect === 'bigquery' ? inner : tables, own);
}

function plain(value: Expression, clause: string, at: number | null): Sql {
  if (value.aggregate) refuse(at, `${clause} can not hold an aggregate function; HAVING can`);
  if (value.window) refuse(at, `${clause} can not hold a window function; QUALIFY can`);
  return as(value, 'bool', at);
}

function grouping(
  context: Context,
  node: TreeNode,
  items: readonly Item[],
  alias: Alias,
  of: (child: unknown) => Expression,
  at: number | null,
): Sql[] | 'all' | null {
  if (node.aggregate_handling === 'FORCE_AGGREGATES') return 'all';
  const groups = nodesOf(node.group_expressions);
  if (groups.length > MAX_KEYS) refuse(at, `GROUP BY takes ${MAX_KEYS} expressions at most`);
  const sets = Array.isArray(node.group_sets) ? node.group_sets : [];
  if (sets.length > 1 || (Array.isArray(sets[0]) && sets[0].length !== groups.length))
    refuse(at, 'ROLLUP, CUBE and GROUPING SETS are not supported');
  if (groups.length === 0) return null;
  return groups.map((group) => {
    const value = ordinal(context, group, items) ?? alias(group) ?? of(group);
    if (value.aggregate || value.window)
      refuse(context.at(group), 'GROUP BY can not hold an aggregate function');
    if (value.kind === 'array') refuse(context.at(group), 'GROUP BY can not hold an array');
    return groupKey(value);
  });
}

/** The column of the result that a bare number means. */
function ordinal(context: Context, node: TreeNode, items: readonly Item[]): Expression | null {
  const index = ordinalIndex(context, node, items.length);
  return index === null ? null : (items[index]?.value ?? null);
}

function ordinalIndex(context: Context, node: TreeNode, count: number): number | null {
  if (node.class !== 'CONSTANT') return null;
  const at = context.at(node);
  const value = nodeOf(node.value);
  if (nodeOf(value.type).id !== 'INTEGER') return refuse(at, 'Expected a column, or its number');
  const place = Number(value.value);
  return place >= 1 && place <= count
    ? place - 1
    : refuse(at, `There is no column ${place}: the result has ${count}`);
}

interface Modifiers {
  readonly distinct: boolean;
  readonly orders: readonly TreeNode[];
  readonly limit: number | null;
  readonly offset: number | null;
}

function modifiersOf(context: Context, node: TreeNode, at: number | null): Modifiers {
  let [distinct, orders, limit, offset]: [boolean, TreeNode[], number | null, number | null] = [
    false,
    [],
    null,
    null,
  ];
  for (const modifier of nodesOf(node.modifiers)) {
    if (modifier.type === 'DISTINCT_MODIFIER') {
      only(modifier, [], at);
      distinct = true;
    } else if (modifier.type === 'ORDER_MODIFIER') {
      only(modifier, ['orders'], at);
      orders = nodesOf(modifier.orders);
      if (orders.length > MAX_KEYS) refuse(at, `ORDER BY takes ${MAX_KEYS} expressions at most`);
    } else if (modifier.type === 'LIMIT_MODIFIER') {
      only(modifier, ['limit', 'offset'], at);
      limit = modifier.limit === undefined ? null : rowCount(context, nodeOf(modifier.limit));
      offset = modifier.offset === undefined ? null : rowCount(context, nodeOf(modifier.offset));
    } else refuse(at, 'LIMIT takes a number of rows');
  }
  return { distinct, orders, limit, offset };
}

function rowCount(context: Context, node: TreeNode): number {
  const at = context.at(node);
  const value =
    node.class === 'CONSTANT'
      ? Number(context.spelled.numberAt(node.query_location ?? -1) ?? nodeOf(node.value).value)
      : Number.NaN;
  return Number.isInteger(value) && value >= 0
    ? Math.min(value, MAX_LIMIT)
    : refuse(at, 'LIMIT and OFFSET take a whole number, not negative');
}

/** Something to sort by: a column of the result, or another expression. */
interface Order {
  readonly column: number | null;
  readonly value: Expression;
  readonly descending: boolean;
  readonly nulls: 'first' | 'last';
}

function orderOf(
  context: Context,
  orders: readonly TreeNode[],
  items: readonly Item[],
  alias: Alias,
  of: (child: unknown) => Expression,
): Order[] {
  return orders.map((order) => {
    const at = context.at(order);
    only(order, ['null_order', 'expression'], at);
    const node = nodeOf(order.expression);
    const index = ordinalIndex(context, node, items.length);
    const named = index === null ? alias(node) : (items[index]?.value ?? null);
    const column = named === null ? null : items.findIndex(({ value }) => value === named);
    const descending = order.type === 'DESCENDING';
    // NULL is less than anything to BigQuery.
    const usual = context.dialect === 'bigquery' && !descending ? 'first' : 'last';
    const wanted =
      order.null_order === 'NULLS FIRST'
        ? 'first'
        : order.null_order === 'NULLS LAST'
          ? 'last'
          : usual;
    return { column, value: named ?? of(node), descending, nulls: wanted };
  });
}

/** Columns beside the result's for what is sorted by and is none of them. */
function keysOf(
  _context: Context,
  orders: readonly Order[],
  columnsOnly: boolean,
  at: number | null,
): { keys: Key[]; hidden: Sql[] } {
  const hidden: Sql[] = [];
  const keys = orders.flatMap(({ column, value, descending, nulls }): Key[] => {
    if (column !== null)
      return sortKeys(placed(value, `q.c${column + 1}`), at).map((key) => ({
        sql: key,
        descending,
        nulls,
      }));
    if (columnsOnly)
      refuse(
        at,
        'With DISTINCT, GROUP BY ALL and set operations ORDER BY takes columns of the result only',
      );
    return sortKeys(value, at).map((key) => {
      const name = `k${hidden.length + 1}`;
      hidden.push(sql`${key} as ${name}`);
      return { sql: `q.${name}`, descending, nulls };
    });
  });
  return { keys, hidden };
}

/** The value as it is read from a column of a subquery. */
function placed(
  { kind, element }: Pick<Expression, 'kind' | 'element'>,
  place: string,
): Expression {
  if (kind === 'null') return { kind, sql: 'null' };
  return kind === 'json' ? jsonOf(place) : { kind, sql: place, ...(element ? { element } : {}) };
}

/**
 * Whether the newest rows of one view are asked for: then they can be looked for among the newest first. Rows of one view in no
 * particular order are given newest first, too.
 */
function newestOf(
  source: From,
  modifiers: Modifiers,
  orders: readonly Order[],
  { aggregated, qualify, items }: { aggregated: boolean; qualify: boolean; items: readonly Item[] },
): { view: string | null; orders: Order[] } {
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
    modifiers.distinct
  )
    return { view: null, orders: [] };
  if (orders.length === 0)
    return {
      view: source.view,
      orders: [{ column: null, value: timestamp, descending: true, nulls: 'last' }],
    };
  const [first] = orders;
  const column = first?.value.column;
  const isNewest =
    first?.descending &&
    first.nulls === 'last' &&
    column?.relation === table.relation &&
    column.name === 'timestamp';
  return { view: isNewest ? source.view : null, orders: [] };
}

const OPERATIONS = table<string>({
  UNION: 'union',
  EXCEPT: 'except',
  INTERSECT: 'intersect',
});

function setOperation(
  context: Context,
  node: TreeNode,
  outer: Scope | null,
  own: OwnTables,
  depth: number,
): Query {
  const at = context.at(node);
  only(node, ['modifiers', 'cte_map', 'setop_type', 'setop_all', 'left', 'right', 'children'], at);
  const operation =
    OPERATIONS[String(node.setop_type)] ??
    refuse(at, 'Of set operations there are UNION, EXCEPT and INTERSECT');
  const parts =
    node.children === undefined ? [nodeOf(node.left), nodeOf(node.right)] : nodesOf(node.children);
  const sides = parts.map((part) =>
    context.query(part, outer, own, depth + (part.type === 'SET_OPERATION_NODE' ? 0 : 1)),
  );
  const [left, ...rest] = sides;
  if (!left || rest.some(({ columns }) => columns.length !== left.columns.length))
    return refuse(at, 'The parts of a set operation must have the same number of columns');
  const kinds = left.columns.map((_, i) =>
    alike(
      sides.map(({ columns }) => placed(columns[i] as Column, `s.c${i + 1}`)),
      at,
    ),
  );
  const rows = sides.map((side, s) => {
    const columns = kinds.map(
      ({ values }, i) =>
        sql`${kinds[i]?.kind === 'null' ? 'null::varchar' : (values[s] ?? '')} as c${String(i + 1)}`,
    );
    return sql`(select ${join(columns, ', ')} from (${whole(side)}) as s)`;
  });
  const columns = left.columns.map((column, i) => {
    const growth = Math.max(...sides.map((side) => side.columns[i]?.growth ?? 1));
    const { kind = 'null', element } = kinds[i] ?? {};
    return { name: column.name, kind, growth, ...(element ? { element } : {}) };
  });
  const items = columns.map(
    (column, i): Item => ({
      name: column.name,
      value: made(
        column.kind,
        `q.c${i + 1}`,
        [],
        column.element ? { element: column.element } : {},
      ),
    }),
  );
  const modifiers = modifiersOf(context, node, at);
  const alias = aliasOf(context, items, { relations: [], outer: null });
  const orders = orderOf(context, modifiers.orders, items, alias, (child) =>
    withAliases(context, child, items, { relations: [], outer: null }, own),
  );
  // An expression over columns of the result is computed where these are sorted.
  const keys = orders.flatMap(({ value, descending, nulls }) =>
    sortKeys(value, at).map((sort) => ({ sql: sort, descending, nulls })),
  );
  return {
    columns,
    rows: join(rows, ` ${operation}${node.setop_all === false ? '' : ' all'} `),
    keys,
    limit: modifiers.limit,
    offset: modifiers.offset,
    newestOf: null,
  };
}
