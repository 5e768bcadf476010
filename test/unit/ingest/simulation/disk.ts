import type { Content } from '../../../../ingest/files/content.ts';
import type { Disk } from '../../../../ingest/files/disk.ts';
import type { Entry, FileStat } from '../../../../ingest/files/scan.ts';

interface Inode {
  readonly number: number;
  readonly birth: number;
  /** What it holds; of a `.gz`, unpacked. */
  data: Buffer;
  changed: number;
  links: number;
  handles: number;
}

export const SOURCE = 'edge_logs';

/**
 * A folder of one source in memory, whose inode numbers are used again as soon as they are free. Every change takes a ms, and what is
 * done to a file is done in one step.
 */
export class SimulatedDisk implements Disk {
  private readonly files = new Map<string, Inode>();
  private readonly freeNumbers: number[] = [];
  private lastNumber = 0;
  private time = 1;
  /** Whether the file system knows when an inode was made. */
  private readonly births: boolean;

  constructor(births: boolean) {
    this.births = births;
  }

  now = (): number => this.time;

  pass(ms: number): void {
    this.time += ms;
  }

  has(name: string): boolean {
    return this.files.has(name);
  }

  text(name: string): string {
    return this.files.get(name)?.data.toString() ?? '';
  }

  names(): string[] {
    return [...this.files.keys()];
  }

  /** Makes a file, or gives one other bytes in place. */
  write(name: string, data: Buffer): void {
    const inode = this.files.get(name) ?? this.make(name);
    inode.data = data;
    this.touch(inode);
  }

  append(name: string, text: string): void {
    const inode = this.files.get(name) ?? this.make(name);
    inode.data = Buffer.concat([inode.data, Buffer.from(text)]);
    this.touch(inode);
  }

  rename(from: string, to: string): void {
    const inode = this.at(from);
    if (this.files.has(to)) this.unlink(to);
    this.files.delete(from);
    this.files.set(to, inode);
    this.touch(inode);
  }

  unlink(name: string): void {
    const inode = this.at(name);
    this.files.delete(name);
    inode.links--;
    this.touch(inode);
    this.free(inode);
  }

  /** The files as they are when a listing comes to this folder: at its beginning, or at its end. */
  scan = async () => {
    const listing = this.listing;
    this.listing = null;
    if (listing?.isLate) await listing.ended;
    const found = [...this.files].map(
      ([name, inode]): Entry => ({
        source: SOURCE,
        path: `${SOURCE}/${name}`,
        ...this.statOf(inode, name.endsWith('.gz')),
      }),
    );
    await listing?.ended;
    return { found, refused: [] };
  };

  /** The next listing lasts until `ended`: it comes to this folder at once, or late. */
  listing: { readonly isLate: boolean; readonly ended: Promise<void> } | null = null;

  /** What it changes is changed between two reads. */
  beforeRead: () => void = () => {};

  place = async (path: string) => ({ source: SOURCE, path }) as const;

  open = async (path: string): Promise<Content> => {
    const inode = this.files.get(path.slice(SOURCE.length + 1));
    if (!inode) throw Object.assign(new Error(`no file ${path}`), { code: 'ENOENT' });
    const gzip = path.endsWith('.gz');
    inode.handles++;
    return {
      gzip,
      stat: () => this.statOf(inode, gzip),
      read: async (target, position) => {
        this.beforeRead();
        return inode.data.copy(target, 0, Math.min(position, inode.data.length));
      },
      has: (bytes, position, size) =>
        inode.data.subarray(position, position + bytes.length).equals(bytes) &&
        inode.data.length >= size,
      pin() {},
      close: async () => {
        inode.handles--;
        this.free(inode);
      },
    };
  };

  private make(name: string): Inode {
    const number = this.freeNumbers.pop() ?? ++this.lastNumber;
    const inode = {
      number,
      birth: this.time,
      data: Buffer.alloc(0),
      changed: 0,
      links: 1,
      handles: 0,
    };
    this.files.set(name, inode);
    return inode;
  }

  private touch(inode: Inode): void {
    inode.changed = ++this.time;
  }

  private free(inode: Inode): void {
    if (inode.links === 0 && inode.handles === 0) this.freeNumbers.push(inode.number);
  }

  private at(name: string): Inode {
    const inode = this.files.get(name);
    if (!inode) throw new Error(`no file ${name}`);
    return inode;
  }

  private statOf({ number, birth, data, changed, links }: Inode, gzip: boolean): FileStat {
    const size = gzip ? Math.ceil(data.length / 2) + 20 : data.length;
    return {
      inode: `1:${number}`,
      birth: this.births ? `${birth}` : '',
      size,
      version: `${size}:${changed}:${changed}`,
      mtimeMs: changed,
      links,
    };
  }
}
