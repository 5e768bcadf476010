import { performance } from 'node:perf_hooks';
import type { Content } from './content.ts';
import { ANCHOR_BYTES, isDigestOf } from './identity.ts';
import { RECENT_BYTES } from './tail.ts';
import type { KnownFile } from './types.ts';

/** A copy of a log that was truncated appears soon, if at all. */
const RECENT_MS = 60_000;

/**
 * The bytes before the offsets of the files that were read, or truncated, within the last minute. A copy that ends
 * among them is known by them, when its original no longer holds them. This memory does not outlive the process.
 */
export class RecentBytes {
  private readonly byId = new Map<number, { bytes: Buffer; end: number; at: number }>();

  /** Notes that a file was read on from `from` to `known.offset`; `read` ends there, and may begin before `from`. */
  note(known: KnownFile, from: number, read: Buffer): void {
    if (read.length === 0) return;
    const before = this.byId.get(known.id);
    const taken = known.offset - from;
    const follows = before?.end === from && taken <= read.length;
    const bytes = follows ? Buffer.concat([before.bytes, read.subarray(-taken)]) : read;
    const kept = Buffer.from(bytes.subarray(-RECENT_BYTES));
    this.byId.set(known.id, { bytes: kept, end: known.offset, at: performance.now() });
  }

  forgetOld(now: number): void {
    for (const [id, { at }] of this.byId) if (now - at > RECENT_MS) this.byId.delete(id);
  }

  /** Whether `content`, of `size` bytes, ends within what was read last of a file, and in the same bytes. */
  async hold(content: Content, file: KnownFile, size: number): Promise<boolean> {
    const recent = this.byId.get(file.id);
    if (recent?.end !== file.offset) return false;
    const start = recent.end - recent.bytes.length;
    const from = Math.max(start, size - ANCHOR_BYTES);
    if (from >= size) return false;
    const bytes = Buffer.alloc(size - from);
    await content.read(bytes, from);
    if (!bytes.equals(recent.bytes.subarray(from - start, size - start))) return false;
    const head = Buffer.alloc(file.head.length);
    // A head beyond the copy's end lies within the bytes just compared, or the copy could not be judged.
    return size < head.length
      ? start === 0
      : (await content.read(head, 0)) === head.length && isDigestOf(file.head, head);
  }
}
