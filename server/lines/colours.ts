/** ANSI escapes of terminals: colours, and the links and titles of OSC. */
const ESCAPE = String.fromCharCode(27);
const COLOURS = new RegExp(
  `${ESCAPE}(?:\\[[\\d;?]{0,20}[A-Za-z]|\\][^${ESCAPE}\\u0007]{0,2000}(?:\\u0007|${ESCAPE}\\\\))`,
  'g',
);

/** Returns a text without its colours; the same text if it has none. */
export function withoutColours(text: string): string {
  return text.includes(ESCAPE) ? text.replaceAll(COLOURS, '') : text;
}
