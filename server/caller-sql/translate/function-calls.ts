import { reject, SqlRefused, shown, Uncountable } from '../error.ts';
import { type Call, functionOf, made, type SqlFunction } from '../functions/index.ts';
import type { Dialect } from '../parse/lexer.ts';
import { nodeOf, nodesOf, only, type TreeNode, textsOf } from '../parse/tree.ts';
import { join, type Sql, sql, whole } from '../sql-fragment.ts';
import { as, type Expression, NULL, nameOf, sortKeys, textLiteral } from '../typed-expression.ts';
import type { Context } from './context.ts';
import { INTERVALS, interval } from './intervals.ts';
import { ARITHMETIC, arithmetic, LIKES, likeness } from './operators.ts';
import type { Scope } from './scope.ts';

/** Functions that read a text as a moment. */
const MOMENTS = new Set(['timestamp', 'datetime', 'date', 'time']);

/** Aggregates that hold values of each group, outside of the memory that the engine counts. */
const HOLDERS = new Set([
  'approx_top_count',
  'approx_quantiles',
  'approx_quantile',
  'quantile_cont',
  'quantile_disc',
  'percentile_cont',
  'percentile_disc',
  'median',
]);

/** Schemas that a call may stand in: that which the parser itself names, and BigQuery's for calls that do not fail. */
const SCHEMAS = new Set(['', 'main', 'safe']);

export function call(context: Context, node: TreeNode, scope: Scope): Expression {
  const at = context.at(node);
  only(
    node,
    ['function_name', 'schema', 'children', 'distinct', 'filter', 'order_bys', 'is_operator'],
    at,
  );
  const name = context.name(String(node.function_name)).toLowerCase();
  const schema = context.name(String(node.schema ?? '')).toLowerCase();
  if (!SCHEMAS.has(schema))
    reject(at, `There is no function ${shown(`${context.name(String(node.schema))}.${name}`)}`);
  const children = nodesOf(node.children);
  const of = (child: TreeNode) => context.expression(child, scope);

  if (ARITHMETIC.has(name)) return arithmetic(name, children.map(of), context.dialect, at);
  const like = LIKES[name];
  if (like) return likeness(like, children.map(of), context.dialect, at);
  if (INTERVALS[name] !== undefined) return interval(name, children.map(of), at);
  if (name === 'regexp_full_match') {
    const [value, pattern] = children.map(of);
    const expression = pattern?.literal;
    if (!value || expression === undefined)
      return reject(at, 'A regular expression must be a string literal');
    return called(context, 'regexp_contains', [value, textLiteral(`^(?:${expression})$`)], at);
  }

  if (name === 'arrayjoin' && context.dialect === 'clickhouse')
    return arrayJoin(node, children.map(of), scope, at);
  const found = functionOf(name, context.dialect);
  const base = found ? null : conditional(name, context.dialect);
  const spec = found ?? base ?? reject(at, notThere(name));
  if (children.length < spec.least || children.length > spec.most)
    reject(
      at,
      `${name.toUpperCase()} takes ${counts(spec.least, spec.most)}, got ${children.length}`,
    );
  if (name !== 'struct_pack' && children.some(({ alias }) => alias))
    reject(at, `${name.toUpperCase()} takes no arguments by name`);
  const isOrdered =
    node.order_bys !== undefined && nodesOf(nodeOf(node.order_bys).orders).length > 0;
  if (!spec.aggregate && (node.distinct || node.filter || isOrdered))
    reject(at, `${name.toUpperCase()} is not an aggregate function`);
  const words = new Map((spec.words ?? []).flatMap((index) => bareWord(context, children, index)));
  const inner = spec.aggregate ? { ...scope, noAggregates: true } : scope;
  const argument = (child: TreeNode) => context.expression(child, inner);
  let args = children.map((child, i) => (words.has(i) ? NULL : argument(child)));
  // A literal among these need not be right.
  if (schema === 'safe' && MOMENTS.has(name.replace(/_of$/, ''))) args = args.map(unsure);
  if (HOLDERS.has(name)) context.count('aggregates of values in order', at);
  if (spec.aggregate && !spec.countable && context.counting) throw new Uncountable();
  if (spec.aggregate) {
    if (args.some(({ aggregate, window }) => aggregate || window))
      reject(at, 'An aggregate function cannot stand in another');
    // To the engine it would be one of the outer query.
    if (args.some(({ outer }) => outer) && !args.some(({ own }) => own))
      reject(at, `${name.toUpperCase()} takes nothing but columns of an outer query here`);
    if (node.filter) args = filtered(name, args, argument(nodeOf(node.filter)), at);
  }
  try {
    const value = spec.build(args, {
      ...bareCall(context, name.replace(/_of$/, ''), at),
      distinct: node.distinct === true,
      grouped: scope.grouped === true,
      word: (index) => words.get(index),
      names: children.map(
        (child) => context.name(String(child.alias ?? '')) || lastName(context, child),
      ),
      order: (item) => ordered(context, node, item, scope),
    });
    return spec.aggregate ? { ...value, sql: whole(value.sql) } : value;
  } catch (error) {
    // NULL in the place of a literal, or of an array: whatever it would have been, the result is NULL.
    const hasNull = args.some(({ kind }, i) => kind === 'null' && !words.has(i));
    if (error instanceof SqlRefused && hasNull && !spec.aggregate) return NULL;
    throw error;
  }
}

/** ClickHouse's `sumIf(value, condition)` of `sum`; null where there is no such aggregate. */
function conditional(name: string, dialect: Dialect): SqlFunction | null {
  const [, base] = /^(\w+)if$/.exec(name) ?? [];
  const plain = base && dialect === 'clickhouse' ? functionOf(base, dialect) : undefined;
  if (!plain?.aggregate) return null;
  // The value by which a maximum is found comes first, too; what stands in the first brackets comes last.
  const place = /^arg(?:min|max)$/.test(base ?? '') ? 2 : 1;
  return {
    ...plain,
    least: plain.least + 1,
    most: plain.most + 1,
    build(args, info) {
      const condition = args[place] ?? args.at(-1);
      if (!condition) throw new Error('BUG: arguments are counted');
      const test = as(condition, 'bool', info.at);
      const [value, ...rest] = args.filter((each) => each !== condition);
      if (!value) return reject(info.at, `${name.toUpperCase()} takes a value and a condition`);
      const some = made(
        value.kind,
        sql`case when ${test} then ${value.sql} end`,
        [value, condition],
        { nullable: value.nullable ?? false, ...(value.element ? { element: value.element } : {}) },
      );
      return plain.build([some, ...rest], info);
    },
  };
}

/** `arrayJoin(list)`: a row for each element, all that is asked for beside it. */
function arrayJoin(
  node: TreeNode,
  [list, ...more]: readonly Expression[],
  scope: Scope,
  at: number | null,
): Expression {
  if (!list || more.length > 0) return reject(at, 'ARRAYJOIN takes one argument');
  if (list.kind !== 'array')
    return reject(at, `ARRAYJOIN takes an array, got ${nameOf(list.kind)}`);
  if (list.aggregate || list.window || !scope.arrayJoin)
    return reject(at, 'ARRAYJOIN cannot take what an aggregate function gives');
  const same = JSON.stringify(node, (key, value) =>
    key === 'query_location' || key === 'alias' ? undefined : value,
  );
  return scope.arrayJoin(same, list);
}

/** A literal text as one that is not known to be a literal, and need not be right. */
export function unsure(value: Expression): Expression {
  return value.kind === 'text'
    ? { kind: 'text', sql: value.sql, maxExpansion: value.maxExpansion ?? 1 }
    : value;
}

/** Calls a function that the syntax stands for. */
export function called(
  context: Context,
  name: string,
  args: readonly Expression[],
  at: number | null,
): Expression {
  const spec = functionOf(name, context.dialect);
  if (!spec) throw new Error(`BUG: no function ${name}`);
  return spec.build(args, bareCall(context, name, at));
}

/** A call of which there is nothing to say but its arguments. */
export function bareCall(context: Context, name: string, at: number | null): Call {
  const { dialect, patterns, counting } = context;
  const times = counting?.times ?? null;
  const nothing = {
    distinct: false,
    grouped: false,
    word: () => undefined,
    names: [],
    order: () => '',
  };
  return { name, at, dialect, patterns, times, ...nothing };
}

export function notThere(name: string): string {
  return /^[a-z_][\w]*$/.test(name)
    ? `There is no function ${name.toUpperCase()} here`
    : `The operator ${shown(name)} is not supported`;
}

export function counts(least: number, most: number): string {
  if (least === most) return least === 1 ? 'one argument' : `${least} arguments`;
  return `${least} to ${most} arguments`;
}

/** A unit of time that stands as a bare word, where no string says the unit. */
function bareWord(
  context: Context,
  children: readonly TreeNode[],
  index: number,
): [number, string][] {
  const [child, first] = [children[index], children[0]];
  if (first?.class === 'CONSTANT' && isUnit(context.name(String(nodeOf(first.value).value))))
    return [];
  if (child?.class === 'FUNCTION' && context.name(String(child.function_name)) === 'week') {
    const [day] = nodesOf(child.children);
    return [
      [
        index,
        String(textsOf(day?.column_names)[0]).toLowerCase() === 'monday' ? 'isoweek' : 'week',
      ],
    ];
  }
  const names = textsOf(child?.column_names).map(context.name);
  return child?.class === 'COLUMN_REF' && names.length === 1
    ? [[index, (names[0] ?? '').toLowerCase()]]
    : [];
}

function isUnit(text: string): boolean {
  return /^(?:micro|milli)?seconds?$|^(?:minute|hour|day|week|month|quarter|year)s?$/i.test(text);
}

function lastName(context: Context, node: TreeNode): string | undefined {
  const name = textsOf(node.column_names).at(-1);
  return name === undefined ? undefined : context.name(name);
}

function filtered(
  name: string,
  args: readonly Expression[],
  condition: Expression,
  at: number | null,
): Expression[] {
  const test = as(condition, 'bool', at);
  const [value, ...rest] = args;
  if (name === 'array_agg' || name === 'list') reject(at, 'FILTER is not supported with arrays');
  if (!value) return reject(at, 'COUNT(*) FILTER is written COUNTIF(condition) here');
  return [
    made(value.kind, sql`case when ${test} then ${value.sql} end`, [value, condition]),
    ...rest,
  ];
}

function ordered(
  context: Context,
  { order_bys: modifier, distinct }: TreeNode,
  item: Sql,
  scope: Scope,
): Sql {
  const orders = modifier === undefined ? [] : nodesOf(nodeOf(modifier).orders);
  const keys = orders.flatMap((order) => {
    const at = context.at(order);
    only(order, ['null_order', 'expression'], at);
    const direction = order.type === 'DESCENDING' ? ' desc' : ' asc';
    // The engine sorts distinct values by nothing else.
    const sorted = distinct
      ? [item]
      : sortKeys(context.expression(nodeOf(order.expression), scope), at);
    return sorted.map((key) => sql`${key}${direction}`);
  });
  return keys.length === 0 ? '' : sql` order by ${join(keys, ', ')}`;
}
