import { isBlank, JSON_BYTES } from './json-bytes.ts';

const { BACKSLASH, QUOTE, SPACE } = JSON_BYTES;

/** A member of a JSON object as it is written. */
export interface Member {
  readonly name: string;
  /** The text of its value: numbers keep their digits. */
  readonly text: string;
  /** Where the member stands in the text of the object, from its name to the end of its value. */
  readonly from: number;
  readonly to: number;
}

/** Deeper texts count as no JSON. The tailer rejects lines of more than 1000 levels. */
const MAX_DEPTH = 2000;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const ESCAPED = '"\\/bfnrt';
const FOUR_HEX_DIGITS = /[\da-fA-F]{4}/y;

/**
 * Returns the members of a text that is one JSON object, in their order, or those of the wanted names alone; null for any other text. It
 * builds no values, so that its work and memory go by the length of the text.
 */
export function membersOf(text: string, wanted?: readonly string[]): Member[] | null {
  return partsOf(text, '{', wanted);
}

/** Returns the elements of a text that is one JSON array; null for any other text. */
export function elementsOf(text: string): string[] | null {
  return partsOf(text, '[')?.map((part) => part.text) ?? null;
}

/** Returns the text of an object without these of its members, which are in its order. */
export function objectWithout(object: string, members: readonly Member[]): string {
  const kept: string[] = [];
  let from = object.indexOf('{') + 1;
  for (const { from: to, to: next } of [...members, { from: object.lastIndexOf('}'), to: 0 }]) {
    const text = object
      .slice(from, to)
      .replace(/^[\s,]+/, '')
      .trimEnd();
    // One comma goes with each member.
    if (text !== '' && text !== ',') kept.push(text.endsWith(',') ? text.slice(0, -1) : text);
    from = next;
  }
  return `{${kept.join(',')}}`;
}

function partsOf(text: string, opening: '{' | '[', wanted?: readonly string[]): Member[] | null {
  const members: Member[] = [];
  let at = behindBlanks(text, 0);
  if (text[at] !== opening) return null;
  at = behindBlanks(text, at + 1);
  const closing = opening === '{' ? '}' : ']';
  for (let first = true; text[at] !== closing; first = false) {
    if (!first) {
      if (text[at] !== ',') return null;
      at = behindBlanks(text, at + 1);
    }
    const from = at;
    let name = '';
    if (opening === '{') {
      at = keyEnd(text, at);
      if (at < 0) return null;
      name = unquoted(text.slice(from, text.lastIndexOf('"', at - 1) + 1));
    }
    const end = valueEnd(text, at);
    if (end < 0) return null;
    if (!wanted || wanted.includes(name))
      members.push({ name, text: text.slice(at, end), from, to: end });
    at = behindBlanks(text, end);
  }
  return behindBlanks(text, at + 1) === text.length ? members : null;
}

function unquoted(text: string): string {
  return text.includes('\\') ? JSON.parse(text) : text.slice(1, -1);
}

/** Returns where the value begins that belongs to the key at `at`; -1 where there is no key. */
function keyEnd(text: string, at: number): number {
  if (text[at] !== '"') return -1;
  const end = stringEnd(text, at);
  if (end < 0) return -1;
  const colon = behindBlanks(text, end);
  return text[colon] === ':' ? behindBlanks(text, colon + 1) : -1;
}

/** Returns where the JSON value ends that begins at `from`; -1 where there is none. It does not recurse. */
function valueEnd(text: string, from: number): number {
  const open: string[] = [];
  for (let at = from; ; ) {
    const sign = text[at];
    if (sign === '{' || sign === '[') {
      if (open.push(sign) > MAX_DEPTH) return -1;
      at = behindBlanks(text, at + 1);
      if (text[at] !== (sign === '{' ? '}' : ']')) {
        if (sign === '{') at = keyEnd(text, at);
        if (at < 0) return -1;
        continue;
      }
    } else {
      at = scalarEnd(text, at);
      if (at < 0) return -1;
    }
    // Behind a value, or before a bracket that closes an empty one.
    for (;;) {
      const within = open.at(-1);
      if (within === undefined) return at;
      at = behindBlanks(text, at);
      if (text[at] === ',') {
        at = behindBlanks(text, at + 1);
        if (within === '{') at = keyEnd(text, at);
        if (at < 0) return -1;
        break;
      }
      if (text[at] !== (within === '{' ? '}' : ']')) return -1;
      open.pop();
      at++;
    }
  }
}

function scalarEnd(text: string, at: number): number {
  if (text[at] === '"') return stringEnd(text, at);
  for (const word of ['true', 'false', 'null'])
    if (text.startsWith(word, at)) return at + word.length;
  return behind(NUMBER, text, at);
}

/** Returns where the string ends whose quote is at `from`. Not a pattern: its memory would grow with the string. */
function stringEnd(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code < SPACE) return -1;
    if (code !== BACKSLASH) continue;
    at++;
    if (text[at] === 'u') {
      at = behind(FOUR_HEX_DIGITS, text, at + 1) - 1;
      if (at < 0) return -1;
    } else if (!ESCAPED.includes(text[at] ?? ' ')) return -1;
  }
  return -1;
}

function behindBlanks(text: string, from: number): number {
  let at = from;
  while (isBlank(text.charCodeAt(at))) at++;
  return at;
}

/** Returns where what the pattern matches at `at` ends; -1 where it does not match. */
function behind(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : -1;
}
