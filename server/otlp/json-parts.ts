import { isBlank, JSON_BYTES } from '../records/json-bytes.ts';
import { checkValues } from './limits.ts';
import { RecordInvalid } from './lines.ts';
import type { Part } from './parts.ts';

const { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } =
  JSON_BYTES;

/** A byte-order mark. */
const MARK = Buffer.from([0xef, 0xbb, 0xbf]);
/** Bytes that are passed over between two pauses: less than a millisecond. */
const PAUSE_BYTES = 64 * 1024;

/** A value in the bytes of a body. */
interface Span {
  readonly from: number;
  readonly to: number;
  /** Values within it and itself, or a few more. */
  readonly values: number;
}

interface MemberSpan extends Span {
  readonly name: string;
}

/**
 * Yields the parts of a request in JSON. It finds resources, scopes and records by strings and nesting alone, and parses one at a time.
 * Throws RecordInvalid, `SyntaxError` for what is not JSON, and `BODY_TOO_LARGE`.
 */
export function* jsonParts(bytes: Buffer): Generator<Part, void> {
  const from = bytes.subarray(0, MARK.length).equals(MARK) ? MARK.length : 0;
  const root = yield* objectAt(bytes, { from, to: bytes.length, values: 0 }, 'no object');
  for (const list of named(root, 'resourceLogs'))
    yield* elements(bytes, list, function* (resourceLogs) {
      const members = yield* objectAt(bytes, resourceLogs);
      yield { kind: 'resource', resource: parsedLast(bytes, named(members, 'resource')) };
      for (const scopes of named(members, 'scopeLogs'))
        yield* elements(bytes, scopes, function* (scopeLogs) {
          const inScope = yield* objectAt(bytes, scopeLogs);
          yield { kind: 'scope', scope: parsedLast(bytes, named(inScope, 'scope')) };
          for (const records of named(inScope, 'logRecords'))
            yield* elements(bytes, records, function* (record) {
              yield { kind: 'record', record: parsed(bytes, record) };
            });
        });
    });
}

function named(members: readonly MemberSpan[], name: string): MemberSpan[] {
  return members.filter((member) => member.name === name);
}

function parsedLast<T>(bytes: Buffer, spans: readonly Span[]): T | undefined {
  const last = spans.at(-1);
  return last && (parsed<T | null>(bytes, last) ?? undefined);
}

/** Returns the object at a place. Values of its members may have any type. */
function parsed<T>(bytes: Buffer, { from, to, values }: Span): T {
  checkValues(values);
  const text = bytes.toString('utf8', from, to);
  return SNAKE_NAME.test(text) ? (inCamelCase(JSON.parse(text)) as T) : JSON.parse(text);
}

/** A member such as `"string_value":`. All members of a record, a resource and a scope are fields: names of attributes are values. */
const SNAKE_NAME = /"[a-z]+_[a-z_]+"\s*:/;

/** Returns a value whose fields have the names of protobuf's JSON. Its parsers read those of the messages, too. */
function inCamelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inCamelCase);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [camelCase(name), inCamelCase(each)]),
  );
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}

type Walk<T> = Generator<Part, T>;

/** Calls `each` for the elements of a list. A null is an empty list, as in protobuf's JSON. */
function* elements(bytes: Buffer, list: Span, each: (element: Span) => Walk<void>): Walk<void> {
  if (isNull(bytes, list)) return;
  if (bytes[list.from] !== OPEN_BRACKET)
    throw new RecordInvalid('got no list where one is expected');
  yield* children(bytes, list, CLOSE_BRACKET, (element) => each(element));
}

function* objectAt(bytes: Buffer, span: Span, fault?: string): Walk<MemberSpan[]> {
  const from = behindBlanks(bytes, span.from);
  if (bytes[from] !== OPEN_BRACE)
    throw new RecordInvalid(
      fault ? `got ${fault}` : 'got something else where an object is expected',
    );
  const members: MemberSpan[] = [];
  const end = yield* children(bytes, { ...span, from }, CLOSE_BRACE, (value, name) => {
    const field = camelCase(name);
    if (WANTED.includes(field)) members.push({ ...value, name: field });
    return undefined;
  });
  if (behindBlanks(bytes, end) < span.to) throw new SyntaxError('something behind the end');
  return members;
}

const WANTED = ['resourceLogs', 'resource', 'scopeLogs', 'scope', 'logRecords'];

/** Calls `each` for the values of an object or a list, and returns where it ends. */
function* children(
  bytes: Buffer,
  { from }: Span,
  closing: number,
  each: (value: Span, name: string) => Walk<void> | undefined,
): Walk<number> {
  let at = behindBlanks(bytes, from + 1);
  for (let first = true; bytes[at] !== closing; first = false) {
    if (!first) at = behindBlanks(bytes, expect(bytes, at, COMMA));
    let name = '';
    if (closing === CLOSE_BRACE) {
      const end = stringEnd(bytes, at);
      name = JSON.parse(bytes.toString('utf8', at, Math.min(end, at + MAX_NAME)));
      at = behindBlanks(bytes, expect(bytes, behindBlanks(bytes, end), COLON));
    }
    const value = yield* valueAt(bytes, at);
    const walk = each(value, name);
    if (walk) yield* walk;
    at = behindBlanks(bytes, value.to);
  }
  return at + 1;
}

/** A longer name of a member is an error: it is none of OTLP's. */
const MAX_NAME = 1000;

/** Returns where the value at `from` ends, by strings and nesting alone. */
function* valueAt(bytes: Buffer, from: number): Walk<Span> {
  let [depth, values, next] = [0, 1, from + PAUSE_BYTES];
  for (let at = from; at < bytes.length; at++) {
    if (at >= next) {
      next = at + PAUSE_BYTES;
      yield { kind: 'pause' };
    }
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = stringEnd(bytes, at) - 1;
      if (depth === 0) return { from, to: at + 1, values };
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth++;
      values++;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (depth === 0) return scalar(from, at, values);
      if (--depth === 0) return { from, to: at + 1, values };
    } else if (byte === COMMA) {
      if (depth === 0) return scalar(from, at, values);
      values++;
    }
  }
  throw new SyntaxError('one without its end');
}

function scalar(from: number, to: number, values: number): Span {
  if (from === to) throw new SyntaxError('a value is missing');
  return { from, to, values };
}

function isNull(bytes: Buffer, { from, to }: Span): boolean {
  return bytes.toString('latin1', from, Math.min(to, from + 5)).trim() === 'null';
}

/** Returns where the string ends that begins at `at`. */
function stringEnd(bytes: Buffer, at: number): number {
  if (bytes[at] !== QUOTE) throw new SyntaxError('a name is missing');
  for (let end = at; ; ) {
    end = bytes.indexOf(QUOTE, end + 1);
    if (end < 0) throw new SyntaxError('a string without its end');
    let backslashes = 0;
    while (bytes[end - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end + 1;
  }
}

function expect(bytes: Buffer, at: number, byte: number): number {
  if (bytes[at] !== byte) throw new SyntaxError(`no ${String.fromCharCode(byte)}`);
  return at + 1;
}

function behindBlanks(bytes: Buffer, from: number): number {
  let at = from;
  while (isBlank(bytes[at] ?? 0)) at++;
  return at;
}
