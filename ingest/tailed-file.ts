import type { Content } from './content.ts';
import type { Found } from './scan.ts';
import type { LongLine } from './tail.ts';
import type { KnownFile } from './types.ts';

/** A file that is being followed. Its handle outlives its name, so that a deleted file is read to its end. */
export interface TailedFile {
  known: KnownFile;
  /** As last seen at a path; null once no path leads to it. */
  found: Found | null;
  content: Content | null;
  size: number;
  version: string;
  /** The version that was read to its end: until it changes there is nothing to take. */
  exhausted: string | null;
  /** The version whose last line, without a newline, was looked at after a quiet time. */
  judged: string | null;
  long: LongLine | null;
  /** Of a shadow: the versions of it and of its original that were compared last. */
  comparedAt: string | null;
  mtimeMs: number;
  /** When it was last seen to change, on the monotonic clock in ms. */
  changedAt: number;
  /** When it was last seen to grow; a file that was old when it was first seen has not grown yet. */
  grewAt: number;
}

/** A file first seen this soon after its last change is one that grows now. */
const FRESH_MS = 10_000;

/** A file that was just met at a path. */
export function metFile(known: KnownFile, found: Found, content: Content, now: number): TailedFile {
  const { size, version, mtimeMs } = found;
  const fresh = Date.now() - mtimeMs < FRESH_MS;
  return {
    known,
    found,
    content,
    size,
    version,
    exhausted: known.finished === version ? version : null,
    judged: null,
    long: null,
    comparedAt: null,
    mtimeMs,
    changedAt: now,
    grewAt: fresh ? now : Number.NEGATIVE_INFINITY,
  };
}

/** Notes what a file looks like now. */
export function see(file: TailedFile, at: Found, now: number): void {
  if (at.version === file.version) return;
  if (at.size > file.size) file.grewAt = now;
  if (file.long && at.size < file.long.scanned) file.long = null;
  file.size = at.size;
  file.version = at.version;
  file.mtimeMs = at.mtimeMs;
  file.changedAt = now;
}
