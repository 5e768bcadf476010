/**
 * Lines in normal form: objects from which rows are stored as they are, in one parallel scan (sql/ingest/rows.sql). Most lines of Supabase
 * come in this form. The reader writes others anew in it.
 */
import { MOST_DIGITS, MOST_WHOLE_DIGITS } from './digits.ts';
import { compactJson } from './members.ts';
import { MOMENT, MOST_PATTERN_BYTES, type Order, orderOf } from './normal-pattern.ts';
import type { Row } from './row.ts';

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET] = [0x7b, 0x7d, 0x5b];
const [SPACE, MINUS, DOT, ZERO, NINE, UPPER_E, LOWER_E, LOWER_X] = [
  0x20, 0x2d, 0x2e, 0x30, 0x39, 0x45, 0x65, 0x78,
];
/** Kinds of bytes outside of a text. Others may be of a fault that can be repaired, such as `None`. */
const [OTHER, BLANK, BETWEEN, TEXT, OPENS, CLOSES, NUMBER] = [0, 1, 2, 3, 4, 5, 6];
const KINDS = new Uint8Array(256).fill(OTHER);
for (const [kind, bytes] of [
  [BLANK, ' \t'],
  [BETWEEN, ':,truefalsn'],
  [TEXT, '"'],
  [OPENS, '{['],
  [CLOSES, '}]'],
  [NUMBER, '-0123456789'],
] as const)
  for (const byte of Buffer.from(bytes)) KINDS[byte] = kind;

const NAMES = ['id', 'project', 'timestamp', 'event_message', 'metadata'].map((name) => ({
  name,
  bytes: Buffer.from(`${name}"`),
}));
const ALL = 0b11111;
const NEEDED = 0b11100;
const [TIMESTAMP, MESSAGE, METADATA] = [2, 3, 4];

/**
 * Tells whether a line, an object without blanks around it, has a timestamp in UTC, a message and metadata, perhaps an id and a project,
 * each once, and nothing else. It does not tell whether the metadata is valid JSON, but is false for faults that can be repaired, and for
 * numbers that the engine would write otherwise. A timestamp after the second `latest`, as `secondOf` gives it, is not in normal form, so
 * that the reader counts it.
 */
export type NormalTest = (from: number, to: number, latest: string) => boolean;

/** Lines of one source with and without an id and a project have four orders. */
const MOST_ORDERS = 4;

/** Makes the test of the lines of each block of some files. It remembers the last orders of members of lines that were looked at byte by byte. */
export function normalTests(): (block: Buffer) => NormalTest {
  const orders: Order[] = [];
  return (block) => {
    let text = '';
    let start = 0;
    return (from, to, latest) => {
      const isShort = to - from <= MOST_PATTERN_BYTES;
      if (isShort && orders.length > 0) {
        if (from < start || to > start + text.length) {
          start = from;
          text = block.toString('latin1', from, from + MOST_PATTERN_BYTES);
        }
        for (const order of orders)
          if (matches(order, text, from - start, to - start, latest)) return true;
      }
      const names = normalNames(block, from, to, latest);
      if (!names || !isShort) return names !== null;
      const order = orderOf(names);
      if (orders.includes(order)) return true;
      orders.unshift(order);
      orders.length = Math.min(orders.length, MOST_ORDERS);
      return true;
    };
  };
}

/** Tells whether the line from `from` to `to` has this order and is in normal form. False says nothing. */
function matches(
  { start, end }: Order,
  text: string,
  from: number,
  to: number,
  latest: string,
): boolean {
  start.lastIndex = from;
  if (!start.test(text)) return false;
  const moment = start.lastIndex;
  if (isAfter(text, moment, latest)) return false;
  end.lastIndex = moment;
  return end.test(text) && end.lastIndex === to;
}

/** Returns the names of a line in normal form in their order; null for another line. */
function normalNames(block: Buffer, from: number, to: number, latest: string): string[] | null {
  let seen = 0;
  const names: string[] = [];
  let at = from + 1;
  for (;;) {
    if (block[at] !== QUOTE) return null;
    const name = nameAt(block, at + 1);
    if (name < 0 || seen & (1 << name)) return null;
    seen |= 1 << name;
    names.push(NAMES[name]?.name ?? '');
    at += 1 + (NAMES[name]?.bytes.length ?? 0);
    if (block[at++] !== COLON) return null;
    if (block[at] === SPACE) at++;
    if (name === METADATA) {
      at = endOfMetadata(block, at, to);
    } else {
      if (block[at] !== QUOTE) return null;
      const end = endOfText(block, at, to);
      if (name === TIMESTAMP && !isMoment(block, at + 1, end - 1, latest)) return null;
      if (name < MESSAGE && end - at === 2) return null;
      at = end;
    }
    if (at < 0 || at >= to) return null;
    if (block[at] === CLOSE_BRACE)
      return at === to - 1 && (seen & NEEDED) === NEEDED && seen <= ALL ? names : null;
    if (block[at++] !== COMMA) return null;
    if (block[at] === SPACE) at++;
  }
}

/** Returns the normal form of a row. */
export function normalLine({
  id,
  project,
  moment,
  message,
  severity,
  status,
  metadata,
  keepsDigits,
}: Row): string {
  let line = '{"~":true';
  if (id !== null) line += `,"id":${id}`;
  if (project !== null) line += `,"project":${project}`;
  if (moment !== null) line += `,"~at":${moment}`;
  line += `,"event_message":${message}`;
  if (severity !== null) line += `,"~severity":"${severity}"`;
  if (status !== null) line += `,"~status":${status}`;
  // The engine writes JSON anew, and changes digits then: as a text it keeps them.
  if (metadata !== null)
    line += keepsDigits
      ? `,"metadata":${inOneLine(metadata)}`
      : `,"~metadata":${JSON.stringify(compactJson(metadata))}`;
  return `${line}}\n`;
}

/** An object that a program wrote over several lines has line breaks between its members. */
function inOneLine(json: string): string {
  return json.includes('\n') ? compactJson(json) : json;
}

function nameAt(block: Buffer, at: number): number {
  for (let n = 0; n < NAMES.length; n++) {
    const { bytes } = NAMES[n] as (typeof NAMES)[number];
    let same = 0;
    while (same < bytes.length && block[at + same] === bytes[same]) same++;
    if (same === bytes.length) return n;
  }
  return -1;
}

/** Returns the end of a text; -1 where it has a control character or `\x22`, which are repaired. */
function endOfText(block: Buffer, from: number, to: number): number {
  for (let at = from + 1; at < to; at++) {
    const byte = block[at] as number;
    if (byte > BACKSLASH) continue;
    if (byte === BACKSLASH) {
      at++;
      if (block[at] === LOWER_X) return -1;
    } else if (byte === QUOTE) return at + 1;
    else if (byte < SPACE) return -1;
  }
  return -1;
}

/** Returns the end of an object or array; -1 for another value, for a fault that can be repaired and for a number of other digits. */
function endOfMetadata(block: Buffer, from: number, to: number): number {
  if (block[from] !== OPEN_BRACE && block[from] !== OPEN_BRACKET) return -1;
  let depth = 0;
  /** The last byte that is not blank. */
  let last = 0;
  for (let at = from; at < to; at++) {
    const byte = block[at] as number;
    const kind = KINDS[byte];
    if (kind === TEXT) {
      at = endOfText(block, at, to) - 1;
      if (at < 0) return -1;
    } else if (kind === OPENS) depth++;
    else if (kind === CLOSES) {
      if (last === COMMA) return -1;
      if (--depth === 0) return at + 1;
    } else if (kind === NUMBER) {
      at = endOfNumber(block, at, to) - 1;
      if (at < 0) return -1;
    } else if (kind === BLANK) continue;
    else if (kind !== BETWEEN) return -1;
    last = byte;
  }
  return -1;
}

/** Returns the end of a number; -1 where its digits would not stay: 1.10, 1e5, -0, 0.00001, or too many of them. */
function endOfNumber(block: Buffer, from: number, to: number): number {
  const first = block[from] === MINUS ? from + 1 : from;
  const dot = endOfDigits(block, first, to);
  if (dot === first) return -1;
  let end = dot;
  if (block[dot] === DOT) {
    end = endOfDigits(block, dot + 1, to);
    if (end === dot + 1 || block[end - 1] === ZERO || end - first - 1 > MOST_DIGITS) return -1;
    if (block[first] === ZERO && block.toString('latin1', dot, dot + 5) === '.0000') return -1;
  } else if (dot - first > MOST_WHOLE_DIGITS || (first > from && block[first] === ZERO)) return -1;
  return block[end] === UPPER_E || block[end] === LOWER_E ? -1 : end;
}

function endOfDigits(block: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && isDigit(block[at])) at++;
  return at;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE;
}

/** Returns a moment, ms since the epoch, as a timestamp has it up to the second. */
export function secondOf(moment: number): string {
  return new Date(moment).toISOString().slice(0, 19);
}

const WHOLE_MOMENT = new RegExp(`^${MOMENT}$`);
/** Between a date and a time of day stands a `T` or a blank. */
const T = 10;

/** Tells whether the timestamp at `from` is of a later second than `latest`. */
function isAfter(text: string, from: number, latest: string): boolean {
  for (let at = 0; at < latest.length; at++) {
    const ahead = text.charCodeAt(from + at) - latest.charCodeAt(at);
    if (ahead !== 0 && at !== T) return ahead > 0;
  }
  return false;
}

/** Tells whether the bytes are a moment such as 2026-11-20T10:00:00.123Z, from 1970 to `latest`. */
function isMoment(block: Buffer, from: number, to: number, latest: string): boolean {
  const text = block.toString('latin1', from, to);
  return WHOLE_MOMENT.test(text) && !isAfter(text, 0, latest);
}
