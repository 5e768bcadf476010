import { dictionary } from '../dictionary.ts';
import { reject, Uncountable } from '../error.ts';
import { functionOf, made } from '../functions/index.ts';
import { nodeOf, nodesOf, only, type TreeNode } from '../parse/tree.ts';
import { join, type Sql, sql } from '../sql-fragment.ts';
import { as, type Expression, sortKeys } from '../typed-expression.ts';
import type { Context } from './context.ts';
import { bareCall, counts, notThere } from './function-calls.ts';
import type { Scope } from './scope.ts';

const RANKS = dictionary<number>({
  row_number: 0,
  rank: 0,
  rank_dense: 0,
  dense_rank: 0,
  percent_rank: 0,
  cume_dist: 0,
  ntile: 1,
  lag: 3,
  lead: 3,
  first_value: 1,
  last_value: 1,
  first: 1,
  last: 1,
  nth_value: 2,
});

export function windowed(context: Context, node: TreeNode, scope: Scope): Expression {
  const at = context.at(node);
  if (context.counting) throw new Uncountable();
  only(
    node,
    [
      'function_name',
      'schema',
      'children',
      'partitions',
      'orders',
      'start',
      'end',
      'start_expr',
      'end_expr',
      'distinct',
      'offset_expr',
      'default_expr',
      'exclude_clause',
      'is_operator',
    ],
    at,
  );
  if (node.start_expr || node.end_expr || node.exclude_clause)
    reject(at, 'Window frames with bounds are not supported');
  const of = (child: unknown) => context.expression(nodeOf(child), scope);
  const name = context.name(String(node.function_name)).toLowerCase();
  const extra = [node.offset_expr, node.default_expr].flatMap((child) =>
    child === undefined ? [] : [of(child)],
  );
  const args = [...nodesOf(node.children).map(of), ...extra];
  if (args.some(({ window }) => window)) reject(at, 'A window function cannot stand in another');
  const partitions = nodesOf(node.partitions).map((child) => of(child).sql);
  const keys = nodesOf(node.orders).flatMap((order) => {
    const direction =
      order.type === 'DESCENDING'
        ? 'desc nulls last'
        : context.dialect === 'bigquery'
          ? 'asc nulls first'
          : 'asc nulls last';
    return sortKeys(of(order.expression), at).map((key) => sql`${key} ${direction}`);
  });
  const frame = frameOf(node, at);
  const over = join(
    [
      partitions.length === 0 ? '' : sql`partition by ${join(partitions, ', ')}`,
      keys.length === 0 ? '' : sql`order by ${join(keys, ', ')}`,
      keys.length === 0 ? '' : frame,
    ].filter((part) => part !== ''),
    ' ',
  );
  const most = RANKS[name];
  if (most !== undefined) {
    if (args.length > most)
      reject(at, `${name.toUpperCase()} takes ${counts(Math.min(1, most), most)}`);
    const [value, ...rest] = args;
    const kind = most === 0 || name === 'ntile' || !value ? 'number' : value.kind;
    const list = value
      ? [
          name === 'ntile' ? placeOf(value, name, 1, at) : value.sql,
          ...rest.map((each, i) => (i === 0 ? placeOf(each, name, 0, at) : as(each, kind, at))),
        ]
      : [];
    return made(
      kind,
      sql`${name === 'rank_dense' ? 'dense_rank' : name}(${join(list, ', ')}) over (${over})`,
      args,
      { window: true, ...(value?.element ? { element: value.element } : {}) },
    );
  }
  const called = name === 'count' && args.length === 0 ? 'count_star' : name;
  const spec =
    functionOf(called, 'duckdb') ??
    functionOf(called, context.dialect) ??
    reject(at, notThere(name));
  if (args.length < spec.least || args.length > spec.most)
    reject(at, `${name.toUpperCase()} takes ${counts(spec.least, spec.most)}, got ${args.length}`);
  const plain = [
    'count',
    'count_star',
    'countif',
    'count_if',
    'sum',
    'avg',
    'min',
    'max',
    'any_value',
  ];
  if (!plain.includes(name) || node.distinct)
    reject(at, `${name.toUpperCase()} … OVER is not supported`);
  const value = spec.build(
    args.map((arg) =>
      arg.kind === 'json' && (name === 'min' || name === 'max')
        ? made('number', as(arg, 'number', at), [arg])
        : arg,
    ),
    bareCall(context, name, at),
  );
  return made(value.kind, sql`${value.sql} over (${over})`, args, {
    window: true,
    ...(value.element ? { element: value.element } : {}),
  });
}

/** A number of rows, as a literal: a literal that is not one is an error to the engine. */
function placeOf(
  { kind, literal }: Expression,
  name: string,
  least: number,
  at: number | null,
): Sql {
  const number = Number(literal ?? Number.NaN);
  if (kind !== 'number' || !Number.isInteger(number) || number < least || number > 1_000_000)
    reject(at, `${name.toUpperCase()} takes a whole number from ${least} on here, written as such`);
  return String(number);
}

/** The frames that need no expression. */
const BOUNDS = dictionary<string>({
  UNBOUNDED_PRECEDING: 'unbounded preceding',
  UNBOUNDED_FOLLOWING: 'unbounded following',
  CURRENT_ROW_RANGE: 'current row',
  CURRENT_ROW_ROWS: 'current row',
});

function frameOf({ start, end }: TreeNode, at: number | null): Sql {
  const [from, to] = [BOUNDS[String(start)], BOUNDS[String(end)]];
  if (!from || !to) return reject(at, 'This window frame is not supported');
  const mode = String(start).endsWith('ROWS') || String(end).endsWith('ROWS') ? 'rows' : 'range';
  return `${mode} between ${from} and ${to}`;
}
