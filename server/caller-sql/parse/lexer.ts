import { dictionary } from '../dictionary.ts';
import { reject, shown } from '../error.ts';

/**
 * `bigquery`: as Supabase Studio writes it; `clickhouse`: as it writes it since 2026, for `logs.all.otel`; `duckdb`: standard strings and
 * quoted names.
 */
export const DIALECTS = ['bigquery', 'clickhouse', 'duckdb'] as const;
export type Dialect = (typeof DIALECTS)[number];

/**
 * A piece of the caller's SQL. `value` is what it means: of a string its characters, of a quoted name the name, of a
 * parameter its name, of a word the word in lower case, else the text itself.
 */
export interface Token {
  readonly kind: 'word' | 'name' | 'string' | 'number' | 'symbol' | 'parameter';
  readonly value: string;
  /** As it is spelled: words keep their letter case here. */
  readonly text: string;
  /** Where it begins in the caller's text. */
  readonly at: number;
}

const BLANKS: Readonly<Record<Dialect, RegExp>> = {
  bigquery: /\s+|--[^\n]*|#[^\n]*/y,
  clickhouse: /\s+|--[^\n]*|#[ !][^\n]*/y,
  duckdb: /\s+|--[^\n]*/y,
};
const WORD = /[A-Za-z_][A-Za-z0-9_]*/y;
const NUMBER = /(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y;
const SYMBOL =
  /::|->>|->|:=|\|\||<=>|<>|<=|>=|!=|==|=>|\/\/|!~~\*?|~~\*?|!~|[-+*/%=<>(),.;:[\]{}~^&|!]/y;

/** Reads the caller's text. Throws SqlRefused for what no token begins with, and for what does not end. */
export function tokenize(text: string, dialect: Dialect): Token[] {
  const tokens: Token[] = [];
  const match = (pattern: RegExp, at: number) => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0];
  };
  for (let at = 0; at < text.length; ) {
    const blank = match(BLANKS[dialect], at) ?? comment(text, at);
    if (blank) {
      at += blank.length;
      continue;
    }
    const [token, length] =
      string(text, at, dialect) ?? name(text, at, dialect) ?? parameter(text, at) ?? plain();
    tokens.push(token);
    at += length;

    function plain(): [Token, number] {
      const word = match(WORD, at);
      if (word) return [{ kind: 'word', value: word.toLowerCase(), text: word, at }, word.length];
      const number = match(NUMBER, at);
      if (number) return [{ kind: 'number', value: number, text: number, at }, number.length];
      const symbol = match(SYMBOL, at);
      if (symbol) return [{ kind: 'symbol', value: symbol, text: symbol, at }, symbol.length];
      return reject(
        at,
        `The character ${shown(String.fromCodePoint(text.codePointAt(at) ?? 0))} cannot stand here`,
      );
    }
  }
  return tokens;
}

function comment(text: string, at: number): string | undefined {
  if (!text.startsWith('/*', at)) return undefined;
  const end = text.indexOf('*/', at + 2);
  return end < 0 ? reject(at, 'This comment does not end') : text.slice(at, end + 2);
}

const QUOTES = ["'''", '"""', "'", '"'];

function string(text: string, at: number, dialect: Dialect): [Token, number] | null {
  if (dialect === 'duckdb') return text[at] === "'" ? standardString(text, at) : null;
  if (dialect === 'clickhouse')
    return text[at] === "'" ? quoted(text, at, at, "'", clickhouseEscape) : null;
  const prefix = /^(?:rb|br|r|b)(?=['"])/i.exec(text.slice(at, at + 3))?.[0].toLowerCase() ?? '';
  if (prefix.includes('b')) reject(at, 'Bytes are not supported, only strings');
  const start = at + prefix.length;
  const quote = QUOTES.find((candidate) => text.startsWith(candidate, start));
  if (!quote) return null;
  // Three quotes may also be the beginning of a short string with a doubled quote in it.
  if (quote.length === 3 && text.indexOf(quote, start + 3) < 0) {
    return quoted(text, at, start, quote.slice(0, 1), prefix === '' ? escaped : raw);
  }
  return quoted(text, at, start, quote, prefix === '' ? escaped : raw);
}

/** What a backslash and what follows it mean, and how many characters that is. */
type Escape = (text: string, at: number) => [string, number];

/** A string with escapes that begin with a backslash; a doubled quote is one, too, as clients escape it so. */
function quoted(
  text: string,
  at: number,
  start: number,
  quote: string,
  readEscape: Escape,
): [Token, number] {
  let value = '';
  for (let i = start + quote.length; i < text.length; ) {
    if (text.startsWith(quote, i)) {
      if (quote.length === 1 && text.startsWith(quote, i + 1)) {
        value += quote;
        i += 2;
        continue;
      }
      return [{ kind: 'string', value: sound(value, at), text: value, at }, i + quote.length - at];
    }
    const character = text[i] ?? '';
    const [meant, length] = character === '\\' ? readEscape(text, i) : [character, 1];
    value += meant;
    i += length;
  }
  return reject(at, 'This string does not end');
}

const raw: Escape = (text, at) => [text.slice(at, at + 2), 2];

const ESCAPES = dictionary<string>({
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '?': '?',
  '"': '"',
  "'": "'",
  '`': '`',
  '\n': '\n',
});
const CODE = /\\(?:[xX]([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-3][0-7]{2}))/y;

function escaped(text: string, at: number): [string, number] {
  const simple = ESCAPES[text[at + 1] ?? ''];
  if (simple !== undefined) return [simple, 2];
  CODE.lastIndex = at;
  const [whole, x, u, U, octal] = CODE.exec(text) ?? [];
  if (!whole)
    return reject(
      at,
      `There is no escape ${shown(text.slice(at, at + 2))}; write \\\\ for a backslash, or r'…' for a text without escapes`,
    );
  const code = octal ? Number.parseInt(octal, 8) : Number.parseInt(x ?? u ?? U ?? '', 16);
  if (code > 0x10ffff) reject(at, 'There is no such character');
  return [String.fromCodePoint(code), whole.length];
}

const CLICKHOUSE_ESCAPES = dictionary<string>({
  a: '\x07',
  b: '\b',
  e: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '0': '\0',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '`': '`',
  '/': '/',
  '=': '=',
});

/** A pair that ClickHouse does not read as an escape keeps its backslash, so that `'\\d'` and `'\d'` are one regular expression. */
function clickhouseEscape(text: string, at: number): [string, number] {
  const next = text[at + 1] ?? '';
  const simple = CLICKHOUSE_ESCAPES[next];
  if (simple !== undefined) return [simple, 2];
  const code = /^\\x([\da-fA-F]{2})/.exec(text.slice(at, at + 4))?.[1];
  if (!code) return [text.slice(at, at + 2), 2];
  const byte = Number.parseInt(code, 16);
  return byte < 0x80
    ? [String.fromCharCode(byte), 4]
    : reject(at, 'Bytes are not supported, only strings');
}

function standardString(text: string, at: number): [Token, number] {
  const [whole, value = ''] =
    /^'((?:[^']|'')*)'/.exec(text.slice(at)) ?? reject(at, 'This string does not end');
  const meant = value.replaceAll("''", "'");
  return [{ kind: 'string', value: sound(meant, at), text: meant, at }, whole.length];
}

/** What the engine could not take, or would cut. */
function sound(value: string, at: number): string {
  if (value.includes('\0')) reject(at, 'A string may not hold a NUL character');
  return !/\p{Surrogate}/u.test(value)
    ? value
    : reject(at, 'A string may not hold half of a surrogate pair');
}

const NAME_QUOTES: Readonly<Record<Dialect, readonly string[]>> = {
  bigquery: ['`'],
  clickhouse: ['`', '"'],
  duckdb: ['"'],
};

function name(text: string, at: number, dialect: Dialect): [Token, number] | null {
  const quote = text[at] ?? '';
  if (!NAME_QUOTES[dialect].includes(quote)) return null;
  const isStandard = dialect === 'duckdb';
  const pattern = isStandard
    ? /^"((?:[^"]|"")*)"/
    : quote === '`'
      ? /^`((?:[^`\\]|\\.)*)`/s
      : /^"((?:[^"\\]|\\.)*)"/s;
  const [whole, inner = ''] =
    pattern.exec(text.slice(at)) ?? reject(at, 'This quoted name does not end');
  const value = isStandard ? inner.replaceAll('""', '"') : inner.replace(/\\(.)/gs, '$1');
  if (value === '') reject(at, 'A name may not be empty');
  return [{ kind: 'name', value: sound(value, at), text: whole, at }, whole.length];
}

function parameter(text: string, at: number): [Token, number] | null {
  if (text[at] !== '@') return null;
  const [whole, value = ''] =
    /^@([A-Za-z_]\w*)/.exec(text.slice(at, at + 256)) ??
    reject(at, 'An @ must begin the name of a parameter');
  return [{ kind: 'parameter', value, text: whole, at }, whole.length];
}
