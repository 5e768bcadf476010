import type { Content } from '../files/content.ts';

/** Bytes that are kept of each file: what is written to a log between its copy and its truncation. */
export const RECENT_BYTES = 64 * 1024;
/** Bytes that are kept of all files together; those that were read longest ago go first. */
const MOST_BYTES = 32 * 1024 * 1024;

/**
 * The bytes of streams that were taken last. They tell a copy that was made of a log before more was taken from it, when the log holds
 * them no longer. Over a restart the proofs of a stream have to do.
 */
export class RecentBytes {
  private readonly byId = new Map<number, { bytes: Buffer; end: number }>();
  private total = 0;

  /** Notes that a stream was read on from `from` to `end`; `taken` ends there, and may begin before `from`. */
  note(id: number, from: number, end: number, taken: Buffer): void {
    const before = this.byId.get(id);
    const length = end - from;
    const follows = before?.end === from && length <= taken.length;
    const bytes = follows
      ? Buffer.concat([before.bytes, taken.subarray(taken.length - length)])
      : taken;
    this.forget(id);
    // Copied, so that no longer buffer is kept for it.
    const kept = Buffer.from(bytes.subarray(-RECENT_BYTES));
    this.byId.set(id, { bytes: kept, end });
    this.total += kept.length;
    for (const oldest of this.byId.keys()) {
      if (this.total <= MOST_BYTES) break;
      this.forget(oldest);
    }
  }

  forget(id: number): void {
    this.total -= this.byId.get(id)?.bytes.length ?? 0;
    this.byId.delete(id);
  }

  /** Whether a content of `size` bytes, which holds those of the stream before `proven`, ends in what was taken last. */
  async endsIn(content: Content, size: number, id: number, proven: number): Promise<boolean> {
    const recent = this.byId.get(id);
    if (!recent) return false;
    const start = recent.end - recent.bytes.length;
    const from = Math.max(start, proven - 1);
    if (size > recent.end || size <= start || from >= size || start > proven) return false;
    const bytes = Buffer.alloc(size - from);
    await content.read(bytes, from);
    return bytes.equals(recent.bytes.subarray(from - start, size - start));
  }
}
