/** Codes of the characters of JSON's grammar. Readers of bytes and of texts compare with them, each with constants of its own. */
export const JSON_BYTES = {
  TAB: 0x09,
  LINE_FEED: 0x0a,
  RETURN: 0x0d,
  SPACE: 0x20,
  QUOTE: 0x22,
  COMMA: 0x2c,
  COLON: 0x3a,
  OPEN_BRACKET: 0x5b,
  BACKSLASH: 0x5c,
  CLOSE_BRACKET: 0x5d,
  OPEN_BRACE: 0x7b,
  CLOSE_BRACE: 0x7d,
} as const;

const { TAB, LINE_FEED, RETURN, SPACE } = JSON_BYTES;

/** True for a blank that may stand between the parts of a JSON text. */
export function isBlank(code: number): boolean {
  return code === SPACE || code === LINE_FEED || code === RETURN || code === TAB;
}
