import type { Content } from '../files/content.ts';
import type { Entry, FileStat } from '../files/scan.ts';
import type { HoleScan, LongLine } from '../tail/tail.ts';
import type { FileState } from '../types.ts';

/** A file that is there, or whose handle is. It outlives its name, so that a deleted file is read to its end. */
export interface TrackedFile {
  /** The stream that it holds, with what batches on their way will have taken. */
  state: FileState;
  /** How much of the stream is committed, and the version of a packed file of which all is. */
  committed: number;
  committedVersion: string | null;
  /** As last seen at a path; null once no path leads to it. */
  entry: Entry | null;
  /** It was moved to a name that is not a log's. */
  isStray: boolean;
  content: Content | null;
  /** It holds gzip data, as far as it was opened. */
  packed: boolean;
  size: number;
  version: string;
  /** The version that was read to its end: until it changes there is nothing to take. */
  exhausted: string | null;
  /** The version whose last line, without a newline, was looked at after a quiet time. */
  judged: string | null;
  /** The version whose packed data was seen to end early. */
  torn: string | null;
  long: LongLine | null;
  hole: HoleScan | null;
  /** The lines behind what was taken are an entry that may go on. */
  isHeld: boolean;
  /** Its name was another file's when it was to be opened: the next sweep tells where it is. */
  missing: boolean;
  /** It was met, and nothing tells yet which file it is: it is not read. */
  undecided: boolean;
  /** Since when, on the monotonic clock in ms. */
  undecidedSince: number;
  /** The version whose first bytes are known to `Streams`. */
  begun: string | null;
  /** The version that was too short to tell which file it is. */
  waiting: string | null;
  /** The stream that it held before it was truncated or replaced. */
  truncated: number | null;
  /** Set while it is a copy, which is not read: of which file, and what of both was compared. */
  copy: Compared | null;
  mtimeMs: number;
  /** When it was last seen to change, on the monotonic clock in ms. */
  changedAt: number;
  /** How many sweeps have seen it as it was since. */
  unchanged: number;
  /** When it was last seen to grow; a file that was old when it was first seen has not grown yet. */
  grewAt: number;
}

interface Compared {
  readonly of: number;
  /** So many bytes are equal; and so many of those had been taken of the original by then. */
  readonly equal: number;
  readonly taken: number;
  /** What both files were then (decisions.ts). */
  readonly versions: string;
}

/** A file first seen this soon after its last change is one that grows now. */
const FRESH_MS = 10_000;

/** Returns the facts about a file that has just taken up the stream of `state`, as the store has it. */
export function nothingTaken(state: FileState) {
  return {
    state,
    committed: state.offset,
    committedVersion: state.finished,
    exhausted: null,
    judged: null,
    torn: null,
    long: null,
    hole: null,
    isHeld: false,
    waiting: null,
    truncated: null,
    copy: null,
  } satisfies Partial<TrackedFile>;
}

/** A file that was just met at a path. */
export function trackedFile(state: FileState, entry: Entry, now: number): TrackedFile {
  const { size, version, mtimeMs } = entry;
  const fresh = Date.now() - mtimeMs < FRESH_MS;
  return {
    ...nothingTaken(state),
    entry,
    isStray: false,
    content: null,
    packed: false,
    size,
    version,
    missing: false,
    undecided: true,
    undecidedSince: now,
    begun: null,
    mtimeMs,
    changedAt: now,
    unchanged: 0,
    grewAt: fresh ? now : Number.NEGATIVE_INFINITY,
  };
}

/** Notes what a file looks like now. */
export function observe(file: TrackedFile, at: FileStat, now: number): void {
  if (at.version === file.version) return;
  if (at.size > file.size) file.grewAt = now;
  if (file.long && at.size < file.long.scanned) file.long = null;
  if (file.hole && at.size < file.hole.scanned) file.hole = null;
  // A packed file that was read to its end is not unpacked again when it was only renamed.
  if (file.packed && bytesOf(at.version) === bytesOf(file.version)) {
    if (file.exhausted === file.version) file.exhausted = at.version;
    if (file.committedVersion === file.version) file.committedVersion = at.version;
  }
  file.size = at.size;
  file.version = at.version;
  file.mtimeMs = at.mtimeMs;
  file.changedAt = now;
  file.unchanged = 0;
}

/** Size and time of the last write: what a version says of the bytes, without its time of the last change of the inode. */
function bytesOf(version: string): string {
  return version.slice(0, version.lastIndexOf(':'));
}

/** Bytes that are not committed; of a packed file, until all of it is, its own. A copy has none: another file holds them. */
export function backlogBytes(file: TrackedFile): number {
  return bytesBehind(file, file.committed, file.committedVersion === file.version);
}

/** Bytes that are still to be taken into a batch. */
export function untakenBytes(file: TrackedFile): number {
  return bytesBehind(file, file.state.offset, file.exhausted === file.version);
}

function bytesBehind(file: TrackedFile, offset: number, finished: boolean): number {
  if (file.copy) return 0;
  if (file.packed) return finished ? 0 : file.size;
  // NULs that reach to the end are not there yet, and a hole that was scanned holds nothing.
  const hole = file.hole ? Math.min(file.hole.scanned, file.size) - file.hole.start : 0;
  return Math.max(0, file.size - hole - offset);
}
