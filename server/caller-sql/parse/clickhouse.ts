import { dictionary } from '../dictionary.ts';
import { reject, shown } from '../error.ts';
import type { Token } from './lexer.ts';
import {
  brackets,
  closeOf,
  comma,
  is,
  type Partners,
  RESERVED,
  split,
  symbol,
  word,
} from './tokens.ts';

/** ClickHouse's types by the names of the engine's parser; those of numbers differ in what they hold, which answers do not tell. */
const TYPES = dictionary<string>({
  ...Object.fromEntries(
    [8, 16, 32, 64, 128, 256].flatMap((bits) => [
      [`int${bits}`, 'bigint'],
      [`uint${bits}`, 'bigint'],
    ]),
  ),
  int: 'bigint',
  integer: 'bigint',
  bigint: 'bigint',
  float32: 'double',
  float64: 'double',
  float: 'double',
  double: 'double',
  decimal: 'double',
  decimal32: 'double',
  decimal64: 'double',
  decimal128: 'double',
  string: 'varchar',
  fixedstring: 'varchar',
  text: 'varchar',
  varchar: 'varchar',
  uuid: 'varchar',
  bool: 'boolean',
  boolean: 'boolean',
  date: 'date',
  date32: 'date',
  datetime: 'timestamp',
  datetime64: 'timestamptz',
  timestamp: 'timestamp',
});
/** Functions whose names begin something else to the engine's parser. */
const RENAMED = dictionary<string>({
  any: 'any_value',
  date: 'date_of',
  extract: 'ch_extract',
  isnotnull: 'ch_isnotnull',
  isnull: 'ch_isnull',
  position: 'ch_position',
  timestamp: 'todatetime64',
});
/** Types that say something of another one. */
const WRAPPERS = ['nullable', 'lowcardinality'];
/** Words that end an expression in a select list, and cannot be an alias. */
const ENDS = ['end', 'null', 'true', 'false'];
/** Words behind which a word cannot be an alias. */
const OPERATORS =
  'and or not like ilike in is between then else when case select distinct interval'.split(' ');
const CLAUSES = 'from where group having order limit union window qualify settings format'.split(
  ' ',
);
/** Tokens that a statement may become by names for expressions. */
const MAX_TOKENS = 20_000;

/** The engine's name of a type as ClickHouse writes it, such as `Nullable(DateTime64(6))`. Throws SqlRefused for another. */
export function typeOf(written: string, at: number | null): string {
  const [, name = '', inner] = /^\s*(\w+)\s*(?:\((.*)\))?\s*$/s.exec(written) ?? [];
  const key = name.toLowerCase();
  if (WRAPPERS.includes(key) && inner !== undefined) return typeOf(inner, at);
  return (
    TYPES[key] ??
    reject(
      at,
      `There is no type ${shown(written)} here; there are String, Int64, UInt64, Float64, Bool, Date, DateTime and DateTime64`,
    )
  );
}

/** What ClickHouse writes in a way that the engine's parser cannot read, in a way that it can. `text` is the caller's. */
export function translated(given: readonly Token[], text: string): Token[] {
  const cut = limits(typed(renamed(parametric(intervals(reserved(constants(given)))))));
  return titled(cut, brackets(cut), text);
}

/** `with expression as name` by the expression itself, wherever the name stands. */
function constants(tokens: readonly Token[]): Token[] {
  const result = [...tokens];
  for (let start = 0; start < result.length; start++) {
    if (!is(result[start], 'with') || is(result[start + 1], 'recursive')) continue;
    const end = selectBehind(result, start + 1);
    if (end < 0) continue;
    const items = split(result.slice(start + 1, end));
    const isTable = ([, as, open]: readonly Token[]) => is(as, 'as') && is(open, '(');
    const tables: Token[][] = [];
    const named = new Map<string, Token[]>();
    for (const item of items) {
      const spelled = replaced(item, named);
      const [as, name] = item.slice(-2);
      if (isTable(item)) tables.push(spelled);
      else if (as && name && is(as, 'as')) named.set(name.value, spelled.slice(0, -2));
      else reject(item[0]?.at ?? null, 'WITH takes name AS (SELECT …) or expression AS name');
    }
    if (named.size === 0) continue;
    const opening = result[start] as Token;
    const head =
      tables.length === 0
        ? []
        : [opening, ...tables.flatMap((each, i) => (i === 0 ? each : [comma(opening), ...each]))];
    result.splice(start, result.length - start, ...head, ...replaced(result.slice(end), named));
  }
  return result;
}

/** Where the SELECT stands that a WITH belongs to; below 0 without one. */
function selectBehind(tokens: readonly Token[], from: number): number {
  let depth = 0;
  for (let i = from; i < tokens.length; i++) {
    if (is(tokens[i], '(', '[', '{')) depth++;
    if (is(tokens[i], ')', ']', '}') && --depth < 0) return -1;
    if (depth === 0 && is(tokens[i], 'select')) return i;
  }
  return -1;
}

function replaced(tokens: readonly Token[], named: ReadonlyMap<string, Token[]>): Token[] {
  const result = tokens.flatMap((token, i) => {
    const stands = token.kind === 'word' || token.kind === 'name' ? named.get(token.value) : null;
    const [before, next] = [tokens[i - 1], tokens[i + 1]];
    if (!stands || is(before, '.', 'as') || is(next, '(', '.')) return [token];
    return [
      symbol('(', token),
      ...stands.map((each) => ({ ...each, at: token.at })),
      symbol(')', token),
    ];
  });
  if (result.length > MAX_TOKENS) reject(null, 'The statement is too long when it is written out');
  return result;
}

/** Names that are words of SQL to the engine's parser, as ClickHouse takes any behind AS, and where they are asked for. */
function reserved(tokens: readonly Token[]): Token[] {
  const asName = (token: Token): Token => ({ ...token, kind: 'name', value: token.text });
  const isTyped = (i: number) => isCast(tokens, i);
  const aliases = new Set(
    tokens.flatMap((token, i) =>
      token.kind === 'word' && is(tokens[i - 1], 'as') && !isTyped(i) && !is(tokens[i + 1], '(')
        ? [token.value]
        : [],
    ),
  );
  return tokens.map((token, i) => {
    const [before, next] = [tokens[i - 1], tokens[i + 1]];
    if (token.kind !== 'word' || isTyped(i) || is(next, '(')) return token;
    if (RESERVED.has(token.value) || is(before, '.')) return asName(token);
    if (!aliases.has(token.value) || is(next, '.')) return token;
    if (is(before, 'as')) return asName(token);
    // A clause begins with none of these before it.
    return CLAUSES.includes(token.value) && is(before, ',', 'by', '(') ? asName(token) : token;
  });
}

/** Whether the token is the type of `cast(value as type)`. */
function isCast(tokens: readonly Token[], i: number): boolean {
  if (!is(tokens[i - 1], 'as')) return false;
  let depth = 0;
  for (let n = i - 2; n >= 0; n--) {
    if (is(tokens[n], ')', ']')) depth++;
    if (is(tokens[n], '(', '[') && depth-- === 0) return is(tokens[n - 1], 'cast', 'try_cast');
  }
  return false;
}

const UNITS = 'second minute hour day week month quarter year'.split(' ');

/** `interval 5 minute` as `tointervalminute(5)`: what the parser makes of it does not tell the number. */
function intervals(tokens: readonly Token[]): Token[] {
  const result: Token[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const [token, count, unit] = tokens.slice(i, i + 3) as Token[];
    const name = UNITS.find((each) => is(unit, each, `${each}s`));
    if (token && count?.kind === 'number' && is(token, 'interval') && name) {
      result.push(word(`tointerval${name}`, token), symbol('(', token), count, symbol(')', token));
      i += 2;
    } else if (token) result.push(token);
  }
  return result;
}

/** Whether the token stands between the two arguments of `cast(value, 'type')`. */
function isCastCall(tokens: readonly Token[], i: number): boolean {
  let depth = 0;
  for (let n = i - 1; n >= 0; n--) {
    if (is(tokens[n], ')', ']')) depth++;
    if (is(tokens[n], '(', '[') && depth-- === 0) return is(tokens[n - 1], 'cast');
    if (depth === 0 && is(tokens[n], ',')) return false;
  }
  return false;
}

/** `quantile(0.9)(x)` as `quantile(x, 0.9)`. */
function parametric(tokens: readonly Token[]): Token[] {
  const result = [...tokens];
  // From the end, so that inner ones come first.
  for (let i = result.length - 3; i >= 0; i--) {
    const [name, open] = [result[i], result[i + 1]];
    if (name?.kind !== 'word' || !open || !is(open, '(') || is(name, 'in', 'as', 'from')) continue;
    const close = closeOf(result, i + 1);
    const next = result[close + 1];
    if (!next || !is(next, '(')) continue;
    const end = closeOf(result, close + 1);
    const [parameters, args] = [result.slice(i + 2, close), result.slice(close + 2, end)];
    const between = args.length > 0 && parameters.length > 0 ? [comma(next)] : [];
    result.splice(i + 2, end - i - 2, ...args, ...between, ...parameters);
  }
  return result;
}

function renamed(tokens: readonly Token[]): Token[] {
  return tokens.map((token, i) => {
    const name = token.kind === 'word' && is(tokens[i + 1], '(') ? RENAMED[token.value] : undefined;
    // `extract(hour from timestamp)`
    if (is(token, 'extract') && is(tokens[i + 3], 'from')) return token;
    return name === undefined || is(tokens[i - 1], '.', 'as', '::') ? token : word(name, token);
  });
}

/** Types behind `::` and in a cast, without what they are made of. */
function typed(tokens: readonly Token[]): Token[] {
  const result: Token[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] as Token;
    const isType = is(tokens[i - 1], '::') || isCast(tokens, i);
    const [type, close] = [tokens[i + 1], tokens[i + 2]];
    // `cast(value, 'String')`
    if (is(token, ',') && type?.kind === 'string' && is(close, ')') && isCastCall(tokens, i)) {
      result.push(word('as', token), word(typeOf(type.value, type.at), type));
      i++;
      continue;
    }
    if (!isType || token.kind !== 'word') {
      result.push(token);
      continue;
    }
    const end = is(tokens[i + 1], '(') ? closeOf(tokens, i + 1) : i;
    const written = tokens
      .slice(i, end + 1)
      .map(({ text }) => text)
      .join('');
    result.push(word(typeOf(written, token.at), token));
    i = end;
  }
  return result;
}

/** What differs in its clauses: `limit 5, 10` is `limit 10 offset 5`, `union distinct` is `union`. */
function limits(tokens: readonly Token[]): Token[] {
  const result: Token[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const [token, first, between, second] = tokens.slice(i, i + 4) as Token[];
    if (!token) break;
    if (is(token, 'limit') && is(between, ',') && first && second) {
      result.push(token, second, word('offset', token), first);
      i += 3;
    } else if (is(token, 'distinct') && is(tokens[i - 1], 'union', 'except', 'intersect')) continue;
    else if (is(token, 'by') && is(tokens[i - 2], 'limit', 'offset'))
      reject(token.at, 'LIMIT BY is not supported');
    else if (is(token, 'settings', 'format') && isLast(tokens, i))
      reject(token.at, `${token.value.toUpperCase()} is not supported`);
    else if (is(token, 'prewhere')) result.push(word('where', token));
    else if (is(token, 'final') && is(tokens[i - 2], 'from', 'join')) continue;
    else result.push(token);
  }
  return result;
}

/** Whether a word begins the last clause: it stands behind a value, and before another word. */
function isLast(tokens: readonly Token[], i: number): boolean {
  const [before, next] = [tokens[i - 1], tokens[i + 1]];
  return (
    next?.kind === 'word' && before !== undefined && !is(before, ',', '.', 'as', 'select', '(')
  );
}

/** A name for each item of a select list that has none: ClickHouse's is what was written. */
function titled(tokens: readonly Token[], partners: Partners, text: string): Token[] {
  const titles = new Map<Token, string>();
  tokens.forEach((token, i) => {
    if (!is(token, 'select')) return;
    const from = is(tokens[i + 1], 'distinct') ? i + 2 : i + 1;
    let end = from;
    for (; end < tokens.length; end++) {
      const partner = is(tokens[end], '(', '[', '{') ? partners.get(tokens[end] as Token) : null;
      if (partner) end = tokens.indexOf(partner);
      else if (is(tokens[end], ...CLAUSES, ')', 'except', 'intersect')) break;
    }
    let behind = from;
    for (const item of split(tokens.slice(from, end))) {
      behind += item.length + 1;
      const [first, last] = [item[0], item.at(-1)];
      if (!first || !last || hasName(item)) continue;
      const next = tokens[behind - 1];
      titles.set(last, title(text.slice(first.at, next ? next.at : text.length)));
    }
  });
  return tokens.flatMap((token) => {
    const written = titles.get(token);
    if (written === undefined) return [token];
    const name: Token = { kind: 'name', value: written, text: written, at: token.at };
    return [token, word('as', token), name];
  });
}

function title(written: string): string {
  const clean = written.replace(/[;\s]+$/, '');
  const [, column, key] = /^(\w+)\s*\[\s*('(?:[^'\\]|\\.|'')*')\s*\]$/s.exec(clean) ?? [];
  if (column) return `arrayElement(${column}, ${key})`;
  return /^count\s*\(\s*\*\s*\)$/i.test(clean) ? 'count()' : clean.slice(0, 200);
}

/** Whether an item of a select list is a column, or has an alias. */
function hasName(item: readonly Token[]): boolean {
  const [last, before] = [item.at(-1), item.at(-2)];
  if (!last || (last.kind !== 'word' && last.kind !== 'name')) return is(last, '*');
  if (!before || is(before, 'as', '.')) return true;
  if (ENDS.includes(last.value)) return false;
  if (before.kind === 'word') return !OPERATORS.includes(before.value);
  return before.kind !== 'symbol' || is(before, ')', ']');
}
