import { backlogBytes, type TrackedFile } from '../identity/tracked-file.ts';

/** How long the bytes of files that are not committed have waited. */
export interface Lag {
  /** Looks at the files, at the beginning of each round of work; `now` is on the monotonic clock in ms. */
  look(files: Iterable<TrackedFile>, now: number): void;
  /** How long the longest of the bytes of a file have waited, ms; 0 when all that can be taken is committed. */
  ofFile(file: TrackedFile, now: number): number;
}

/** When the bytes of a file before `end` were first seen, and, once they were read, the offset at which they are committed. */
interface Mark {
  readonly since: number;
  readonly end: number;
}

/** So many marks tell the lag of a file closely enough; of more the neighbours of the newest are merged. */
const MARKS = 64;

/** Files are known by their objects: one that was truncated or replaced has a new one, and waits anew. */
export function createLag(): Lag {
  const marksOf = new WeakMap<TrackedFile, Mark[]>();

  const remaining = (file: TrackedFile): Mark[] => {
    if (!waits(file)) return [];
    // A file that was met along with many others may not have been looked at yet: it waits since it was seen.
    const marks = marksOf.get(file) ?? [{ since: file.changedAt, end: file.size }];
    return marks.filter(({ end }) => end > file.committed);
  };

  return {
    look(files, now) {
      for (const file of files) {
        const marks = remaining(file);
        if (waits(file) && file.size > (marks.at(-1)?.end ?? file.committed)) {
          if (marks.length >= MARKS) marks.splice(-2, 1);
          marks.push({ since: now, end: file.size });
        }
        if (marks.length > 0) marksOf.set(file, marks);
        else marksOf.delete(file);
      }
    },
    ofFile(file, now) {
      const first = remaining(file)[0];
      return first ? now - first.since : 0;
    },
  };
}

/** Whether there are bytes that can be taken. A last line whose newline has not come does not wait: all before it is committed. */
function waits(file: TrackedFile): boolean {
  const isRead = file.exhausted === file.version && file.committed === file.state.offset;
  return !isRead && backlogBytes(file) > 0;
}
