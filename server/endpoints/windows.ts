/**
 * Entries that a first window is to hold, as a multiple of the rows that are wanted: one project of many has fewer. For
 * 100 rows that is about a row group, less than which is never read.
 */
const FIRST_WINDOW = 1000;
const WIDEN = 8;
const SHORTEST_MS = 60_000;

/** What is known before the first window: the source's entries, and the bounds that the request set, in ms. */
export interface Reach {
  readonly count: number;
  readonly oldestMs: number;
  readonly newestMs: number;
  readonly fromMs: number | null;
  readonly untilMs: number | null;
}

/**
 * Lower bounds of time, each farther back than the one before, the last one reaching everything that was asked for; ms since the epoch.
 * A query for the newest rows is run with one after the other until it is full: a near bound reads less, and most of all
 * while lines come in (docs/decisions/0004).
 */
export function* windowStarts(rows: number, reach: Reach, nowMs: number): Generator<number> {
  const end = Math.min(reach.newestMs, reach.untilMs ?? nowMs, nowMs);
  const start = reach.fromMs ?? 0;
  const oldest = Math.max(reach.oldestMs, start);
  const density = Math.max(1, reach.newestMs - reach.oldestMs) / reach.count;
  for (
    let span = Math.max(SHORTEST_MS, density * rows * FIRST_WINDOW);
    end - span > oldest;
    span *= WIDEN
  ) {
    yield end - span;
  }
  yield start;
}
