import { JSON_BYTES } from '../records/json-bytes.ts';

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
/** A member's name and its text are kept up to this length, in bytes: enough for the name of a source. */
const MAX_TEXT = 256;

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
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Looks through an object for its array `batch`, and for the texts of the wanted members. */
export function createObjectReader(wanted: readonly string[], besideBatch: readonly string[]) {
  const at = outermost();
  const texts = new Map<string, string>();
  let [offset, from] = [0, -1];
  let batch: Span | null = null;
  let hasOthers = false;
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
      hasOthers ||= name !== BATCH && !besideBatch.includes(name);
      [name, text, isValue] = ['', '', false];
    } else if (byte === OPEN_BRACKET && isValue && name === BATCH && batch === null) from = offset;
  };

  return {
    texts,
    take(bytes: Buffer): void {
      for (const byte of bytes) {
        const { depth, inString } = at;
        follow(at, byte);
        if (from >= 0 && batch === null) {
          if (at.depth === 1) batch = { from, to: offset };
        } else if (depth === 1) takeOutermost(byte, inString);
        offset++;
      }
    },
    get batch(): Span | null {
      return batch;
    },
    /** True where nothing stands beside the batch that could be lost without it. */
    get isBatchAlone(): boolean {
      return !hasOthers;
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

/** Makes a function that leaves nothing but the elements of the array, each in a line. */
export function unwrap({ from, to }: Span): (bytes: Buffer) => void {
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

/** Makes a function that leaves no line break in an object. */
export function joinLines(): (bytes: Buffer) => void {
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
