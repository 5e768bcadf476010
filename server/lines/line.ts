/** A member of what a line says: a name, and a value as JSON text, just as it was written. */
export interface Member {
  readonly name: string;
  readonly json: string;
}

/** How the lines of a file are written. */
export interface Format {
  readonly name: string;
  /** Returns what a line says, in its order, or null if it is not written so. The line has no newline at its end, and is not blank. */
  parse(line: string): readonly Member[] | null;
}

/** A member whose value is a text. */
export function textMember(name: string, text: string): Member {
  return { name, json: jsonOf(text) };
}

/** Characters that JSON escapes, and halves of a pair, which it does not write as they are. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is escaped
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

/** Returns a text as JSON. Most have nothing to escape. */
export function jsonOf(text: string): string {
  return ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`;
}
