import type { Content } from './content.ts';
import { ANCHOR_BYTES, digest, HEAD_BYTES, isDigestOf } from './identity.ts';
import { isGzip, isRotationOf } from './name.ts';
import type { RecentBytes } from './recent.ts';
import type { Found } from './scan.ts';
import type { KnownFile } from './types.ts';

const UNPACK_BYTES = 1024 * 1024;

/** Whether there is a file that `entry` could be a copy of, or whose bytes it could hold compressed. */
export function mayBecomeCopy(entry: Found, known: Iterable<KnownFile>): boolean {
  if (isGzip(entry.path)) return true;
  return [...known].some((file) => isRotationOf(entry.path, file.path));
}

/**
 * The known file that `content` is a copy of, although it ends before that one's offset, because the original was read
 * on after the copy was made: all of the copy has been taken. The original's own bytes prove it (`contentOf`), or, when
 * it has been truncated since, perhaps unseen, the bytes that were read of it last. With the bytes that the copy holds. Null
 * when there is none.
 */
export async function originalOf(
  entry: Found,
  content: Content,
  known: Iterable<KnownFile>,
  recent: RecentBytes,
  contentOf: (file: KnownFile) => Content | null,
): Promise<{ original: KnownFile; size: number } | null> {
  const candidates: KnownFile[] = [];
  for (const file of known) {
    if (isRotationOf(entry.path, file.path) && (await mayBeginAs(content, file)))
      candidates.push(file);
  }
  // Only what begins alike is unpacked to its end.
  if (candidates.length === 0) return null;
  const size = content.gzip ? await unpackedSize(content) : entry.size;
  for (const original of candidates) {
    if (original.offset <= size) continue;
    if (await recent.hold(content, original, size)) return { original, size };
    const bytes = contentOf(original);
    if (bytes && (await sameStart(content, bytes, size))) return { original, size };
  }
  return null;
}

/** Whether `content` begins with the bytes that the file does, or ends before that could be told. */
async function mayBeginAs(content: Content, { offset, head }: KnownFile): Promise<boolean> {
  const bytes = Buffer.alloc(head.length);
  return offset > 0 && ((await content.read(bytes, 0)) < head.length || isDigestOf(head, bytes));
}

/** How many bytes a `.gz` holds: it says so only when it was unpacked. */
async function unpackedSize(content: Content): Promise<number> {
  const block = Buffer.alloc(UNPACK_BYTES);
  for (let size = 0; ; ) {
    const read = await content.read(block, size);
    size += read;
    if (read < block.length) return size;
  }
}

/** What is known of a file whose `size` bytes have all been read. */
export async function readToEnd(
  content: Content,
  size: number,
): Promise<Pick<KnownFile, 'offset' | 'head' | 'anchor'>> {
  const head = Buffer.alloc(Math.min(size, HEAD_BYTES));
  const anchor = Buffer.alloc(Math.min(size, ANCHOR_BYTES));
  await content.read(head, 0);
  await content.read(anchor, size - anchor.length);
  return { offset: size, head: digest(head), anchor: digest(anchor) };
}

/** Whether one of two contents may be a copy of the other, or of a part of it: as far as both go, they have the same head. */
export async function beginAlike(a: Content, b: Content): Promise<boolean> {
  const [left, right] = [Buffer.alloc(HEAD_BYTES), Buffer.alloc(HEAD_BYTES)];
  const length = Math.min(await a.read(left, 0), await b.read(right, 0));
  return length > 0 && left.subarray(0, length).equals(right.subarray(0, length));
}

/** Whether two contents begin with the same bytes, judged by the first and the last of the first `size`. */
async function sameStart(a: Content, b: Content, size: number): Promise<boolean> {
  const [length, last] = [Math.min(size, HEAD_BYTES), Math.max(0, size - ANCHOR_BYTES)];
  for (const [at, count] of [
    [0, length],
    [last, size - last],
  ] as const) {
    const [left, right] = [Buffer.alloc(count), Buffer.alloc(count)];
    await a.read(left, at);
    await b.read(right, at);
    if (!left.equals(right)) return false;
  }
  return size > 0;
}
