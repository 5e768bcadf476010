import { allOf, anyOf } from '../../records/bounds.ts';
import { attributeAt } from '../attributes.ts';
import { dictionary } from '../dictionary.ts';
import { reject, shown } from '../error.ts';
import { orDefault } from '../functions/clickhouse/index.ts';
import { made } from '../functions/index.ts';
import type { Step } from '../json-paths.ts';
import { nodeOf, nodesOf, only, type TreeNode, textsOf } from '../parse/tree.ts';
import { join, sql } from '../sql-fragment.ts';
import {
  alike,
  as,
  type Expression,
  NULL,
  nameOf,
  oneOfAll,
  textLiteral,
  within,
} from '../typed-expression.ts';
import { cast } from './casts.ts';
import type { Context } from './context.ts';
import { call, called, unsure } from './function-calls.ts';
import { boundsBy, compared, comparison, membership } from './operators.ts';
import { resolve, type Scope } from './scope.ts';
import { subquery } from './subqueries.ts';
import { windowed } from './window-functions.ts';

/** Checks an expression of the caller's and writes it anew. Throws SqlRefused for whatever is not known here. */
export function translateExpression(context: Context, node: TreeNode, scope: Scope): Expression {
  const at = context.at(node);
  context.count('parts of an expression', at);
  const of = (child: unknown) => context.expression(nodeOf(child), scope);
  switch (node.class) {
    case 'CONSTANT':
      return constant(context, node);
    case 'COLUMN_REF':
      return columnRef(context, node, scope);
    case 'PARAMETER':
      return parameter(context, node);
    case 'FUNCTION':
      return call(context, node, scope);
    case 'CAST':
      only(node, ['child', 'cast_type', 'try_cast'], at);
      return cast(
        context,
        node.try_cast ? unsure(of(node.child)) : of(node.child),
        nodeOf(node.cast_type),
        at,
      );
    case 'COMPARISON':
      only(node, ['left', 'right'], at);
      if (isTuple(nodeOf(node.left)) && /^COMPARE_(?:NOT)?EQUAL$/.test(String(node.type)))
        return tuples(
          nodeOf(node.left),
          [nodeOf(node.right)],
          node.type === 'COMPARE_EQUAL',
          of,
          at,
        );
      return comparison(String(node.type), of(node.left), of(node.right), at);
    case 'BETWEEN': {
      only(node, ['input', 'lower', 'upper'], at);
      const [input, lower, upper] = [of(node.input), of(node.lower), of(node.upper)];
      const tests = [compared('>=', input, lower, at), compared('<=', input, upper, at)];
      return {
        ...made('bool', sql`(${join(tests, ' and ')})`, [input, lower, upper]),
        bounds: allOf([boundsBy(input, '>=', [lower]), boundsBy(input, '<=', [upper])]),
      };
    }
    case 'CONJUNCTION': {
      only(node, ['children'], at);
      const parts = nodesOf(node.children).map(of);
      const isAnd = node.type === 'CONJUNCTION_AND';
      const list = parts.map((part) => as(part, 'bool', at));
      const oneOf = oneOfAll(parts, isAnd);
      return {
        ...made('bool', sql`(${join(list, isAnd ? ' and ' : ' or ')})`, parts),
        texts: isAnd ? parts.flatMap(({ texts = [] }) => texts) : [],
        bounds: (isAnd ? allOf : anyOf)(parts.map(({ bounds }) => bounds)),
        ...(oneOf ? { oneOf } : {}),
      };
    }
    case 'OPERATOR':
      return operator(context, node, scope);
    case 'CASE':
      return cases(node, of, at);
    case 'SUBQUERY':
      return subquery(context, node, scope);
    case 'WINDOW':
      return windowed(context, node, scope);
    case 'LAMBDA':
      // The engine's parser takes `value -> 'member'` for one.
      only(node, ['lhs', 'expr', 'syntax_type'], at);
      return called(context, '->', [of(node.lhs), of(node.expr)], at);
    case 'STAR':
      return reject(
        at,
        `A * is not allowed: name the columns${columnsOf(scope)} (count(*) is fine)`,
      );
    default:
      return reject(at, "This is not supported in a caller's SQL");
  }
}

/** `(a, b)` */
function isTuple(node: TreeNode): boolean {
  return node.class === 'FUNCTION' && node.function_name === 'row';
}

/** `(a, b) in ((1, 2), (3, 4))`, member by member. */
function tuples(
  left: TreeNode,
  right: readonly TreeNode[],
  wanted: boolean,
  of: (child: TreeNode) => Expression,
  at: number | null,
): Expression {
  const members = nodesOf(left.children).map(of);
  const rows = right.map((row) => {
    const values = isTuple(row) ? nodesOf(row.children).map(of) : [];
    if (values.length !== members.length)
      return reject(at, `Expected a list of ${members.length} values in brackets`);
    const pairs = members.map((member, i) => compared('=', member, values[i] as Expression, at));
    return { values, test: sql`(${join(pairs, ' and ')})` };
  });
  const any = join(
    rows.map(({ test }) => test),
    ' or ',
  );
  const parts = [...members, ...rows.flatMap(({ values }) => values)];
  return made('bool', sql`(${wanted ? '' : 'not '}(${any}))`, parts);
}

const NOW = dictionary<string>({
  current_timestamp: 'current_timestamp',
  current_date: 'current_date',
  current_datetime: 'current_datetime',
  current_time: 'current_time',
});

function columnRef(context: Context, node: TreeNode, scope: Scope): Expression {
  const at = context.at(node);
  only(node, ['column_names'], at);
  const names = textsOf(node.column_names).map(context.name);
  const [first = ''] = names;
  const now = names.length === 1 && NOW[first.toLowerCase()];
  return now ? called(context, now, [], at) : resolve(names, scope, at);
}

function parameter(context: Context, node: TreeNode): Expression {
  const at = context.at(node);
  only(node, ['identifier'], at);
  const name = String(node.identifier);
  const [declared, kind] =
    [...context.parameters].find(([each]) => each.toLowerCase() === name.toLowerCase()) ?? [];
  if (!declared || !kind) {
    const known = [...context.parameters.keys()].map((each) => `@${each}`);
    return reject(
      context.input.placeOf(name),
      `There is no parameter ${shown(name)} here; there are ${known.join(', ') || 'none'}`,
    );
  }
  return { kind, sql: `$${declared}::${kind === 'text' ? 'varchar' : 'timestamp'}` };
}

function operator(context: Context, node: TreeNode, scope: Scope): Expression {
  const at = context.at(node);
  only(node, ['children'], at);
  const children = nodesOf(node.children);
  const of = (child: TreeNode | undefined) => context.expression(nodeOf(child), scope);
  switch (node.type) {
    case 'OPERATOR_NOT': {
      const value = of(children[0]);
      return made('bool', sql`(not ${as(value, 'bool', at)})`, [value]);
    }
    case 'OPERATOR_IS_NULL':
    case 'OPERATOR_IS_NOT_NULL': {
      const value = of(children[0]);
      const test = node.type === 'OPERATOR_IS_NULL' ? 'is null' : 'is not null';
      return made(
        'bool',
        sql`(${value.kind === 'json' ? as(value, 'text', at) : value.sql} ${test})`,
        [value],
      );
    }
    case 'OPERATOR_COALESCE':
      return called(context, 'coalesce', children.map(of), at);
    case 'OPERATOR_TRY':
      return of(children[0]);
    case 'COMPARE_IN':
    case 'COMPARE_NOT_IN': {
      const isIn = node.type === 'COMPARE_IN';
      const [first, ...others] = children;
      if (first && isTuple(first)) return tuples(first, others, isIn, (child) => of(child), at);
      const [value, ...list] = children.map(of);
      // To ClickHouse nothing is equal to NULL, and nothing is unknown for it.
      const known =
        context.dialect === 'clickhouse' ? list.filter(({ kind }) => kind !== 'null') : list;
      if (value && known.length === 0 && list.length > 0)
        return made('bool', isIn ? 'false' : 'true', [value]);
      return membership([...(value ? [value] : []), ...known], isIn, at);
    }
    case 'ARRAY_EXTRACT':
    case 'STRUCT_EXTRACT':
      return subscript(context, node, scope);
    default:
      return reject(at, "This operator is not supported in a caller's SQL");
  }
}

/** `value[offset(1)].member`, and the like. */
function subscript(context: Context, node: TreeNode, scope: Scope): Expression {
  const at = context.at(node);
  const [child, index] = nodesOf(node.children);
  const value = context.expression(nodeOf(child), scope);
  const step = stepOf(context, nodeOf(index), at);
  if (value.kind === 'map') return attribute(value, step, at);
  if (value.kind === 'json') return within(value, [step]);
  if (value.kind !== 'array' || typeof step !== 'number')
    return reject(at, `Expected an array or a record, got ${nameOf(value.kind)}`);
  const kind = value.element ?? 'null';
  const item =
    value.elementAt?.(step) ??
    sql`list_extract(${value.sql}, ${String(step < 0 ? step : step + 1)})`;
  // The engine forgets what a list that is NULL would hold.
  const found = made(kind, kind === 'text' ? sql`${item}::varchar` : item, [value]);
  return context.dialect === 'clickhouse' ? orDefault(found) : found;
}

/** The value of a map at a name. */
function attribute(value: Expression, step: Step, at: number | null): Expression {
  if (typeof step !== 'string')
    return reject(at, "A map takes a name in quotes, as in map['name']");
  return value.member ? value.member([step]) : made('text', attributeAt(value.sql, step), [value]);
}

function stepOf(context: Context, node: TreeNode, at: number | null): Step {
  if (node.class === 'CONSTANT') {
    const index = constant(context, node);
    if (index.kind === 'text') return index.literal ?? '';
    const number = Number(index.literal);
    // From the end, in ClickHouse.
    if (context.dialect === 'clickhouse' && number < 0) return number;
    // The engine counts from 1, and ClickHouse.
    return place(context.dialect === 'bigquery' ? number : number - 1, at);
  }
  const name = node.class === 'FUNCTION' ? String(node.function_name) : '';
  const [argument] = nodesOf(node.children);
  if ((name !== 'offset_of' && name !== 'ordinal_of') || argument?.class !== 'CONSTANT')
    return reject(at, 'A place in an array must be a number, as in value[OFFSET(0)]');
  const number = Number(constant(context, argument).literal);
  return place(name === 'offset_of' ? number : number - 1, at);
}

function place(index: number, at: number | null): number {
  return Number.isInteger(index) && index >= 0 && index < 100_000
    ? index
    : reject(at, 'A place in an array is a whole number, and not negative');
}

function cases(node: TreeNode, of: (child: unknown) => Expression, at: number | null): Expression {
  only(node, ['case_checks', 'else_expr'], at);
  const checks = nodesOf(node.case_checks).map((check) => {
    only(check, ['when_expr', 'then_expr'], at);
    return { when: of(check.when_expr), result: of(check.then_expr) };
  });
  const otherwise: Expression = node.else_expr === undefined ? NULL : of(node.else_expr);
  const { kind, element, values } = alike([...checks.map(({ result }) => result), otherwise], at);
  const branches = checks.map(
    ({ when }, i) => sql`when ${as(when, 'bool', at)} then ${values[i] ?? ''}`,
  );
  const all = [otherwise, ...checks.flatMap(({ when, result }) => [when, result])];
  return made(
    kind,
    sql`case ${join(branches, ' ')} else ${values.at(-1) ?? NULL.sql} end`,
    all,
    element ? { element } : {},
  );
}

export function constant(context: Context, node: TreeNode): Expression {
  const at = context.at(node);
  only(node, ['value'], at);
  const value = nodeOf(node.value);
  const { id } = nodeOf(value.type);
  if (value.is_null || id === 'NULL' || id === 'SQLNULL') return NULL;
  if (id === 'VARCHAR') return textLiteral(context.name(String(value.value)));
  if (id === 'BOOLEAN') return { kind: 'bool', sql: value.value ? 'true' : 'false' };
  const written =
    node.query_location === undefined ? null : context.input.numberAt(node.query_location);
  const number = written ?? folded(String(id), value);
  if (number === null || number.length > 40 || !Number.isFinite(Number(number)))
    return reject(at, 'This number cannot be read');
  return { kind: 'number', sql: number, literal: number };
}

/** What the parser has made of a number and its signs, such as `-(1.5)`. */
function folded(id: string, { value, type }: TreeNode): string | null {
  if (id === 'INTEGER' || id === 'BIGINT' || id === 'DOUBLE') return String(value);
  if (id !== 'DECIMAL') return null;
  const { scale } = nodeOf(nodeOf(type).type_info);
  return String(Number(value) / 10 ** Number(scale ?? 0));
}

/** The names that may stand in the place of a `*`. */
function columnsOf({ relations }: Scope): string {
  const names = [...new Set(relations.flatMap(({ columns }) => columns))];
  return names.length === 0 ? '' : `, such as ${names.slice(0, 20).join(', ')}`;
}
