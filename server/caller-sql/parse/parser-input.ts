import { reject, shown } from '../error.ts';
import { translated as fromBigQuery } from './bigquery.ts';
import { translated as fromClickHouse } from './clickhouse.ts';
import type { Dialect, Token } from './lexer.ts';
import { brackets, is } from './tokens.ts';

/**
 * The caller's SQL as the engine's parser is given it: ASCII, with a placeholder for each string and quoted name, so that
 * what the parser sees was put together here, whatever the caller wrote in quotes.
 */
export interface ParserInput {
  readonly text: string;
  /** What a placeholder stands for; a text that is not one stands for itself. */
  meaning(text: string): string;
  /** Where in the caller's text that stands which begins at this place in `text`. */
  origin(at: number): number;
  /** The number that begins at this place in `text`. */
  numberAt(at: number): string | null;
  /** Where in the caller's text a word stands first; null when it does not. */
  placeOf(word: string): number | null;
}

/** Writes tokens as the engine's parser reads them; `written` is the text that they are of. Throws SqlRefused for what it could not. */
export function parserInput(tokens: readonly Token[], dialect: Dialect, written = ''): ParserInput {
  const statement = single(tokens);
  const [first] = statement;
  if (!is(first, 'select', 'with', '(')) reject(first?.at ?? null, 'Only SELECT is allowed');
  groupingSets(statement);
  cases(statement);
  const partners = brackets(statement);
  const words =
    dialect === 'bigquery'
      ? fromBigQuery(statement, partners)
      : dialect === 'clickhouse'
        ? fromClickHouse(statement, written)
        : statement;

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
    text += `${spelled(token, placeholder)} `;
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

function spelled({ kind, value, text, at }: Token, placeholder: (value: string) => string): string {
  if (kind === 'string') return `'${placeholder(value)}'`;
  if (kind === 'name') return `"${placeholder(value)}"`;
  if (kind === 'parameter') return `$${value}`;
  if (kind === 'word' && text.length > 300)
    return reject(at, `This name is too long: ${shown(text)}`);
  return text;
}

function single(tokens: readonly Token[]): Token[] {
  const end = tokens.findLastIndex((token) => !is(token, ';')) + 1;
  const statement = tokens.slice(0, end);
  const more = statement.find((token) => is(token, ';'));
  if (more) reject(more.at, 'Only one statement is allowed, without a ";" in it');
  if (statement.length === 0) reject(null, 'There is no statement');
  return statement;
}

/** The parser writes the value of `case value when …` once for each WHEN. */
const MAX_WHENS = 500;
const MAX_CASE_VALUE = 60;

function cases(tokens: readonly Token[]) {
  const whens = tokens.filter((token) => is(token, 'when'));
  const [one] = whens.slice(MAX_WHENS);
  if (one) reject(one.at, `A statement may have ${MAX_WHENS} WHENs at most`);
  tokens.forEach((token, i) => {
    if (!is(token, 'case')) return;
    const value = tokens.slice(i + 1, i + 2 + MAX_CASE_VALUE);
    if (value.length > MAX_CASE_VALUE && !value.some((each) => is(each, 'when')))
      reject(token.at, 'The value behind CASE is too long');
  });
}

/** The tree does not tell them from a plain GROUP BY. */
function groupingSets(tokens: readonly Token[]) {
  tokens.forEach((token, i) => {
    const [before, next] = [tokens[i - 1], tokens[i + 1]];
    const sets = is(token, 'rollup', 'cube') && is(next, '(') && is(before, 'by', ',');
    if (sets || (is(token, 'grouping') && is(next, 'sets')))
      reject(token.at, 'ROLLUP, CUBE and GROUPING SETS are not supported');
  });
}
