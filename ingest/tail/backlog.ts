import { type TrackedFile, untakenBytes } from '../identity/tracked-file.ts';
import type { IngestWaits } from '../waits.ts';

/** A file that changed this recently is looked at often; the others are by the sweep. */
const HOT_MS = 1000;
/** A file that grew this recently goes before the backlog, as long as it is no more than `LIVE_BYTES` behind. */
const LIVE_MS = 10_000;
const LIVE_BYTES = 4 * 1024 * 1024;

/** Which of the files have something to take, oldest first: those that grow now, and the backlog. */
export function pending(
  files: Iterable<TrackedFile>,
  now: number,
  waits: Pick<IngestWaits, 'quiet' | 'entry'>,
): {
  live: TrackedFile[];
  backlog: TrackedFile[];
} {
  const due = [...files]
    .filter((file) => hasMore(file, now, waits))
    .sort((a, b) => a.mtimeMs - b.mtimeMs);
  const [live, backlog]: [TrackedFile[], TrackedFile[]] = [[], []];
  for (const file of due)
    (isLive(file, now) && untakenBytes(file) <= LIVE_BYTES ? live : backlog).push(file);
  return { live, backlog };
}

/** Whether there may be something to take. */
export function hasMore(
  file: TrackedFile,
  now: number,
  { quiet, entry }: Pick<IngestWaits, 'quiet' | 'entry'>,
): boolean {
  if (file.copy || file.undecided || file.missing) return false;
  if (file.exhausted !== file.version) return true;
  if (untakenBytes(file) === 0) return false;
  if (file.isHeld && isQuiet(file, now, entry)) return true;
  // The rest is text without a newline; it is looked at once more when the file has been quiet.
  return isQuiet(file, now, quiet) && file.judged !== file.version;
}

export function isHot(file: TrackedFile, now: number): boolean {
  return now - file.changedAt < HOT_MS;
}

export function isLive(file: TrackedFile, now: number): boolean {
  return now - file.grewAt < LIVE_MS;
}

export function isQuiet(file: TrackedFile, now: number, quietMs: number): boolean {
  return now - file.changedAt >= quietMs;
}
