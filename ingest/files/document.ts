/** So many first bytes tell a document from a log whose first line is torn. */
export const DOCUMENT_BYTES = 64 * 1024;

const OPENS_ALONE = /^[{[][ \t\r]*$/;
const ARRAY_OF_OBJECTS = /^\[\s*\{/;
/** An object in one line, as a log has it. */
const WHOLE_LINE = /^\s*\{.*\}\s*$/;

/**
 * Tells a JSON document from lines of JSON by its first bytes: its first line only opens an object or an array, or it is an array of objects,
 * and no lines of a log follow. Returns null while the first line is too short to tell.
 */
export function isDocument(start: Uint8Array): boolean | null {
  const text = Buffer.from(start.buffer, start.byteOffset, start.length).toString('latin1');
  const [first = '', ...others] = text.trim().split('\n');
  if (OPENS_ALONE.test(first)) return others.length === 0 ? null : !hasLogLines(first, others);
  return ARRAY_OF_OBJECTS.test(first) && !hasLogLines('{', others);
}

/** The last element of an array, and it alone, may stand in a line without a comma. An object in an object is indented. */
function hasLogLines(first: string, others: readonly string[]): boolean {
  if (!first.startsWith('['))
    return others.some((line) => WHOLE_LINE.test(line) && line[0] === '{');
  return others.some((line, n) => WHOLE_LINE.test(line) && WHOLE_LINE.test(others[n + 1] ?? ''));
}
