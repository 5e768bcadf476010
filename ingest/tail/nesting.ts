/** How many objects and arrays of a line may stand within each other. */
export const MAX_DEPTH = 1000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [OPEN_BRACE, CLOSE_BRACE] = [0x7b, 0x7d];
const [OPEN_BRACKET, CLOSE_BRACKET] = [0x5b, 0x5d];

/**
 * Whether the line from `from` to `to` is nested deeper than MAX_DEPTH. The engine has functions that go down by recursion:
 * 200,000 levels of a flat log ended the process, at each start anew (docs/decisions/0015).
 */
export function isTooDeep(bytes: Buffer, from: number, to: number): boolean {
  // Every bracket must be closed, else it is not JSON, which is read without recursion.
  if (to - from <= 2 * MAX_DEPTH) return false;
  let depth = 0;
  for (let i = from; i < to; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) i = endOfText(bytes, i, to);
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (++depth > MAX_DEPTH) return true;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--;
  }
  return false;
}

/** Where the text ends that begins with the quote at `start`; `to` when nothing before that ends it. */
function endOfText(bytes: Buffer, start: number, to: number): number {
  let end = start;
  for (;;) {
    end = bytes.indexOf(QUOTE, end + 1);
    if (end === -1 || end >= to) return to;
    let backslashes = 0;
    while (bytes[end - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
}
