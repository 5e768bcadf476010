import type { Content } from '../files/content.ts';

const NEWLINE = 0x0a;
const BLOCK_BYTES = 64 * 1024;
/** Bytes that one look compares, so that others have their turn. */
const LOOK_BYTES = 32 * 1024 * 1024;

/** How one content compares with another, from its start. */
export interface Compared {
  /** Its bytes before this are those of the other. */
  readonly equal: number;
  /** Where the line begins that stands there; 0 when that is the first line, or was not seen. */
  readonly line: number;
  /**
   * `within`: it ends there, and the other holds all of it; `longer`: the other ends there; `differs`: they go on differently;
   * `more`: they are to be compared further.
   */
  readonly outcome: 'within' | 'longer' | 'differs' | 'more';
}

/**
 * Compares `content` with `other`, of which it has the bytes before `from` as far as is known; from the start when it does not have the
 * last of them. What another program copies from `other` meanwhile is read first.
 */
export async function compare(content: Content, other: Content, from: number): Promise<Compared> {
  const [left, right] = [Buffer.allocUnsafe(BLOCK_BYTES), Buffer.allocUnsafe(BLOCK_BYTES)];
  const before = Math.min(from, BLOCK_BYTES);
  const read = await content.read(left.subarray(0, before), from - before);
  const there = await other.read(right.subarray(0, before), from - before);
  // Behind what was read stands what was in the memory before, which may be the same bytes.
  if (Math.min(read, there) < before || commonLength(left, right, before) < before)
    return compare(content, other, 0);
  const last = left.subarray(0, before).lastIndexOf(NEWLINE);
  let line = last < 0 ? 0 : from - before + last + 1;
  for (let equal = from; equal - from < LOOK_BYTES; ) {
    const length = solidEnd(left, await content.read(left, equal));
    const wanted = right.subarray(0, length);
    const there = length === 0 ? 0 : await other.read(wanted, equal);
    const same = commonLength(left, right, Math.min(length, there));
    const newline = left.subarray(0, same).lastIndexOf(NEWLINE);
    if (newline >= 0) line = equal + newline + 1;
    equal += same;
    if (same < Math.min(length, there)) return { equal, line, outcome: 'differs' };
    if (there < length) return { equal, line, outcome: 'longer' };
    if (length < BLOCK_BYTES) return { equal, line, outcome: 'within' };
  }
  return { equal: from + LOOK_BYTES, line, outcome: 'more' };
}

/** Where the bytes of a block end that a writer has filled: NULs behind them may be room that it has reserved. */
export function solidEnd(block: Uint8Array, end: number): number {
  let solid = end;
  while (solid > 0 && block[solid - 1] === 0) solid--;
  return solid;
}

function commonLength(left: Buffer, right: Buffer, length: number): number {
  if (left.compare(right, 0, length, 0, length) === 0) return length;
  let same = 0;
  while (left[same] === right[same]) same++;
  return same;
}
