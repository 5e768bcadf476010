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
 * nesting has no limit. The second of equal keys in one object gets an underscore before it: `{"a":1,"a":2}` gives `{"a":1,"_a":2}`.
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
  /** All of the text before this place is in the output. */
  #copied = 0;

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
      const code = this.#peek();
      const frame = this.#frames[this.#frames.length - 1];
      if (frame === undefined) return false;
      if (code === COMMA) {
        this.#at++;
        return frame === null || this.#key(frame);
      }
      if (code !== closing(frame)) return this.#fail();
      this.#at++;
      this.#frames.pop();
      if (this.#isWrapped(frame)) this.#insert(']');
    }
  }

  /** Reads a key and its colon. */
  #key(seen: Set<string>): boolean {
    if (this.#peek() !== QUOTE) return this.#fail();
    const start = this.#at;
    if (!this.#skipTo(endOfString(this.#text, start))) return false;
    let key = unquote(this.#text.slice(start, this.#at));
    if (seen.has(key)) {
      while (seen.has(key)) key = `_${key}`;
      this.#put(start, key);
    }
    seen.add(key);
    if (this.#peek() !== COLON) return this.#fail();
    this.#at++;
    return true;
  }

  #string(): boolean {
    const start = this.#at;
    if (!this.#skipTo(endOfString(this.#text, start))) return false;
    if (this.#redact) this.#hide(start, unquote(this.#text.slice(start, this.#at)), this.#redact);
    return true;
  }

  #word(): boolean {
    const start = this.#at;
    if (!this.#skipTo(endOfWord(this.#text, start))) return false;
    if (this.#redact && this.#at - start >= LONG_NUMBER)
      this.#hide(start, this.#text.slice(start, this.#at), this.#redact);
    return true;
  }

  /** Hides what there is to hide in the value that began at `start`. */
  #hide(start: number, value: string, redact: (value: string) => string): void {
    const redacted = redact(value);
    if (redacted !== value) this.#put(start, redacted);
  }

  /** Puts a string in the place of what began at `start`. */
  #put(start: number, text: string): void {
    this.#output += this.#text.slice(this.#copied, start) + JSON.stringify(text);
    this.#copied = this.#at;
  }

  /** Whether the frame is an object and stands, or stood, in none or in another object. */
  #isWrapped(frame: Frame): boolean {
    return this.#wrap && frame !== null && this.#frames[this.#frames.length - 1] !== null;
  }

  #insert(bracket: string): void {
    this.#output += this.#text.slice(this.#copied, this.#at) + bracket;
    this.#copied = this.#at;
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
