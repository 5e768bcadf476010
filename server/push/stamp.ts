import { JSON_BYTES } from '../records/json-bytes.ts';

const { CLOSE_BRACE, LINE_FEED, OPEN_BRACE, RETURN, SPACE, TAB } = JSON_BYTES;

const SEPARATOR = Buffer.from(',');
const BLANKS: readonly number[] = [SPACE, TAB, RETURN];
/** A byte-order mark, which may stand before the first line. */
const MARK: readonly number[] = [0xef, 0xbb, 0xbf];

/**
 * Makes a function that passes lines on to `write` with the project as the first member of each object, in whatever pieces they come. It
 * stands before one of the object's own: of equal names the first counts. Anything but an object stays as it is, and becomes a rejected
 * line. Control characters, which JSON does not know, become spaces: a reader may pass over some, or take them for the end of a torn line,
 * and find an object behind them. The bytes change in place.
 */
export function stamp(project: string, write: (bytes: Buffer) => void): (bytes: Buffer) => void {
  const member = Buffer.from(`"project":${JSON.stringify(project)}`);
  /** Where the next byte stands: before a line, behind the brace that the line begins with, or beyond. */
  let place: 'before' | 'open' | 'within' = 'before';
  return (bytes) => {
    withoutControls(bytes);
    let from = 0;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at] as number;
      if (byte === LINE_FEED) place = 'before';
      else if (place === 'within') {
        const next = bytes.indexOf(LINE_FEED, at);
        at = (next < 0 ? bytes.length : next) - 1;
      } else if (BLANKS.includes(byte) || (place === 'before' && MARK.includes(byte))) continue;
      else if (place === 'open') {
        write(bytes.subarray(from, at));
        if (byte !== CLOSE_BRACE) write(SEPARATOR);
        from = at;
        place = 'within';
      } else if (byte === OPEN_BRACE) {
        write(bytes.subarray(from, at + 1));
        write(member);
        from = at + 1;
        place = 'open';
      } else place = 'within';
    }
    write(bytes.subarray(from));
  };
}

function withoutControls(bytes: Buffer): void {
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte < SPACE && byte !== LINE_FEED && !BLANKS.includes(byte)) bytes[at] = SPACE;
  }
}
