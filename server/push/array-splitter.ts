import { AppError } from '../errors.ts';

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
/** The member in which some clients of Logflare send their lines. */
const KEY = 'batch';
/** A byte-order mark, which tailing strips at the start of a file only. */
const MARK = [0xef, 0xbb, 0xbf];

export interface ArraySplitter {
  /** Takes the next bytes of the body and changes them in place. Throws `REQUEST_INVALID` for more than an array. */
  take(bytes: Buffer): void;
  /** Says that `blocks` are the whole body. Throws `REQUEST_INVALID` for an array without its end. */
  end(blocks: readonly Buffer[]): void;
  /** The text of a body that was one object; null for any other. Known once it has ended, where it was asked for. */
  readonly object: string | null;
}

/**
 * Makes lines of a pushed body, byte for byte: of an array one line an element, of an object with the member `batch` one line an
 * element of that, of any other one object one line, and anything else is lines already. It looks for strings and nesting alone, so numbers and repeated keys stay as they came; what a line is
 * worth is judged where lines of all files are. With `areLines` it is lines for certain, whatever the first begins with. `keepsObject`: the
 * text of an object is asked for.
 */
export function createCutter(areLines = false, keepsObject = false): ArraySplitter {
  let form: 'unknown' | 'array' | 'object' | 'lines' = areLines ? 'lines' : 'unknown';
  let breaks = false;
  let over = false;
  let object: string | null = null;
  const at = outermost();

  const cutArray = (bytes: Buffer, from: number) => {
    for (let i = from; i < bytes.length; i++) {
      const byte = bytes[i] as number;
      if (over) {
        if (!isBlank(byte)) throw invalid('something behind its end');
        continue;
      }
      const before = at.depth;
      follow(at, byte);
      if (byte === NEWLINE) bytes[i] = withoutBreak(at);
      else if (at.inString) continue;
      else if (before === 0) bytes[i] = SPACE;
      else if (at.depth === 1 && byte === COMMA) bytes[i] = NEWLINE;
      else if (at.depth === 0) {
        if (byte !== CLOSE_BRACKET) throw invalid('one that a "}" closes');
        bytes[i] = NEWLINE;
        over = true;
      }
    }
  };

  return {
    take(bytes) {
      let from = 0;
      if (form === 'unknown') {
        while (from < bytes.length && isLeading(bytes[from] as number)) bytes[from++] = SPACE;
        if (from === bytes.length) return;
        form = formOf(bytes[from] as number);
      }
      if (form === 'array') cutArray(bytes, from);
      else if (form === 'object') breaks ||= bytes.includes(NEWLINE);
    },
    end(blocks) {
      if (form === 'array' && !over) throw invalid('one without its end');
      if (form !== 'object' || !isOneValue(blocks)) return;
      if (keepsObject) object = Buffer.concat(blocks).toString();
      const batch = batchIn(blocks);
      if (batch) unwrap(blocks, batch);
      else if (breaks) joinLines(blocks);
    },
    get object() {
      return object;
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

/** Whether a text that begins with an object ends with it. It looks at the first line alone of NDJSON. */
function isOneValue(blocks: readonly Buffer[]): boolean {
  const at = outermost();
  let begun = false;
  for (const block of blocks) {
    for (const byte of block) {
      if (begun && at.depth === 0) {
        if (!isBlank(byte)) return false;
        continue;
      }
      follow(at, byte);
      begun ||= at.depth > 0;
    }
  }
  return begun && at.depth === 0;
}

/** Where the array that is the object's member `batch` begins and ends, in bytes from the first on; null without one. */
function batchIn(blocks: readonly Buffer[]): { from: number; to: number } | null {
  const at = outermost();
  let [offset, from] = [0, -1];
  let [key, isValue] = ['', false];
  for (const block of blocks)
    for (const byte of block) {
      const { depth, inString } = at;
      follow(at, byte);
      if (from >= 0) {
        if (at.depth === 1) return { from, to: offset };
      } else if (depth === 1 && inString) {
        if (!isValue && at.inString && key.length < KEY.length + 1)
          key += String.fromCharCode(byte);
      } else if (depth === 1 && byte === COLON) isValue = true;
      else if (depth === 1 && byte === COMMA) [key, isValue] = ['', false];
      else if (depth === 1 && byte === OPEN_BRACKET && isValue && key === KEY) from = offset;
      offset++;
    }
  return null;
}

/** Leaves nothing but the elements of the array, each in a line. */
function unwrap(blocks: readonly Buffer[], { from, to }: { from: number; to: number }): void {
  const at = outermost();
  let offset = 0;
  for (const block of blocks)
    for (const [i, byte] of block.entries()) {
      const place = offset++;
      if (place === to) block[i] = NEWLINE;
      else if (place <= from || place > to) block[i] = SPACE;
      else {
        const { depth } = at;
        follow(at, byte);
        if (byte === NEWLINE) block[i] = withoutBreak(at);
        else if (depth === 0 && !at.inString && byte === COMMA) block[i] = NEWLINE;
      }
    }
}

function joinLines(blocks: readonly Buffer[]): void {
  const at = outermost();
  for (const block of blocks) {
    for (const [i, byte] of block.entries()) {
      follow(at, byte);
      if (byte === NEWLINE) block[i] = withoutBreak(at);
    }
  }
}

/** A line break in a string is not JSON. It must not become some by being taken away, so another control character stands for it. */
function withoutBreak(at: Nesting): number {
  return at.inString ? CARRIAGE_RETURN : SPACE;
}

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === NEWLINE || byte === CARRIAGE_RETURN || byte === 0x09;
}

function isLeading(byte: number): boolean {
  return isBlank(byte) || MARK.includes(byte);
}
