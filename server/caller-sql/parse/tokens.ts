import { reject } from '../error.ts';
import type { Token } from './lexer.ts';

/** Open brackets; the engine's parser and ours recurse. */
const MAX_DEPTH = 60;

/** Words that are reserved to the engine's parser but are names in other dialects. */
export const RESERVED = new Set(
  'analyse analyze asymmetric both check column constraint deferrable describe do foreign grant initially lambda leading only placing primary references show some summarize symmetric table trailing unique user variadic'.split(
    ' ',
  ),
);

/** The number of the partner of each bracket. */
export type Partners = ReadonlyMap<Token, Token>;

/** Pairs the brackets. Throws SqlRefused for one that has no partner, and where they stand too deep. */
export function brackets(tokens: readonly Token[]): Partners {
  const partners = new Map<Token, Token>();
  const open: Token[] = [];
  const closing: Record<string, string> = { '(': ')', '[': ']', '{': '}' };
  for (const token of tokens) {
    if (token.kind !== 'symbol') continue;
    if (token.value in closing) {
      open.push(token);
      if (open.length > MAX_DEPTH) reject(token.at, `Brackets may stand ${MAX_DEPTH} deep at most`);
    } else if (Object.values(closing).includes(token.value)) {
      const partner = open.pop();
      if (!partner || closing[partner.value] !== token.value)
        reject(token.at, `Unexpected "${token.value}"`);
      else partners.set(partner, token).set(token, partner);
    }
  }
  const left = open.at(-1);
  return left ? reject(left.at, `This "${left.value}" is not closed`) : partners;
}

/** Whether a token is one of these words or symbols. */
export function is(token: Token | undefined, ...values: readonly string[]): boolean {
  return (
    token !== undefined &&
    (token.kind === 'word' || token.kind === 'symbol') &&
    values.includes(token.value)
  );
}

/** A word, or a symbol, that stands for a token of the caller's. */
export function word(value: string, { at }: Token): Token {
  return { kind: 'word', value, text: value, at };
}

export function symbol(value: string, { at }: Token): Token {
  return { kind: 'symbol', value, text: value, at };
}

export function comma(token: Token): Token {
  return symbol(',', token);
}

/** Where the bracket ends that begins at `open`. */
export function closeOf(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let i = open; i < tokens.length; i++) {
    if (is(tokens[i], '(', '[', '{')) depth++;
    if (is(tokens[i], ')', ']', '}') && --depth === 0) return i;
  }
  throw new Error('BUG: brackets were balanced');
}

/** Splits at the commas that stand in no inner bracket. */
export function split(tokens: readonly Token[]): Token[][] {
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
