import type { Dialect, Token } from './lexer.ts';
import { refuse, shown } from './refusal.ts';
import { table } from './table.ts';

/**
 * The caller's SQL as the engine's parser is given it: ASCII, with a placeholder for each string and quoted name, so that
 * what the parser sees was put together here, whatever the caller wrote in quotes.
 */
export interface Spelled {
  readonly text: string;
  /** What a placeholder stands for; a text that is none stands for itself. */
  meaning(text: string): string;
  /** Where in the caller's text that stands which begins at this place in `text`. */
  origin(at: number): number;
  /** The number that begins at this place in `text`. */
  numberAt(at: number): string | null;
  /** Where in the caller's text a word stands first; null when it does not. */
  placeOf(word: string): number | null;
}

/** Open brackets; the engine's parser and ours recurse. */
const MAX_DEPTH = 60;

/** Words that are reserved to the engine's parser but name columns in BigQuery. */
const RESERVED = new Set(
  'analyse analyze asymmetric both check column constraint deferrable describe do foreign grant initially lambda leading only placing primary references show some summarize symmetric table trailing unique user variadic'.split(
    ' ',
  ),
);

/** BigQuery's types by the names of the engine; its TIMESTAMP is a moment, its DATETIME is not. */
const TYPES = table<string>({
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

const FUNCTIONS = table<string>({
  safe_cast: 'try_cast',
  timestamp: 'timestamp_of',
  datetime: 'datetime_of',
  date: 'date_of',
  time: 'time_of',
});
const SUBSCRIPTS = table<string>({
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

/** Writes tokens as the engine's parser reads them. Throws SqlRefused for what it could not. */
export function spell(tokens: readonly Token[], dialect: Dialect): Spelled {
  const statement = single(tokens);
  const [first] = statement;
  if (!is(first, 'select', 'with', '(')) refuse(first?.at ?? null, 'Only SELECT is allowed');
  statement.forEach((token, i) => {
    const [before, next] = [statement[i - 1], statement[i + 1]];
    const sets = is(token, 'rollup', 'cube') && is(next, '(') && is(before, 'by', ',');
    // The tree does not tell them from a plain GROUP BY.
    if (sets || (is(token, 'grouping') && is(next, 'sets')))
      refuse(token.at, 'ROLLUP, CUBE and GROUPING SETS are not supported');
  });
  cases(statement);
  const depth = brackets(statement);
  const words = dialect === 'bigquery' ? translated(statement, depth) : statement;

  let text = '';
  const places: [number, number][] = [];
  const meanings = new Map<string, string>();
  const placeholder = (value: string) => {
    const stand = `$${meanings.size}`;
    meanings.set(stand, value);
    return stand;
  };
  for (const token of words) {
    places.push([text.length, token.at]);
    text += `${written(token, placeholder)} `;
  }
  return {
    text,
    meaning: (stand) => meanings.get(stand) ?? stand,
    origin: (at) => originOf(places, at),
    numberAt: (at) =>
      /^(?:- ?)?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/
        .exec(text.slice(at))?.[0]
        .replaceAll(/[_ ]/g, '') ?? null,
    placeOf: (word) =>
      tokens.find(({ value }) => value.toLowerCase() === word.toLowerCase())?.at ?? null,
  };
}

/** By halves: it is asked for each node of the tree. */
function originOf(places: readonly (readonly [number, number])[], at: number): number {
  let [low, high] = [0, places.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((places[middle]?.[0] ?? 0) <= at) low = middle;
    else high = middle;
  }
  return places[low]?.[1] ?? 0;
}

function written({ kind, value, text, at }: Token, placeholder: (value: string) => string): string {
  if (kind === 'string') return `'${placeholder(value)}'`;
  if (kind === 'name') return `"${placeholder(value)}"`;
  if (kind === 'parameter') return `$${value}`;
  if (kind === 'word' && text.length > 300)
    return refuse(at, `This name is too long: ${shown(text)}`);
  return text;
}

function single(tokens: readonly Token[]): Token[] {
  const end = tokens.findLastIndex((token) => !is(token, ';')) + 1;
  const statement = tokens.slice(0, end);
  const more = statement.find((token) => is(token, ';'));
  if (more) refuse(more.at, 'Only one statement is allowed, without a ";" in it');
  if (statement.length === 0) refuse(null, 'There is no statement');
  return statement;
}

/** The parser writes the value of `case value when …` once for each WHEN. */
const MAX_WHENS = 500;
const MAX_CASE_VALUE = 60;

function cases(tokens: readonly Token[]) {
  const whens = tokens.filter((token) => is(token, 'when'));
  const [one] = whens.slice(MAX_WHENS);
  if (one) refuse(one.at, `A statement may have ${MAX_WHENS} WHENs at most`);
  tokens.forEach((token, i) => {
    if (!is(token, 'case')) return;
    const value = tokens.slice(i + 1, i + 2 + MAX_CASE_VALUE);
    if (value.length > MAX_CASE_VALUE && !value.some((each) => is(each, 'when')))
      refuse(token.at, 'The value behind CASE is too long');
  });
}

/** The number of the partner of each bracket. */
type Partners = ReadonlyMap<Token, Token>;

function brackets(tokens: readonly Token[]): Partners {
  const partners = new Map<Token, Token>();
  const open: Token[] = [];
  const closing: Record<string, string> = { '(': ')', '[': ']', '{': '}' };
  for (const token of tokens) {
    if (token.kind !== 'symbol') continue;
    if (token.value in closing) {
      open.push(token);
      if (open.length > MAX_DEPTH) refuse(token.at, `Brackets may stand ${MAX_DEPTH} deep at most`);
    } else if (Object.values(closing).includes(token.value)) {
      const partner = open.pop();
      if (!partner || closing[partner.value] !== token.value)
        refuse(token.at, `Unexpected "${token.value}"`);
      else partners.set(partner, token).set(token, partner);
    }
  }
  const left = open.at(-1);
  return left ? refuse(left.at, `This "${left.value}" is not closed`) : partners;
}

function is(token: Token | undefined, ...values: readonly string[]): boolean {
  return (
    token !== undefined &&
    (token.kind === 'word' || token.kind === 'symbol') &&
    values.includes(token.value)
  );
}

function word(value: string, { at }: Token): Token {
  return { kind: 'word', value, text: value, at };
}

/** What BigQuery writes in a way that the engine's parser can not read, in a way that it can. */
function translated(given: readonly Token[], partners: Partners): Token[] {
  const tokens = intervals(aggregates(given, partners));
  const offsets = offsetsOf(tokens, partners);
  const result: Token[] = [];
  const openers: (Token | undefined)[] = [];
  // Where a join with `unnest` ends that may lack its condition.
  const unconditional = new Set<Token>();
  tokens.forEach((token, i) => {
    const [before, next, after] = [tokens[i - 1], tokens[i + 1], tokens[i + 2]];
    if (is(token, '(', '[')) openers.push(is(token, '[') ? token : before);
    if (is(token, ')', ']')) openers.pop();
    if (is(token, ',') && (is(next, ')', ']', ...CLAUSES) || !next)) return;
    if (is(token, 'distinct') && is(before, 'union', 'except', 'intersect')) return;
    if (is(token, '*') && is(next, 'except', 'exclude', 'replace'))
      refuse(token.at, 'A * is not allowed: name the columns');
    if (is(token, 'unnest') && is(before, 'in')) return;
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
      ? refuse(token.at, 'Bytes are not supported')
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

function comma(token: Token): Token {
  return symbol(',', token);
}

function symbol(value: string, { at }: Token): Token {
  return { kind: 'symbol', value, text: value, at };
}

/** `struct(x as a, y)` as `struct_pack(a := x, y)`; inner ones first, they stand farther right. */
function structs(tokens: Token[]): Token[] {
  for (let i = tokens.length - 2; i >= 0; i--) {
    const [token, open] = [tokens[i], tokens[i + 1]];
    if (!token || !open || !is(token, 'struct') || is(tokens[i - 1], '.')) continue;
    if (is(open, '<'))
      refuse(token.at, 'STRUCT with types is not supported, write STRUCT(value AS name, …)');
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

function closeOf(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let i = open; i < tokens.length; i++) {
    if (is(tokens[i], '(', '[', '{')) depth++;
    if (is(tokens[i], ')', ']', '}') && --depth === 0) return i;
  }
  throw new Error('BUG: brackets were balanced');
}

/** Splits at the commas that stand in no inner bracket. */
function split(tokens: readonly Token[]): Token[][] {
  const parts: Token[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    if (is(token, '(', '[', '{')) depth++;
    if (is(token, ')', ']', '}')) depth--;
    if (depth === 0 && is(token, ',')) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}
