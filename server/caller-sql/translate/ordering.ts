import { reject } from '../error.ts';
import { nodeOf, nodesOf, only, type TreeNode } from '../parse/tree.ts';
import { type Sql, sql } from '../sql-fragment.ts';
import { type Expression, readFrom, sortKeys } from '../typed-expression.ts';
import type { Context, Key } from './context.ts';
import { type Alias, ordinalIndex, type SelectItem } from './select-list.ts';

/** What ORDER BY and GROUP BY take. */
export const MAX_KEYS = 100;
const MAX_LIMIT = 1_000_000;

/** DISTINCT, ORDER BY and LIMIT of a query. */
export interface Modifiers {
  readonly distinct: boolean;
  readonly orders: readonly TreeNode[];
  readonly limit: number | null;
  readonly offset: number | null;
}

export function modifiersOf(context: Context, node: TreeNode, at: number | null): Modifiers {
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
      if (orders.length > MAX_KEYS) reject(at, `ORDER BY takes ${MAX_KEYS} expressions at most`);
    } else if (modifier.type === 'LIMIT_MODIFIER') {
      only(modifier, ['limit', 'offset'], at);
      limit = modifier.limit === undefined ? null : rowCount(context, nodeOf(modifier.limit));
      offset = modifier.offset === undefined ? null : rowCount(context, nodeOf(modifier.offset));
    } else reject(at, 'LIMIT takes a number of rows');
  }
  return { distinct, orders, limit, offset };
}

function rowCount(context: Context, node: TreeNode): number {
  const at = context.at(node);
  const value =
    node.class === 'CONSTANT'
      ? Number(context.input.numberAt(node.query_location ?? -1) ?? nodeOf(node.value).value)
      : Number.NaN;
  return Number.isInteger(value) && value >= 0
    ? Math.min(value, MAX_LIMIT)
    : reject(at, 'LIMIT and OFFSET take a whole number, not negative');
}

/** Something to sort by: a column of the result, or another expression. */
export interface Order {
  readonly column: number | null;
  readonly value: Expression;
  readonly descending: boolean;
  readonly nulls: 'first' | 'last';
}

export function orderOf(
  context: Context,
  orders: readonly TreeNode[],
  items: readonly SelectItem[],
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

/** Returns columns beside the result's, for sort keys that the result does not have. */
export function keysOf(
  orders: readonly Order[],
  columnsOnly: boolean,
  at: number | null,
): { keys: Key[]; hidden: Sql[] } {
  const hidden: Sql[] = [];
  const keys = orders.flatMap(({ column, value, descending, nulls }): Key[] => {
    if (column !== null)
      return sortKeys(readFrom(value, `q.c${column + 1}`), at).map((key) => ({
        sql: key,
        descending,
        nulls,
      }));
    if (columnsOnly)
      reject(
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
