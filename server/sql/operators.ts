import { as, comparable, type Expression, isMoment, sortKeys, textLiteral } from './expression.ts';
import { guarded, made } from './functions/index.ts';
import type { Dialect } from './lexer.ts';
import { refuse } from './refusal.ts';
import { join, type Sql, sql } from './rope.ts';

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

export function comparison(
  type: string,
  left: Expression,
  right: Expression,
  at: number | null,
): Expression {
  const operator = COMPARISONS[type] ?? refuse(at, 'This comparison is not supported');
  return made('bool', compared(operator, left, right, at), [left, right]);
}

export function compared(
  operator: string,
  left: Expression,
  right: Expression,
  at: number | null,
): Sql {
  const ordered = operator.includes('<') || operator.includes('>');
  if (left.kind === 'json' && right.kind === 'json' && ordered && operator !== '<>') {
    const [[a = '', b = ''], [c = '', d = '']] = [sortKeys(left, at), sortKeys(right, at)];
    return sql`coalesce(${a} ${operator} ${c}, ${b} ${operator} ${d})`;
  }
  const [a, b] = comparable(left, right, at);
  return sql`(${a} ${operator} ${b})`;
}

export const ARITHMETIC = new Set(['+', '-', '*', '/', '%', '//']);
export const LIKES: Readonly<Record<string, string>> = {
  '~~': 'like',
  '!~~': 'not like',
  '~~*': 'ilike',
  '!~~*': 'not ilike',
  like_escape: 'like',
  not_like_escape: 'not like',
  ilike_escape: 'ilike',
  not_ilike_escape: 'not ilike',
};

export function arithmetic(
  operator: string,
  args: readonly Expression[],
  at: number | null,
): Expression {
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
  const days = left.kind === 'date' && (operator === '+' || operator === '-');
  if (days && right.kind !== 'date') {
    const count = sql`try_cast(${as(right, 'number', at)} as integer)`;
    return made('date', guarded(args, sql`(${left.sql}) ${operator} ${count}`), args);
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

export function likeness(
  operator: string,
  args: readonly Expression[],
  dialect: Dialect,
  at: number | null,
): Expression {
  const [value, pattern, mark] = args;
  if (!value || !pattern) throw new Error('BUG: LIKE without operands');
  const end = mark ? sql` escape ${markOf(mark, pattern, at)}` : escapes(pattern, dialect, at);
  return made(
    'bool',
    sql`(${as(value, 'text', at)} ${operator} ${as(pattern, 'text', at)}${end})`,
    args,
  );
}

/** BigQuery's patterns have the backslash, without being told. */
function escapes(pattern: Expression, dialect: Dialect, at: number | null): Sql {
  if (dialect !== 'bigquery' || !pattern.literal?.includes('\\')) return '';
  return sql` escape ${markOf(textLiteral('\\'), pattern, at)}`;
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

export function membership(
  values: readonly Expression[],
  wanted: boolean,
  at: number | null,
): Expression {
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
