import { dictionary } from '../dictionary.ts';
import { reject } from '../error.ts';
import { guarded, made } from '../functions/index.ts';
import type { Dialect } from '../parse/lexer.ts';
import { join, literal, type Sql, sql } from '../sql-fragment.ts';
import {
  as,
  comparable,
  type Expression,
  isMoment,
  sortKeys,
  textsHeldBy,
} from '../typed-expression.ts';

const COMPARISONS = dictionary<string>({
  COMPARE_EQUAL: '=',
  COMPARE_NOTEQUAL: '<>',
  COMPARE_LESSTHAN: '<',
  COMPARE_GREATERTHAN: '>',
  COMPARE_LESSTHANOREQUALTO: '<=',
  COMPARE_GREATERTHANOREQUALTO: '>=',
  COMPARE_DISTINCT_FROM: 'is distinct from',
  COMPARE_NOT_DISTINCT_FROM: 'is not distinct from',
});

export function comparison(
  type: string,
  left: Expression,
  right: Expression,
  at: number | null,
): Expression {
  const operator = COMPARISONS[type] ?? reject(at, 'This comparison is not supported');
  const [value, other] = left.literal === undefined ? [left, right] : [right, left];
  const { kind, literal: text } = other;
  const texts =
    operator === '=' && kind === 'text' && text !== undefined ? textsHeldBy(value, [text]) : [];
  const oneOf =
    operator === '=' && kind === 'text' && text !== undefined && value.column
      ? { oneOf: { column: value.column, values: [text] } }
      : {};
  const fromValue = value === left ? operator : (TURNED[operator] ?? operator);
  return {
    ...made('bool', compared(operator, left, right, at), [left, right]),
    texts,
    bounds: boundsBy(value, fromValue, [other]),
    ...oneOf,
  };
}

/** The operator of the same comparison from right to left, where that is another one. */
const TURNED = dictionary<string>({ '<': '>', '>': '<', '<=': '>=', '>=': '<=' });

/** What a member of a record is where it compares so with one of several literals. Undefined for whatever else is compared. */
export function boundsBy(
  { kind: valueKind, memberOf: of, path }: Expression,
  operator: string,
  others: readonly Expression[],
): Expression['bounds'] {
  if (valueKind !== 'json' || !of || !path) return undefined;
  const literals = others.flatMap(({ literal }) => (literal === undefined ? [] : [literal]));
  const [kind, ...more] = new Set(others.map((other) => other.kind));
  if (literals.length < others.length || more.length > 0) return undefined;
  if (kind === 'text') return operator === '=' ? { of, path, texts: literals } : undefined;
  const numbers = literals.map(Number);
  if (kind !== 'number' || !numbers.every(Number.isFinite)) return undefined;
  const isAbove = ['=', '>', '>='].includes(operator);
  const isBelow = ['=', '<', '<='].includes(operator);
  if (!isAbove && !isBelow) return undefined;
  return {
    of,
    path,
    least: isAbove ? Math.min(...numbers) : Number.NEGATIVE_INFINITY,
    most: isBelow ? Math.max(...numbers) : Number.POSITIVE_INFINITY,
  };
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
export const LIKES = dictionary<string>({
  '~~': 'like',
  '!~~': 'not like',
  '~~*': 'ilike',
  '!~~*': 'not ilike',
  like_escape: 'like',
  not_like_escape: 'not like',
  ilike_escape: 'ilike',
  not_ilike_escape: 'not ilike',
});

export function arithmetic(
  operator: string,
  args: readonly Expression[],
  dialect: Dialect,
  at: number | null,
): Expression {
  const [left, right] = args;
  if (!left) return reject(at, `${operator} takes two operands`);
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
  if (dialect === 'clickhouse' && left.kind === 'date' && right.kind === 'date' && operator === '-')
    return made('number', sql`datediff('day', ${right.sql}, ${left.sql})`, args);
  if (dialect === 'clickhouse' && moment && moment.kind !== 'date') {
    const bySeconds = secondsApart(operator, left, right, at);
    if (bySeconds) return bySeconds;
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
  // The engine's `//` of doubles is not a whole number.
  return made(
    'number',
    operator === '//'
      ? sql`floor(${a ?? ''} / ${b ?? ''})`
      : sql`(${a ?? ''} ${operator} ${b ?? ''})`,
    args,
  );
}

/** ClickHouse counts moments in seconds: their difference, and what is added to one. */
function secondsApart(
  operator: string,
  left: Expression,
  right: Expression,
  at: number | null,
): Expression | null {
  const args = [left, right];
  if (isMoment(left.kind) && isMoment(right.kind) && operator === '-') {
    const [a, b] = args.map((each) => sql`epoch_us(${as(each, 'timestamp', at)})`);
    return made('number', sql`((${a ?? ''} - ${b ?? ''}) / 1000000)`, args);
  }
  if (right.kind !== 'number' || (operator !== '+' && operator !== '-')) return null;
  const number = sql`(${right.sql})::double`;
  const interval = sql`(case when abs(${number}) <= 315e8 then to_seconds(${number}) end)`;
  return made(left.kind, guarded(args, sql`(${left.sql}) ${operator} ${interval}`), args);
}

/** Characters of a LIKE pattern that is matched as a regular expression, at most. */
const MAX_PATTERN = 1000;

/**
 * `value like pattern`, of literal patterns alone, and never by the engine's own matcher: that one tries every way to match, for
 * minutes, and cannot be interrupted.
 */
export function likeness(
  operator: string,
  args: readonly Expression[],
  dialect: Dialect,
  at: number | null,
): Expression {
  const [value, pattern, mark] = args;
  if (!value || !pattern) return reject(at, 'LIKE takes a value and a pattern');
  if (pattern.kind === 'null') return made('bool', as(pattern, 'bool', at), [value]);
  if (pattern.literal === undefined || pattern.kind !== 'text')
    return reject(at, 'The pattern of LIKE must be a string literal');
  const ignoresCase = operator.includes('ilike');
  const read = as(value, 'text', at);
  const parts = partsOf(
    ignoresCase ? pattern.literal.toLowerCase() : pattern.literal,
    markOf(mark, dialect, at),
    dialect === 'clickhouse' && !mark,
    at,
  );
  const found = matched(ignoresCase ? sql`lower(${read})` : read, parts, at);
  if (operator.startsWith('not')) return made('bool', sql`(not ${found})`, args);
  // What lower() makes of other letters than ASCII may be one of ASCII.
  const texts = ignoresCase ? [] : textsHeldBy(value, textsOfParts(parts));
  return { ...made('bool', found, args), texts };
}

/** A piece of a pattern: a text, `%` or `_`. */
type Part = { readonly text: string } | '%' | '_';

function matched(value: Sql, parts: readonly Part[], at: number | null): Sql {
  const [first, second, third] = parts;
  const text = (part: Part | undefined) => (typeof part === 'object' ? literal(part.text) : null);
  if (parts.length === 0) return sql`(${value} = '')`;
  if (parts.length === 1 && text(first)) return sql`(${value} = ${text(first) ?? ''})`;
  if (parts.length === 2 && second === '%' && text(first))
    return sql`starts_with(${value}, ${text(first) ?? ''})`;
  if (parts.length === 2 && first === '%' && text(second))
    return sql`ends_with(${value}, ${text(second) ?? ''})`;
  if (parts.length === 3 && first === '%' && third === '%' && text(second))
    return sql`contains(${value}, ${text(second) ?? ''})`;
  const expression = parts.map((part) =>
    part === '%' ? '.*' : part === '_' ? '.' : part.text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'),
  );
  if (expression.join('').length > MAX_PATTERN) reject(at, 'This pattern of LIKE is too long');
  return sql`regexp_full_match(${value}, ${literal(`(?s)${expression.join('')}`)})`;
}

function textsOfParts(parts: readonly Part[]): string[] {
  return parts.flatMap((part) => (typeof part === 'object' ? [part.text] : []));
}

function partsOf(
  pattern: string,
  mark: string | null,
  isLenient: boolean,
  at: number | null,
): Part[] {
  const parts: Part[] = [];
  let text = '';
  const flush = () => {
    if (text !== '') parts.push({ text });
    text = '';
  };
  const characters = [...pattern];
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i] ?? '';
    const next = characters[i + 1] ?? '';
    // ClickHouse takes a backslash before other characters for itself.
    if (character === mark && (!isLenient || '%_\\'.includes(next))) {
      text += characters[++i] ?? reject(at, 'The pattern ends in its escape character');
    } else if (character === '%' || character === '_') {
      flush();
      if (character === '_' || parts.at(-1) !== '%') parts.push(character);
    } else text += character;
  }
  flush();
  return parts;
}

/** The escape character; BigQuery's patterns have the backslash without being told. */
function markOf(mark: Expression | undefined, dialect: Dialect, at: number | null): string | null {
  if (!mark) return dialect === 'duckdb' ? null : '\\';
  const [character, ...more] = mark.literal ?? '';
  return character !== undefined && more.length === 0
    ? character
    : reject(at, 'Expected ESCAPE with one character');
}

/** Measured: 20,000 hold the planner for eight seconds. */
const MAX_MEMBERS = 1000;

export function membership(
  values: readonly Expression[],
  wanted: boolean,
  at: number | null,
): Expression {
  const [value, ...others] = values;
  if (others.length > MAX_MEMBERS) reject(at, `IN takes ${MAX_MEMBERS} values at most`);
  const [list] = others;
  if (!value || !list) throw new Error('BUG: IN without operands');
  if (others.length === 1 && list.kind === 'array') {
    const element: Expression = {
      kind: list.element ?? 'null',
      sql: 'e',
      ...(list.element === 'json' ? { text: "json_extract_string(e, '$')" } : {}),
    };
    // The value stands beside the lambda: within one the engine finds no columns of an outer query.
    const [read, sought] = comparable(element, value, at);
    const elements = read === 'e' ? list.sql : sql`list_transform(${list.sql}, lambda e: ${read})`;
    return made(
      'bool',
      sql`(${wanted ? '' : 'not '}list_contains(${elements}, ${sought}))`,
      values,
    );
  }
  const kinds = [...new Set(others.map(({ kind }) => kind).filter((kind) => kind !== 'null'))];
  if (kinds.length === 1 && kinds[0] !== 'json') {
    const pairs = others.map((other) => comparable(value, other, at));
    const literals = others.flatMap(({ literal: text }) => (text === undefined ? [] : [text]));
    const isKnown =
      wanted && value.column && kinds[0] === 'text' && literals.length === others.length;
    return made(
      'bool',
      sql`(${pairs[0]?.[0] ?? ''} ${wanted ? '' : 'not '}in (${join(
        pairs.map(([, other]) => other),
        ', ',
      )}))`,
      values,
      {
        bounds: wanted ? boundsBy(value, '=', others) : undefined,
        ...(isKnown && value.column ? { oneOf: { column: value.column, values: literals } } : {}),
      },
    );
  }
  const tests = others.map((other) => compared(wanted ? '=' : '<>', value, other, at));
  return made('bool', sql`(${join(tests, wanted ? ' or ' : ' and ')})`, values);
}
