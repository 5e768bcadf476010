import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { type Content, openContent } from './content.ts';
import type { IsLog } from './names.ts';
import { type FoundFile, findInodes, type Listing, type Place, placeOf, scan } from './scan.ts';

/** The files below the logs folder and the time, as ingest sees them. Paths are relative to that folder. */
export interface Disk {
  scan(): Promise<Listing>;
  /** The place of a path that a watch has told; null where no log is read. */
  place(path: string): Promise<Place | null>;
  /** Looks for files by their inodes, under any name in any folder below the logs folder. */
  find(inodes: ReadonlySet<string>): Promise<ReadonlyMap<string, FoundFile>>;
  /** Opens a regular file for reading. Throws what `openContent` throws. */
  open(path: string): Promise<Content>;
  /** The monotonic clock, ms. */
  now(): number;
}

/** `readBytes`: how far behind the last byte that was read of a file a read may begin. */
export function diskOf(logs: string, readBytes: number, isLog: IsLog): Disk {
  return {
    scan: () => scan(logs, isLog),
    place: (path) => placeOf(logs, path, isLog),
    find: (inodes) => findInodes(logs, inodes),
    open: (path) => openContent(join(logs, path), readBytes),
    now: () => performance.now(),
  };
}
