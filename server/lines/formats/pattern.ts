/** Lines of a form that an operator describes, as a regular expression with named groups. */
import { createFieldTable } from '../fields.ts';
import { type Format, type Member, textMember } from '../line.ts';

/** A longer line is not of the format: an expression without an anchor may need time that grows with the square of the length. */
const MOST_CHARS = 16_384;
/** A group that repeats something unbounded may be tried in as many ways as it has repeats, to the power of this. */
const MOST_REPEATS = 8;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
const QUANTIFIER = /(?:[*+?]|\{(?<least>\d+)(?<comma>,)?(?<most>\d*)\})/y;

/**
 * Returns the format of a regular expression. Each named group that matched is a member, a number where it is one. A line without a group
 * of the message, by the table of fields, is its own message; else `extra` has the text around the match. Throws if the expression is
 * invalid, has no named group, or repeats a group that repeats by itself.
 *
 * @example pattern('^(?<time>\\S+ \\S+) (?<level>[A-Z]+) (?<message>.*)$')
 */
export function pattern(source: string, table = createFieldTable()): Format {
  const isMessage = (name: string) => table.find(name)?.role === 'message';
  const expression = compiled(source);
  return {
    name: 'pattern',
    parse(line) {
      if (line.length > MOST_CHARS) return null;
      const found = expression.exec(line);
      if (!found?.groups) return null;
      const members: Member[] = [];
      for (const [name, value] of Object.entries(found.groups))
        if (value !== undefined) members.push(groupMember(name, value, isMessage(name)));
      if (!members.some(({ name }) => isMessage(name)))
        return [...members, textMember('message', line)];
      const before = line.slice(0, found.index);
      const extra = before + line.slice(found.index + found[0].length);
      return extra.trim() === '' ? members : [...members, textMember('extra', extra)];
    },
  };
}

function groupMember(name: string, value: string, isMessage: boolean): Member {
  return !isMessage && NUMBER.test(value) ? { name, json: value } : textMember(name, value);
}

function compiled(source: string): RegExp {
  // Python, Go and Loki write (?P<name>…). It has no other meaning in JavaScript.
  const written = source.replaceAll('(?P<', '(?<');
  let expression: RegExp;
  try {
    expression = new RegExp(written, 's');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`The pattern is not a regular expression of JavaScript. ${reason}`, { cause });
  }
  // An empty alternative matches the empty text, and then all groups are in the result.
  const groups = Object.keys(new RegExp(`${written}|`, 's').exec('')?.groups ?? {});
  if (groups.length === 0)
    throw new Error(
      `The pattern ${source} has no named group. Name the parts of a line, such as (?<time>\\S+) (?<message>.*).`,
    );
  const nested = nestedQuantifier(written);
  if (nested !== null)
    throw new Error(
      `The pattern repeats ${nested}, which repeats by itself: some lines would take hours. Use one quantifier, such as [\\w.]+ for (\\w+\\.)+.`,
    );
  return expression;
}

/** Returns the first group that contains an unbounded quantifier and has one itself, or null. */
function nestedQuantifier(source: string): string | null {
  const open: { at: number; isUnbounded: boolean }[] = [{ at: 0, isUnbounded: false }];
  let inClass = false;
  for (let at = 0; at < source.length; at++) {
    const sign = source[at];
    let ended: { at: number; isUnbounded: boolean } | undefined;
    if (sign === '\\') at++;
    else if (inClass) inClass = sign !== ']';
    else if (sign === '[') inClass = true;
    else if (sign === '(') open.push({ at, isUnbounded: false });
    else if (sign === ')' && open.length > 1) ended = open.pop();
    if (inClass) continue;
    const most = source[at] === '(' ? 1 : repeatsAt(source, at + 1);
    const around = open.at(-1);
    if (ended?.isUnbounded && most > MOST_REPEATS) return source.slice(ended.at, at + 1);
    if (around && (most === Number.POSITIVE_INFINITY || ended?.isUnbounded))
      around.isUnbounded = true;
  }
  return null;
}

/** Returns how often the quantifier at an index repeats at most; 1 if there is none. */
function repeatsAt(source: string, at: number): number {
  QUANTIFIER.lastIndex = at;
  const found = QUANTIFIER.exec(source);
  if (!found || found[0] === '?') return 1;
  const { least, comma, most } = found.groups ?? {};
  if (least === undefined || (comma && most === '')) return Number.POSITIVE_INFINITY;
  return Number(most || least);
}
