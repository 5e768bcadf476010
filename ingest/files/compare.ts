import type { Content } from './content.ts';

const BLOCK_BYTES = 64 * 1024;
/** Bytes that one look compares, so that others have their turn. */
const LOOK_BYTES = 32 * 1024 * 1024;

/** Reserved room is looked through in blocks of so many bytes, up to so many. */
const ROOM_BLOCK_BYTES = 1024 * 1024;
const MOST_ROOM_BYTES = 1024 * 1024 * 1024;

/** How one content compares with another, from its start. */
export interface Compared {
  /** Its bytes before this are those of the other. */
  readonly equal: number;
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
  // Where the last byte that is not NUL ends.
  let solid = from;
  for (let equal = from; equal - from < LOOK_BYTES; ) {
    const length = await content.read(left, equal);
    const there = length === 0 ? 0 : await other.read(right.subarray(0, length), equal);
    const same = commonLength(left, right, Math.min(length, there));
    const filled = solidEnd(left, length);
    if (filled > 0) solid = equal + Math.min(filled, same);
    // NULs that reach to its end are room that its writer has reserved: it ends before them.
    const mayEnd = filled <= same && (same < length || length < BLOCK_BYTES);
    if (mayEnd && (await isRoom(content, equal + length)))
      return { equal: solid, outcome: 'within' };
    equal += same;
    if (same < length) return { equal, outcome: same < there ? 'differs' : 'longer' };
  }
  return { equal: from + LOOK_BYTES, outcome: 'more' };
}

/** Whether there is nothing but NULs from here on, as far as it is looked: beyond that a content counts as another, and is read. */
async function isRoom(content: Content, from: number): Promise<boolean> {
  const block = Buffer.allocUnsafe(ROOM_BLOCK_BYTES);
  for (let at = from; at - from < MOST_ROOM_BYTES; ) {
    const length = await content.read(block, at);
    if (length === 0) return true;
    if (solidEnd(block, length) > 0) return false;
    at += length;
  }
  return false;
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
