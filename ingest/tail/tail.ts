import { HEAD_OF_LONG_LINE, type OpenBatch } from '../batch/batch.ts';
import type { LongLineBudget } from '../batch/long-line-budget.ts';
import { solidEnd } from '../files/compare.ts';
import type { Content } from '../files/content.ts';
import { extended, HEAD_BYTES, PROOF_BYTES, proves } from '../identity/proofs.ts';
import { RECENT_BYTES } from '../identity/recent-bytes.ts';
import type { FileState, LineReader } from '../types.ts';
import { lastLine, leadingBlanks, takeLines, tooLong } from './lines.ts';

/** How much is read at a time: enough to make a system call cheap, little enough to keep the event loop moving. */
const READ_BYTES = 1024 * 1024;
/** More NULs than this in a row are a hole, or room that was reserved: they are passed over without being held. */
const HOLE_BYTES = 64 * 1024;
/** Bytes of holes and of lines beyond the limit that one call looks at, so that other files have their turn. */
const SCAN_BYTES = 64 * 1024 * 1024;
const NOTHING = Buffer.alloc(0);
const ZEROS = Buffer.alloc(READ_BYTES);
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** A line beyond the limit whose end has not been found yet; it is passed over without being held. */
export interface LongLine {
  /** Offset of its first byte. */
  readonly start: number;
  readonly head: Uint8Array;
  /** Offset of the first byte that has not been looked at. */
  readonly scanned: number;
}

/** A run of NULs, from `start` to `scanned`, whose end has not been found. */
export interface HoleScan {
  readonly start: number;
  readonly scanned: number;
}

/** What becomes of text at the end of the file that no newline closes. */
export type TrailingText =
  /** It stays, more may come. */
  | 'leave'
  /** The file has been quiet: take it if it is a whole JSON object. */
  | 'take-object'
  /** It was unpacked: as `take`, but if the packed data ends early, it stays. */
  | 'take-unless-torn'
  /** Nothing more can come: take it, or reject it. */
  | 'take';

export interface TailOptions {
  readonly maxLine: number;
  readonly reader: LineReader;
  readonly budget: LongLineBudget;
  readonly openEnd: TrailingText;
  /** The file has not grown for so long that no more lines of its last entry are to come. */
  readonly isSettled: boolean;
  /** Working memory from `tailBuffer`; one tail at a time may use it. */
  readonly buffer: Buffer;
}

export interface TailResult {
  /**
   * `end`: everything there is was taken; `more`: there is more, here or in the batch; `changed`: these are not the known bytes;
   * `utf16`: the file begins with the mark of an encoding that is not read.
   */
  readonly outcome: 'end' | 'more' | 'changed' | 'utf16';
  readonly state: FileState;
  readonly long: LongLine | null;
  readonly hole: HoleScan | null;
  /** Behind the offset stands an entry of whole lines that may go on. */
  readonly isHeld: boolean;
  /** The bytes before the offset, as many as are at hand. */
  readonly taken: Buffer;
}

/** Bytes that `tail` holds of a file: a line of `maxLine` bytes, a read, and the bytes that identify the file. */
export function tailBytes(maxLine: number): number {
  return maxLine + READ_BYTES + HEAD_BYTES;
}

/** Working memory for `tail`. */
export function tailBuffer(maxLine: number): Buffer {
  return Buffer.allocUnsafe(tailBytes(maxLine));
}

/**
 * Takes the lines of one file that follow `state.offset` into the batch, as many as it has room for. Proves from the
 * very bytes it reads that the file is still the known one, and again afterwards that it did not change meanwhile;
 * if it did, nothing is taken and the outcome is `changed`. Throws what reading throws.
 */
export async function tail(
  content: Content,
  { state, long: longBefore, hole: holeBefore }: Pick<TailResult, 'state' | 'long' | 'hole'>,
  batch: OpenBatch,
  options: TailOptions,
): Promise<TailResult> {
  const { buffer, maxLine, reader, budget } = options;
  const undo = batch.mark(state.id);
  const isLast = () =>
    options.openEnd === 'take' || (options.openEnd === 'take-unless-torn' && !content.isTorn());
  const changed: TailResult = {
    outcome: 'changed',
    state,
    long: null,
    hole: null,
    isHeld: false,
    taken: NOTHING,
  };

  // Identity: the bytes before the offset come with the first read.
  let base = baseOf(state.offset);
  let next = state.offset - base;
  let have = await content.read(buffer.subarray(0, next + READ_BYTES), base);
  let ended = have < next + READ_BYTES;
  if (have < next) return changed;
  for (const proof of state.proofs) {
    const from = proof.at - proof.length - base;
    if (from >= 0 && !proves(proof, buffer.subarray(from, proof.at - base))) return changed;
  }
  const proof = { at: base, bytes: Buffer.from(buffer.subarray(0, Math.min(have, HEAD_BYTES))) };

  if (base + next === 0 && isUtf16(buffer.subarray(0, have)))
    return { ...changed, outcome: 'utf16' };
  if (base + next === 0 && buffer.subarray(0, have).indexOf(BOM) === 0) {
    next = BOM.length;
    batch.bytes += BOM.length;
  }

  // Whole lines, block by block.
  let long = longBefore;
  let hole: HoleScan | null = null;
  let scanned = 0;
  let full = false;
  let isHeld = false;
  let continues = state.unterminated;
  let unterminated = state.unterminated;
  let proofs = state.proofs;
  let proven = state.offset - base;
  const prove = (end: number) => {
    if (base + end === (proofs.at(-1)?.at ?? 0)) return;
    proofs = extended(proofs, buffer, base, proven, end);
    proven = end;
  };
  /** Moves what begins at `next` to the front of the buffer, behind the bytes that the proofs need, and reads on. */
  const readOn = async () => {
    if (blanks === 0) prove(next);
    const history = Math.min(next, PROOF_BYTES);
    buffer.copyWithin(0, next - history, have);
    base += next - history;
    have -= next - history;
    next = proven = history;
    const wanted = Math.min(READ_BYTES, buffer.length - have);
    const got = await content.read(buffer.subarray(have, have + wanted), base + have);
    have += got;
    ended = got < wanted;
  };
  /** Goes on at `offset`, with the bytes before it that the proofs need. */
  const jump = async (offset: number) => {
    base = Math.max(0, offset - PROOF_BYTES);
    next = proven = offset - base;
    have = await content.read(buffer.subarray(0, next + READ_BYTES), base);
    ended = have < next + READ_BYTES;
  };
  // Blanks that nothing follows may become a line: they are left, and counted once a line follows.
  let blanks = 0;
  const passBlanks = () => {
    if (continues) return;
    const found = leadingBlanks(buffer, next, have);
    if (found > 0 && blanks === 0) prove(next);
    blanks += found;
    next += found;
    if (next < have) {
      batch.bytes += blanks;
      blanks = 0;
    }
  };
  const placeAt = (offset: number) => ({ file: state.path, offset, maxLine, reader, budget });
  /** Takes text that no newline closes as a line, with the entry before it. Returns whether that is so. */
  const takeOpen = async (text: Buffer): Promise<boolean> => {
    const block = Buffer.concat([text, Buffer.from('\n')]);
    const place = { ...placeAt(base + next), continues, isLast: true, behind: 0 };
    full = (await takeLines(block, place, batch)).bytes < block.length;
    if (full) return false;
    batch.bytes--;
    next += text.length;
    isHeld = false;
    return text.at(-1) !== NEWLINE;
  };
  for (;;) {
    if (long) {
      const passed = await passLongLine(content, long, buffer);
      scanned += passed.base + passed.have - long.scanned;
      if (passed.end === null && !(passed.ended && isLast())) {
        long = { ...long, scanned: passed.base + passed.have };
        full = !passed.ended;
        break;
      }
      ({ base, have, ended } = passed);
      const end = passed.end ?? base + have;
      const text = buffer[end - base - 1] === CARRIAGE_RETURN ? end - 1 : end;
      const { start, head } = long;
      batch.reject({
        file: state.path,
        offset: start,
        length: text - start,
        line: head,
        reason: tooLong(maxLine),
      });
      next = Math.min(end + 1 - base, have);
      proven = Math.min(passed.history, next);
      batch.bytes += base + next - start;
      long = null;
      continues = unterminated = false;
      full = scanned >= SCAN_BYTES;
      if (full) break;
    }
    passBlanks();
    const newline = buffer.subarray(0, have).lastIndexOf(NEWLINE);
    if (newline >= next) {
      // Text that no newline closes may go on the last entry, and is taken with it.
      const behind = have - newline - 1;
      const isLastEntry = ended && options.isSettled && !(isLast() && behind > 0);
      const place = { ...placeAt(base + next), continues, isLast: isLastEntry, behind };
      const taken = await takeLines(buffer.subarray(next, newline + 1), place, batch);
      next += taken.bytes;
      isHeld = taken.isHeld;
      if (taken.bytes > 0) continues = unterminated = false;
      full = (next <= newline && !isHeld) || batch.room() === 0;
      if (full) break;
      passBlanks();
    }
    // NULs that reach to the end are room that the writer has reserved: what it will write is not there yet.
    const solid = Math.max(next, solidEnd(buffer, have));
    if (ended) {
      if (solid < have || blanks > 0)
        hole = { start: base + solid - (solid === next ? blanks : 0), scanned: base + have };
      have = solid;
    } else if (have - solid > HOLE_BYTES || (blanks > HOLE_BYTES && next === have)) {
      const start = base + solid - (solid === next ? blanks : 0);
      const known = holeBefore?.start === start ? holeBefore.scanned : 0;
      content.pin(baseOf(base + next - blanks));
      const from = Math.max(base + have, known);
      const passed = await passHole(content, from);
      scanned += (passed.end ?? passed.scanned) - from;
      if (passed.end === null) {
        hole = { start, scanned: passed.scanned };
        full = !passed.ended;
        have = solid;
        break;
      }
      // A line that was torn there ends there.
      if (next < solid) await takeOpen(buffer.subarray(next, solid));
      if (full) break;
      batch.bytes += passed.end - (base + next) + blanks;
      prove(next);
      await jump(passed.end);
      blanks = 0;
      continues = unterminated = false;
      full = scanned >= SCAN_BYTES;
      if (full) break;
      continue;
    }
    // A carriage return at the end does not count.
    if (solid - next > maxLine + 1) {
      prove(next);
      const head = Buffer.from(buffer.subarray(next, next + HEAD_OF_LONG_LINE));
      long = { start: base + next, head, scanned: base + solid };
      content.pin(baseOf(long.start));
      continue;
    }
    if (ended) break;
    await readOn();
  }

  if (!full && !long && next < have) {
    const text = buffer.subarray(next, have);
    const isWhole = options.openEnd === 'take-object' && isObject(lastLine(text));
    if (isWhole || isLast()) unterminated = await takeOpen(text);
  }

  const outcome = full ? 'more' : 'end';
  const offset = long ? long.start : base + next - blanks;
  if (offset === state.offset) return { outcome, state, long, hole, isHeld, taken: NOTHING };
  // A truncation between two reads would mix bytes of two generations; the first bytes read, as far as they were taken, tell.
  if (!content.has(proof.bytes.subarray(0, offset - proof.at), proof.at, offset)) {
    undo();
    return changed;
  }
  if (!long && blanks === 0) prove(next);
  const after: FileState = { ...state, offset, proofs, unterminated };
  batch.file(after);
  const taken =
    long || blanks > 0 ? NOTHING : buffer.subarray(Math.max(0, next - RECENT_BYTES), next);
  return { outcome, state: after, long, hole, isHeld, taken };
}

/**
 * Looks for the newline that ends a long line, as far as one call may. `buffer` then begins at `base`, with `history` bytes from before
 * those that were looked at; `end` is the newline's offset. NULs at the end of the file are not there yet.
 */
async function passLongLine(content: Content, long: LongLine, buffer: Buffer) {
  for (let { scanned } = long; ; ) {
    const base = Math.max(0, scanned - PROOF_BYTES);
    const history = scanned - base;
    const read = await content.read(buffer.subarray(0, history + READ_BYTES), base);
    const ended = read < history + READ_BYTES;
    const have = ended ? Math.max(history, solidEnd(buffer, read)) : read;
    const newline = buffer.subarray(0, have).indexOf(NEWLINE, history);
    const far = scanned - long.scanned >= SCAN_BYTES;
    if (newline >= 0 || ended || far)
      return { base, history, have, ended, end: newline < 0 ? null : base + newline };
    scanned = base + have;
  }
}

/** Looks for the end of a run of NULs, as far as one call may: `end` is the offset of the first other byte. */
async function passHole(content: Content, from: number) {
  const block = Buffer.allocUnsafe(READ_BYTES);
  for (let scanned = from; ; ) {
    const read = await content.read(block, scanned);
    if (block.compare(ZEROS, 0, read, 0, read) !== 0)
      return { scanned, ended: false, end: scanned + block.findIndex((byte) => byte !== 0) };
    scanned += read;
    const ended = read < READ_BYTES;
    if (ended || scanned - from >= SCAN_BYTES) return { scanned, ended, end: null };
  }
}

/** Where the first read begins for what follows an offset. */
function baseOf(offset: number): number {
  return offset < HEAD_BYTES ? 0 : offset - PROOF_BYTES;
}

function isUtf16(start: Buffer): boolean {
  const mark = start.length < 2 ? 0 : start.readUInt16BE();
  return mark === 0xfeff || mark === 0xfffe;
}

function isObject(text: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(text.toString('utf8').replace(/^\ufeff/, ''));
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
