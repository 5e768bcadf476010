import { AppError } from '../errors.ts';
import { isBlank, JSON_BYTES } from '../records/json-bytes.ts';

const {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  LINE_FEED,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  RETURN,
  SPACE,
} = JSON_BYTES;

/** The member in which some clients of Logflare send their lines. */
const BATCH = 'batch';
/** A byte-order mark. Tailing strips it at the start of a file only. */
const MARK = [0xef, 0xbb, 0xbf];
/** A member's name and its text are kept up to this length, in bytes: enough for the name of a source. */
const MAX_TEXT = 256;

/** Turns the bytes of a body into lines, in place. */
export interface Splitter {
  /** Takes the next bytes, and returns those that are lines by now. Throws `REQUEST_INVALID` for an array with anything behind it. */
  take(bytes: Buffer): readonly Buffer[];
  /** Ends the body, and yields the bytes that were kept. Throws `REQUEST_INVALID` for an array without its end. */
  end(): Iterable<Buffer>;
  /** Bytes that are kept until it is known whether the body is one object. */
  readonly kept: number;
  /** The texts of the wanted members of a body that was one object; null for any other body. Known at the end. */
  readonly texts: ReadonlyMap<string, string> | null;
}

/**
 * Makes lines of a body, byte for byte: one of each element of an array, one of each element of an object's array `batch`, one of any
 * other single object. Anything else is lines already, and so is any body where `areLines`. It looks at strings and nesting alone, so
 * that numbers and repeated keys stay as they came. The tailer judges the lines. `wanted` names members whose texts are kept.
 */
export function createSplitter(areLines = false, wanted: readonly string[] = []): Splitter {
  let form: 'unknown' | 'array' | 'object' | 'lines' = 'unknown';
  let kept: Buffer[] = [];
  let [keptBytes, isOver] = [0, false];
  const at = outermost();
  const object = createObjectReader(wanted);

  const splitArray = (bytes: Buffer, from: number) => {
    for (let i = from; i < bytes.length; i++) {
      const byte = bytes[i] as number;
      if (isOver) {
        if (!isBlank(byte)) throw invalid('something behind its end');
        bytes[i] = SPACE;
        continue;
      }
      const before = at.depth;
      follow(at, byte);
      if (byte === LINE_FEED) bytes[i] = withoutBreak(at);
      else if (at.inString) continue;
      else if (before === 0) bytes[i] = SPACE;
      else if (at.depth === 1 && byte === COMMA) bytes[i] = LINE_FEED;
      else if (at.depth === 0) {
        if (byte !== CLOSE_BRACKET) throw invalid('one that a "}" closes');
        bytes[i] = LINE_FEED;
        isOver = true;
      }
    }
  };
  const release = () => {
    const released = kept;
    [kept, keptBytes] = [[], 0];
    return released;
  };

  return {
    take(bytes) {
      let from = 0;
      if (form === 'unknown') {
        while (from < bytes.length && isLeading(bytes[from] as number)) bytes[from++] = SPACE;
        if (from === bytes.length) return [];
        form = areLines ? 'lines' : formOf(bytes[from] as number);
      }
      if (form === 'array') splitArray(bytes, from);
      if (form !== 'object') return [bytes];
      kept.push(bytes);
      keptBytes += bytes.length;
      if (object.take(bytes)) return [];
      form = 'lines';
      return release();
    },
    *end() {
      if (form === 'array' && !isOver) throw invalid('one without its end');
      if (!object.isWhole()) return yield* release();
      const make = object.batch ? unwrap(object.batch) : joinLines();
      for (const bytes of release()) {
        make(bytes);
        yield bytes;
      }
    },
    get kept() {
      return keptBytes;
    },
    get texts() {
      return object.isWhole() ? object.texts : null;
    },
  };
}

function formOf(first: number) {
  if (first === OPEN_BRACKET) return 'array';
  return first === OPEN_BRACE ? 'object' : 'lines';
}

function invalid(found: string): AppError {
  const detail = `Expected the body to be one whole JSON array, as it begins like one, got ${found}.`;
  return new AppError('REQUEST_INVALID', { detail });
}

/** Where in a JSON text a reader stands. */
interface Nesting {
  depth: number;
  inString: boolean;
  escaped: boolean;
}

function outermost(): Nesting {
  return { depth: 0, inString: false, escaped: false };
}

function follow(at: Nesting, byte: number): void {
  if (at.inString) {
    if (at.escaped) at.escaped = false;
    else if (byte === BACKSLASH) at.escaped = true;
    else if (byte === QUOTE) at.inString = false;
  } else if (byte === QUOTE) at.inString = true;
  else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) at.depth++;
  else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) at.depth--;
}

/** Where an array begins and ends, in bytes from the first one of the body. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** Follows a body that begins with an object, to tell whether it is one object and nothing else. */
function createObjectReader(wanted: readonly string[]) {
  const at = outermost();
  const texts = new Map<string, string>();
  let [offset, from] = [0, -1];
  let [isBegun, isFollowed] = [false, false];
  let batch: Span | null = null;
  /** The name of the outermost member, its value if that is a text, and whether the value has begun. */
  let [name, text, isValue] = ['', '', false];

  /** Takes a byte of the outermost level. `wasInString`: the byte before it is in a string. */
  const takeOutermost = (byte: number, wasInString: boolean) => {
    if (wasInString || at.inString) {
      if (!wasInString || !at.inString) return;
      if (!isValue && name.length < MAX_TEXT) name += String.fromCharCode(byte);
      else if (isValue && text.length < MAX_TEXT) text += String.fromCharCode(byte);
    } else if (byte === COLON) {
      isValue = true;
      name = unescaped(name);
    } else if (byte === COMMA || byte === CLOSE_BRACE) {
      if (wanted.includes(name) && text !== '' && !texts.has(name))
        texts.set(name, unescaped(utf8(text)));
      [name, text, isValue] = ['', '', false];
    } else if (byte === OPEN_BRACKET && isValue && name === BATCH && batch === null) from = offset;
  };

  return {
    texts,
    /** Returns false as soon as something follows the first object. */
    take(bytes: Buffer): boolean {
      for (const byte of bytes) {
        if (isBegun && at.depth <= 0) {
          isFollowed ||= !isBlank(byte);
          if (isFollowed) return false;
        } else {
          const { depth, inString } = at;
          follow(at, byte);
          isBegun ||= at.depth > 0;
          if (from >= 0 && batch === null) {
            if (at.depth === 1) batch = { from, to: offset };
          } else if (depth === 1) takeOutermost(byte, inString);
        }
        offset++;
      }
      return true;
    },
    isWhole: () => isBegun && at.depth === 0 && !isFollowed,
    get batch() {
      return batch;
    },
  };
}

function utf8(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString();
}

function unescaped(text: string): string {
  if (!text.includes('\\')) return text;
  try {
    return JSON.parse(`"${text}"`);
  } catch {
    return text;
  }
}

/** Leaves nothing but the elements of the array, each in a line. */
function unwrap({ from, to }: Span): (bytes: Buffer) => void {
  const at = outermost();
  let offset = 0;
  return (bytes) => {
    for (let i = 0; i < bytes.length; i++) {
      const place = offset++;
      if (place === to) bytes[i] = LINE_FEED;
      else if (place <= from || place > to) bytes[i] = SPACE;
      else {
        const byte = bytes[i] as number;
        const { depth } = at;
        follow(at, byte);
        if (byte === LINE_FEED) bytes[i] = withoutBreak(at);
        else if (depth === 0 && !at.inString && byte === COMMA) bytes[i] = LINE_FEED;
      }
    }
  };
}

function joinLines(): (bytes: Buffer) => void {
  const at = outermost();
  return (bytes) => {
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i] as number;
      follow(at, byte);
      if (byte === LINE_FEED) bytes[i] = withoutBreak(at);
    }
  };
}

/** A line break in a string is not JSON. Another control character takes its place, so that the string does not become JSON. */
function withoutBreak(at: Nesting): number {
  return at.inString ? RETURN : SPACE;
}

function isLeading(byte: number): boolean {
  return isBlank(byte) || MARK.includes(byte);
}
