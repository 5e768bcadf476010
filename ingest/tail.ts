import { fstatSync, readSync } from 'node:fs';
import { HEAD_OF_LONG_LINE, type OpenBatch } from './batch.ts';
import type { Content } from './content.ts';
import type { Density } from './density.ts';
import { ANCHOR_BYTES, digest, HEAD_BYTES, isDigestOf } from './identity.ts';
import { leadingBlanks, takeLines, tooLong } from './lines.ts';
import type { Digest, KnownFile } from './types.ts';

/** How much is read at a time: enough to make a system call cheap, little enough to keep the event loop moving. */
const READ_BYTES = 1024 * 1024;
/** How much of what was read last is kept, to know a copy by that was made a moment before. */
export const RECENT_BYTES = 64 * 1024;
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

/** What is to become of text at the end of the file that no newline closes. */
export type OpenEnd =
  /** It stays, more may come. */
  | 'leave'
  /** The file has been quiet: take it if it is a whole JSON object. */
  | 'take-object'
  /** Nothing more can come: take it, or reject it. */
  | 'take';

export interface TailOptions {
  readonly maxLine: number;
  readonly density: Density;
  readonly openEnd: OpenEnd;
  /** Working memory from `tailBuffer`; one tail at a time may use it. */
  readonly buffer: Buffer;
}

export interface TailResult {
  /**
   * `end`: everything there is was taken; `more`: the batch is full; `changed`: these are not the known bytes;
   * `utf16`: the file begins with the mark of an encoding that is not read.
   */
  readonly outcome: 'end' | 'more' | 'changed' | 'utf16';
  readonly known: KnownFile;
  readonly long: LongLine | null;
  /** The bytes before the offset, as many as are at hand; at least those that this call took, up to `RECENT_BYTES`. */
  readonly recent: Buffer;
}

/** Working memory for `tail`: a line of `maxLine` bytes, a read, and the bytes that identify the file. */
export function tailBuffer(maxLine: number): Buffer {
  return Buffer.allocUnsafe(maxLine + READ_BYTES + HEAD_BYTES);
}

/**
 * Takes the lines of one file that follow `known.offset` into the batch, as many as it has room for. Proves from the
 * very bytes it reads that the file is still the known one, and again afterwards that it did not change meanwhile;
 * if it did, nothing is taken and the outcome is `changed`. Throws what reading throws.
 */
export async function tail(
  content: Content,
  known: KnownFile,
  longBefore: LongLine | null,
  batch: OpenBatch,
  options: TailOptions,
): Promise<TailResult> {
  const { buffer, maxLine, density } = options;
  const undo = batch.mark();
  const nothing = Buffer.alloc(0);
  const changed: TailResult = { outcome: 'changed', known, long: null, recent: nothing };

  // Identity: the bytes before the offset come with the first read.
  let base = known.offset < HEAD_BYTES ? 0 : known.offset - ANCHOR_BYTES;
  let next = known.offset - base;
  let have = await content.read(buffer.subarray(0, next + READ_BYTES), base);
  let ended = have < next + READ_BYTES;
  if (have < next) return changed;
  if (base === 0 && !isDigestOf(known.head, buffer.subarray(0, known.head.length))) return changed;
  if (!isDigestOf(known.anchor, buffer.subarray(next - known.anchor.length, next))) return changed;
  const proof = { at: base, bytes: Buffer.from(buffer.subarray(0, Math.min(have, HEAD_BYTES))) };

  // Whole lines, block by block.
  let long = longBefore;
  let full = false;
  let continues = known.openLine;
  let openLine = known.openLine;
  if (base + next === 0 && isUtf16(buffer.subarray(0, have))) {
    return { outcome: 'utf16', known, long: null, recent: nothing };
  }
  if (base + next === 0 && buffer.subarray(0, have).indexOf(BOM) === 0) {
    next = BOM.length;
    batch.bytes += BOM.length;
  }
  // Where the next tail has to begin, when that is before `next`.
  let held: { offset: number; anchor: Digest } | null = long ? known : null;
  const passBlanks = () => {
    const blanks = continues ? 0 : leadingBlanks(buffer, next, have);
    if (blanks > 0) {
      held ??= { offset: base + next, anchor: anchorAt(buffer, next) };
      next += blanks;
      batch.bytes += blanks;
    }
    if (next < have) held = null;
  };
  for (;;) {
    if (long) {
      const passed = await passLongLine(content, long, buffer);
      if (passed.end === null && options.openEnd !== 'take') {
        long = { ...long, scanned: passed.base + passed.have };
        break;
      }
      ({ base, have, ended } = passed);
      const end = passed.end ?? base + have;
      const text = buffer[end - base - 1] === CARRIAGE_RETURN ? end - 1 : end;
      const { start, head } = long;
      batch.reject({
        file: known.path,
        offset: start,
        length: text - start,
        line: head,
        reason: tooLong(maxLine),
      });
      next = Math.min(end + 1 - base, have);
      batch.bytes += base + next - start;
      long = held = null;
      continues = openLine = false;
    }
    passBlanks();
    const newline = buffer.subarray(0, have).lastIndexOf(NEWLINE);
    if (newline >= next) {
      const place = { file: known.path, offset: base + next, continues, maxLine, density };
      next += await takeLines(buffer.subarray(next, newline + 1), place, batch);
      continues = openLine = false;
      full = next <= newline || batch.room() === 0;
      if (full) break;
      passBlanks();
    }
    // A carriage return at the end does not count.
    if (have - next > maxLine + 1) {
      const head = Buffer.from(buffer.subarray(next, next + HEAD_OF_LONG_LINE));
      long = { start: base + next, head, scanned: base + have };
      held = { offset: base + next, anchor: anchorAt(buffer, next) };
      continue;
    }
    if (ended) break;
    const history = Math.min(next, ANCHOR_BYTES);
    buffer.copyWithin(0, next - history, have);
    base += next - history;
    have -= next - history;
    next = history;
    const wanted = Math.min(READ_BYTES, buffer.length - have);
    const got = await content.read(buffer.subarray(have, have + wanted), base + have);
    have += got;
    ended = got < wanted;
  }

  // Text that no newline closes.
  if (!full && !long && next < have && options.openEnd !== 'leave') {
    const text = buffer.subarray(next, have);
    if (options.openEnd === 'take' || isObject(text)) {
      const block = Buffer.concat([text, Buffer.from('\n')]);
      const place = { file: known.path, offset: base + next, continues, maxLine, density };
      if ((await takeLines(block, place, batch)) === block.length) {
        batch.bytes--;
        next = have;
        openLine = true;
      } else {
        full = true;
      }
    }
  }

  // Blanks that nothing follows may become a line, NULs may be room that the writer has reserved and will fill: they are left.
  if (held) batch.bytes -= base + next - held.offset;
  const offset = held?.offset ?? base + next;
  const outcome = full ? 'more' : 'end';
  if (offset === known.offset) return { outcome, known, long, recent: nothing };
  if (!content.gzip && !unchanged(content, proof, offset)) {
    undo();
    return changed;
  }
  const head =
    proof.at === 0 ? digest(proof.bytes.subarray(0, Math.min(offset, HEAD_BYTES))) : known.head;
  const anchor = held?.anchor ?? anchorAt(buffer, next);
  const after: KnownFile = { ...known, offset, head, anchor, openLine };
  batch.file(after);
  const recent = held
    ? nothing
    : Buffer.from(buffer.subarray(Math.max(0, next - RECENT_BYTES), next));
  return { outcome, known: after, long, recent };
}

/** Looks for the newline that ends a long line. `buffer` then begins at `base`, and `end` is the newline's offset. */
async function passLongLine(content: Content, long: LongLine, buffer: Buffer) {
  for (let scanned = long.scanned; ; ) {
    const base = Math.max(0, scanned - ANCHOR_BYTES);
    const history = scanned - base;
    const have = await content.read(buffer.subarray(0, history + READ_BYTES), base);
    const ended = have < history + READ_BYTES;
    const newline = buffer.subarray(0, have).indexOf(NEWLINE, history);
    if (newline >= 0 || ended)
      return { base, have, ended, end: newline < 0 ? null : base + newline };
    scanned = base + have;
  }
}

function anchorAt(buffer: Buffer, end: number): Digest {
  return digest(buffer.subarray(Math.max(0, end - ANCHOR_BYTES), end));
}

function isUtf16(start: Buffer): boolean {
  const mark = start.length < 2 ? 0 : start.readUInt16BE();
  return mark === 0xfeff || mark === 0xfffe;
}

/**
 * A truncation between two reads would mix bytes of two generations; the first bytes read and the size tell. On the
 * event loop: these bytes have just been read, and wait for the thread pool far longer than they take.
 */
function unchanged({ handle }: Content, proof: { at: number; bytes: Buffer }, offset: number) {
  const again = Buffer.allocUnsafe(proof.bytes.length);
  const got = readSync(handle.fd, again, 0, again.length, proof.at);
  return got === again.length && again.equals(proof.bytes) && fstatSync(handle.fd).size >= offset;
}

function isObject(text: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(text.toString('utf8').replace(/^\ufeff/, ''));
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
