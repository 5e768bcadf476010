import { createHash } from 'node:crypto';
import type { Content } from '../files/content.ts';
import type { FileState, Proof } from '../types.ts';

/** How many bytes before an offset a proof covers, at most. */
export const PROOF_BYTES = 256;
/** The start of the line that an offset stands in is looked for in so many bytes before it. */
const LINE_BYTES = 64 * 1024;
/** Where the start of a file is proven: streams that begin alike, as logs with a header do, are told apart early. */
export const HEADS: readonly number[] = [64, 256, 1024];
/** Proofs stand no closer to each other than this. */
const NEAREST = 64;
/** The longest start that is proven while its bytes are at hand. */
export const HEAD_BYTES = 1024;
/** The most ends of copies that are proven of a stream. */
const MOST_COPIES = 16;
/** Hex digits that are kept of a hash: 48 bits, and over a long file no proof decides alone. */
const HASH_CHARACTERS = 12;
const NEWLINE = 0x0a;

/** The state of a file of which nothing was read. */
export const UNREAD = { offset: 0, proofs: [], unterminated: false, finished: null } as const;

/** The proof at offset `at` of a file, of which `before` holds the bytes from `at - before.length` on, or more from the start. */
export function proofAt(before: Uint8Array, at: number, covers = PROOF_BYTES): Proof {
  const end = Math.min(before.length, at);
  const bytes = before.subarray(Math.max(0, end - covers), end);
  return { at, length: bytes.length, hash: hashOf(bytes).slice(0, HASH_CHARACTERS) };
}

/** Whether these bytes, as many as the proof covers, are those that it was made of. */
export function proves({ length, hash }: Proof, bytes: Uint8Array): boolean {
  return bytes.length === length && hashOf(bytes).startsWith(hash);
}

/**
 * The proofs of a stream once the bytes up to `end` of `block` were taken; the block begins at offset `base` of the file, and those
 * before `from` were taken before. A block from the start of the file has its heads proven, and every block the ends of the
 * lines that are `NEAREST` bytes, one and a half times, twice, … as many before its end: an older copy ends with a line.
 */
export function extended(
  proofs: readonly Proof[],
  block: Buffer,
  base: number,
  from: number,
  end: number,
): readonly Proof[] {
  const offset = base + end;
  const places = new Set<number>(base === 0 ? HEADS : []);
  const endOfLine = (at: number) => base + block.lastIndexOf(NEWLINE, at - base - 1) + 1;
  for (let back = NEAREST; offset - back > base + from; back *= 2)
    places.add(endOfLine(offset - back)).add(endOfLine(offset - back - back / 2));
  const inside = [...places].filter(
    (at) => at > base && at < offset && (at > base + from || HEADS.includes(at)),
  );
  const added = inside.map((at) => proofAt(block.subarray(0, at - base), at));
  const kept = proofs.filter(({ at }) => at < offset && !inside.includes(at));
  const all = [...kept, ...added].sort((a, b) => a.at - b.at);
  return [...thinned(all, offset), proofAt(block.subarray(0, end), offset)];
}

/**
 * Returns the state of a content that holds the beginning of a stream, up to `at`: it is read on from the line that stands there, or from `at`
 * itself where that `ends` a line which was taken whole.
 */
export async function resumedAt(
  content: Content,
  { proofs }: Pick<FileState, 'proofs'>,
  at: number,
  ends: boolean,
): Promise<Pick<FileState, 'offset' | 'proofs' | 'unterminated'>> {
  const before = Buffer.alloc(Math.min(at, LINE_BYTES));
  const base = at - before.length;
  await content.read(before, base);
  const end = ends ? before.length : before.lastIndexOf(NEWLINE) + 1;
  if (end === 0) return UNREAD;
  const there = proofs.filter((proof) => proof.at <= base);
  return {
    offset: base + end,
    proofs: extended(there, before.subarray(0, end), base, 0, end),
    unterminated: before[end - 1] !== NEWLINE,
  };
}

/**
 * Returns the proofs with one that says that a copy, `content`, ends at `at`; null when it has fewer bytes. The last 16 of this kind are
 * kept.
 */
export async function withEndOfCopy(
  content: Content,
  proofs: readonly Proof[],
  at: number,
): Promise<readonly Proof[] | null> {
  const before = Buffer.alloc(Math.min(at, PROOF_BYTES));
  if ((await content.read(before, at - before.length)) < before.length) return null;
  const others = proofs.filter((proof) => proof.at !== at);
  const surplus = others.filter(({ endsCopy }) => endsCopy).slice(0, 1 - MOST_COPIES);
  const kept = others.filter((proof) => !surplus.includes(proof));
  return [...kept, { ...proofAt(before, at), endsCopy: true } as const].sort((a, b) => a.at - b.at);
}

/** Proofs stand a quarter of their distance from the end apart, so that there are some tens of a long file; heads are kept. */
function thinned(proofs: readonly Proof[], end: number): Proof[] {
  const kept: Proof[] = [];
  let next = end;
  for (const proof of proofs.toReversed()) {
    const isNear = next - proof.at < Math.max(NEAREST, (end - next) / 4);
    if (isNear && !HEADS.includes(proof.at) && !proof.endsCopy) continue;
    kept.push(proof);
    // A head or a copy ends anywhere in a line, and takes no place from the end of one.
    if (!isNear) next = proof.at;
  }
  return kept.reverse();
}

/** How far a content holds a stream. */
export interface Held {
  /** The content holds the stream as far as its last proof up to here; 0 when it holds none. */
  readonly proven: number;
  /** It holds other bytes at a proof. */
  readonly contradicted: boolean;
  /** Where the content ends, if that is before the last proof, or, of packed data, there; else null. */
  readonly end: number | null;
}

/** Reads as many proofs of a stream as the content holds. Forward, because what is in a `.gz` can only be read so. */
export async function held(content: Content, { proofs }: Pick<FileState, 'proofs'>): Promise<Held> {
  let proven = 0;
  for (const proof of proofs) {
    const bytes = Buffer.allocUnsafe(proof.length);
    const from = proof.at - proof.length;
    const read = await content.read(bytes, from);
    if (read < proof.length)
      return { proven, contradicted: false, end: read > 0 ? from + read : null };
    if (!proves(proof, bytes)) return { proven, contradicted: true, end: null };
    proven = proof.at;
  }
  const ends = content.packed && (await content.read(Buffer.alloc(1), proven)) === 0;
  return { proven, contradicted: false, end: ends ? proven : null };
}

/** Tells whether a file still holds what was read of it: the bytes before the offset. */
export async function stillHolds(
  content: Content,
  { offset, proofs }: FileState,
): Promise<boolean> {
  const last = proofs.at(-1);
  if (!last || offset === 0) return content.stat().size >= offset;
  const bytes = Buffer.allocUnsafe(last.length);
  const read = await content.read(bytes, last.at - last.length);
  return read === last.length && proves(last, bytes);
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha1').update(bytes).digest('hex');
}
