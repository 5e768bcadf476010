import { reject } from '../error.ts';
import { made } from '../functions/index.ts';
import { nodeOf, only, type TreeNode } from '../parse/tree.ts';
import { sql, whole } from '../sql-fragment.ts';
import { comparable, type Expression, readFrom } from '../typed-expression.ts';
import type { Context } from './context.ts';
import { joins, type Scope } from './scope.ts';
import { subselect } from './subselect.ts';

/** The engine's planner takes twice as long for each. */
const MAX_DEPTH = 4;

function depthOf({ outer }: Scope): number {
  return outer ? 1 + depthOf(outer) : 0;
}

export function subquery(context: Context, node: TreeNode, scope: Scope): Expression {
  const at = context.at(node);
  only(node, ['subquery_type', 'subquery', 'child', 'comparison_type'], at);
  context.count('subqueries', at);
  if (depthOf(scope) > MAX_DEPTH)
    reject(at, `Subqueries may stand ${MAX_DEPTH} deep in each other at most`);
  const query = context.query(nodeOf(nodeOf(node.subquery).node), scope, 1);
  joins(query.tables, scope, at);
  if (node.subquery_type === 'EXISTS' || node.subquery_type === 'NOT_EXISTS') {
    return {
      kind: 'bool',
      nested: true,
      sql: sql`${node.subquery_type === 'EXISTS' ? '' : 'not '}exists (${whole(subselect(query))})`,
    };
  }
  const [column, ...more] = query.columns;
  if (!column || more.length > 0)
    return reject(at, 'A subquery that stands for a value must have one column');
  const value = readFrom(column, 'c1');
  if (node.subquery_type === 'SCALAR') {
    // The engine would take any of several rows, too; BigQuery would fail.
    const rest = {
      nested: true,
      maxExpansion: column.maxExpansion ?? 1,
      ...(column.element ? { element: column.element } : {}),
    };
    return made(
      column.kind,
      sql`(select any_value(s.c1) from (${whole(subselect(query))}) as s)`,
      [],
      rest,
    );
  }
  if (node.subquery_type !== 'ANY' || node.comparison_type !== 'COMPARE_EQUAL')
    return reject(at, 'Of ANY and ALL only IN (SELECT …) is supported');
  const child = context.expression(nodeOf(node.child), scope);
  const [left, right] = comparable(child, value, at);
  return made(
    'bool',
    sql`(${left} in (select ${right} from (${whole(subselect(query))}) as s))`,
    [child],
    {
      nested: true,
    },
  );
}
