import { dictionary } from '../dictionary.ts';
import { reject } from '../error.ts';
import { nodeOf, nodesOf, only, type TreeNode } from '../parse/tree.ts';
import { join, sql } from '../sql-fragment.ts';
import { alike, readFrom, sortKeys } from '../typed-expression.ts';
import type { Context, Query } from './context.ts';
import { modifiersOf, orderOf } from './ordering.ts';
import type { Column, Scope } from './scope.ts';
import { aliasOf, type SelectItem, withAliases } from './select-list.ts';
import { subselect } from './subselect.ts';

const OPERATIONS = dictionary<string>({
  UNION: 'union',
  EXCEPT: 'except',
  INTERSECT: 'intersect',
});

/** Checks UNION, EXCEPT or INTERSECT; the columns of its parts become of one kind. */
export function setOperation(context: Context, node: TreeNode, outer: Scope, depth: number): Query {
  const at = context.at(node);
  only(node, ['modifiers', 'cte_map', 'setop_type', 'setop_all', 'left', 'right', 'children'], at);
  const operation =
    OPERATIONS[String(node.setop_type)] ??
    reject(at, 'Of set operations there are UNION, EXCEPT and INTERSECT');
  const parts =
    node.children === undefined ? [nodeOf(node.left), nodeOf(node.right)] : nodesOf(node.children);
  const sides = parts.map((part) =>
    context.query(part, outer, depth + (part.type === 'SET_OPERATION_NODE' ? 0 : 1)),
  );
  const [left, ...rest] = sides;
  if (!left || rest.some(({ columns }) => columns.length !== left.columns.length))
    return reject(at, 'The parts of a set operation must have the same number of columns');
  const kinds = left.columns.map((_, i) =>
    alike(
      sides.map(({ columns }) => readFrom(columns[i] as Column, `s.c${i + 1}`)),
      at,
    ),
  );
  const rows = sides.map((side, s) => {
    const columns = kinds.map(({ values }, i) => sql`${values[s] ?? ''} as c${String(i + 1)}`);
    return sql`(select ${join(columns, ', ')} from (${subselect(side)}) as s)`;
  });
  const columns = left.columns.map((column, i) => {
    const maxExpansion = Math.max(...sides.map((side) => side.columns[i]?.maxExpansion ?? 1));
    const { kind = 'null', element } = kinds[i] ?? {};
    return { name: column.name, kind, maxExpansion, ...(element ? { element } : {}) };
  });
  const items = columns.map(
    (column, i): SelectItem => ({ name: column.name, value: readFrom(column, `q.c${i + 1}`) }),
  );
  const none: Scope = { ...outer, relations: [], outer: null };
  const modifiers = modifiersOf(context, node, at);
  const alias = aliasOf(context, items, none);
  const orders = orderOf(context, modifiers.orders, items, alias, (child) =>
    withAliases(context, child, items, none),
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
    tables: 1,
  };
}
