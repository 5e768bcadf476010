/**
 * A body as a sequence of values, however they are parted. It turns the bytes of the body into lines in place: one of each object, of each
 * element of an array, and of each element of an object's array `batch`. Everything else is a line as it stands. It looks at strings and
 * nesting alone, so that numbers and repeated keys stay as they came. It never judges a line.
 */
import { AppError } from '../errors.ts';
import { isBlank, JSON_BYTES } from '../records/json-bytes.ts';
import { createObjectReader, joinLines, unwrap } from './object-reader.ts';

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
  TAB,
} = JSON_BYTES;

/** A byte-order mark. Tailing strips it at the start of a file only. */
const MARK = [0xef, 0xbb, 0xbf];
const [MARK_BEGIN, , MARK_END] = MARK;
/** RFC 7464 puts this before each value. */
const RECORD_SEPARATOR = 0x1e;
const NEWLINE = Buffer.from('\n');
/** Blanks behind a bracket that are looked over for the first element. */
const MAX_LOOK = 256;
/** Bytes of an object that are kept for its end: those of the largest body. */
const MAX_KEPT = 32e6;
/** Bytes of a line that are kept for its end before they are looked at. */
const MAX_LINE = 1024 * 1024;
const BATCH = Buffer.from('"batch"');

export interface SequenceOptions {
  /** True for a body of lines, whatever its first byte is. */
  readonly areLines?: boolean;
  /** True where lines of text are wanted: `[` begins an array only before an object, an array or its end. */
  readonly hasText?: boolean;
  /** Names of members whose texts are kept of a body that is one object. */
  readonly wanted?: readonly string[];
  /** Names of members that may stand beside a `batch` in a sequence. */
  readonly besideBatch?: readonly string[];
}

/** The next byte is before a value, in an array, behind one, in an object, behind one, or in a line that is none of these. */
type State = 'leading' | 'lines' | 'between' | 'array' | 'behind' | 'object' | 'closed' | 'line';

/** The byte before, in an object: it opens a value or a name, ends a value, or is of a number or word, or ends a text. */
const [OPENED, ENDED, SCALAR, TEXT] = [0, 1, 2, 3];

/** Turns the bytes of a body into lines. The bytes that it is given change. */
export class Sequence {
  /** The texts of the wanted members of a body that was one object; null for any other body. Known at the end. */
  texts: ReadonlyMap<string, string> | null = null;
  #keptBytes = 0;
  readonly #options: SequenceOptions;
  #state: State;
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #isEnd = false;
  #out: Buffer[] = [];
  /** Bytes of the chunk that are passed on with those behind them. */
  #passed = { from: 0, to: 0 };
  /** The object that has begun: what earlier chunks have of it, and where it begins and ends in this one. */
  #pieces: Buffer[] = [];
  #from = 0;
  #to = 0;
  /** Bytes behind the object in earlier chunks. */
  #behind = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #previous = OPENED;
  /** True for an object with a line break in it. */
  #isBroken = false;
  /** True once a line break stands behind the object. */
  #isParted = false;
  /** True for an object that must end on its line: the one before it had no end. */
  #isOneLine = false;
  /** Objects that begin before this place must end on their lines. */
  #linesUntil = 0;
  #isFirst = true;
  #isJson = true;
  /** True where a line break stands between the next value and the one before it. */
  #isLineStart = false;
  /** Bytes to be looked at with those behind them. */
  #undecided: Buffer[] = [];
  /** True where they wait for a line break. */
  #needsLine = false;
  /** Where the next brace and the next batch of the chunk may stand, if they were looked for. */
  #nextBrace = -1;
  #nextBatch = -1;

  constructor(options: SequenceOptions = {}) {
    this.#options = options;
    this.#state = options.areLines ? 'leading' : 'between';
  }

  /** Bytes that are kept until it is known what they are. */
  get kept(): number {
    return this.#keptBytes + size(this.#undecided);
  }

  /** Takes the next bytes, and returns those that are lines by now. Throws `REQUEST_INVALID` for an array with anything but values behind it. */
  take(bytes: Buffer): readonly Buffer[] {
    if (this.#needsLine && bytes.indexOf(LINE_FEED) < 0 && this.kept + bytes.length <= MAX_LINE) {
      this.#undecided.push(bytes);
      return [];
    }
    this.#begin(bytes);
    this.#walk();
    if (this.#state === 'object' || this.#state === 'closed') this.#keep();
    return this.#release();
  }

  /** Ends the body, and returns the bytes that were kept. Throws `REQUEST_INVALID` for an array without its end. */
  end(): readonly Buffer[] {
    this.#isEnd = true;
    this.#begin(Buffer.alloc(0));
    this.#walk();
    if (this.#state === 'array') throw invalid('one without its end');
    if (this.#state === 'object' && !this.#isOneLine) this.#fail(this.#bytes.length);
    this.#walk();
    if (this.#state === 'object') this.#passObject();
    else if (this.#state === 'closed') this.#confirm(-1, this.#isFirst);
    return this.#release();
  }

  #begin(bytes: Buffer): void {
    this.#bytes = this.#undecided.length > 0 ? Buffer.concat([...this.#undecided, bytes]) : bytes;
    this.#undecided = [];
    this.#needsLine = false;
    this.#nextBrace = this.#nextBatch = -1;
    this.#at = this.#from = this.#to = this.#linesUntil = 0;
    this.#passed = { from: 0, to: 0 };
  }

  #walk(): void {
    while (this.#at < this.#bytes.length) {
      if (this.#state === 'between') this.#between();
      else if (this.#state === 'object') this.#inObject();
      else if (this.#state === 'closed') this.#behindObject();
      else if (this.#state === 'array') this.#inArray();
      else if (this.#state === 'behind') this.#behindArray();
      else if (this.#state === 'line') this.#inLine();
      else if (this.#state === 'leading') this.#leading();
      else this.#pass(this.#at, this.#bytes.length);
    }
  }

  /** Blanks and marks before lines stay, as blanks. */
  #leading(): void {
    const bytes = this.#bytes;
    let at = this.#at;
    while (
      at < bytes.length &&
      (isBlank(bytes[at] as number) || MARK.includes(bytes[at] as number))
    )
      bytes[at++] = SPACE;
    if (at < bytes.length) this.#state = 'lines';
    this.#pass(this.#at, at);
  }

  #between(): void {
    const bytes = this.#bytes;
    let at = this.#at;
    for (; at < bytes.length && isSeparator(bytes[at] as number, this.#isJson); at++)
      if (bytes[at] === LINE_FEED) this.#isLineStart = true;
    this.#at = at;
    const byte = bytes[at];
    if (byte === undefined) return;
    if (byte === MARK_BEGIN && bytes.length - at < MARK.length && !this.#isEnd) this.#wait();
    else if (MARK.every((each, n) => bytes[at + n] === each)) this.#at += MARK.length;
    else if (byte === OPEN_BRACE) {
      const isLine = this.#isLineStart && !this.#isFirst && at >= this.#linesUntil;
      if (isLine && this.#passLines()) return;
      this.#from = at;
      this.#depth = 0;
      this.#inString = this.#escaped = this.#isBroken = this.#isParted = false;
      this.#previous = OPENED;
      this.#isOneLine = at < this.#linesUntil;
      this.#state = 'object';
    } else if (byte === OPEN_BRACKET) this.#bracket();
    else this.#state = 'line';
  }

  /** Keeps the rest of the chunk, which is short, for the next one. */
  #wait(): void {
    this.#undecided = [this.#bytes.subarray(this.#at)];
    this.#at = this.#bytes.length;
  }

  #bracket(): void {
    const bytes = this.#bytes;
    let next = this.#at + 1;
    while (isBlank(bytes[next] ?? 0) && next - this.#at < MAX_LOOK) next++;
    if (this.#options.hasText) {
      if (next === bytes.length && !this.#isEnd) {
        this.#wait();
        return;
      }
      if (!ELEMENTS.includes(bytes[next] ?? 0)) {
        this.#state = 'line';
        return;
      }
    }
    this.#state = 'array';
    this.#depth = 1;
    this.#inString = this.#escaped = false;
    this.#at++;
  }

  /** Passes lines on that are one object each. Returns false if the next one may be anything else. */
  #passLines(): boolean {
    const bytes = this.#bytes;
    const from = this.#at;
    let end = from;
    while (bytes[end] === OPEN_BRACE) {
      const newline = bytes.indexOf(LINE_FEED, end);
      this.#needsLine = newline < 0 && !this.#isEnd && bytes.length - end <= MAX_LINE;
      if (newline < 0 || !this.#isOneObject(end, newline)) break;
      end = newline + 1;
    }
    if (end > from) {
      this.#isJson = true;
      this.#pass(from, end);
    }
    if (this.#needsLine) this.#wait();
    return end > from || this.#needsLine;
  }

  /** Tells whether a line that begins with a brace is one object without a batch. It looks at nesting only where the line may be several. */
  #isOneObject(from: number, newline: number): boolean {
    const bytes = this.#bytes;
    const last = bytes[newline - 1] === RETURN ? newline - 2 : newline - 1;
    if (bytes[last] !== CLOSE_BRACE) return false;
    if (this.#nextBatch < from) this.#nextBatch = placeOf(bytes, BATCH, from);
    if (this.#nextBatch < newline) return false;
    let brace = this.#nextBrace > from ? this.#nextBrace : placeOf(bytes, OPEN_BRACE, from + 1);
    while (brace < newline && !isBehindValue(bytes, brace))
      brace = placeOf(bytes, OPEN_BRACE, brace + 1);
    this.#nextBrace = brace;
    return brace >= newline || endOf(bytes, from, last) === last;
  }

  #inLine(): void {
    const bytes = this.#bytes;
    const newline = bytes.indexOf(LINE_FEED, this.#at);
    const end = newline < 0 ? bytes.length : newline + 1;
    const separator = bytes.subarray(this.#at, end).indexOf(RECORD_SEPARATOR);
    this.#isFirst = this.#isJson = false;
    if (separator >= 0) {
      bytes[this.#at + separator] = LINE_FEED;
      this.#pass(this.#at, this.#at + separator + 1);
    } else this.#pass(this.#at, end);
    if (separator >= 0 || newline >= 0) this.#state = 'between';
    this.#isLineStart = separator < 0;
  }

  #inArray(): void {
    const bytes = this.#bytes;
    let [depth, inString, escaped] = [this.#depth, this.#inString, this.#escaped];
    for (let at = this.#at; at < bytes.length; at++) {
      const byte = bytes[at] as number;
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) inString = false;
        // A line break in a string is not JSON. Another control character takes its place, so that the string does not become JSON.
        if (byte === LINE_FEED) bytes[at] = RETURN;
      } else if (byte === QUOTE) inString = true;
      else if (byte === COMMA) {
        if (depth === 1) bytes[at] = LINE_FEED;
      } else if (byte === LINE_FEED) bytes[at] = SPACE;
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
      else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) {
        if (byte === CLOSE_BRACE) throw invalid('one that a "}" closes');
        bytes[at] = LINE_FEED;
        this.#pass(this.#at, at + 1);
        this.#state = 'behind';
        this.#isFirst = this.#isLineStart = false;
        this.#isJson = true;
        return;
      }
    }
    [this.#depth, this.#inString, this.#escaped] = [depth, inString, escaped];
    this.#pass(this.#at, bytes.length);
  }

  #behindArray(): void {
    const bytes = this.#bytes;
    for (; isSeparator(bytes[this.#at] ?? COLON, true); this.#at++)
      if (bytes[this.#at] === LINE_FEED) this.#isLineStart = true;
    const byte = bytes[this.#at];
    if (byte === undefined) return;
    if (!BEGINNINGS.includes(byte)) throw invalid('something behind its end');
    this.#state = 'between';
  }

  #inObject(): void {
    const bytes = this.#bytes;
    let [depth, inString, escaped, previous] = [
      this.#depth,
      this.#inString,
      this.#escaped,
      this.#previous,
    ];
    for (let at = this.#at; at < bytes.length; at++) {
      const byte = bytes[at] as number;
      if (byte === LINE_FEED) {
        if (this.#isOneLine) {
          this.#passLine();
          return;
        }
        this.#isBroken = true;
      }
      let isFault = false;
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) {
          inString = false;
          previous = TEXT;
        }
      } else if (byte === QUOTE) {
        isFault = previous !== OPENED;
        inString = true;
      } else if (byte <= SPACE) continue;
      else if (byte === COMMA) previous = OPENED;
      else if (byte === COLON) {
        isFault = previous !== TEXT;
        previous = OPENED;
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        isFault = previous !== OPENED;
        depth++;
        previous = OPENED;
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        previous = ENDED;
        if (--depth === 0) {
          this.#at = this.#to = at + 1;
          this.#behind = 0;
          this.#state = 'closed';
          return;
        }
      } else {
        isFault = previous !== OPENED && previous !== SCALAR;
        previous = SCALAR;
      }
      if (isFault) {
        if (this.#isOneLine) this.#passLine();
        else this.#fail(at);
        return;
      }
    }
    [this.#depth, this.#inString, this.#escaped] = [depth, inString, escaped];
    this.#previous = previous;
    this.#at = bytes.length;
    if (this.#keptBytes > MAX_KEPT) this.#fail(bytes.length);
  }

  #behindObject(): void {
    const bytes = this.#bytes;
    const { wanted = [] } = this.#options;
    let at = this.#at;
    for (; at < bytes.length; at++) {
      const byte = bytes[at] as number;
      if (byte === SPACE || byte === TAB) continue;
      if (!isSeparator(byte, true)) break;
      // A body that is one object may have its source in it, and a batch beside anything.
      const mayBeAlone = this.#isFirst && (wanted.length > 0 || this.#hasBatch());
      if (!mayBeAlone) {
        this.#confirm(at, false);
        return;
      }
      this.#isParted = true;
    }
    this.#at = at;
    if (at === bytes.length) return;
    if (this.#isParted || BEGINNINGS.includes(bytes[at] as number)) this.#confirm(-1, false);
    else this.#fail(at);
  }

  /** Makes a line of the object that was closed. `end`: the place of a separator that becomes its line break; -1: there is none. */
  #confirm(end: number, isAlone: boolean): void {
    this.#dropBehind();
    const pieces = [...this.#pieces, this.#bytes.subarray(this.#from, this.#to)];
    const { wanted = [], besideBatch = [] } = this.#options;
    let batch = null;
    if ((isAlone && wanted.length > 0) || this.#hasBatch()) {
      const reader = createObjectReader(wanted, besideBatch);
      for (const piece of pieces) reader.take(piece);
      if (isAlone) this.texts = reader.texts;
      if (isAlone || reader.isBatchAlone) batch = reader.batch;
    }
    if (batch) pieces.forEach(unwrap(batch));
    else if (this.#isBroken) pieces.forEach(joinLines());
    this.#isLineStart = this.#isParted || this.#bytes[end] === LINE_FEED;
    this.#passObject();
    if (end < 0) this.#passNewline();
    else {
      this.#bytes[end] = LINE_FEED;
      this.#pass(end, end + 1);
    }
    this.#isFirst = false;
    this.#isJson = true;
  }

  #dropBehind(): void {
    for (let left = this.#behind; left > 0; ) {
      const last = this.#pieces.pop() as Buffer;
      if (last.length > left) this.#pieces.push(last.subarray(0, -left));
      left -= last.length;
    }
    this.#behind = 0;
  }

  /** Tells whether the object that was closed may have an array `batch`. */
  #hasBatch(): boolean {
    const pieces = [...this.#pieces, this.#bytes.subarray(this.#from, this.#to)];
    if (this.#isFirst && (pieces.length > 1 || pieces[0]?.includes('\\u00'))) return true;
    const [object = NEWLINE] = pieces.length > 1 ? [Buffer.concat(pieces)] : pieces;
    return object.includes(BATCH);
  }

  /** Passes the object on, up to its end or that of the chunk. */
  #passObject(): void {
    const at = Math.max(this.#at, this.#to);
    this.#flush();
    this.#out.push(...this.#pieces);
    this.#pieces = [];
    this.#keptBytes = 0;
    this.#pass(this.#from, this.#state === 'closed' ? this.#to : this.#bytes.length);
    this.#at = at;
    this.#state = 'between';
  }

  /** Passes a line on that began like an object. */
  #passLine(): void {
    this.#state = 'line';
    this.#flush();
    this.#out.push(...this.#pieces);
    this.#pieces = [];
    this.#keptBytes = 0;
    this.#at = this.#from;
  }

  /** Goes back to the beginning of what is not an object: up to `end` each line stands for itself. */
  #fail(end: number): void {
    const { length } = this.#bytes;
    if (this.#pieces.length > 0) {
      this.#flush();
      this.#bytes = Buffer.concat([...this.#pieces, this.#bytes.subarray(this.#from)]);
      this.#pieces = [];
      this.#keptBytes = 0;
      this.#passed = { from: 0, to: 0 };
      this.#nextBrace = this.#nextBatch = -1;
      this.#from = 0;
    }
    this.#at = this.#from;
    this.#to = this.#behind = 0;
    this.#linesUntil = Math.max(this.#linesUntil, end + this.#bytes.length - length);
    this.#state = 'line';
  }

  #keep(): void {
    const piece = this.#bytes.subarray(this.#from);
    if (this.#state === 'closed') this.#behind += this.#bytes.length - this.#to;
    this.#pieces.push(piece);
    this.#keptBytes += piece.length;
  }

  #pass(from: number, to: number): void {
    if (this.#passed.to !== from) {
      this.#flush();
      this.#passed.from = from;
    }
    this.#passed.to = this.#at = to;
  }

  #passNewline(): void {
    this.#flush();
    this.#out.push(NEWLINE);
  }

  #flush(): void {
    const { from, to } = this.#passed;
    if (to > from) this.#out.push(this.#bytes.subarray(from, to));
    this.#passed = { from: to, to };
  }

  #release(): readonly Buffer[] {
    this.#flush();
    const out = this.#out;
    this.#out = [];
    return out;
  }
}

/** Bytes with which a value begins, or a mark before it. */
const BEGINNINGS: readonly (number | undefined)[] = [OPEN_BRACE, OPEN_BRACKET, MARK_BEGIN];
/** Bytes with which an array begins whose elements may be lines. */
const ELEMENTS: readonly number[] = [OPEN_BRACE, OPEN_BRACKET, CLOSE_BRACKET];

/** Tells whether a byte stands between values: control characters are not JSON. */
function isSeparator(byte: number, isBehindJson: boolean): boolean {
  return byte <= SPACE || (byte === COMMA && isBehindJson);
}

/** Tells whether a value stands before a brace, so that another one may begin there. */
function isBehindValue(bytes: Buffer, brace: number): boolean {
  let at = brace - 1;
  while (isSeparator(bytes[at] as number, true)) at--;
  return bytes[at] === CLOSE_BRACE || bytes[at] === CLOSE_BRACKET || bytes[at] === MARK_END;
}

/** Returns where the object ends that begins at `from`, as far as `last`. */
function endOf(bytes: Buffer, from: number, last: number): number {
  let depth = 0;
  let inString = false;
  for (let at = from; at < last; at++) {
    const byte = bytes[at] as number;
    if (inString) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) return at;
  }
  return last;
}

function placeOf(bytes: Buffer, value: Buffer | number, from: number): number {
  const place = bytes.indexOf(value, from);
  return place < 0 ? bytes.length : place;
}

function size(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

function invalid(found: string): AppError {
  const detail = `Expected the body to be one whole JSON array, as it begins like one, got ${found}.`;
  return new AppError('REQUEST_INVALID', { detail });
}
