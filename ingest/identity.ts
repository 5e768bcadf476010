import { createHash } from 'node:crypto';
import type { Content } from './content.ts';
import { isRotationOf } from './name.ts';
import type { Found } from './scan.ts';
import type { Digest, KnownFile } from './types.ts';

/** The head tells two logs apart even when they begin with the same header line of some hundred bytes. */
export const HEAD_BYTES = 1024;
/** The anchor catches a file that was truncated and grew past the offset again, whatever its first line. */
export const ANCHOR_BYTES = 256;

/** The digest of some bytes. */
export function digest(bytes: Uint8Array): Digest {
  return { length: bytes.length, hash: createHash('sha1').update(bytes).digest('hex') };
}

/** What is known of a file of which nothing was read. */
export const UNREAD = {
  offset: 0,
  head: digest(Buffer.alloc(0)),
  anchor: digest(Buffer.alloc(0)),
  openLine: false,
  finished: null,
} as const;

/** Whether these bytes, as many as the digest covers, are those that it was made of. */
export function isDigestOf({ length, hash }: Digest, bytes: Uint8Array): boolean {
  return bytes.length === length && digest(bytes).hash === hash;
}

/**
 * The known file that `content`, found at a path, is: head and anchor are the same bytes, and it is the same inode, or
 * else stands at the same path, or else its name is a rotation of the known path. Equal hashes alone never make two
 * files one. Of several the one that was read farthest; null when it is new.
 */
export async function identify(
  found: Found,
  content: Content,
  known: Iterable<KnownFile>,
): Promise<KnownFile | null> {
  const read = [...known].filter((file) => file.offset > 0);
  for (const isCandidate of KINSHIPS) {
    // Ascending, because what is in a .gz can only be read forward.
    const candidates = read
      .filter((file) => isCandidate(found, file))
      .sort((a, b) => a.offset - b.offset);
    const unchanged = candidates.find(
      (file) => file.inode === found.inode && file.finished === found.version,
    );
    if (unchanged) return unchanged;
    let match: KnownFile | null = null;
    for (const file of candidates) {
      const longEnough = content.gzip || found.size >= file.offset;
      if (longEnough && (await holds(content, file))) match = file;
    }
    if (match) return match;
  }
  return null;
}

/** What makes a known file a candidate, the strongest first. */
const KINSHIPS: readonly ((found: Found, file: KnownFile) => boolean)[] = [
  (found, file) => file.inode === found.inode,
  (found, file) => file.path === found.path,
  (found, file) => isRotationOf(found.path, file.path),
];

/** Whether `content` still holds, up to the offset, the bytes that were read as `file`. */
export async function holds(content: Content, file: KnownFile): Promise<boolean> {
  const head = Buffer.allocUnsafe(file.head.length);
  const anchor = Buffer.allocUnsafe(file.anchor.length);
  return (
    (await content.read(head, 0)) === head.length &&
    isDigestOf(file.head, head) &&
    (await content.read(anchor, file.offset - anchor.length)) === anchor.length &&
    isDigestOf(file.anchor, anchor)
  );
}
