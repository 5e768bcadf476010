const NEWLINE = 0x0a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const COMMA = Buffer.from(',');
const BLANKS: readonly number[] = [0x20, 0x09, 0x0d];

/**
 * The lines with the project as the first member of each object, which stands before one of its own: of equal names in one object the
 * first counts. Anything but an object stays as it is, and becomes a rejected line.
 */
export function stamped(blocks: readonly Buffer[], project: string): Buffer {
  const member = Buffer.from(`"project":${JSON.stringify(project)}`);
  const parts: Buffer[] = [];
  /** Where a reader stands: before a line, behind the brace that it begins with, or beyond. */
  let place: 'before' | 'open' | 'within' = 'before';
  for (const block of blocks) {
    let from = 0;
    for (let at = 0; at < block.length; at++) {
      const byte = block[at] as number;
      if (byte === NEWLINE) place = 'before';
      else if (place === 'within') {
        const next = block.indexOf(NEWLINE, at);
        at = (next < 0 ? block.length : next) - 1;
      } else if (BLANKS.includes(byte)) continue;
      else if (place === 'open') {
        parts.push(block.subarray(from, at));
        if (byte !== CLOSE_BRACE) parts.push(COMMA);
        from = at;
        place = 'within';
      } else if (byte === OPEN_BRACE) {
        parts.push(block.subarray(from, at + 1), member);
        from = at + 1;
        place = 'open';
      } else place = 'within';
    }
    parts.push(block.subarray(from));
  }
  return Buffer.concat(parts);
}
