/**
 * The bytes of a packed file that are kept while it is unpacked: the last ones, and those from a pinned position on. Reads that they
 * serve need not unpack the file from its start again.
 */
export interface UnpackedBytes {
  /** Behind the last byte that was unpacked. */
  readonly end: number;
  push(chunk: Buffer): void;
  /** Copies what is kept from `position` on into `target`, and returns how many bytes; null where `position` is not kept. */
  copy(target: Uint8Array, position: number): number | null;
  /** Keeps the bytes from `position` on, if it is kept still, until another position is pinned. */
  pin(position: number): void;
}

/** Each of the two parts keeps about so many bytes. */
export function unpackedBytes(keepBytes: number): UnpackedBytes {
  const recent = createRun(0);
  let pinned = createRun(0);
  return {
    get end() {
      return recent.end;
    },
    push(chunk) {
      if (pinned.end === recent.end && pinned.end - pinned.start < keepBytes) pinned.push(chunk);
      recent.push(chunk);
      recent.trim(keepBytes);
    },
    copy: (target, position) => pinned.copy(target, position) ?? recent.copy(target, position),
    pin(position) {
      if (position >= recent.start) pinned = recent.from(position);
    },
  };
}

/** Chunks that follow one another. */
interface Run {
  readonly start: number;
  readonly end: number;
  push(chunk: Buffer): void;
  /** Drops chunks from the start, but leaves at least so many bytes. */
  trim(bytes: number): void;
  copy(target: Uint8Array, position: number): number | null;
  /** Returns a run that begins with the chunk of a position. */
  from(position: number): Run;
}

function createRun(at: number, given: readonly Buffer[] = []): Run {
  const chunks = [...given];
  let start = at;
  let end = at + given.reduce((sum, { length }) => sum + length, 0);
  return {
    get start() {
      return start;
    },
    get end() {
      return end;
    },
    push(chunk) {
      chunks.push(chunk);
      end += chunk.length;
    },
    trim(bytes) {
      for (let first = chunks[0]; first && end - start - first.length >= bytes; first = chunks[0]) {
        start += first.length;
        chunks.shift();
      }
    },
    copy(target, position) {
      if (position < start || position >= end) return null;
      let [from, filled] = [start, 0];
      for (const chunk of chunks) {
        const skipped = position + filled - from;
        if (skipped < chunk.length && filled < target.length) {
          const part = chunk.subarray(skipped, skipped + target.length - filled);
          target.set(part, filled);
          filled += part.length;
        }
        from += chunk.length;
      }
      return filled;
    },
    from(position) {
      let [first, from] = [0, start];
      for (let next = chunks[0]; next && from + next.length <= position; next = chunks[first]) {
        from += next.length;
        first++;
      }
      return createRun(from, chunks.slice(first));
    },
  };
}
