import { JSON_BYTES } from '../records/json-bytes.ts';

const { LINE_FEED } = JSON_BYTES;

/** Bytes of a stream of lines: `lines`, each with its newline, or a `piece` of one that is too long to be held. */
export interface Cut {
  readonly kind: 'lines' | 'piece';
  readonly bytes: Buffer;
}

/** Cuts a stream of bytes behind its newlines. */
export interface WholeLines {
  take(bytes: Buffer): Iterable<Cut>;
  /** Yields the last line, if no newline closed it. */
  end(): Iterable<Cut>;
  /** Bytes of the line that has begun. */
  readonly held: number;
}

/** Makes a cutter that holds a line of at most `maxBytes`, and passes on a longer one as it comes. */
export function wholeLines(maxBytes: number): WholeLines {
  let begun: Buffer[] = [];
  let [held, isLong] = [0, false];

  const close = (bytes: Buffer): Cut => {
    const line = begun.length === 0 ? bytes : Buffer.concat([...begun, bytes]);
    [begun, held] = [[], 0];
    return { kind: 'lines', bytes: line };
  };

  return {
    *take(bytes) {
      let rest = bytes;
      if (isLong) {
        const newline = rest.indexOf(LINE_FEED);
        isLong = newline < 0;
        yield { kind: 'piece', bytes: isLong ? rest : rest.subarray(0, newline + 1) };
        if (isLong) return;
        rest = rest.subarray(newline + 1);
      }
      const first = held > 0 ? rest.indexOf(LINE_FEED) : -1;
      if (first >= 0) {
        yield close(rest.subarray(0, first + 1));
        rest = rest.subarray(first + 1);
      }
      const last = rest.lastIndexOf(LINE_FEED);
      if (last >= 0) yield { kind: 'lines', bytes: rest.subarray(0, last + 1) };
      rest = rest.subarray(last + 1);
      if (rest.length === 0) return;
      begun.push(rest);
      held += rest.length;
      if (held <= maxBytes) return;
      isLong = true;
      yield { ...close(Buffer.alloc(0)), kind: 'piece' };
    },
    *end() {
      const newline = Buffer.from('\n');
      if (isLong) yield { kind: 'piece', bytes: newline };
      else if (held > 0) yield close(newline);
    },
    get held() {
      return held;
    },
  };
}
