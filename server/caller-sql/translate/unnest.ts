import { reject, shown } from '../error.ts';
import { elementsOf } from '../functions/array.ts';
import { nodeOf, nodesOf, only, type TreeNode, textsOf } from '../parse/tree.ts';
import { sql } from '../sql-fragment.ts';
import { readFrom } from '../typed-expression.ts';
import type { Context } from './context.ts';
import type { RecordNode } from './records.ts';
import {
  elementRelation,
  type Relation,
  recordRelation,
  type Scope,
  tableRelation,
} from './scope.ts';
import { type From, NOTHING, recordIn } from './table-refs.ts';

/** The records that were unnested, by the relations that stand for them. */
const NODES = new WeakMap<Relation, RecordNode>();

/** `unnest(x) as name`: together with the other records of its column where it can be, else one by one. */
export function unnested(
  context: Context,
  node: TreeNode,
  left: From,
  outer: Scope,
  keep: boolean,
): From {
  const at = context.at(node);
  only(node, ['function'], at);
  const called = nodeOf(node.function);
  only(called, ['function_name', 'children', 'order_bys', 'schema'], at);
  const name = context.name(String(called.function_name));
  const placed = name.toLowerCase() === 'unnest_places';
  if ((name.toLowerCase() !== 'unnest' && !placed) || (called.schema ?? '') !== '')
    reject(at, `FROM takes no function but UNNEST, got ${shown(name)}`);
  context.count('unnested values', at);
  const [operand, place, ...more] = nodesOf(called.children);
  if (!operand || more.length > 0 || (place !== undefined) !== placed)
    return reject(at, 'UNNEST takes one argument');
  const alias = context.name(String(node.alias ?? '')).toLowerCase() || null;

  const value = withoutDefault(operand);
  const record = placed ? null : recordOf(context, value, left, keep);
  if (record) {
    const relation = recordRelation(alias, record);
    NODES.set(relation, record);
    return { ...left, relations: [...left.relations, relation] };
  }
  const list = elementsOf(
    context.expression(value, { ...outer, relations: left.relations, outer }),
    at,
  );
  const id = `t${context.fresh()}`;
  const read = `${id}.v`;
  const element = readFrom({ kind: list.element, maxExpansion: list.maxExpansion }, read);
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
  return recordIn(owner, column.name, (records) => records.add(null, steps, keep));
}
