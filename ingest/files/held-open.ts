import type { Content } from './content.ts';
import type { Disk } from './disk.ts';
import type { Handles } from './handles.ts';
import type { Entry, Place } from './scan.ts';

interface Held {
  readonly entry: Entry;
  readonly content: Content;
}

/**
 * Files that were opened as soon as their names came, and that nobody tracks yet: once it is open a file can be read to its end. A busy
 * log may be rotated, packed and dropped while one batch is stored.
 */
export class HeldFiles {
  private readonly byInode = new Map<string, Held>();
  private opening: Promise<void> = Promise.resolve();
  private readonly disk: Disk;
  private readonly handles: Handles;
  private readonly isTracked: (entry: Entry) => boolean;

  constructor(disk: Disk, handles: Handles, isTracked: (entry: Entry) => boolean) {
    this.disk = disk;
    this.handles = handles;
    this.isTracked = isTracked;
  }

  /** Holds what a watch has told of, where it is a log. Never rejects. */
  holdAt(paths: Iterable<string>): Promise<void> {
    this.opening = this.opening.then(async () => {
      for (const path of paths) {
        const place = await this.disk.place(path);
        if (place) await this.hold(place);
      }
    });
    return this.opening;
  }

  /** Holds a file unless it is tracked, or no handle is left for it. A file that cannot be opened is named when it is to be read. */
  async hold({ source, path }: Place): Promise<void> {
    if (this.handles.isFull()) return;
    const content = await this.handles.open(path).catch(() => null);
    if (!content) return;
    const entry = { source, path, ...content.stat() };
    if (this.byInode.has(entry.inode) || this.isTracked(entry)) await content.close();
    else this.byInode.set(entry.inode, { entry, content });
  }

  inodes(): Set<string> {
    return new Set(this.byInode.keys());
  }

  /** How many names each file has by now, by its inode. */
  async links(): Promise<Map<string, number>> {
    await this.opening;
    return new Map([...this.byInode].map(([inode, { content }]) => [inode, content.stat().links]));
  }

  /** Hands over the content of a file that was found; null when it was not held. */
  take({ inode, birth }: Entry): Content | null {
    const held = this.byInode.get(inode);
    if (held?.entry.birth !== birth) return null;
    this.byInode.delete(inode);
    return held.content;
  }

  /** Lets go of those that were `found`, and gives those with something in them that are `unlinked`. */
  async unlinked(unlinked: ReadonlySet<string>, found: ReadonlySet<string>): Promise<Held[]> {
    const given: Held[] = [];
    for (const [inode, { entry, content }] of [...this.byInode]) {
      if (!found.has(inode) && !unlinked.has(inode)) continue;
      this.byInode.delete(inode);
      const stat = content.stat();
      if (found.has(inode) || stat.size === 0) await content.close();
      else given.push({ entry: { ...entry, ...stat }, content });
    }
    return given;
  }

  async close(): Promise<void> {
    await this.opening;
    for (const { content } of this.byInode.values()) await content.close();
    this.byInode.clear();
  }
}
