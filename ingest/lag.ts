import { behind, isUnread } from './due.ts';
import { isGzip } from './name.ts';
import type { TailedFile } from './tailed-file.ts';

/** How long the unread bytes of files have waited. */
export interface Lag {
  /** Looks at the files, at the beginning of each round of work; `now` is on the monotonic clock in ms. */
  look(files: Iterable<TailedFile>, now: number): void;
  /** How long the longest of the unread bytes of a file have waited, ms; 0 when there is nothing that can be taken. */
  ofFile(file: TailedFile, now: number): number;
}

/** Since when bytes of a file wait. What was taken of it counts once it is stored, since until then it may be read again. */
interface Wait {
  /** When the first of the bytes before `until` were seen; those behind it were seen at `laterSince` at the earliest. */
  since: number;
  until: number;
  laterSince: number | null;
  /** What had been taken at the last look, and whether that was all: stored by now, or taken back. */
  taken: number;
  all: boolean;
}

/** Files are known by their objects: one that was truncated or replaced has a new one, and waits anew. */
export function createLag(): Lag {
  const waits = new WeakMap<TailedFile, Wait>();

  return {
    look(files, now) {
      for (const file of files) {
        const wait = next(waits.get(file), file, now);
        if (wait) waits.set(file, wait);
        else waits.delete(file);
      }
    },
    ofFile(file, now) {
      if (!isUnread(file)) return 0;
      return now - (waits.get(file)?.since ?? now);
    },
  };
}

function next(before: Wait | undefined, file: TailedFile, now: number): Wait | null {
  const { offset } = file.known;
  // The end of what a .gz holds is not known: it waits until it was read to its end.
  const end = isGzip(file.known.path) ? Number.POSITIVE_INFINITY : offset + behind(file);
  let wait = before;
  if (wait && wait.taken <= offset) {
    if (wait.all) wait = undefined;
    else if (wait.taken >= wait.until)
      wait = { ...wait, since: wait.laterSince ?? now, until: end, laterSince: null };
  }
  if (!wait && !isUnread(file)) return null;
  wait ??= { since: now, until: end, laterSince: null, taken: offset, all: false };
  const laterSince = end > wait.until ? (wait.laterSince ?? now) : wait.laterSince;
  return { ...wait, laterSince, taken: offset, all: !isUnread(file) };
}
