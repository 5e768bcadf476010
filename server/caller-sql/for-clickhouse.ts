import { type Token, tokenize } from './parse/lexer.ts';
import { is } from './parse/tokens.ts';

/** A caller's statement in ClickHouse's dialect, in words that ClickHouse reads as they were checked. */
export interface ForClickHouse {
  /** The names that are asked of the map. */
  readonly attributes: readonly string[];
  /** The statement, where the view is the rows of `rows`, and the value of a name a column, as `attributeColumn` calls it. */
  over(rows: string): string;
}

/** What a statement asks, and how much of its answer is wanted. */
export interface Asked {
  readonly view: string;
  /** The view's column that is a map. */
  readonly map: string;
  readonly limit: number;
  readonly offset: number | null;
  /** What else has a name that a statement must not have, in lower case: tables of ClickHouse. */
  readonly others: ReadonlySet<string>;
}

/** The column of the value of a name; NULL is not among its values. */
export function attributeColumn(map: string, name: string): string {
  return `${map}.${name}`;
}

const SET_OPERATIONS = ['union', 'except', 'intersect'];

/**
 * Puts a statement together of its tokens, so that nothing in it is read in another way than it was checked: `text` is one that `translate`
 * takes. Null where ClickHouse would have to be asked otherwise: for a whole map, for several SELECTs one behind the other, with parameters.
 */
export function forClickHouse(
  text: string,
  { view, map, limit, offset, others: tables }: Asked,
): ForClickHouse | null {
  const tokens = tokenize(text, 'clickhouse').filter((token) => !is(token, ';'));
  const attributes = new Set<string>();
  const body: Token[] = [];
  let depth = 0;
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] as Token;
    const [next, key, close] = tokens.slice(i + 1, i + 4);
    if (is(token, '(', '[')) depth++;
    if (is(token, ')', ']')) depth--;
    // What follows is known: how many rows, and from which on.
    if (depth === 0 && is(token, 'limit', 'offset')) break;
    if (token.kind === 'parameter' || is(token, '{', ...(depth === 0 ? SET_OPERATIONS : [])))
      return null;
    const isName = token.kind === 'word' || token.kind === 'name';
    const called = isName ? token.value.toLowerCase() : '';
    // ClickHouse tells letter cases apart. A name may also be another's here, or that of a table of the statement's own.
    const isOwnTable = is(next, 'as') && is(key, '(');
    if (called === view && (textOf(token) !== view || isOwnTable || is(tokens[i - 1], 'as')))
      return null;
    if (tables.has(called)) return null;
    if (called !== map) {
      body.push(token);
      continue;
    }
    if (!is(next, '[') || key?.kind !== 'string' || !is(close, ']')) return null;
    attributes.add(key.value);
    body.push({ ...token, kind: 'name', value: attributeColumn(map, key.value) });
    i += 3;
  }
  const [first, ...others] = body;
  if (!is(first, 'select', 'with') || is(others[0], 'recursive')) return null;
  const statement = is(first, 'with') ? `, ${spelled(others)}` : ` ${spelled(body)}`;
  const end = ` limit ${limit}${offset ? ` offset ${offset}` : ''}`;
  return {
    attributes: [...attributes],
    over: (rows) => `with ${named(view)} as (${rows})${statement}${end}`,
  };
}

function textOf({ kind, text, value }: Token): string {
  return kind === 'name' ? value : text;
}

function spelled(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if (token.kind === 'string') return `'${escaped(token.value, "'")}'`;
      return token.kind === 'name' ? named(token.value) : token.text;
    })
    .join(' ');
}

function named(name: string): string {
  return `\`${escaped(name, '`')}\``;
}

function escaped(text: string, quote: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`);
}
