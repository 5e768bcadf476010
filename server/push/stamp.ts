import { containerLine } from '../../ingest/index.ts';

const NEWLINE = 0x0a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const COMMA = Buffer.from(',');
const SPACE = 0x20;
const BLANKS: readonly number[] = [SPACE, 0x09, 0x0d];
/** A byte-order mark, which may stand before the first line. */
const MARK: readonly number[] = [0xef, 0xbb, 0xbf];

/**
 * The lines with the project as the first member of each object, which stands before one of its own: of equal names in one object the
 * first counts. Anything but an object stays as it is, and becomes a rejected line; but control characters, which JSON does not know,
 * become spaces: whoever reads the lines may pass over some, or take them for the end of a torn line, and find an object behind them.
 */
export function stamped(given: readonly Buffer[], project: string): Buffer {
  const blocks = given.map(withoutControls);
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
      } else if (BLANKS.includes(byte) || (place === 'before' && MARK.includes(byte))) continue;
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

/** The lines, those of a container runtime as the objects that they are read as: what is stamped is an object. */
export function asObjects(given: readonly Buffer[]): Buffer[] {
  return linesOf(given).map((line) => {
    const text = line.at(-1) === NEWLINE ? line.subarray(0, -1) : line;
    return containerLine(text) ?? line;
  });
}

/** Returns the lines, with `project` in those that name none. A line that is not a JSON object stays as it is. */
export function withDefault(given: readonly Buffer[], project: string): Buffer {
  return Buffer.concat(
    linesOf(given).map((line) => (namesNoProject(line) ? stamped([line], project) : line)),
  );
}

/** Each with its newline. */
export function linesOf(given: readonly Buffer[]): Buffer[] {
  const all = Buffer.concat(given);
  const lines: Buffer[] = [];
  for (let from = 0; from < all.length; ) {
    const newline = all.indexOf(NEWLINE, from);
    const end = newline < 0 ? all.length : newline + 1;
    lines.push(all.subarray(from, end));
    from = end;
  }
  return lines;
}

function namesNoProject(line: Buffer): boolean {
  const object = objectOf(line.toString());
  return object !== null && !namesOne(object);
}

function namesOne({ project, metadata, log, MESSAGE }: Record<string, unknown>): boolean {
  const first: unknown = Array.isArray(metadata) ? metadata[0] : metadata;
  const named = [project, ...(isObject(first) ? [first.project, first.project_ref] : [])];
  if (named.some((each) => each !== undefined && each !== null)) return true;
  // What Docker and journald wrap is unpacked when the line is stored.
  return [log, MESSAGE].some((text) => {
    const inside = typeof text === 'string' ? objectOf(text) : null;
    return inside !== null && namesOne({ ...inside, log: undefined, MESSAGE: undefined });
  });
}

function objectOf(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withoutControls(block: Buffer): Buffer {
  const text = Buffer.from(block);
  for (let at = 0; at < text.length; at++) {
    const byte = text[at] as number;
    if (byte < SPACE && byte !== NEWLINE && !BLANKS.includes(byte)) text[at] = SPACE;
  }
  return text;
}
