import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync } from 'node:fs';

/** A commit that a loss of power cut off, at the end of a write-ahead log. */
export interface TornCommit {
  /** The log's file. */
  readonly log: string;
  /** Where in it the first entry begins that is not whole. */
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

/**
 * The commit at the end of a log that a loss of power cut off, if that is what an open failed with; null for any other damage, which may
 * have taken commits that were confirmed. A file system may keep the length of a file and not its last pages, which are zeros then. DuckDB
 * takes a log that is too short for one whose last commit never came about, but not this one. The engine synchronises a log before it
 * confirms a commit, and writes none before the last is confirmed. So what follows the end of a later commit was confirmed, and what no
 * later commit follows never was, unless the disk lost what it had confirmed.
 */
export function tornCommit(error: unknown): TornCommit | null {
  const [, log, payload] =
    DAMAGED_ENTRY.exec(error instanceof Error ? error.message : String(error)) ?? [];
  if (log === undefined) return null;
  const start = Number(payload) - ENTRY_HEADER_BYTES;
  const file = openSync(log, 'r');
  try {
    const { size } = fstatSync(file);
    return followedByAnother(file, start, size) ? null : { log, start, bytes: size - start };
  } finally {
    closeSync(file);
  }
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

/** Whether between `start` and `size` a commit ends and another begins. */
function followedByAnother(file: number, start: number, size: number): boolean {
  const buffer = Buffer.alloc(CHUNK_BYTES);
  // Chunks overlap by what could hide the beginning of an entry.
  for (let at = start; at < size; at += CHUNK_BYTES - COMMIT_ENTRY.length + 1) {
    const found = buffer
      .subarray(0, readSync(file, buffer, 0, CHUNK_BYTES, at))
      .indexOf(COMMIT_ENTRY);
    if (found >= 0 && at + found + COMMIT_ENTRY.length < size) return true;
  }
  return false;
}
