import type { Context, OwnTables } from './context.ts';
import { as, comparable, type Expression, jsonOf } from './expression.ts';
import { type RecordNode, type Records, recordsOf } from './records.ts';
import { refuse, shown } from './refusal.ts';
import { identifier, join, print, type Sql, sql } from './rope.ts';
import {
  type Column,
  elementRelation,
  type Relation,
  recordRelation,
  type Scope,
  tableRelation,
} from './scope.ts';
import { table as tableOf } from './table.ts';
import { nodeOf, nodesOf, only, type TreeNode, textsOf } from './tree.ts';
import { whole } from './whole.ts';

/** A FROM clause, or a part of it. */
export interface From {
  readonly sql: Sql;
  readonly relations: readonly Relation[];
  /** The tables in it, whose JSON columns can be unnested where they stand. */
  readonly tables: readonly Table[];
  /** The view, where it is all that there is beside its own records. */
  readonly view: string | null;
  /** Whether it is a join, which stands in brackets where it is joined to something. */
  readonly composite: boolean;
}

interface Table {
  readonly relation: Relation;
  readonly columns: readonly (Column & { sql: string })[];
  /** The records of each JSON column, once one is unnested. */
  readonly records: Map<string, Records>;
  readonly id: string;
  /** Whether an outer join may put NULLs in its place. */
  nullable: boolean;
}

/** The records that were unnested, by the relations that stand for them. */
const NODES = new WeakMap<Relation, RecordNode>();

export const NOTHING: From = {
  sql: '',
  relations: [],
  tables: [],
  view: null,
  composite: false,
};

/** Checks a FROM clause. Throws SqlRefused for all but the endpoint's views, subqueries, joins of these and UNNEST. */
export function from(
  context: Context,
  node: TreeNode,
  outer: Scope | null,
  own: OwnTables,
  depth: number,
): From {
  const at = context.at(node);
  switch (node.type) {
    case 'EMPTY':
      return NOTHING;
    case 'BASE_TABLE':
      return named(context, node, own, at);
    case 'SUBQUERY':
      only(node, ['subquery'], at);
      return derived(context, node, outer, own, depth, at);
    case 'JOIN':
      return joined(context, node, outer, own, depth, at);
    case 'TABLE_FUNCTION':
      return unnested(context, node, NOTHING, outer, own, false);
    default:
      return refuse(at, 'FROM takes the views of this endpoint, subqueries and UNNEST only');
  }
}

function named(context: Context, node: TreeNode, own: OwnTables, at: number | null): From {
  const name = context.name(String(node.table_name));
  const path = [node.catalog_name, node.schema_name].flatMap((part) =>
    part ? [context.name(String(part))] : [],
  );
  only(node, ['table_name', ...(path.length > 0 ? ['schema_name', 'catalog_name'] : [])], at);
  context.count('tables', at);
  const key = name.toLowerCase();
  const ownTable = path.length === 0 ? own.get(key) : undefined;
  const view = path.length === 0 ? context.views.get(key) : undefined;
  const alias = context.name(String(node.alias ?? '')) || name;
  if (ownTable) {
    ownTable.uses++;
    return table(
      context,
      alias,
      ownTable.id,
      ownTable.columns.map((column, i) => ({ ...column, sql: `c${i + 1}` })),
      null,
    );
  }
  if (!view) {
    const there = [...context.views.values()].map((each) => each.name).join(', ');
    return refuse(
      at,
      `There is no table ${shown([...path, name].join('.'))} here; there are ${there}`,
    );
  }
  return table(
    context,
    alias,
    `(${view.sql})`,
    view.columns.map((column) => ({ ...column, sql: column.name })),
    view.name,
  );
}

function derived(
  context: Context,
  node: TreeNode,
  outer: Scope | null,
  own: OwnTables,
  depth: number,
  at: number | null,
): From {
  context.count('tables', at);
  const query = context.query(nodeOf(nodeOf(node.subquery).node), outer, own, depth + 1);
  const alias = context.name(String(node.alias ?? '')) || null;
  return table(
    context,
    alias,
    sql`(${whole(query)})`,
    query.columns.map((column, i) => ({ ...column, sql: `c${i + 1}` })),
    null,
  );
}

function table(
  context: Context,
  alias: string | null,
  source: Sql,
  columns: readonly (Column & { sql: string })[],
  view: string | null,
): From {
  const id = `t${context.fresh()}`;
  const relation = tableRelation(alias?.toLowerCase() ?? null, id, columns);
  const made: Table = { relation, columns, records: new Map(), id, nullable: false };
  return {
    sql: { spell: () => print(block(made, source)) },
    relations: [relation],
    tables: [made],
    view,
    composite: false,
  };
}

/** A table with the records of its columns beside them. */
function block({ id, records, columns }: Table, source: Sql): Sql {
  let result = source;
  for (const [name, unnested] of records) {
    const column = columns.find((each) => each.name === name);
    const row = rowName(name, columns);
    const rows = sql`select v.*, unnest(${unnested.list(`v.${identifier(column?.sql ?? name)}`)}) as ${row} from ${result} as v`;
    const condition = unnested.condition(`u.${row}`);
    result = condition ? sql`(select * from (${rows}) as u where ${condition})` : sql`(${rows})`;
  }
  return sql`${result} as ${id}`;
}

/** A name that no column of a view begins with, and each column's own. */
function rowName(column: string, columns: readonly Column[]): string {
  return `record_${columns.findIndex(({ name }) => name === column)}`;
}

const JOINS = tableOf<string>({
  INNER: 'join',
  LEFT: 'left join',
  RIGHT: 'right join',
  OUTER: 'full join',
  FULL: 'full join',
});

function joined(
  context: Context,
  node: TreeNode,
  outer: Scope | null,
  own: OwnTables,
  depth: number,
  at: number | null,
): From {
  only(
    node,
    ['left', 'right', 'condition', 'join_type', 'ref_type', 'using_columns', 'is_implicit'],
    at,
  );
  const left = from(context, nodeOf(node.left), outer, own, depth);
  const right = nodeOf(node.right);
  const type = String(node.join_type ?? 'INNER');
  const kind = JOINS[type] ?? refuse(at, `A ${type} join is not supported`);
  if (node.ref_type !== undefined && node.ref_type !== 'REGULAR' && node.ref_type !== 'CROSS')
    refuse(at, `A ${String(node.ref_type).toLowerCase()} join is not supported`);
  if (right.type === 'TABLE_FUNCTION') {
    if (type !== 'INNER' && type !== 'LEFT')
      refuse(at, 'UNNEST can be joined by CROSS JOIN, JOIN and LEFT JOIN only');
    if (!isTrue(node.condition) || node.using_columns)
      refuse(at, 'UNNEST is joined ON TRUE, or without a condition');
    return unnested(context, right, left, outer, own, type === 'LEFT');
  }
  const other = from(context, right, outer, own, depth);
  if (type === 'LEFT' || type === 'OUTER' || type === 'FULL')
    for (const each of other.tables) each.nullable = true;
  if (type === 'RIGHT' || type === 'OUTER' || type === 'FULL')
    for (const each of left.tables) each.nullable = true;
  const using = textsOf(node.using_columns).map(context.name);
  const pair = { left, other, both: [...left.relations, ...other.relations] };
  const condition = conditionOf(context, node, pair, using, outer, own, at);
  const operand = other.composite ? sql`(${other.sql})` : other.sql;
  const joinSql =
    condition === null
      ? sql`${left.sql} cross join ${operand}`
      : sql`${left.sql} ${kind} ${operand} on ${condition}`;
  if (condition === null && type !== 'INNER') refuse(at, 'An outer join needs a condition');
  const hidden = type === 'RIGHT' ? left : other;
  const kept = hidden.relations.map((relation) => without(relation, using));
  const relations = type === 'RIGHT' ? [...kept, ...other.relations] : [...left.relations, ...kept];
  return {
    sql: joinSql,
    relations,
    tables: [...left.tables, ...other.tables],
    view: null,
    composite: true,
  };
}

function conditionOf(
  context: Context,
  node: TreeNode,
  { left, other, both }: { left: From; other: From; both: readonly Relation[] },
  using: readonly string[],
  outer: Scope | null,
  own: OwnTables,
  at: number | null,
): Sql | null {
  if (using.length > 0) {
    const pairs = using.map((name) => {
      const [a, b] = comparable(shared(left, name, at), shared(other, name, at), at);
      return sql`${a} = ${b}`;
    });
    return join(pairs, ' and ');
  }
  if (node.condition === undefined) return null;
  const value = context.expression(nodeOf(node.condition), { relations: both, outer }, own);
  if (value.aggregate || value.window)
    refuse(at, 'A join condition can not hold an aggregate function');
  return as(value, 'bool', at);
}

function shared({ relations }: From, name: string, at: number | null): Expression {
  const [column, ...more] = relations.flatMap((relation) => relation.column(name) ?? []);
  return column && more.length === 0
    ? column
    : refuse(at, `USING needs one column ${shown(name)} on each side`);
}

/** A relation without the columns that the other side of USING gives, but for those who ask for them by its name. */
function without(relation: Relation, using: readonly string[]): Relation {
  if (using.length === 0) return relation;
  const hidden = new Set(using.map((name) => name.toLowerCase()));
  const bare: Relation = {
    ...relation,
    alias: null,
    column: (name) => (hidden.has(name.toLowerCase()) ? null : relation.column(name)),
  };
  const qualified: Relation = { ...relation, columns: [], column: () => null };
  // The name leads to all columns, the bare columns to those that are left.
  return { ...bare, alias: relation.alias, named: qualified } as Relation & { named: Relation };
}

function isTrue(condition: unknown): boolean {
  if (condition === undefined) return true;
  const node = nodeOf(condition);
  if (node.class === 'CAST') return isTrue(node.child);
  return (
    node.class === 'CONSTANT' && ['t', 'true', true].includes(nodeOf(node.value).value as string)
  );
}

/** `unnest(x) as name`: together with the other records of its column where it can be, else one by one. */
function unnested(
  context: Context,
  node: TreeNode,
  left: From,
  outer: Scope | null,
  own: OwnTables,
  keep: boolean,
): From {
  const at = context.at(node);
  only(node, ['function'], at);
  const called = nodeOf(node.function);
  only(called, ['function_name', 'children', 'order_bys', 'schema'], at);
  const name = context.name(String(called.function_name));
  const placed = name.toLowerCase() === 'unnest_places';
  if ((name.toLowerCase() !== 'unnest' && !placed) || (called.schema ?? '') !== '')
    refuse(at, `FROM takes no function but UNNEST, got ${shown(name)}`);
  context.count('unnested values', at);
  const [operand, place, ...more] = nodesOf(called.children);
  if (!operand || more.length > 0 || (place !== undefined) !== placed)
    return refuse(at, 'UNNEST takes one argument');
  const alias = context.name(String(node.alias ?? '')).toLowerCase() || null;

  const value = withoutDefault(operand);
  const record = placed ? null : recordOf(context, value, left, keep);
  if (record) {
    const relation = recordRelation(alias, record);
    NODES.set(relation, record);
    return { ...left, relations: [...left.relations, relation] };
  }
  const list = listOf(context.expression(value, { relations: left.relations, outer }, own), at);
  const id = `t${context.fresh()}`;
  const read = `${id}.v`;
  const element =
    list.element === 'json' ? jsonOf(read) : { kind: list.element, sql: read, growth: list.growth };
  const offset = place && offsetRelation(context, id, place);
  const rows = offset
    ? sql`(select unnest(l.v) as v, unnest(range(0, len(l.v))) as o from (select ${list.sql} as v) as l) as ${id}`
    : sql`(select unnest(${list.sql}) as v) as ${id}`;
  const joinSql =
    left === NOTHING
      ? rows
      : keep
        ? sql`${left.sql} left join lateral ${rows} on true`
        : sql`${left.sql} cross join lateral ${rows}`;
  return {
    sql: joinSql,
    relations: [...left.relations, elementRelation(alias, element), ...(offset ? [offset] : [])],
    tables: left.tables,
    view: left.view,
    composite: left !== NOTHING,
  };
}

/** The places of the elements, from 0, under the name that WITH OFFSET gives them. */
function offsetRelation(context: Context, id: string, name: TreeNode): Relation {
  const column = context.name(String(nodeOf(name.value).value));
  return tableRelation(null, id, [{ name: column, kind: 'number', sql: 'o' }]);
}

/** `coalesce(x, [])` is x here: there is nothing to unnest of either. */
function withoutDefault(node: TreeNode): TreeNode {
  if (node.type !== 'OPERATOR_COALESCE') return node;
  const [value, other, ...more] = nodesOf(node.children);
  const empty = other?.function_name === 'list_value' && nodesOf(other.children).length === 0;
  return value && empty && more.length === 0 ? value : node;
}

function recordOf(
  context: Context,
  node: TreeNode,
  { relations, tables }: From,
  keep: boolean,
): RecordNode | null {
  if (node.class !== 'COLUMN_REF') return null;
  const [first = '', ...rest] = textsOf(node.column_names).map(context.name);
  const relation = relations.find(({ alias }) => alias === first.toLowerCase());
  const parent = relation && NODES.get(relation);
  if (parent) return rest.length === 0 ? null : parent.records.add(parent, rest, keep);
  const [name = '', ...steps] = relation ? rest : [first, ...rest];
  const owners = tables.filter((table) =>
    relation ? table.relation === relation : table.relation.column(name),
  );
  const [owner] = owners;
  const column = owner?.columns.find((each) => each.name.toLowerCase() === name.toLowerCase());
  if (!owner || owners.length > 1 || owner.nullable || column?.kind !== 'json') return null;
  const known = owner.records.get(column.name);
  const records = known ?? recordsOf(`${owner.id}.${rowName(column.name, owner.columns)}`);
  const added = records.add(null, steps, keep);
  if (added) owner.records.set(column.name, records);
  return added;
}

function listOf(
  value: Expression,
  at: number | null,
): { sql: Sql; element: Expression['kind']; growth: number } {
  const growth = value.growth ?? 1;
  if (value.kind === 'array') return { sql: value.sql, element: value.element ?? 'null', growth };
  if (value.kind === 'null') return { sql: 'null::varchar[]', element: 'text', growth };
  if (value.kind !== 'json') return refuse(at, 'UNNEST takes an array or a record');
  const json = value.sql;
  const list = sql`case when json_type(${json}) = 'ARRAY' then from_json(${json}, '["JSON"]') when json_type(${json}) <> 'NULL' then [${json}] else [] end`;
  return { sql: list, element: 'json', growth };
}
