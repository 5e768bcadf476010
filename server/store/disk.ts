import { statfs } from 'node:fs/promises';

/** What the files of the store take, and what its disk has left; bytes. */
export interface DiskUse {
  readonly database: number;
  /** The write-ahead log. */
  readonly wal: number;
  readonly free: number;
  /** What must be free for lines to be stored; 0: any. */
  readonly minFree: number;
}

export interface DiskOptions {
  /** A folder of the file system that the store is on. */
  readonly folder: string;
  /** Bytes that must be free; 0: the disk is not looked at. */
  readonly minFree: number;
  /** Bytes of the database file that hold nothing and are written before the file grows. */
  readonly freeBytes: () => Promise<number>;
  /** Bytes that the database may take where nothing may be removed from it; Infinity otherwise. */
  readonly mostBytes: number;
  /** Bytes of the database file and of its write-ahead log. */
  readonly databaseBytes: () => number;
}

/** Once it was too little, this much more must be free, so that it does not come and go with the write-ahead log. */
const MARGIN = 1.1;
/**
 * The part of `minFree` that must be free on the disk itself, whatever the database file has: staging, spilled queries and
 * the write-ahead log need it.
 */
const OUTSIDE = 0.5;

/**
 * Gives the question whether there is room for more lines, and for `bytes` beside them: the answer is why
 * not, or null. What retention removes frees
 * blocks inside the database file, which does not shrink; they count as room, or ingest would never go on by itself.
 */
export function diskGuard({ folder, minFree, freeBytes, mostBytes, databaseBytes }: DiskOptions) {
  let full = false;
  return async (bytes = 0): Promise<string | null> => {
    const taken = databaseBytes() + bytes;
    if (taken > mostBytes && taken - (await freeBytes()) > mostBytes)
      return `The store has reached ${megabytes(mostBytes)} (TAILPOND_MAX_DISK), and its rows have not been forwarded yet.`;
    if (minFree === 0) return null;
    const needed = full ? minFree * MARGIN : minFree;
    const free = (await freeBytesOf(folder)) - bytes;
    const tooLittle =
      free < needed && (free < needed * OUTSIDE || free + (await freeBytes()) < needed);
    if (bytes === 0) full = tooLittle;
    if (!tooLittle) return null;
    return `The disk is nearly full: ${megabytes(free)} are free, and ${megabytes(needed)} must be (TAILPOND_MIN_FREE).`;
  };
}

/** What this process may still write to the file system that `folder` is on, bytes. */
export async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

function megabytes(bytes: number): string {
  return `${Math.floor(bytes / 1e6)} MB`;
}
