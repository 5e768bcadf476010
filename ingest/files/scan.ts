import type { BigIntStats, Dirent } from 'node:fs';
import { lstat, readdir, realpath } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { isSource, type Source } from '../source.ts';
import type { IgnoredFile } from '../types.ts';
import type { IsLog } from './names.ts';

/** What the file system says of a file. */
export interface FileStat {
  /** `device:inode`. */
  readonly inode: string;
  /** When the inode was made, ns; empty where the file system does not tell. An inode that is used again has another. */
  readonly birth: string;
  readonly size: number;
  /** `size:mtime:ctime`, which changes whenever the file does. */
  readonly version: string;
  readonly mtimeMs: number;
  /** How many names it has; 0 once it is deleted. */
  readonly links: number;
}

/** Where a log may be: below a source's folder, under a name that is a log's. */
export interface Place {
  readonly source: Source;
  /** Relative to the logs folder, with `/`. */
  readonly path: string;
}

/** A regular file there. */
export interface Entry extends FileStat, Place {}

export interface Listing {
  readonly found: Entry[];
  readonly refused: IgnoredFile[];
}

const AT_A_TIME = 64;

/** Lists the log files below `logs`, and what is there and is not read. Folders that vanish meanwhile are left out. */
export async function scan(logs: string, isLog: IsLog): Promise<Listing> {
  const listing: Listing = { found: [], refused: [] };
  const root = await realpath(logs).catch(() => logs);
  for (const entry of await list(logs)) {
    if (isHidden(entry.name)) {
      await nameHidden(listing, logs, null, entry.name);
    } else if (!isSource(entry.name)) {
      refuse(
        listing,
        null,
        entry.name,
        'it belongs to no source: TAILPOND_SOURCES can name one of its own',
      );
    } else if (entry.isSymbolicLink()) {
      await followLink(listing, root, entry.name, entry.name);
    } else if (entry.isDirectory()) {
      await walk({ listing, root, logs, isLog, source: entry.name }, entry.name);
    } else {
      refuse(
        listing,
        entry.name,
        entry.name,
        'it is a file where the folder of the source should be',
      );
    }
  }
  return listing;
}

/** The place of this path, relative to `logs`; null where no log is read, or a symbolic link is on the way. */
export async function placeOf(logs: string, path: string, isLog: IsLog): Promise<Place | null> {
  const [source = '', ...rest] = path.split('/');
  if (!isSource(source) || rest.some(isHidden) || !isLog(source, rest.join('/'))) return null;
  try {
    const folder = dirname(path);
    const isStraight = (await realpath(join(logs, folder))) === join(await realpath(logs), folder);
    return isStraight ? { source, path } : null;
  } catch {
    return null;
  }
}

/** A file that was found by its inode, wherever it is. */
export interface FoundFile extends FileStat {
  /** Relative to the logs folder, with `/`. */
  readonly path: string;
}

/**
 * Looks for regular files with these inodes (`device:inode`), under any name in any folder below `logs`, hidden ones with them. Does not
 * follow symbolic links. Gives the first path of each.
 */
export async function findInodes(
  logs: string,
  inodes: ReadonlySet<string>,
): Promise<Map<string, FoundFile>> {
  const found = new Map<string, FoundFile>();
  const folders = inodes.size > 0 ? [''] : [];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const files: string[] = [];
    for (const entry of await list(join(logs, folder))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile()) files.push(path);
    }
    for (let i = 0; i < files.length; i += AT_A_TIME)
      for (const file of await Promise.all(files.slice(i, i + AT_A_TIME).map(statOf)))
        if (file && inodes.has(file.inode) && !found.has(file.inode)) found.set(file.inode, file);
    if (found.size === inodes.size) break;
  }
  return found;

  async function statOf(path: string): Promise<FoundFile | null> {
    const stats = await lstat(join(logs, path), { bigint: true }).catch(() => null);
    return stats?.isFile() ? { path, ...fileStat(stats) } : null;
  }
}

export function fileStat(stats: BigIntStats): FileStat {
  return {
    inode: `${stats.dev}:${stats.ino}`,
    birth: stats.birthtimeNs > 0n ? `${stats.birthtimeNs}` : '',
    size: Number(stats.size),
    version: `${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`,
    mtimeMs: Number(stats.mtimeMs),
    links: Number(stats.nlink),
  };
}

interface Walk {
  readonly listing: Listing;
  /** The logs folder, and where it really is. */
  readonly logs: string;
  readonly root: string;
  readonly isLog: IsLog;
  readonly source: Source;
}

async function walk(walked: Walk, folder: string): Promise<void> {
  const { listing, root, logs, isLog, source } = walked;
  const entries = await list(join(logs, folder), (error) =>
    refuse(listing, source, folder, unlisted(folder, error)),
  );
  const files: string[] = [];
  for (const entry of entries) {
    const path = `${folder}/${entry.name}`;
    if (isHidden(entry.name)) await nameHidden(listing, logs, source, path);
    else if (entry.isDirectory()) await walk(walked, path);
    else if (entry.isSymbolicLink()) await followLink(listing, root, source, path);
    else if (!entry.isFile()) refuse(listing, source, path, 'it is not a regular file');
    else if (!isLog(source, path.slice(source.length + 1)))
      refuse(
        listing,
        source,
        path,
        `its name is not one of a log (.ndjson, .jsonl, .json or .log, then a rotation suffix, then .gz): TAILPOND_FILES=${source}=${entry.name} has it read`,
      );
    else files.push(path);
  }
  // Many at a time: one by one each would wait for a thread to wake up.
  for (let i = 0; i < files.length; i += AT_A_TIME)
    await Promise.all(
      files.slice(i, i + AT_A_TIME).map((path) => stat(listing, logs, source, path)),
    );
}

async function stat(listing: Listing, logs: string, source: Source, path: string) {
  try {
    const stats = await lstat(join(logs, path), { bigint: true });
    if (stats.isFile()) listing.found.push({ source, path, ...fileStat(stats) });
  } catch (error) {
    const reason = unlisted(path, error as NodeJS.ErrnoException);
    if (reason) refuse(listing, source, path, reason);
  }
}

/** A link's target is read under its own name if it lies in the logs folder, and never if it lies elsewhere. */
async function followLink(listing: Listing, root: string, source: Source, path: string) {
  const target = await realpath(join(root, path)).catch(() => null);
  if (target === null) refuse(listing, source, path, 'it is a symbolic link that leads nowhere');
  else if (!target.startsWith(root + sep))
    refuse(listing, source, path, 'it is a symbolic link that leads out of the logs folder');
}

async function list(
  folder: string,
  failed?: (error: NodeJS.ErrnoException) => void,
): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    failed?.(error as NodeJS.ErrnoException);
    return [];
  }
}

/** Why something cannot be looked at; null when it has gone since it was listed. A name that Node cannot decode opens nothing. */
function unlisted(path: string, { code }: NodeJS.ErrnoException): string | null {
  if (path.includes('\ufffd')) return 'its name is not UTF-8';
  return code === 'ENOENT' ? null : `it cannot be read (${code})`;
}

function isHidden(name: string): boolean {
  return name.startsWith('.');
}

/** A pushed body that is still being written to its file. */
const PART_NAME = /\/\.[0-9a-f]{32}\.part$/;

/** A program that replaces a file writes a hidden one first, which is soon renamed. */
const SOON_MS = 2000;

/** Refuses a hidden folder, or a hidden file with something in it. `.gitkeep` is empty, and nobody waits for its lines. */
async function nameHidden(listing: Listing, logs: string, source: Source | null, path: string) {
  if (PART_NAME.test(path)) return;
  const stats = await lstat(join(logs, path)).catch(() => null);
  if (!stats || Date.now() - stats.ctimeMs < SOON_MS) return;
  if (stats.isDirectory() || stats.size > 0)
    refuse(listing, source, path, 'it is hidden: its name begins with a dot');
}

function refuse(listing: Listing, source: Source | null, path: string, reason: string | null) {
  if (reason) listing.refused.push({ source, path, reason });
}
