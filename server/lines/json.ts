import type { Member } from './line.ts';
import { membersOf, validMembers } from './members.ts';

/** The members of a line of JSON, or the reason why it cannot be read. */
export type JsonLine =
  | { readonly members: readonly Member[]; readonly repaired: boolean }
  | { readonly reason: string };

/** Reads an object. What is no JSON, but has one meaning alone, is repaired. */
export function readJson(line: string): JsonLine {
  const members = validMembers(line);
  if (members) return { members, repaired: false };
  const fault = faultOf(line);
  if (fault === null) return { members: membersOf(line), repaired: false };
  const repaired = repair(line);
  if (repaired !== line && faultOf(repaired) === null)
    return { members: membersOf(repaired), repaired: true };
  return { reason: fault };
}

/** Tells whether a line is an object, or can be repaired to be one. */
export function isObjectLine(line: string): boolean {
  return beginsObject(line) && (faultOf(line) === null || faultOf(repair(line)) === null);
}

export function beginsObject(line: string): boolean {
  return line.startsWith('{') || line.startsWith('\ufeff{');
}

/** Returns why a line is not a JSON object, and where; null if it is one. */
export function faultOf(line: string): string | null {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? null : `it is ${kindOf(value)}, not a JSON object`;
  } catch {
    return reasonOf(line);
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  return value === null ? 'null' : `a ${typeof value === 'string' ? 'text' : typeof value}`;
}

/** Returns a sentence about what is not JSON. Errors of JSON.parse have other words in each version of Node.js, and often no position. */
function reasonOf(line: string): string {
  const { at, isInText } = faultIn(line);
  const byte = Buffer.byteLength(line.slice(0, at));
  if (at >= line.length) return `it is not JSON: it ends early, at byte ${byte}`;
  const code = line.charCodeAt(at);
  if (isInText && code === BACKSLASH) {
    const written = line.slice(at, at + 2);
    const help = written === '\\x' ? '; nginx needs escape=json in its log_format' : '';
    return `it is not JSON: bad escape ${written} at byte ${byte}${help}`;
  }
  if (isInText)
    return `it is not JSON: a control character (0x${code.toString(16).padStart(2, '0')}) stands in a text at byte ${byte}`;
  return `it is not JSON: unexpected ${JSON.stringify(String.fromCodePoint(line.codePointAt(at) ?? code))} at byte ${byte}`;
}

const BACKSLASH = 0x5c;
const BLANKS = ' \t\r\n';
const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y;
const ESCAPED = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;

/** Where a text stops being JSON; its length where something is missing behind it. */
interface Fault {
  readonly at: number;
  readonly isInText: boolean;
}

/** Returns the first fault of a text that is not JSON. It does not recurse. */
function faultIn(text: string): Fault {
  const open: ('}' | ']')[] = [];
  let wants: 'value' | 'name' | 'colon' | 'more' = 'value';
  let isFirst = false;
  for (let at = 0; ; ) {
    while (at < text.length && BLANKS.includes(text[at] as string)) at++;
    const sign = text[at];
    const fault = { at, isInText: false };
    if (sign === undefined || (wants === 'more' && open.length === 0)) return fault;
    const closes = sign === open.at(-1) && (isFirst || wants === 'more');
    isFirst = false;
    if (closes) {
      open.pop();
      wants = 'more';
      at++;
    } else if (wants === 'more') {
      if (sign !== ',') return fault;
      wants = open.at(-1) === '}' ? 'name' : 'value';
      at++;
    } else if (wants === 'colon') {
      if (sign !== ':') return fault;
      wants = 'value';
      at++;
    } else if (sign === '"') {
      const end = textEnd(text, at);
      if (text[end] !== '"') return { at: end, isInText: true };
      wants = wants === 'name' ? 'colon' : 'more';
      at = end + 1;
    } else if (wants === 'name') {
      return fault;
    } else if (sign === '{' || sign === '[') {
      open.push(sign === '{' ? '}' : ']');
      wants = sign === '{' ? 'name' : 'value';
      isFirst = true;
      at++;
    } else {
      SCALAR.lastIndex = at;
      if (!SCALAR.test(text)) return fault;
      wants = 'more';
      at = SCALAR.lastIndex;
    }
  }
}

/** Returns where the text that begins with the quote at `from` ends, or has its first fault. */
function textEnd(text: string, from: number): number {
  for (let at = from + 1; ; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22 || code < 0x20 || Number.isNaN(code)) return at;
    if (code !== BACKSLASH) continue;
    ESCAPED.lastIndex = at;
    if (!ESCAPED.test(text)) return at;
    at = ESCAPED.lastIndex - 1;
  }
}

const ESCAPES: Readonly<Record<string, string>> = { '\t': '\\t', '\b': '\\b', '\f': '\\f' };
/** A text, or what stands between texts and may be repaired. */
const PARTS =
  /"(?:[^"\\]|\\.)*"|,\s*(?=[}\]])|(?<=[:[,]\s{0,8})(?:-(?=\s*[,}\]])|None|True|False|undefined|NaN|-?Infinity)/gs;

/** Returns a line with its usual faults mended: a byte order mark, `\x22`, raw control characters, a comma at the end, `-`, `None`. */
function repair(line: string): string {
  return line.replace(/^\ufeff/, '').replaceAll(PARTS, (part) => {
    if (part.startsWith('"')) return repairText(part);
    if (part.startsWith(',')) return '';
    return part === 'True' || part === 'False' ? part.toLowerCase() : 'null';
  });
}

function repairText(text: string): string {
  return text
    .replaceAll(/\\(?:x([\da-fA-F]{2})|.)/gs, (whole, hex) => (hex ? `\\u00${hex}` : whole))
    .replaceAll(
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is repaired
      /[\u0000-\u001f]/g,
      (control) => ESCAPES[control] ?? `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
}
