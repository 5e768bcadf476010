import { reject } from '../error.ts';
import { nodeOf, nodesOf, type TreeNode, textsOf } from '../parse/tree.ts';
import { type Expression, jsonOf } from '../typed-expression.ts';
import type { Context } from './context.ts';
import type { Scope } from './scope.ts';

/** A column of a result, as SELECT lists it; the name is null where the caller gives none. */
export interface SelectItem {
  readonly name: string | null;
  readonly value: Expression;
}

export function nameOf(context: Context, node: TreeNode): string | null {
  const alias = context.name(String(node.alias ?? ''));
  if (alias !== '') return alias;
  const names = textsOf(node.column_names);
  const last = names.at(-1);
  if (node.class === 'COLUMN_REF' && last !== undefined) return context.name(last);
  const [, member] = node.type === 'STRUCT_EXTRACT' ? nodesOf(node.children) : [];
  return member ? context.name(String(nodeOf(member.value).value)) : null;
}

/** What a column is called that has no name: BigQuery counts them. */
export function unnamed(items: readonly SelectItem[], index: number): string {
  return `f${items.slice(0, index).filter(({ name }) => name === null).length}_`;
}

/** The column of the result that a bare name means; null for any other node. */
export type Alias = (node: TreeNode) => Expression | null;

/**
 * What a bare name means in GROUP BY, ORDER BY and HAVING: the column of the result before that of a table, in BigQuery; the other
 * way round in the engine's dialect.
 */
export function aliasOf(context: Context, items: readonly SelectItem[], scope: Scope): Alias {
  return (node) => {
    const names = textsOf(node.column_names);
    if (node.class !== 'COLUMN_REF' || names.length !== 1) return null;
    const name = context.name(names[0] ?? '').toLowerCase();
    const item = items.find((each) => each.name?.toLowerCase() === name);
    if (!item) return null;
    const stored = scope.relations.some(({ column, late }) => column(name) && !late?.has(name));
    return context.dialect === 'duckdb' && stored ? null : item.value;
  };
}

/** An expression in which the names of the result's columns stand for what they are. */
export function withAliases(
  context: Context,
  node: unknown,
  items: readonly SelectItem[],
  scope: Scope,
): Expression {
  const names = items.flatMap(({ name }) => (name === null ? [] : [name]));
  const relation = {
    alias: null,
    columns: names,
    column: (name: string) =>
      items.find((each) => each.name?.toLowerCase() === name.toLowerCase())?.value ?? null,
    whole: () => jsonOf('null'),
  };
  const inner: Scope = { ...scope, relations: [relation], outer: scope };
  const farther: Scope = { ...scope, relations: [relation] };
  return context.expression(
    nodeOf(node),
    context.dialect === 'bigquery' ? inner : { ...scope, outer: farther },
  );
}

/** The column of the result that a bare number means. */
export function ordinal(
  context: Context,
  node: TreeNode,
  items: readonly SelectItem[],
): Expression | null {
  const index = ordinalIndex(context, node, items.length);
  return index === null ? null : (items[index]?.value ?? null);
}

export function ordinalIndex(context: Context, node: TreeNode, count: number): number | null {
  if (node.class !== 'CONSTANT') return null;
  const at = context.at(node);
  const value = nodeOf(node.value);
  if (nodeOf(value.type).id !== 'INTEGER') return reject(at, 'Expected a column, or its number');
  const place = Number(value.value);
  return place >= 1 && place <= count
    ? place - 1
    : reject(at, `There is no column ${place}: the result has ${count}`);
}
