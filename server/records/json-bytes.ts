// Codes of the characters of JSON's grammar. Readers of bytes and of texts compare with them.

export const TAB = 0x09;
export const LINE_FEED = 0x0a;
export const RETURN = 0x0d;
export const SPACE = 0x20;
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;

/** True for a blank that may stand between the parts of a JSON text. */
export function isBlank(code: number): boolean {
  return code === SPACE || code === LINE_FEED || code === RETURN || code === TAB;
}
