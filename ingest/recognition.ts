import type { Content } from './content.ts';
import { beginAlike, mayBecomeCopy, originalOf, readToEnd } from './copies.ts';
import { isUnread } from './due.ts';
import { identify, UNREAD } from './identity.ts';
import { isGzip, isRotated, isRotationOf } from './name.ts';
import type { RecentBytes } from './recent.ts';
import type { Found } from './scan.ts';
import type { TailedFile } from './tailed-file.ts';
import type { KnownFile } from './types.ts';

/** What files are recognised by. */
export interface Memory {
  readonly known: ReadonlyMap<number, KnownFile>;
  readonly tailed: ReadonlyMap<number, TailedFile>;
  readonly recent: RecentBytes;
  /** An id that no file has had. */
  readonly newId: () => number;
}

/** A rotated name may be a copy that is still being written, and matches nothing yet. */
const SETTLE_MS = 1000;

/** Tells which file stands at a path. It changes nothing of the memory that it goes by. */
export class Recognition {
  private readonly memory: Memory;
  /** The files that could not be told yet, by path, and since when they have not changed. */
  private readonly waiting = new Map<string, { version: string; since: number }>();

  constructor(memory: Memory) {
    this.memory = memory;
  }

  /**
   * The state of the file that stands at a path: a known one, the very same object when nothing of it has changed; a
   * copy of a known one; or a new one. Null while that can not be told. Throws what reading throws.
   */
  async whichFile(entry: Found, content: Content, now: number): Promise<KnownFile | null> {
    const known = await this.match(entry, content, now);
    if (known) this.waiting.delete(entry.path);
    return known;
  }

  /** Forgets what it has waited for and is no longer there, or has a followed file in its place by now. */
  forgetOthers(found: readonly Found[]): void {
    const followed = new Set([...this.memory.tailed.values()].map(({ known }) => known.path));
    const others = new Set(found.map(({ path }) => path).filter((path) => !followed.has(path)));
    for (const path of this.waiting.keys()) if (!others.has(path)) this.waiting.delete(path);
  }

  private async match(entry: Found, content: Content, now: number): Promise<KnownFile | null> {
    const { known } = this.memory;
    try {
      const match = await identify(entry, content, known.values());
      if (match) return this.recognised(entry, match);
      if (!isRotated(entry.path)) return this.newFile(entry);
      // A copy that is still being written, or whose original is not read so far, matches nothing yet.
      if (mayBecomeCopy(entry, known.values()) && !this.hasSettled(entry, now)) return null;
      if (await this.waitsForOriginal(entry, content)) return null;
      return (await this.shorterCopy(entry, content)) ?? this.newFile(entry);
    } catch (error) {
      // A .gz that is still being written ends early.
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'Z_BUF_ERROR' && !this.hasSettled(entry, now)) return null;
      throw error;
    }
  }

  /** A file that holds what was read as `match`: that one, or its copy if that one is followed at another place. */
  private recognised(entry: Found, match: KnownFile): KnownFile {
    const { source, path, inode } = entry;
    if (this.memory.tailed.has(match.id)) {
      const id = this.memory.newId();
      return { ...match, id, source, path, inode, shadowOf: match.id, finished: null };
    }
    if (match.path === path && match.inode === inode && !match.gone) return match;
    return { ...match, source, path, inode, gone: false };
  }

  private newFile({ source, path, inode }: Found): KnownFile {
    const id = this.memory.newId();
    return { id, source, path, inode, shadowOf: null, gone: false, ...UNREAD };
  }

  /** The state of a copy of which every byte was read through its original; null when it is none. */
  private async shorterCopy(entry: Found, content: Content): Promise<KnownFile | null> {
    const { known, tailed, recent, newId } = this.memory;
    const contentOf = ({ id }: KnownFile) => tailed.get(id)?.content ?? null;
    const found = await originalOf(entry, content, known.values(), recent, contentOf);
    if (!found) return null;
    const { original, size } = found;
    const { source, path, inode } = entry;
    return {
      ...original,
      ...(await readToEnd(content, size)),
      id: newId(),
      source,
      path,
      inode,
      shadowOf: tailed.has(original.id) ? original.id : null,
      gone: false,
      openLine: false,
    };
  }

  /**
   * Whether a log that it may be a copy of is still to be told, or nothing of that has been read: met now, both would be
   * read. A `.gz` is taken for the copy, never for the log, or two could wait for each other.
   */
  private async waitsForOriginal(entry: Found, content: Content): Promise<boolean> {
    if (isGzip(entry.path))
      for (const path of this.waiting.keys())
        if (!isGzip(path) && isRotationOf(entry.path, path)) return true;
    for (const file of this.memory.tailed.values()) {
      const { path, offset } = file.known;
      if (offset > 0 || !isUnread(file) || isGzip(path) || !isRotationOf(entry.path, path))
        continue;
      if (!file.content || (await beginAlike(content, file.content))) return true;
    }
    return false;
  }

  private hasSettled(entry: Found, now: number): boolean {
    const seen = this.waiting.get(entry.path);
    if (seen?.version === entry.version) return now - seen.since >= SETTLE_MS;
    this.waiting.set(entry.path, { version: entry.version, since: now });
    return false;
  }
}
