import { refuse } from '../error.ts';
import { nodeOf, only, type TreeNode } from '../parse/tree.ts';
import { type Expression, NULL, textLiteral } from '../typed-expression.ts';
import type { Context } from './context.ts';

export function constant(context: Context, node: TreeNode): Expression {
  const at = context.at(node);
  only(node, ['value'], at);
  const value = nodeOf(node.value);
  const { id } = nodeOf(value.type);
  if (value.is_null || id === 'NULL' || id === 'SQLNULL') return NULL;
  if (id === 'VARCHAR') return textLiteral(context.name(String(value.value)));
  if (id === 'BOOLEAN') return { kind: 'bool', sql: value.value ? 'true' : 'false' };
  const written =
    node.query_location === undefined ? null : context.spelled.numberAt(node.query_location);
  const number = written ?? folded(String(id), value);
  if (number === null || number.length > 40 || !Number.isFinite(Number(number)))
    return refuse(at, 'This number cannot be read');
  return { kind: 'number', sql: number, literal: number };
}

/** What the parser has made of a number and its signs, such as `-(1.5)`. */
function folded(id: string, { value, type }: TreeNode): string | null {
  if (id === 'INTEGER' || id === 'BIGINT' || id === 'DOUBLE') return String(value);
  if (id !== 'DECIMAL') return null;
  const { scale } = nodeOf(nodeOf(type).type_info);
  return String(Number(value) / 10 ** Number(scale ?? 0));
}
