import { reject, shown, Uncountable } from '../error.ts';
import { nodeOf, nodesOf, only, type TreeNode } from '../parse/tree.ts';
import { join, type Sql, sql } from '../sql-fragment.ts';
import type { Context, Query } from './context.ts';
import type { OwnTable, Scope } from './scope.ts';
import { select } from './select.ts';
import { setOperation } from './set-operation.ts';
import { subselect } from './subselect.ts';

const MAX_DEPTH = 10;

/** Checks a SELECT, or a set operation of several. Throws SqlRefused. */
export function query(context: Context, node: TreeNode, outer: Scope, depth: number): Query {
  const at = context.at(node);
  if (depth > MAX_DEPTH) reject(at, `Queries may stand ${MAX_DEPTH} deep in each other at most`);
  const { scope, definitions } = withTables(context, node, outer, depth);
  if (context.counting && (depth > 0 || definitions !== '' || node.type !== 'SELECT_NODE'))
    throw new Uncountable();
  const checked =
    node.type === 'SELECT_NODE'
      ? select(context, node, scope, depth)
      : node.type === 'SET_OPERATION_NODE'
        ? setOperation(context, node, scope, depth)
        : reject(at, 'Only SELECT is allowed');
  return { ...checked, rows: sql`${definitions}${checked.rows}` };
}

/** The scope with the caller's own common table expressions in it, beside those farther out. */
function withTables(
  context: Context,
  node: TreeNode,
  outer: Scope,
  depth: number,
): { scope: Scope; definitions: Sql } {
  const own = new Map(outer.tables);
  const scope: Scope = { ...outer, tables: own, joined: { tables: 0 } };
  const entries = node.cte_map === undefined ? [] : nodesOf(nodeOf(node.cte_map).map);
  const definitions = entries.map((entry) => {
    const name = context.name(String(entry.key));
    const value = nodeOf(entry.value);
    only(value, ['query', 'materialized'], null);
    if (context.views.has(name.toLowerCase()))
      reject(
        context.input.placeOf(name),
        `${shown(name)} is a table of this endpoint: call yours otherwise`,
      );
    context.count('tables', null);
    const checked = context.query(nodeOf(nodeOf(value.query).node), scope, depth + 1);
    const { columns, tables } = checked;
    const table: OwnTable = { id: `w${context.fresh()}`, columns, tables, uses: 0 };
    own.set(name.toLowerCase(), table);
    // Made once: written out at each place, twenty that each name the one before twice would be a million.
    const once = { spell: () => (table.uses > 1 ? 'materialized ' : '') };
    return sql`${table.id} as ${once}(${subselect(checked)})`;
  });
  return {
    scope,
    definitions: definitions.length === 0 ? '' : sql`with ${join(definitions, ', ')} `,
  };
}
