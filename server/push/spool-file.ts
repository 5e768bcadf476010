import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Source } from '../../ingest/index.ts';

/** The folder below a source's in which pushed lines are kept until they are stored. It is the service's own. */
const FOLDER = 'push';
const PUSH_PATH = new RegExp(`^([^/]+)/${FOLDER}/[0-9a-f]{32}\\.ndjson$`);
/** The name of a file whose lines nobody may read yet: ingest passes over names that begin with a dot. */
const PART_NAME = /^\.[0-9a-f]{32}\.part$/;

/** A file that nothing is written to any more. */
export interface SealedFile {
  /** Relative to the logs folder, with `/`. */
  readonly path: string;
  /** `device:inode`. */
  readonly inode: string;
  /** Behind the last line that a client was told is safe: once all before it is stored the file may go. */
  readonly end: number;
}

export interface PushFile {
  readonly size: number;
  /** On the monotonic clock, ms. */
  readonly bornAt: number;
  /** Appends whole lines and resolves when they are on the disk. Throws, and then nothing more may be appended. */
  append(blocks: readonly Buffer[]): Promise<void>;
  seal(): Promise<SealedFile>;
}

/** Whether the path, relative to the logs folder, is one that only the service gives to a file. */
export function isPushPath(path: string): boolean {
  return PUSH_PATH.test(path);
}

/** Returns true for the name of a file that was not published. */
export function isPartName(name: string): boolean {
  return PART_NAME.test(name);
}

export function pushFolder(source: Source): string {
  return `${source}/${FOLDER}`;
}

/** Makes a file for lines that are pushed to a source; after `append` it outlasts a loss of power, its name included. */
export async function createPushFile(logs: string, source: Source): Promise<PushFile> {
  const { id, name, folder } = await newName(logs, source);
  const path = `${pushFolder(source)}/${name}.ndjson`;
  const { handle, inode } = await create(join(folder, `${name}.ndjson`));
  return new OpenFile({ logs, source, path, inode }, handle, blankLine(id));
}

/** A file of the lines of one body, which nobody reads until it is published. */
export interface SeparateFile {
  readonly size: number;
  /** Appends bytes of lines. Throws, and then the file may only be discarded. */
  append(blocks: readonly Buffer[]): Promise<void>;
  /** Resolves when the file has its name and outlasts a loss of power. */
  publish(): Promise<SealedFile>;
  /** Removes the file, unless it was published. */
  discard(): Promise<void>;
}

export async function createSeparateFile(logs: string, source: Source): Promise<SeparateFile> {
  const { id, name, folder } = await newName(logs, source);
  const path = `${pushFolder(source)}/${name}.ndjson`;
  const part = join(folder, `.${name}.part`);
  const { handle, inode } = await create(part);
  let size = 0;
  let isPart = true;
  return {
    get size() {
      return size;
    },
    async append(blocks) {
      size += await writeAll(handle, size === 0 ? [blankLine(id), ...blocks] : blocks);
    },
    async publish() {
      await handle.datasync();
      await rename(part, join(logs, path));
      isPart = false;
      await handle.close();
      await syncFolders(logs, source);
      await checkFolder(logs, source);
      await checkFile({ logs, source, path, inode }, size);
      return { path, inode, end: size };
    },
    async discard() {
      if (!isPart) return;
      await handle.close();
      await rm(part, { force: true });
    },
  };
}

async function newName(logs: string, source: Source) {
  const id = randomBytes(16);
  const folder = join(logs, pushFolder(source));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await checkFolder(logs, source);
  return { id, name: id.toString('hex'), folder };
}

async function create(path: string): Promise<{ handle: FileHandle; inode: string }> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_APPEND } = constants;
  const handle = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0o600);
  try {
    const { dev, ino } = await handle.stat({ bigint: true });
    return { handle, inode: `${dev}:${ino}` };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Appends the blocks and returns their bytes. */
async function writeAll(handle: FileHandle, blocks: readonly Buffer[]): Promise<number> {
  const bytes = blocks.reduce((sum, block) => sum + block.length, 0);
  const { bytesWritten } = await handle.writev(blocks);
  if (bytesWritten !== bytes) throw new Error(`${bytesWritten} of ${bytes} bytes were written`);
  return bytes;
}

async function syncFolders(logs: string, source: Source): Promise<void> {
  for (const folder of [pushFolder(source), source, '']) await sync(join(logs, folder));
}

/** Throws when the file is not the one that was written. */
async function checkFile({ logs, path, inode }: Place, size: number): Promise<void> {
  const there = await stat(join(logs, path), { bigint: true });
  if (`${there.dev}:${there.ino}` !== inode || Number(there.size) !== size)
    throw new Error(`${path} was removed, moved or changed by another program`);
}

/** Throws when the folder is not a folder of the drop folder, but leads elsewhere: nothing there is ever read. */
async function checkFolder(logs: string, source: Source): Promise<void> {
  const path = pushFolder(source);
  if (!(await lstat(join(logs, path))).isDirectory())
    throw new Error(`${path} is not a folder, but leads out of the drop folder`);
}

/**
 * The first line, which is not one: blanks that no other file begins with. So a file that gets the inode of one that was
 * removed, and the same lines, cannot be taken for it.
 */
function blankLine(id: Buffer): Buffer {
  const bits = [...id].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return Buffer.from(`${bits.replaceAll('0', ' ').replaceAll('1', '\t')}\n`);
}

interface Place {
  readonly logs: string;
  readonly source: Source;
  readonly path: string;
  readonly inode: string;
}

class OpenFile implements PushFile {
  size = 0;
  readonly bornAt = performance.now();
  private readonly place: Place;
  private readonly handle: FileHandle;
  private readonly firstLine: Buffer;

  constructor(place: Place, handle: FileHandle, firstLine: Buffer) {
    this.place = place;
    this.handle = handle;
    this.firstLine = firstLine;
  }

  async append(lines: readonly Buffer[]): Promise<void> {
    const { logs, source } = this.place;
    const isNew = this.size === 0;
    const bytes = await writeAll(this.handle, isNew ? [this.firstLine, ...lines] : lines);
    // The length belongs to the data; the time of the change need not be written.
    await this.handle.datasync();
    if (isNew) await syncFolders(logs, source);
    // Lines that are written to a file that was removed or moved away meanwhile may never be read.
    await checkFolder(logs, source);
    await checkFile(this.place, this.size + bytes);
    this.size += bytes;
  }

  async seal(): Promise<SealedFile> {
    await this.handle.close();
    return { path: this.place.path, inode: this.place.inode, end: this.size };
  }
}

/** Writes a folder through to the disk: the names in it. */
export async function sync(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
