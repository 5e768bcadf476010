import { dictionary } from '../dictionary.ts';
import { reject, shown } from '../error.ts';
import { nodeOf, only, type TreeNode, textsOf } from '../parse/tree.ts';
import { join, type Sql, sql } from '../sql-fragment.ts';
import { as, comparable, type Expression } from '../typed-expression.ts';
import type { Context } from './context.ts';
import { joins, type Relation, type Scope } from './scope.ts';
import { subselect } from './subselect.ts';
import { type From, NOTHING, numbered, tableFrom } from './table-refs.ts';
import { unnested } from './unnest.ts';

/** Checks a FROM clause. Throws SqlRefused for all but the endpoint's views, subqueries, joins of these and UNNEST. */
export function from(context: Context, node: TreeNode, outer: Scope, depth: number): From {
  const at = context.at(node);
  switch (node.type) {
    case 'EMPTY':
      return NOTHING;
    case 'BASE_TABLE':
      return named(context, node, outer, at);
    case 'SUBQUERY':
      only(node, ['subquery'], at);
      return derived(context, node, outer, depth, at);
    case 'JOIN':
      return joined(context, leftDeep(node), outer, depth, at);
    case 'TABLE_FUNCTION':
      return unnested(context, node, NOTHING, outer, false);
    default:
      return reject(at, 'FROM takes the views of this endpoint, subqueries and UNNEST only');
  }
}

function named(context: Context, node: TreeNode, outer: Scope, at: number | null): From {
  const name = context.name(String(node.table_name));
  const path = [node.catalog_name, node.schema_name].flatMap((part) =>
    part ? [context.name(String(part))] : [],
  );
  only(node, ['table_name', ...(path.length > 0 ? ['schema_name', 'catalog_name'] : [])], at);
  context.count('tables', at);
  const key = name.toLowerCase();
  const ownTable = path.length === 0 ? outer.tables.get(key) : undefined;
  const view = path.length === 0 ? context.views.get(key) : undefined;
  const alias = context.name(String(node.alias ?? '')) || name;
  if (ownTable) {
    // Used again it is made once, and read as one.
    joins(ownTable.uses++ === 0 ? ownTable.tables : 1, outer, at);
    return tableFrom(context, alias, ownTable.id, numbered(ownTable.columns), null);
  }
  if (!view) {
    const there = [...context.views.values()].map((each) => each.name).join(', ');
    return reject(
      at,
      `There is no table ${shown([...path, name].join('.'))} here; there are ${there}`,
    );
  }
  joins(1, outer, at);
  if (!view.arms) context.read.add(key);
  return tableFrom(
    context,
    alias,
    `(${view.sql})`,
    view.columns.map((column) => ({ ...column, sql: column.name })),
    view,
  );
}

function derived(
  context: Context,
  node: TreeNode,
  outer: Scope,
  depth: number,
  at: number | null,
): From {
  context.count('tables', at);
  const query = context.query(nodeOf(nodeOf(node.subquery).node), outer, depth + 1);
  joins(query.tables, outer, at);
  const alias = context.name(String(node.alias ?? '')) || null;
  return tableFrom(context, alias, sql`(${subselect(query)})`, numbered(query.columns), null);
}

const JOINS = dictionary<string>({
  INNER: 'join',
  LEFT: 'left join',
  RIGHT: 'right join',
  OUTER: 'full join',
  FULL: 'full join',
});

function joined(
  context: Context,
  node: TreeNode,
  outer: Scope,
  depth: number,
  at: number | null,
): From {
  only(
    node,
    ['left', 'right', 'condition', 'join_type', 'ref_type', 'using_columns', 'is_implicit'],
    at,
  );
  const left = from(context, nodeOf(node.left), outer, depth);
  const right = nodeOf(node.right);
  const type = String(node.join_type ?? 'INNER');
  const kind = JOINS[type] ?? reject(at, `A ${type} join is not supported`);
  if (node.ref_type !== undefined && node.ref_type !== 'REGULAR' && node.ref_type !== 'CROSS')
    reject(at, `A ${String(node.ref_type).toLowerCase()} join is not supported`);
  if (right.type === 'TABLE_FUNCTION') {
    if (type !== 'INNER' && type !== 'LEFT')
      reject(at, 'UNNEST can be joined by CROSS JOIN, JOIN and LEFT JOIN only');
    if (!isTrue(node.condition) || node.using_columns)
      reject(at, 'UNNEST is joined ON TRUE, or without a condition');
    return unnested(context, right, left, outer, type === 'LEFT');
  }
  const other = from(context, right, outer, depth);
  if (type === 'LEFT' || type === 'OUTER' || type === 'FULL')
    for (const each of other.tables) each.nullable = true;
  if (type === 'RIGHT' || type === 'OUTER' || type === 'FULL')
    for (const each of left.tables) each.nullable = true;
  const using = textsOf(node.using_columns).map(context.name);
  const pair = { left, other, both: [...left.relations, ...other.relations] };
  const condition = conditionOf(context, node, pair, using, outer, at);
  const operand = other.composite ? sql`(${other.sql})` : other.sql;
  const joinSql =
    condition === null
      ? sql`${left.sql} cross join ${operand}`
      : sql`${left.sql} ${kind} ${operand} on ${condition}`;
  if (condition === null && type !== 'INNER') reject(at, 'An outer join needs a condition');
  const hidden = type === 'RIGHT' ? left : other;
  const kept = hidden.relations.map((relation) => withHidden(relation, using));
  const relations = type === 'RIGHT' ? [...kept, ...other.relations] : [...left.relations, ...kept];
  return {
    sql: joinSql,
    relations,
    tables: [...left.tables, ...other.tables],
    view: null,
    composite: true,
  };
}

/**
 * `a, (unnest(x) join b)` as `(a, unnest(x)) join b`: to the engine's parser a comma binds less than JOIN, and UNNEST would not see what
 * stands before it.
 */
function leftDeep(node: TreeNode): TreeNode {
  const right = nodeOf(node.right);
  const isCross = node.condition === undefined && !node.using_columns;
  const isMovable = ['INNER', 'LEFT'].includes(String(right.join_type ?? 'INNER'));
  if (!isCross || right.type !== 'JOIN' || !isMovable || first(right).type !== 'TABLE_FUNCTION')
    return node;
  return { ...right, left: { ...node, right: right.left } };
}

function first(node: TreeNode): TreeNode {
  return node.type === 'JOIN' ? first(nodeOf(node.left)) : node;
}

function conditionOf(
  context: Context,
  node: TreeNode,
  { left, other, both }: { left: From; other: From; both: readonly Relation[] },
  using: readonly string[],
  outer: Scope,
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
  const value = context.expression(nodeOf(node.condition), {
    ...outer,
    relations: both,
    outer,
  });
  if (value.aggregate || value.window)
    reject(at, 'A join condition cannot hold an aggregate function');
  return as(value, 'bool', at);
}

function shared({ relations }: From, name: string, at: number | null): Expression {
  const [column, ...more] = relations.flatMap((relation) => relation.column(name) ?? []);
  return column && more.length === 0
    ? column
    : reject(at, `USING needs one column ${shown(name)} on each side`);
}

/** The columns that the other side of USING gives, too, are to be had by the relation's name alone. */
function withHidden(relation: Relation, using: readonly string[]): Relation {
  if (using.length === 0) return relation;
  return { ...relation, hidden: new Set(using.map((name) => name.toLowerCase())) };
}

function isTrue(condition: unknown): boolean {
  if (condition === undefined) return true;
  const node = nodeOf(condition);
  if (node.class === 'CAST') return isTrue(node.child);
  return (
    node.class === 'CONSTANT' && ['t', 'true', true].includes(nodeOf(node.value).value as string)
  );
}
