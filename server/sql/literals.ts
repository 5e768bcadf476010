import type { Context } from './context.ts';
import { type Expression, textLiteral } from './expression.ts';
import { refuse } from './refusal.ts';
import { nodeOf, only, type TreeNode } from './tree.ts';

export function constant(context: Context, node: TreeNode): Expression {
  const at = context.at(node);
  only(node, ['value'], at);
  const value = nodeOf(node.value);
  const { id } = nodeOf(value.type);
  if (value.is_null || id === 'NULL' || id === 'SQLNULL') return { kind: 'null', sql: 'null' };
  if (id === 'VARCHAR') return textLiteral(context.name(String(value.value)));
  if (id === 'BOOLEAN') return { kind: 'bool', sql: value.value ? 'true' : 'false' };
  const written =
    node.query_location === undefined ? null : context.spelled.numberAt(node.query_location);
  const number = written ?? (id === 'INTEGER' || id === 'BIGINT' ? String(value.value) : null);
  if (number === null || number.length > 40 || !Number.isFinite(Number(number)))
    return refuse(at, 'This number can not be read');
  return { kind: 'number', sql: number, literal: number };
}
