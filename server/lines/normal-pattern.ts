/**
 * Makes expressions that match lines in normal form by the order of their members. An expression looks at a line three times as fast as
 * JavaScript does byte by byte, so that a line is tried with the orders of the lines before it. A line that does not match may be in normal
 * form all the same.
 */

/** A text. An escape `\x22` is repaired, and so is a control character. */
const CHARS = String.raw`[^"\\\x00-\x1f]*(?:\\[^x\x00-\x1f][^"\\\x00-\x1f]*)*`;
/** Numbers of which the engine keeps the digits, but for the longest of them. */
const NUMBER = String.raw`(?:0|-?[1-9]\d{0,17}|-?[1-9]\d{0,9}\.\d{0,4}[1-9]|-?(?:0|[1-9]\d{0,4})\.(?!0000)\d{0,9}[1-9])(?![\d.eE])`;
const DAYS = String.raw`(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8])`;
const LEAP_YEARS = String.raw`\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[2468][048]|[13579][26])00`;
/** A moment in UTC from 1970 on, of a day that there is. */
export const MOMENT = String.raw`(?=19[7-9]|[2-9])(?:\d{4}-(?:${DAYS})|(?:${LEAP_YEARS})-02-29)[T ](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?Z`;
/** Levels of objects and arrays; the metadata of Supabase has four. */
const LEVELS = 7;
/** Bytes of a line that an expression is tried on. Each repetition takes memory: a line of so many bytes took up to 1.5 MB. */
export const MOST_PATTERN_BYTES = 64 * 1024;

const MEMBERS: Readonly<Record<string, string>> = {
  id: `"(?!")${CHARS}"`,
  project: `"(?!")${CHARS}"`,
  event_message: `"${CHARS}"`,
  metadata: container(LEVELS),
};

/**
 * An order of members: `start` matches up to the moment, `end` from there to the end of the line, or less where that has not this form. Both
 * are sticky, and neither matches a newline.
 */
export interface Order {
  readonly start: RegExp;
  readonly end: RegExp;
}

/** Five names, of which two may be missing, have 174 orders. */
const known = new Map<string, Order>();

/** Returns the expressions of an order of names, `timestamp` among them: the same ones for the same order. */
export function orderOf(names: readonly string[]): Order {
  const key = names.join();
  const order = known.get(key) ?? newOrder(names);
  known.set(key, order);
  return order;
}

function newOrder(names: readonly string[]): Order {
  const at = names.indexOf('timestamp');
  const before = names.slice(0, at).map((name) => `${member(name)}, ?`);
  const behind = names.slice(at + 1).map((name) => `, ?${member(name)}`);
  return {
    start: new RegExp(String.raw`\{${before.join('')}"timestamp": ?"`, 'y'),
    end: new RegExp(String.raw`${MOMENT}"${behind.join('')}\}`, 'y'),
  };
}

function member(name: string): string {
  return `"${name}": ?${MEMBERS[name]}`;
}

/** An object or array of so many levels. Objects are not told from arrays: the scan of the engine does that. */
function container(levels: number): string {
  const inner = levels > 1 ? `|${container(levels - 1)}` : '';
  const value = `(?:"${CHARS}"|${NUMBER}|true|false|null${inner})`;
  return String.raw`[{[](?:(?:"${CHARS}": ?)?${value}(?:, ?(?=["{[\-\dtfn])|(?=[\]}])))*[\]}]`;
}
