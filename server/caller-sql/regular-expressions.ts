import { reject, shown } from './error.ts';

const MAX_LENGTH = 1000;
/**
 * What the counted repeats of an expression may multiply to: RE2 unrolls them, takes that many times longer for each
 * character, and looks for an interrupt only every 2048 rows.
 */
const MAX_REPEATS = 100;

/** A regular expression of the caller's, and where it stands. Only the engine can tell whether it is one. */
export interface Pattern {
  readonly text: string;
  readonly at: number | null;
}

/**
 * The regular expression that a literal is, which is noted in `patterns`. Throws SqlRefused for what is not a literal, or would take
 * too long.
 */
export function patternOf(
  value: { literal?: string },
  { at, patterns }: { at: number | null; patterns: Pattern[] },
): string {
  const pattern = value.literal;
  if (pattern === undefined) return reject(at, 'A regular expression must be a string literal');
  const fault = faultOf(pattern);
  if (fault !== null) reject(at, fault);
  patterns.push({ text: pattern, at });
  return pattern;
}

/** Returns why a regular expression is refused that would take too long, or end the process; null for others. */
export function faultOf(pattern: string): string | null {
  if (pattern.length > MAX_LENGTH)
    return `A regular expression may have ${MAX_LENGTH} characters, this one has ${pattern.length}`;
  if (matchesBytes(pattern))
    return `A regular expression may not match single bytes by \\C, in ${shown(pattern)}`;
  if (unrolled(pattern) > MAX_REPEATS)
    return `The counted repeats of a regular expression may multiply to ${MAX_REPEATS} at most, in ${shown(pattern)}`;
  return null;
}

/** What the counted repeats of an expression multiply to that stand in each other, at most. */
function unrolled(pattern: string): number {
  const plain = pattern.replace(/\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\\.|[^\]])*\]/gs, 'x');
  // The greatest product in each group that is open, and in the last one that was closed.
  const open = [1];
  let last = 1;
  for (const [sign, least, most] of plain.matchAll(/\(|\)|\{(\d*),?(\d*)\}|./gs)) {
    if (sign === '(') open.push(1);
    if (sign === ')' && open.length > 1) last = open.pop() ?? 1;
    else if (least === undefined) last = 1;
    else last *= Math.max(1, Number(least), Number(most));
    open.push(Math.max(open.pop() ?? 1, last));
  }
  return Math.max(...open);
}

/**
 * Whether an expression (RE2 syntax) takes single bytes by `\C`. A part of a character is not text: the engine's functions read beyond
 * its end, or end the process.
 */
export function matchesBytes(pattern: string): boolean {
  // Between \Q and \E everything stands for itself.
  const escapes = pattern.matchAll(/\\Q.*?(?:\\E|$)|\\(.)/gs);
  return [...escapes].some(([, escaped]) => escaped === 'C');
}

/** What may follow a backslash and is taken for itself. */
const PUNCTUATION = /[^A-Za-z0-9\s]/;

/**
 * Texts that stand, in whatever letter case, in all that the expression matches. None where it has more to it than texts, `.`, `.*`, `.+`
 * and places such as `\b`.
 */
export function textsIn(pattern: string): string[] {
  const texts = [''];
  const plain = pattern.replace(/^\(\?[is]+\)/, '');
  for (let at = 0; at < plain.length; at++) {
    const character = plain[at] as string;
    const next = plain[at + 1] ?? '';
    if (character === '\\') {
      at++;
      if (PUNCTUATION.test(next)) texts.push(`${texts.pop()}${next}`);
      else if ('bdwsDWS'.includes(next) && next !== '') texts.push('');
      else return [];
    } else if ('^$'.includes(character)) texts.push('');
    else if (character === '.') {
      texts.push('');
      if ('*+'.includes(next)) at++;
    } else if ('*+?()[]{}|'.includes(character)) return [];
    else texts.push(`${texts.pop()}${character}`);
  }
  return texts.filter((text) => text !== '');
}

/** Whether the expression captures something. */
export function hasGroup(pattern: string): boolean {
  return /(?:^|[^\\])(?:\\\\)*\((?!\?(?!P<|<))/.test(pattern.replace(/\[[^\]]*\]/g, ''));
}
