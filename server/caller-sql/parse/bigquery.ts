import { dictionary } from '../dictionary.ts';
import { reject } from '../error.ts';
import type { Token } from './lexer.ts';
import { closeOf, comma, is, type Partners, RESERVED, split, symbol, word } from './tokens.ts';

/** BigQuery's types by the names of the engine; its TIMESTAMP is a moment, its DATETIME is not. */
const TYPES = dictionary<string>({
  int64: 'bigint',
  int: 'bigint',
  integer: 'bigint',
  bigint: 'bigint',
  smallint: 'bigint',
  tinyint: 'bigint',
  byteint: 'bigint',
  float64: 'double',
  numeric: 'double',
  bignumeric: 'double',
  decimal: 'double',
  bigdecimal: 'double',
  string: 'varchar',
  bool: 'boolean',
  datetime: 'timestamp',
  timestamp: 'timestamptz',
});

const FUNCTIONS = dictionary<string>({
  safe_cast: 'try_cast',
  timestamp: 'timestamp_of',
  datetime: 'datetime_of',
  date: 'date_of',
  time: 'time_of',
});
const SUBSCRIPTS = dictionary<string>({
  offset: 'offset_of',
  safe_offset: 'offset_of',
  ordinal: 'ordinal_of',
  safe_ordinal: 'ordinal_of',
});
/** After a trailing comma, which BigQuery allows in a select list. */
const CLAUSES = new Set([
  'from',
  'where',
  'group',
  'having',
  'order',
  'limit',
  'union',
  'window',
  'qualify',
]);

/** What BigQuery writes in a way that the engine's parser cannot read, in a way that it can. */
export function translated(given: readonly Token[], partners: Partners): Token[] {
  const tokens = intervals(aggregates(given, partners));
  const offsets = offsetsOf(tokens, partners);
  const result: Token[] = [];
  const openers: (Token | undefined)[] = [];
  const memberships = new Set<Token>();
  // Where a join with `unnest` ends that may lack its condition.
  const unconditional = new Set<Token>();
  tokens.forEach((token, i) => {
    const [before, next, after] = [tokens[i - 1], tokens[i + 1], tokens[i + 2]];
    if (is(token, '(', '[')) openers.push(is(token, '[') ? token : before);
    if (is(token, ')', ']')) openers.pop();
    if (is(token, ',') && (is(next, ')', ']', ...CLAUSES) || !next)) return;
    if (is(token, 'distinct') && is(before, 'union', 'except', 'intersect')) return;
    if (is(token, '*') && is(next, 'except', 'exclude', 'replace'))
      reject(token.at, 'A * is not allowed: name the columns');
    // `x in unnest(y)` as `x in (array_elements(y))`.
    const close = is(token, 'unnest') && is(before, 'in') && next && partners.get(next);
    if (next && close) {
      memberships.add(close);
      result.push(next, word('array_elements', token));
      return;
    }
    if (memberships.has(token)) result.push(token);
    if (offsets.skipped.has(token)) return;
    const place = offsets.names.get(token);
    if (is(token, 'unnest') && is(before, 'join') && is(next, '(')) {
      const close = next && partners.get(next);
      if (close && !is(tokens[i - 2], 'cross')) unconditional.add(close);
    }
    result.push(
      place ? word('unnest_places', token) : respelled(token, before, next, openers.at(-1)),
    );
    const named = offsets.closed.get(token);
    if (named) result.splice(-1, 0, comma(token), named);
    if (unconditional.delete(token)) {
      // Its alias comes first: `) as name` or `) name`, unless a clause follows.
      const alias = is(next, 'as') ? after : next;
      if (
        !alias ||
        is(alias, 'on', 'using', ')', ',', 'cross', 'left', 'join', 'inner', ...CLAUSES)
      )
        result.push(...condition(token, next));
      else unconditional.add(alias);
    }
  });
  return structs(result);

  function condition(token: Token, next: Token | undefined): Token[] {
    return is(next, 'on', 'using') ? [] : [word('on', token), word('true', token)];
  }
}

function respelled(
  token: Token,
  before: Token | undefined,
  next: Token | undefined,
  opener: Token | undefined,
): Token {
  if (token.kind !== 'word' || is(before, '.')) return token;
  const { value } = token;
  const typed =
    is(before, '::') || (is(before, 'as') && is(opener, 'cast', 'safe_cast', 'try_cast'));
  if (typed)
    return value === 'bytes'
      ? reject(token.at, 'Bytes are not supported')
      : word(TYPES[value] ?? token.text, token);
  if (next?.kind === 'string' && value === 'timestamp') return word('timestamptz', token);
  if (is(next, '(')) {
    if (is(opener, '[') && SUBSCRIPTS[value]) return word(SUBSCRIPTS[value], token);
    return FUNCTIONS[value] ? word(FUNCTIONS[value], token) : token;
  }
  return RESERVED.has(value) ? { ...token, kind: 'name', value: token.text } : token;
}

/**
 * `array_agg(x ignore nulls order by y limit 5)` as `array_agg_present(x, 5 order by y)`: the parser knows neither within a
 * call.
 */
function aggregates(tokens: readonly Token[], partners: Partners): Token[] {
  const skipped = new Set<Token>();
  const limits = new Map<Token, Token>();
  const present = new Set<Token>();
  tokens.forEach((token, i) => {
    const open = tokens[i + 1];
    const close = open && partners.get(open);
    if (!is(token, 'array_agg') || !is(open, '(') || !close) return;
    const end = tokens.indexOf(close);
    const [limit, count] = [tokens[end - 2], tokens[end - 1]];
    if (limit && count?.kind === 'number' && is(limit, 'limit')) {
      for (const each of [limit, count]) skipped.add(each);
      limits.set(orderOf(tokens, i + 2, end) ?? close, count);
    }
    for (let n = i + 2; n < end - 1; n++) {
      const [first, second] = [tokens[n], tokens[n + 1]];
      if (!first || !second || !is(second, 'nulls') || !is(first, 'ignore', 'respect')) continue;
      for (const each of [first, second]) skipped.add(each);
      if (is(first, 'ignore')) present.add(token);
    }
  });
  return tokens.flatMap((token) => {
    if (skipped.has(token)) return [];
    const count = limits.get(token);
    const spelled = present.has(token) ? word('array_agg_present', token) : token;
    return count ? [comma(token), count, spelled] : [spelled];
  });
}

/** The ORDER BY of a call itself. */
function orderOf(tokens: readonly Token[], from: number, end: number): Token | undefined {
  let depth = 0;
  return tokens.slice(from, end).find((token) => {
    if (is(token, '(', '[', '{')) depth++;
    if (is(token, ')', ']', '}')) depth--;
    return depth === 0 && is(token, 'order');
  });
}

const UNITS = [
  'microsecond',
  'millisecond',
  'second',
  'minute',
  'hour',
  'day',
  'week',
  'month',
  'quarter',
  'year',
];
/** Tokens of the number of an interval that is put in brackets, which the parser needs for all but one. */
const MAX_INTERVAL = 12;

function intervals(tokens: readonly Token[]): Token[] {
  const opened = new Map<Token, Token>();
  const closed = new Map<Token, Token>();
  tokens.forEach((token, i) => {
    if (!is(token, 'interval')) return;
    const unit = tokens.slice(i + 2, i + 2 + MAX_INTERVAL).findIndex((each) => is(each, ...UNITS));
    const [first, last] = [tokens[i + 1], tokens[i + 1 + unit]];
    if (unit < 1 || !first || !last || is(first, '(')) return;
    opened.set(first, token);
    closed.set(last, token);
  });
  return tokens.flatMap((token) => [
    ...(opened.has(token) ? [symbol('(', token)] : []),
    token,
    ...(closed.has(token) ? [symbol(')', token)] : []),
  ]);
}

interface Offsets {
  /** Tokens of `with offset as name`. */
  readonly skipped: ReadonlySet<Token>;
  /** The names, by the token `unnest`, and by the bracket that closes its call. */
  readonly names: ReadonlyMap<Token, Token>;
  readonly closed: ReadonlyMap<Token, Token>;
}

/** `unnest(x) as y with offset as name` is written `unnest_places(x, 'name') as y`. */
function offsetsOf(tokens: readonly Token[], partners: Partners): Offsets {
  const [skipped, names, closed] = [
    new Set<Token>(),
    new Map<Token, Token>(),
    new Map<Token, Token>(),
  ];
  tokens.forEach((token, i) => {
    const open = tokens[i + 1];
    const close = open && partners.get(open);
    if (!is(token, 'unnest') || !is(open, '(') || !close) return;
    let at = tokens.indexOf(close) + 1;
    if (is(tokens[at], 'as')) at += 2;
    else if (tokens[at]?.kind === 'word' && !is(tokens[at], 'with')) at++;
    const [first, offset] = [tokens[at], tokens[at + 1]];
    if (!first || !offset || !is(first, 'with') || !is(offset, 'offset')) return;
    const named = is(tokens[at + 2], 'as') ? tokens[at + 3] : undefined;
    for (const each of tokens.slice(at, at + (named ? 4 : 2))) skipped.add(each);
    const name: Token = { kind: 'string', value: (named ?? offset).text, text: '', at: offset.at };
    names.set(token, name);
    closed.set(close, name);
  });
  return { skipped, names, closed };
}

/** `struct(x as a, y)` as `struct_pack(a := x, y)`; inner ones first, they stand farther right. */
function structs(tokens: Token[]): Token[] {
  for (let i = tokens.length - 2; i >= 0; i--) {
    const [token, open] = [tokens[i], tokens[i + 1]];
    if (!token || !open || !is(token, 'struct') || is(tokens[i - 1], '.')) continue;
    if (is(open, '<'))
      reject(token.at, 'STRUCT with types is not supported, write STRUCT(value AS name, …)');
    if (!is(open, '(')) continue;
    const end = closeOf(tokens, i + 1);
    const members = split(tokens.slice(i + 2, end)).map((member) => {
      const [as, name] = member.slice(-2);
      if (member.length < 3 || !as || !name || !is(as, 'as')) return member;
      return [
        name,
        { ...as, kind: 'symbol', value: ':=', text: ':=' } as Token,
        ...member.slice(0, -2),
      ];
    });
    const inner = members.flatMap((member, m) => (m === 0 ? member : [comma(open), ...member]));
    tokens.splice(i, end - i, word('struct_pack', token), open, ...inner);
  }
  return tokens;
}
