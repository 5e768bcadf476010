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
  TAB,
} = JSON_BYTES;

/** A change of a JSON text on its way out. */
export interface RewriteOptions {
  /** Is given every string value (not keys), unescaped, and numbers of many digits, and returns what to put. */
  readonly redact?: ((value: string) => string) | undefined;
  /**
   * Logflare's records form: every object whose parent is not an array is wrapped in a one-element array
   * (`{"a":{"b":1}}` gives `[{"a":[{"b":1}]}]`).
   */
  readonly wrap: boolean;
}

/**
 * The text of a JSON value as JSON text; undefined when `text` is not strict JSON (RFC 8259). Numbers keep their digits,
 * nesting has no limit, and of equal keys in one object the first stays, as DuckDB resolves them.
 */
export function strictJson(text: string, options: RewriteOptions): string | undefined {
  return new Rewrite(text, options).run();
}

/** Digits of the shortest number that can be a payment card's. */
export const LONG_NUMBER = 13;

/** An object that is open, as the keys it has had, or an array that is open, as null. */
type Frame = Set<string> | null;

/**
 * One pass over the text, with a stack of its own: hostile nesting must not overflow the call
 * stack. Output is the text itself, copied in slices between the places where it changes.
 */
class Rewrite {
  readonly #text: string;
  readonly #redact: RewriteOptions['redact'];
  readonly #wrap: boolean;
  readonly #frames: Frame[] = [];
  #at = 0;
  #output = '';
  /** All of the text before this place is in the output, or dropped from it. */
  #copied = 0;
  /** How many frames were open when the member that is being dropped began; 0 while none is. */
  #dropping = 0;

  constructor(text: string, { redact, wrap }: RewriteOptions) {
    this.#text = text;
    this.#redact = redact;
    this.#wrap = wrap;
  }

  run(): string | undefined {
    let more = true;
    while (more) more = this.#value();
    const whole = this.#frames.length === 0 && this.#at === this.#text.length;
    return whole ? this.#output + this.#text.slice(this.#copied) : undefined;
  }

  /**
   * Reads a scalar, or the start of a container; false when no value follows it, or the text is at
   * fault.
   */
  #value(): boolean {
    switch (this.#peek()) {
      case OPEN_BRACE:
        return this.#open(new Set());
      case OPEN_BRACKET:
        return this.#open(null);
      case QUOTE:
        return this.#string() && this.#next();
      default:
        return this.#word() && this.#next();
    }
  }

  #open(frame: Frame): boolean {
    if (this.#isWrapped(frame)) this.#insert('[');
    this.#frames.push(frame);
    this.#at++;
    if (this.#peek() === closing(frame)) return this.#next();
    return frame === null || this.#key(frame);
  }

  /** Goes on to the next value, past commas, keys and the ends of containers. */
  #next(): boolean {
    for (;;) {
      const { length } = this.#frames;
      if (this.#dropping === length && length > 0) this.#endDrop();
      const code = this.#peek();
      const frame = this.#frames[length - 1];
      if (frame === undefined) return false;
      if (code === COMMA) {
        const memberStart = this.#at++;
        return frame === null || this.#key(frame, memberStart);
      }
      if (code !== closing(frame)) return this.#fail();
      this.#at++;
      this.#frames.pop();
      if (this.#isWrapped(frame)) this.#insert(']');
    }
  }

  /**
   * Reads a key and its colon. A key that the object has had already starts a drop, from
   * `memberStart`.
   */
  #key(seen: Set<string>, memberStart = this.#at): boolean {
    if (this.#peek() !== QUOTE) return this.#fail();
    const start = this.#at;
    if (!this.#skipTo(endOfString(this.#text, start))) return false;
    const { size } = seen;
    seen.add(unquote(this.#text.slice(start, this.#at)));
    if (seen.size === size && this.#dropping === 0) this.#startDrop(memberStart);
    if (this.#peek() !== COLON) return this.#fail();
    this.#at++;
    return true;
  }

  #string(): boolean {
    const start = this.#at;
    if (!this.#skipTo(endOfString(this.#text, start))) return false;
    if (this.#redact && this.#dropping === 0)
      this.#put(start, unquote(this.#text.slice(start, this.#at)), this.#redact);
    return true;
  }

  #word(): boolean {
    const start = this.#at;
    if (!this.#skipTo(endOfWord(this.#text, start))) return false;
    if (this.#redact && this.#dropping === 0 && this.#at - start >= LONG_NUMBER)
      this.#put(start, this.#text.slice(start, this.#at), this.#redact);
    return true;
  }

  /** Puts a string in the place of the value that began at `start`, if there is something to hide in it. */
  #put(start: number, value: string, redact: (value: string) => string): void {
    const redacted = redact(value);
    if (redacted === value) return;
    this.#output += this.#text.slice(this.#copied, start) + JSON.stringify(redacted);
    this.#copied = this.#at;
  }

  /** Whether the frame is an object and stands, or stood, in none or in another object. */
  #isWrapped(frame: Frame): boolean {
    return this.#wrap && frame !== null && this.#frames[this.#frames.length - 1] !== null;
  }

  #insert(bracket: string): void {
    if (this.#dropping > 0) return;
    this.#output += this.#text.slice(this.#copied, this.#at) + bracket;
    this.#copied = this.#at;
  }

  #startDrop(memberStart: number): void {
    this.#output += this.#text.slice(this.#copied, memberStart);
    this.#dropping = this.#frames.length;
  }

  #endDrop(): void {
    this.#copied = this.#at;
    this.#dropping = 0;
  }

  /**
   * The code of the next character that is not blank, and moves to it; NaN at the end of the text.
   */
  #peek(): number {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== SPACE && code !== LINE_FEED && code !== RETURN && code !== TAB) return code;
      this.#at++;
    }
  }

  #skipTo(end: number): boolean {
    if (end < 0) return this.#fail();
    this.#at = end;
    return true;
  }

  /**
   * Leaves a place that `run` does not take for the end, so that even a fault after the last value
   * counts.
   */
  #fail(): false {
    this.#at = -1;
    return false;
  }
}

function closing(frame: Frame): number {
  return frame === null ? CLOSE_BRACKET : CLOSE_BRACE;
}

/** The place after the string that starts at `start`, or -1. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  // A bad escape leaves -1.
  while (at > 0 && at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code < SPACE) return -1;
    at = code === BACKSLASH ? endOf(ESCAPE, text, at) : at + 1;
  }
  return -1;
}

const ESCAPE = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y;
const WORD = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** The place after the number, `true`, `false` or `null` that starts at `start`, or -1. */
function endOfWord(text: string, start: number): number {
  return endOf(WORD, text, start);
}

/** The place after what the sticky `pattern` matches at `start`, or -1. */
function endOf(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

/** The value of a valid string's text, quotes included. */
function unquote(quoted: string): string {
  return quoted.includes('\\') ? JSON.parse(quoted) : quoted.slice(1, -1);
}
