import type { Context, OwnTables } from './context.ts';
import {
  alike,
  as,
  comparable,
  type Expression,
  flags,
  isMoment,
  jsonOf,
  type Kind,
  nameOf,
  type Step,
  sortKeys,
  textLiteral,
  within,
} from './expression.ts';
import { type Call, functionOf, guarded, made } from './functions/index.ts';
import { refuse, shown } from './refusal.ts';
import { join, type Sql, sql } from './rope.ts';
import { resolve, type Scope } from './scope.ts';
import { nodeOf, nodesOf, only, type TreeNode, textsOf } from './tree.ts';
import { whole } from './whole.ts';

/** Checks an expression of the caller's and writes it anew. Throws SqlRefused for whatever is not known here. */
export function expression(
  context: Context,
  node: TreeNode,
  scope: Scope,
  tables: OwnTables,
): Expression {
  const at = context.at(node);
  context.count('parts of an expression', at);
  const of = (child: unknown) => context.expression(nodeOf(child), scope, tables);
  switch (node.class) {
    case 'CONSTANT':
      return constant(context, node);
    case 'COLUMN_REF':
      return columnRef(context, node, scope);
    case 'PARAMETER':
      return parameter(context, node);
    case 'FUNCTION':
      return call(context, node, scope, tables);
    case 'CAST':
      only(node, ['child', 'cast_type', 'try_cast'], at);
      return cast(context, of(node.child), nodeOf(node.cast_type), at);
    case 'COMPARISON':
      only(node, ['left', 'right'], at);
      return comparison(String(node.type), of(node.left), of(node.right), at);
    case 'BETWEEN': {
      only(node, ['input', 'lower', 'upper'], at);
      const [input, lower, upper] = [of(node.input), of(node.lower), of(node.upper)];
      const bounds = [compared('>=', input, lower, at), compared('<=', input, upper, at)];
      return made('bool', sql`(${join(bounds, ' and ')})`, [input, lower, upper]);
    }
    case 'CONJUNCTION': {
      only(node, ['children'], at);
      const parts = nodesOf(node.children).map(of);
      const operator = node.type === 'CONJUNCTION_AND' ? ' and ' : ' or ';
      return made(
        'bool',
        sql`(${join(
          parts.map((part) => as(part, 'bool', at)),
          operator,
        )})`,
        parts,
      );
    }
    case 'OPERATOR':
      return operator(context, node, scope, tables);
    case 'CASE':
      return cases(node, of, at);
    case 'SUBQUERY':
      return subquery(context, node, scope, tables);
    case 'WINDOW':
      return windowed(context, node, scope, tables);
    case 'LAMBDA':
      // The engine's parser takes `value -> 'member'` for one.
      only(node, ['lhs', 'expr', 'syntax_type'], at);
      return called(context, '->', [of(node.lhs), of(node.expr)], at);
    case 'STAR':
      return refuse(at, 'A * is not allowed: name the columns (count(*) is fine)');
    default:
      return refuse(at, 'This is not supported in SQL of your own');
  }
}

function constant(context: Context, node: TreeNode): Expression {
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

const NOW: Readonly<Record<string, string>> = {
  current_timestamp: 'current_timestamp',
  current_date: 'current_date',
  current_datetime: 'current_datetime',
  current_time: 'current_time',
};

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
  const kind = context.parameters.get(name);
  if (!kind) {
    const known = [...context.parameters.keys()].map((each) => `@${each}`);
    return refuse(
      at,
      `There is no parameter ${shown(name)} here; there are ${known.join(', ') || 'none'}`,
    );
  }
  return { kind, sql: `$${name}::${kind === 'text' ? 'varchar' : 'timestamp'}` };
}

const COMPARISONS: Readonly<Record<string, string>> = {
  COMPARE_EQUAL: '=',
  COMPARE_NOTEQUAL: '<>',
  COMPARE_LESSTHAN: '<',
  COMPARE_GREATERTHAN: '>',
  COMPARE_LESSTHANOREQUALTO: '<=',
  COMPARE_GREATERTHANOREQUALTO: '>=',
  COMPARE_DISTINCT_FROM: 'is distinct from',
  COMPARE_NOT_DISTINCT_FROM: 'is not distinct from',
};

function comparison(
  type: string,
  left: Expression,
  right: Expression,
  at: number | null,
): Expression {
  const operator = COMPARISONS[type] ?? refuse(at, 'This comparison is not supported');
  return made('bool', compared(operator, left, right, at), [left, right]);
}

function compared(operator: string, left: Expression, right: Expression, at: number | null): Sql {
  const ordered = operator.includes('<') || operator.includes('>');
  if (left.kind === 'json' && right.kind === 'json' && ordered && operator !== '<>') {
    const [[a = '', b = ''], [c = '', d = '']] = [sortKeys(left, at), sortKeys(right, at)];
    return sql`coalesce(${a} ${operator} ${c}, ${b} ${operator} ${d})`;
  }
  const [a, b] = comparable(left, right, at);
  return sql`(${a} ${operator} ${b})`;
}

const ARITHMETIC = new Set(['+', '-', '*', '/', '%', '//']);
const LIKES: Readonly<Record<string, string>> = {
  '~~': 'like',
  '!~~': 'not like',
  '~~*': 'ilike',
  '!~~*': 'not ilike',
  like_escape: 'like',
  not_like_escape: 'not like',
  ilike_escape: 'ilike',
  not_ilike_escape: 'not ilike',
};
/** What makes an interval, and the most that it takes: a thousand years, so that sums of them stay within the engine's range. */
const INTERVALS: Readonly<Record<string, string>> = {
  to_years: '1e3',
  to_quarters: '4e3',
  to_months: '12e3',
  to_weeks: '52e3',
  to_days: '365e3',
  to_hours: '876e4',
  to_minutes: '525e6',
  to_seconds: '315e8',
  to_milliseconds: '315e11',
  to_microseconds: '315e14',
};
/** Schemas that a call may stand in: that which the parser itself names, and BigQuery's for calls that do not fail. */
const SCHEMAS = new Set(['', 'main', 'safe']);

function call(context: Context, node: TreeNode, scope: Scope, tables: OwnTables): Expression {
  const at = context.at(node);
  only(
    node,
    ['function_name', 'schema', 'children', 'distinct', 'filter', 'order_bys', 'is_operator'],
    at,
  );
  const name = context.name(String(node.function_name)).toLowerCase();
  if (!SCHEMAS.has(context.name(String(node.schema ?? '')).toLowerCase()))
    refuse(at, `There is no function ${shown(`${context.name(String(node.schema))}.${name}`)}`);
  const children = nodesOf(node.children);
  const of = (child: TreeNode) => context.expression(child, scope, tables);

  if (ARITHMETIC.has(name)) return arithmetic(name, children.map(of), at);
  const like = LIKES[name];
  if (like) return likeness(like, children.map(of), at);
  const most = INTERVALS[name];
  if (most !== undefined) {
    const [value] = children.map(of);
    if (!value) throw new Error('BUG: an interval without a number');
    const number = sql`(${as(value, 'number', at)})::double`;
    const whole =
      name === 'to_seconds'
        ? number
        : sql`(${number})::${/hours|minutes|seconds/.test(name) ? 'bigint' : 'integer'}`;
    return made('interval', sql`(case when abs(${number}) <= ${most} then ${name}(${whole}) end)`, [
      value,
    ]);
  }
  if (name === 'regexp_full_match') {
    const [value, pattern] = children.map(of);
    const found = called(
      context,
      'regexp_contains',
      [
        value as Expression,
        textLiteral(
          `^(?:${pattern?.literal ?? refuse(at, 'A regular expression must be a string literal')})$`,
        ),
      ],
      at,
    );
    return found;
  }

  const spec = functionOf(name) ?? refuse(at, notThere(name));
  if (children.length < spec.least || children.length > spec.most)
    refuse(
      at,
      `${name.toUpperCase()} takes ${counts(spec.least, spec.most)}, got ${children.length}`,
    );
  if (!spec.aggregate && (node.distinct || node.filter))
    refuse(at, `${name.toUpperCase()} is no aggregate function`);
  const words = new Map((spec.words ?? []).flatMap((index) => bareWord(context, children, index)));
  let args = children.map((child, i) =>
    words.has(i) ? { kind: 'null' as Kind, sql: 'null' } : of(child),
  );
  if (spec.aggregate) {
    if (args.some(({ aggregate, window }) => aggregate || window))
      refuse(at, 'An aggregate function can not stand in another');
    if (node.filter) args = filtered(name, args, of(nodeOf(node.filter)), at);
  }
  return spec.build(args, {
    name: name.replace(/_of$/, ''),
    at,
    dialect: context.dialect,
    distinct: node.distinct === true,
    word: (index) => words.get(index),
    names: children.map(
      (child) => context.name(String(child.alias ?? '')) || lastName(context, child),
    ),
    order: ordered(context, node.order_bys, scope, tables, at),
  });
}

/** Calls a function that the syntax stands for. */
function called(
  context: Context,
  name: string,
  args: readonly Expression[],
  at: number | null,
): Expression {
  const spec = functionOf(name);
  if (!spec) throw new Error(`BUG: no function ${name}`);
  const info: Call = {
    name,
    at,
    dialect: context.dialect,
    distinct: false,
    word: () => undefined,
    names: [],
    order: '',
  };
  return spec.build(args, info);
}

function notThere(name: string): string {
  return /^[a-z_][\w]*$/.test(name)
    ? `There is no function ${name.toUpperCase()} here`
    : `The operator ${shown(name)} is not supported`;
}

function counts(least: number, most: number): string {
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
  if (name === 'array_agg' || name === 'list') refuse(at, 'FILTER is not supported with arrays');
  if (!value) return refuse(at, 'COUNT(*) FILTER is written COUNTIF(condition) here');
  return [
    made(value.kind, sql`case when ${test} then ${value.sql} end`, [value, condition]),
    ...rest,
  ];
}

function ordered(
  context: Context,
  modifier: unknown,
  scope: Scope,
  tables: OwnTables,
  at: number | null,
): Sql {
  const orders = modifier === undefined ? [] : nodesOf(nodeOf(modifier).orders);
  const keys = orders.flatMap((order) => {
    only(order, ['null_order', 'expression'], at);
    const direction = order.type === 'DESCENDING' ? ' desc' : ' asc';
    return sortKeys(context.expression(nodeOf(order.expression), scope, tables), at).map(
      (key) => sql`${key}${direction}`,
    );
  });
  return keys.length === 0 ? '' : sql` order by ${join(keys, ', ')}`;
}

function arithmetic(operator: string, args: readonly Expression[], at: number | null): Expression {
  const [left, right] = args;
  if (!left) throw new Error('BUG: an operator without operands');
  if (!right)
    return made(
      'number',
      sql`(${operator === '-' ? '-' : '+'}(${as(left, 'number', at)})::double)`,
      args,
    );
  const moment = [left, right].find(({ kind }) => isMoment(kind));
  const other = moment === left ? right : left;
  if (moment && other.kind === 'interval' && (operator === '+' || operator === '-')) {
    return made(
      moment.kind === 'date' ? 'datetime' : moment.kind,
      guarded(args, sql`(${moment.sql}) ${operator} (${other.sql})`),
      args,
    );
  }
  if (moment && isMoment(other.kind) && operator === '-') {
    return made(
      'interval',
      guarded(args, sql`(${as(left, 'timestamp', at)}) - (${as(right, 'timestamp', at)})`),
      args,
    );
  }
  const [a, b] = [left, right].map((value) => sql`(${as(value, 'number', at)})::double`);
  // Of doubles the engine's `//` is no whole number.
  return made(
    'number',
    operator === '//'
      ? sql`floor(${a ?? ''} / ${b ?? ''})`
      : sql`(${a ?? ''} ${operator} ${b ?? ''})`,
    args,
  );
}

function likeness(operator: string, args: readonly Expression[], at: number | null): Expression {
  const [value, pattern, mark] = args;
  if (!value || !pattern) throw new Error('BUG: LIKE without operands');
  const end = mark ? sql` escape ${markOf(mark, pattern, at)}` : '';
  return made(
    'bool',
    sql`(${as(value, 'text', at)} ${operator} ${as(pattern, 'text', at)}${end})`,
    args,
  );
}

/** The escape character of a LIKE; a pattern that ends in it is an error to the engine. */
function markOf(mark: Expression, pattern: Expression, at: number | null): Sql {
  const [character = '', ...more] = mark.literal ?? '';
  if (character === '' || more.length > 0 || pattern.literal === undefined)
    refuse(at, 'Expected LIKE with a string literal, ESCAPE with one character');
  const escapes = pattern.literal?.split(character + character).join('') ?? '';
  if (escapes.endsWith(character)) refuse(at, 'The pattern ends in its escape character');
  return mark.sql;
}

const CASTS: Readonly<Record<string, readonly [Kind, string]>> = {
  VARCHAR: ['text', 'varchar'],
  BOOLEAN: ['bool', 'boolean'],
  DATE: ['date', 'date'],
  TIME: ['time', 'time'],
  INTERVAL: ['interval', 'interval'],
  TINYINT: ['number', 'bigint'],
  SMALLINT: ['number', 'bigint'],
  INTEGER: ['number', 'bigint'],
  BIGINT: ['number', 'bigint'],
  HUGEINT: ['number', 'bigint'],
  UTINYINT: ['number', 'bigint'],
  USMALLINT: ['number', 'bigint'],
  UINTEGER: ['number', 'bigint'],
  UBIGINT: ['number', 'bigint'],
  FLOAT: ['number', 'double'],
  DOUBLE: ['number', 'double'],
  DECIMAL: ['number', 'double'],
  TIMESTAMP: ['datetime', 'timestamp'],
  'TIMESTAMP WITH TIME ZONE': ['timestamp', 'timestamp'],
};

/** What the parser leaves as it is written. */
const ALIASES: Readonly<Record<string, string>> = {
  int64: 'BIGINT',
  int: 'INTEGER',
  float64: 'DOUBLE',
  string: 'VARCHAR',
  text: 'VARCHAR',
  bool: 'BOOLEAN',
  datetime: 'TIMESTAMP',
  timestamptz: 'TIMESTAMP WITH TIME ZONE',
};

function cast(context: Context, value: Expression, type: TreeNode, at: number | null): Expression {
  const given = typeName(context, type);
  const name = ALIASES[given.toLowerCase()] ?? given.toUpperCase();
  if (name === 'JSON')
    return value.kind === 'text'
      ? jsonOf(sql`try_cast(${value.sql} as json)`, flags([value]))
      : made('json', as(value, 'json', at), [value]);
  const [kind, target] =
    CASTS[name] ??
    refuse(
      at,
      `There is no type ${shown(given)} here; there are STRING, INT64, FLOAT64, BOOL, TIMESTAMP, DATETIME, DATE, TIME, INTERVAL, JSON`,
    );
  // Without BigQuery's types there is one for both.
  const wanted = context.dialect === 'duckdb' && kind === 'datetime' ? 'timestamp' : kind;
  if (kind === 'number') {
    const source =
      value.kind === 'json' || value.kind === 'text' ? as(value, 'text', at) : value.sql;
    if (!['json', 'text', 'number', 'bool', 'null'].includes(value.kind))
      refuse(
        at,
        `${nameOf(value.kind).replace(/^./, (c) => c.toUpperCase())} can not be cast to a number`,
      );
    return made(
      'number',
      sql`try_cast(${source} as ${target})`,
      [value],
      value.literal !== undefined && value.kind === 'number' && target === 'double'
        ? { literal: value.literal }
        : {},
    );
  }
  if (kind === 'interval') return made(kind, intervalOf(value, at), [value]);
  if (kind === 'bool' && value.kind === 'number')
    return made(kind, sql`(${value.sql} <> 0)`, [value]);
  return made(wanted, as(value, wanted, at), [value]);
}

/** An interval as a literal says it, `'5 minutes'`. */
function intervalOf(value: Expression, at: number | null): Sql {
  if (value.kind === 'interval') return value.sql;
  const [, count, unit] = /^\s*(-?\d{1,15})\s+([a-z]+?)s?\s*$/i.exec(value.literal ?? '') ?? [];
  const name = `to_${unit?.toLowerCase()}s`;
  const most = INTERVALS[name];
  if (!count || most === undefined || Math.abs(Number(count)) > Number(most))
    return refuse(at, "Expected an interval such as INTERVAL '5 minutes'");
  return `${name}(${count})`;
}

/** The name that the caller's text has, or the parser's for it. */
function typeName(context: Context, type: TreeNode): string {
  const info = type.type_info === undefined ? {} : nodeOf(type.type_info);
  const written = info.expr === undefined ? type.id : nodeOf(info.expr).type_name;
  return context.name(String(written));
}

function operator(context: Context, node: TreeNode, scope: Scope, tables: OwnTables): Expression {
  const at = context.at(node);
  only(node, ['children'], at);
  const children = nodesOf(node.children);
  const of = (child: TreeNode | undefined) => context.expression(nodeOf(child), scope, tables);
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
    case 'COMPARE_NOT_IN':
      return membership(children.map(of), node.type === 'COMPARE_IN', at);
    case 'ARRAY_EXTRACT':
    case 'STRUCT_EXTRACT':
      return subscript(context, node, scope, tables);
    default:
      return refuse(at, 'This operator is not supported in SQL of your own');
  }
}

function membership(values: readonly Expression[], wanted: boolean, at: number | null): Expression {
  const [value, ...others] = values;
  const [list] = others;
  if (!value || !list) throw new Error('BUG: IN without operands');
  if (others.length === 1 && list.kind === 'array') {
    const element: Expression = {
      kind: list.element ?? 'null',
      sql: 'e',
      ...(list.element === 'json' ? { text: "json_extract_string(e, '$')" } : {}),
    };
    const found = sql`len(list_filter(${list.sql}, lambda e: ${compared('=', element, value, at)})) ${wanted ? '>' : '='} 0`;
    return made('bool', sql`(${found})`, values);
  }
  const kinds = [...new Set(others.map(({ kind }) => kind).filter((kind) => kind !== 'null'))];
  if (kinds.length === 1 && kinds[0] !== 'json') {
    const pairs = others.map((other) => comparable(value, other, at));
    return made(
      'bool',
      sql`(${pairs[0]?.[0] ?? ''} ${wanted ? '' : 'not '}in (${join(
        pairs.map(([, other]) => other),
        ', ',
      )}))`,
      values,
    );
  }
  const tests = others.map((other) => compared(wanted ? '=' : '<>', value, other, at));
  return made('bool', sql`(${join(tests, wanted ? ' or ' : ' and ')})`, values);
}

/** `value[offset(1)].member`, and the like. */
function subscript(context: Context, node: TreeNode, scope: Scope, tables: OwnTables): Expression {
  const at = context.at(node);
  const [child, index] = nodesOf(node.children);
  const value = context.expression(nodeOf(child), scope, tables);
  const step = stepOf(context, nodeOf(index), at);
  if (value.kind === 'json') return within(value, [step]);
  if (value.kind !== 'array' || typeof step !== 'number')
    return refuse(at, `Expected an array or a record, got ${nameOf(value.kind)}`);
  return made(value.element ?? 'null', sql`list_extract(${value.sql}, ${String(step + 1)})`, [
    value,
  ]);
}

function stepOf(context: Context, node: TreeNode, at: number | null): Step {
  if (node.class === 'CONSTANT') {
    const index = constant(context, node);
    if (index.kind === 'text') return index.literal ?? '';
    const number = Number(index.literal);
    // The engine counts from 1.
    return place(context.dialect === 'duckdb' ? number - 1 : number, at);
  }
  const name = node.class === 'FUNCTION' ? String(node.function_name) : '';
  const [argument] = nodesOf(node.children);
  if ((name !== 'offset_of' && name !== 'ordinal_of') || argument?.class !== 'CONSTANT')
    return refuse(at, 'A place in an array must be a number, as in value[OFFSET(0)]');
  const number = Number(constant(context, argument).literal);
  return place(name === 'offset_of' ? number : number - 1, at);
}

function place(index: number, at: number | null): number {
  return Number.isInteger(index) && index >= 0 && index < 100_000
    ? index
    : refuse(at, 'A place in an array is a whole number, and not negative');
}

function cases(node: TreeNode, of: (child: unknown) => Expression, at: number | null): Expression {
  only(node, ['case_checks', 'else_expr'], at);
  const checks = nodesOf(node.case_checks).map((check) => {
    only(check, ['when_expr', 'then_expr'], at);
    return { when: of(check.when_expr), result: of(check.then_expr) };
  });
  const otherwise: Expression =
    node.else_expr === undefined ? { kind: 'null', sql: 'null' } : of(node.else_expr);
  const { kind, element, values } = alike([...checks.map(({ result }) => result), otherwise], at);
  const branches = checks.map(
    ({ when }, i) => sql`when ${as(when, 'bool', at)} then ${values[i] ?? ''}`,
  );
  const all = [otherwise, ...checks.flatMap(({ when, result }) => [when, result])];
  return made(
    kind,
    sql`case ${join(branches, ' ')} else ${values.at(-1) ?? 'null'} end`,
    all,
    element ? { element } : {},
  );
}

function subquery(context: Context, node: TreeNode, scope: Scope, tables: OwnTables): Expression {
  const at = context.at(node);
  only(node, ['subquery_type', 'subquery', 'child', 'comparison_type'], at);
  context.count('subqueries', at);
  const query = context.query(nodeOf(nodeOf(node.subquery).node), scope, tables, 1);
  if (node.subquery_type === 'EXISTS' || node.subquery_type === 'NOT_EXISTS') {
    return {
      kind: 'bool',
      nested: true,
      sql: sql`${node.subquery_type === 'EXISTS' ? '' : 'not '}exists (${whole(query)})`,
    };
  }
  const [column, ...more] = query.columns;
  if (!column || more.length > 0)
    return refuse(at, 'A subquery that stands for a value must have one column');
  const value = readAs(column.kind, 'c1', column.element);
  if (node.subquery_type === 'SCALAR') {
    // The engine would take any of several rows, too; BigQuery would fail.
    const rest = {
      nested: true,
      growth: column.growth ?? 1,
      ...(column.element ? { element: column.element } : {}),
    };
    return made(column.kind, sql`(select any_value(s.c1) from (${whole(query)}) as s)`, [], rest);
  }
  if (node.subquery_type !== 'ANY' || node.comparison_type !== 'COMPARE_EQUAL')
    return refuse(at, 'Of ANY and ALL only IN (SELECT …) is supported');
  const child = context.expression(nodeOf(node.child), scope, tables);
  const [left, right] = comparable(child, value, at);
  return made('bool', sql`(${left} in (select ${right} from (${whole(query)}) as s))`, [child]);
}

function readAs(kind: Kind, place: Sql, element: Kind | undefined): Expression {
  return kind === 'json' ? jsonOf(place) : { kind, sql: place, ...(element ? { element } : {}) };
}

const RANKS: Readonly<Record<string, number>> = {
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
};

function windowed(context: Context, node: TreeNode, scope: Scope, tables: OwnTables): Expression {
  const at = context.at(node);
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
    refuse(at, 'Window frames with bounds are not supported');
  const of = (child: unknown) => context.expression(nodeOf(child), scope, tables);
  const name = context.name(String(node.function_name)).toLowerCase();
  const extra = [node.offset_expr, node.default_expr].flatMap((child) =>
    child === undefined ? [] : [of(child)],
  );
  const args = [...nodesOf(node.children).map(of), ...extra];
  if (args.some(({ window }) => window)) refuse(at, 'A window function can not stand in another');
  const partitions = nodesOf(node.partitions).map((child) => groupOf(of(child)));
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
      refuse(at, `${name.toUpperCase()} takes ${counts(Math.min(1, most), most)}`);
    const [value, ...rest] = args;
    const kind = most === 0 || name === 'ntile' || !value ? 'number' : value.kind;
    const list = value
      ? [
          name === 'ntile' ? sql`greatest(1, ${as(value, 'number', at)}::bigint)` : value.sql,
          ...rest.map((each, i) =>
            i === 0 ? sql`${as(each, 'number', at)}::bigint` : as(each, kind, at),
          ),
        ]
      : [];
    return made(
      kind,
      sql`${name === 'rank_dense' ? 'dense_rank' : name}(${join(list, ', ')}) over (${over})`,
      args,
      { window: true, ...(value?.element ? { element: value.element } : {}) },
    );
  }
  const spec = functionOf(name) ?? refuse(at, notThere(name));
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
    refuse(at, `${name.toUpperCase()} … OVER is not supported`);
  const value = spec.build(
    args.map((arg) =>
      arg.kind === 'json' && (name === 'min' || name === 'max')
        ? made('number', as(arg, 'number', at), [arg])
        : arg,
    ),
    {
      name,
      at,
      dialect: context.dialect,
      distinct: false,
      word: () => undefined,
      names: [],
      order: '',
    },
  );
  return made(value.kind, sql`${value.sql} over (${over})`, args, {
    window: true,
    ...(value.element ? { element: value.element } : {}),
  });
}

/** The frames that need no expression. */
const BOUNDS: Readonly<Record<string, string>> = {
  UNBOUNDED_PRECEDING: 'unbounded preceding',
  UNBOUNDED_FOLLOWING: 'unbounded following',
  CURRENT_ROW_RANGE: 'current row',
  CURRENT_ROW_ROWS: 'current row',
};

function frameOf({ start, end }: TreeNode, at: number | null): Sql {
  const [from, to] = [BOUNDS[String(start)], BOUNDS[String(end)]];
  if (!from || !to) return refuse(at, 'This window frame is not supported');
  const mode = String(start).endsWith('ROWS') || String(end).endsWith('ROWS') ? 'rows' : 'range';
  return `${mode} between ${from} and ${to}`;
}

function groupOf(value: Expression): Sql {
  return value.kind === 'null' ? 'null::varchar' : value.sql;
}
