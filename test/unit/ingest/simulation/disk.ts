import type { Content } from '../../../../ingest/files/content.ts';
import type { Disk } from '../../../../ingest/files/disk.ts';
import type { Entry, FileStat, FoundFile } from '../../../../ingest/files/scan.ts';

interface Inode {
  readonly number: number;
  readonly birth: number;
  /** What it holds; of a `.gz`, unpacked. */
  data: Buffer;
  /** The longest of what it has held since it was made, or was truncated. */
  longest: Generation;
  changed: number;
  links: number;
  handles: number;
  /** Ingest has seen it, and will know it again. */
  known: boolean;
}

/** What a file has held, up to its truncation. */
interface Generation {
  text: string;
}

export const SOURCE = 'edge_logs';
/** A file whose name ends so is not listed. */
export const UNREAD_NAME = '.old';

/**
 * A folder of one source in memory, whose inode numbers are used again as soon as they are free. Every change takes a ms, and what is
 * done to a file is done in one step.
 */
export class SimulatedDisk implements Disk {
  private readonly files = new Map<string, Inode>();
  private readonly generations: Generation[] = [];
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
    if (!data.toString().startsWith(inode.longest.text)) this.beginGeneration(inode);
    inode.data = data;
    inode.longest.text = data.toString();
    this.touch(inode);
  }

  append(name: string, text: string): void {
    const inode = this.files.get(name) ?? this.make(name);
    inode.data = Buffer.concat([inode.data, Buffer.from(text)]);
    inode.longest.text = inode.data.toString();
    this.touch(inode);
  }

  /** Ingest has seen all files that are listed. */
  see(): void {
    for (const [name, inode] of this.files) inode.known ||= !name.endsWith(UNREAD_NAME);
  }

  /** Ingest has forgotten the files of which it has read nothing. */
  forget(hasRead: (text: string) => boolean): void {
    for (const inode of this.files.values()) inode.known &&= hasRead(inode.data.toString());
  }

  isKnown(name: string): boolean {
    return this.files.get(name)?.known ?? false;
  }

  /** Whether another file has held all that this one holds, and more: what is appended to this one makes it another log. */
  isBranch(name: string): boolean {
    const inode = this.files.get(name);
    const text = this.text(name);
    return this.generations.some(
      (each) =>
        each !== inode?.longest && each.text.length > text.length && each.text.startsWith(text),
    );
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
    const found = [...this.files]
      .filter(([name]) => !name.endsWith(UNREAD_NAME))
      .map(
        ([name, inode]): Entry => ({
          source: SOURCE,
          path: `${SOURCE}/${name}`,
          ...this.statOf(inode, name.endsWith('.gz')),
        }),
      );
    await listing?.ended;
    return { found, refused: [] };
  };

  find = async (inodes: ReadonlySet<string>): Promise<Map<string, FoundFile>> => {
    const found = [...this.files].map(
      ([name, inode]): FoundFile => ({
        path: `${SOURCE}/${name}`,
        ...this.statOf(inode, name.endsWith('.gz')),
      }),
    );
    return new Map(
      found.filter(({ inode }) => inodes.has(inode)).map((each) => [each.inode, each]),
    );
  };

  /** The next listing lasts until `ended`: it comes to this folder at once, or late. */
  listing: { readonly isLate: boolean; readonly ended: Promise<void> } | null = null;

  /** What it changes is changed between two reads. */
  beforeRead: () => void = () => {};

  place = async (path: string) =>
    path.endsWith(UNREAD_NAME) ? null : ({ source: SOURCE, path } as const);

  open = async (path: string): Promise<Content> => {
    const inode = this.files.get(path.slice(SOURCE.length + 1));
    if (!inode) throw Object.assign(new Error(`no file ${path}`), { code: 'ENOENT' });
    const packed = path.endsWith('.gz');
    inode.handles++;
    return {
      packed,
      stat: () => this.statOf(inode, packed),
      read: async (target, position) => {
        this.beforeRead();
        return inode.data.copy(target, 0, Math.min(position, inode.data.length));
      },
      has: (bytes, position, size) =>
        inode.data.subarray(position, position + bytes.length).equals(bytes) &&
        inode.data.length >= size,
      pin() {},
      isTorn: () => false,
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
      longest: { text: '' },
      changed: 0,
      links: 1,
      handles: 0,
      known: false,
    };
    this.generations.push(inode.longest);
    this.files.set(name, inode);
    return inode;
  }

  private beginGeneration(inode: Inode): void {
    inode.longest = { text: '' };
    this.generations.push(inode.longest);
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

  private statOf({ number, birth, data, changed, links }: Inode, packed: boolean): FileStat {
    const size = packed ? Math.ceil(data.length / 2) + 20 : data.length;
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
