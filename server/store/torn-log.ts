import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync } from 'node:fs';

/** What stands at the end of a write-ahead log of a commit that was cut off: by a kill, or by a loss of power. */
export interface TornCommit {
  /** The log's file. */
  readonly log: string;
  /** Where in it the last commit ends that is whole; 0 where none is. */
  readonly start: number;
  /** How many bytes there are from there on. */
  readonly bytes: number;
}

/** What DuckDB 1.5 says of an entry whose checksum is wrong; the position is that of its payload. */
const DAMAGED_ENTRY =
  /replaying WAL file "([^"]+)": Corrupt WAL file: entry at byte position (\d+) computed checksum/;
/** Before its payload an entry has its size and its checksum, 8 bytes each. */
const ENTRY_HEADER_BYTES = 16;
/** The entry that ends each commit: it holds nothing but its type, and so is always the same. */
const COMMIT_ENTRY = Buffer.from('0500000000000000e7fe7d722fed3d5e640064ffff', 'hex');
const CHUNK_BYTES = 1 << 20;
/** What a log begins with is shorter. */
const MOST_VERSION_BYTES = 256;
/** The fields of that, and its values. */
const [TYPE, VERSION, DATABASE, CHECKPOINT, END] = [100, 101, 102, 103, 0xffff];
const TYPE_OF_VERSION = 98;
/** The form that is read here: entries have sizes and checksums, and are not encrypted. */
const KNOWN_VERSION = 2;

/**
 * The torn commit that a log ends with; null where it ends with a whole one, and where it is damaged, as the engine will say. To be called
 * before the engine opens it: of a torn commit the engine keeps the rows that were written past the log, although it drops the rest
 * (docs/decisions/0024).
 */
export function tornCommit(log: string): TornCommit | null {
  return withFile(log, (file, size) => tornBefore(file, log, size, size));
}

/**
 * The commit at the end of a log that a loss of power damaged, if that is what an open failed with; null for any other damage, which may have
 * taken commits that were confirmed. A file system may keep the length of a file and not its last pages, which are zeros then.
 */
export function damagedCommit(error: unknown): TornCommit | null {
  const [, log, payload] =
    DAMAGED_ENTRY.exec(error instanceof Error ? error.message : String(error)) ?? [];
  if (log === undefined) return null;
  const entry = Number(payload) - ENTRY_HEADER_BYTES;
  return withFile(log, (file, size) => tornBefore(file, log, size, entry));
}

/** Cuts the commit off its log, for good. No process may have the log open. */
export function cutOff({ log, start }: TornCommit): void {
  const file = openSync(log, 'r+');
  try {
    ftruncateSync(file, start);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * What follows the last commit that ends at `until` or before it. The engine synchronises a log before it confirms a commit, and writes none
 * before the last is confirmed. So what follows the end of a later commit was confirmed, and what no later commit follows never was, unless
 * the disk lost what it had confirmed.
 */
function tornBefore(file: number, log: string, size: number, until: number): TornCommit | null {
  const start = lastCommitEnd(file, until);
  if (start === null || start === size || followedByAnother(file, start, size)) return null;
  return { log, start, bytes: size - start };
}

/** Where the last commit before `until` ends, as far as the sizes of entries lead; null for a log of another form. */
function lastCommitEnd(file: number, until: number): number | null {
  let at = versionEnd(read(file, 0, MOST_VERSION_BYTES));
  if (at === null) return null;
  let chunk: Buffer = Buffer.alloc(0);
  let chunkAt = 0;
  let end = 0;
  while (at + COMMIT_ENTRY.length <= until) {
    if (at < chunkAt || at + COMMIT_ENTRY.length > chunkAt + chunk.length) {
      chunk = read(file, at, CHUNK_BYTES);
      chunkAt = at;
      if (chunk.length < COMMIT_ENTRY.length) break;
    }
    const entry = chunk.subarray(at - chunkAt, at - chunkAt + COMMIT_ENTRY.length);
    const payload = Number(entry.readBigUInt64LE());
    // The zeros of a page that the disk never had.
    if (payload === 0) break;
    at += ENTRY_HEADER_BYTES + payload;
    if (entry.equals(COMMIT_ENTRY)) end = at;
  }
  return end;
}

/** Where the first entry begins, behind what tells the version of the log; null for a version that is not known here. */
function versionEnd(bytes: Buffer): number | null {
  let at = 0;
  const byte = () => bytes[at++] ?? 0;
  const field = () => byte() + 256 * byte();
  const number = () => {
    let value = 0;
    for (let unit = 1; ; unit *= 128) {
      const next = byte();
      value += (next % 128) * unit;
      if (next < 128) return value;
    }
  };
  if (field() !== TYPE || number() !== TYPE_OF_VERSION) return null;
  if (field() !== VERSION || number() !== KNOWN_VERSION) return null;
  for (;;) {
    const next = field();
    if (next === END) return at;
    if (next === CHECKPOINT) number();
    else if (next === DATABASE) for (let left = number(); left > 0; left--) number();
    else return null;
  }
}

/** Whether a commit ends behind `start`, wherever the sizes of entries lead, and another begins. */
function followedByAnother(file: number, start: number, size: number): boolean {
  // Chunks overlap by what could hide the beginning of an entry.
  for (let at = start; at < size; at += CHUNK_BYTES - COMMIT_ENTRY.length + 1) {
    const found = read(file, at, CHUNK_BYTES).indexOf(COMMIT_ENTRY);
    if (found >= 0 && at + found + COMMIT_ENTRY.length < size) return true;
  }
  return false;
}

function read(file: number, position: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  return buffer.subarray(0, readSync(file, buffer, 0, length, position));
}

/** Null without the file. */
function withFile<T>(path: string, action: (file: number, size: number) => T): T | null {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    return action(file, fstatSync(file).size);
  } finally {
    closeSync(file);
  }
}
