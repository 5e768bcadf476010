import type { Source } from '../../../ingest/index.ts';

/** A row group of a table as retention sees it; `rows` are those of the part it belongs to. */
export interface RowGroup {
  readonly rows: number;
  readonly bytes: number;
  /** The first and the last `ingested_at` or `rejected_at`, ms since the epoch, as the clock of that time stamped them. */
  readonly oldestMs: number;
  readonly newestMs: number;
  /** The rows of the table's row groups up to this one: its last row is the one before. */
  readonly until: number;
}

/** The rows of a source, or its share of the rejected lines, in the order in which they were stored. */
export interface RetentionSegment {
  readonly source: Source;
  readonly kind: 'rows' | 'rejected';
  readonly groups: readonly RowGroup[];
}

/** How much is kept; Infinity where there is no limit. */
export interface Limits {
  /** Whether rows stay, since they are to be forwarded: only rejected lines are removed. */
  readonly rowsStay?: boolean;
  readonly keepMs: Readonly<Record<Source, number>>;
  readonly maxBytes: number;
  readonly maxSourceBytes: Readonly<Record<Source, number>>;
}

export interface Moment {
  /** The machine's clock. */
  readonly wallMs: number;
  /** The timestamp that ages are counted from: the clock of the machine, or an earlier one while that is not trusted. */
  readonly trustedMs: number;
}

/** Removes a row group of a part, or, with a `cutoffMs`, those of its first rows that are older. */
export interface Step {
  readonly source: Source;
  readonly kind: RetentionSegment['kind'];
  readonly why: 'age' | 'size';
  readonly group: RowGroup;
  readonly cutoffMs: number | null;
}

/** Whatever the limits say, rows that are younger stay. */
export const FLOOR_MS = 3_600_000;
/**
 * Rows that expired this long ago are taken out of the row group they stand in, which leaves it ragged; with the time
 * until the next look they are gone within a day. A part has at most one such cut in this time.
 */
export const RAGGED_MS = 23 * 3_600_000;
/** Stamps before it come from a clock that was never set: this software is younger. */
export const EARLIEST_MS = Date.UTC(2025, 0, 1);

/**
 * Returns what is to be removed, oldest first: row groups that have expired, then, as long as there are more bytes than
 * allowed, the oldest ones, but none of the newest hour; then expired rows at the beginning of a row group that goes on.
 * Each part loses its beginning first. `usedBytes` is what the whole store takes.
 */
export function plan(
  parts: readonly RetentionSegment[],
  usedBytes: number,
  limits: Limits,
  moment: Moment,
): Step[] {
  const queues = parts.map((part) => ({
    ...part,
    cutoffMs: moment.trustedMs - Math.max(FLOOR_MS, limits.keepMs[part.source] ?? Infinity),
    moments: storedAt(part.groups, moment.wallMs),
    next: 0,
  }));
  type Queue = (typeof queues)[number];
  const steps: Step[] = [];
  let used = usedBytes;
  const age = (queue: Queue) => queue.moments[queue.next] ?? Infinity;
  const take = (queue: Queue, why: Step['why']) => {
    const group = queue.groups[queue.next++];
    if (!group) throw new Error('BUG: there is no row group to remove');
    used -= group.bytes;
    steps.push({ source: queue.source, kind: queue.kind, why, group, cutoffMs: null });
  };
  const oldest = (of: readonly Queue[]) =>
    of.reduce<Queue | null>(
      (best, queue) => (best && age(best) <= age(queue) ? best : queue),
      null,
    );

  const takeWhile = (of: readonly Queue[], why: Step['why'], goesOn: (first: Queue) => boolean) => {
    for (let first = oldest(of); first && goesOn(first); first = oldest(of)) take(first, why);
  };

  for (;;) {
    const first = oldest(queues.filter((queue) => age(queue) < queue.cutoffMs));
    if (!first) break;
    take(first, 'age');
  }
  const removable = (queue: Queue) => age(queue) < moment.trustedMs - FLOOR_MS;
  for (const source of new Set(queues.map((queue) => queue.source))) {
    const own = queues.filter((queue) => queue.source === source);
    takeWhile(
      own,
      'size',
      (first) => removable(first) && bytesLeft(own) > (limits.maxSourceBytes[source] ?? Infinity),
    );
  }
  takeWhile(queues, 'size', (first) => removable(first) && used > limits.maxBytes);

  for (const queue of queues) {
    const group = queue.groups[queue.next];
    const { source, kind, cutoffMs } = queue;
    if (group && group.oldestMs >= EARLIEST_MS && group.oldestMs < cutoffMs - RAGGED_MS)
      steps.push({ source, kind, why: 'age', group, cutoffMs });
  }
  return steps;
}

/**
 * When the newest row of each row group was stored at the latest. Rows are stored one after the other, so a stamp that
 * lies before that of an earlier row group is of a clock that was behind, and the earlier one counts. A stamp of the future, or
 * of a clock that was never set, says nothing: the next row group that has another one counts, and while there is none
 * the row group is as good as new.
 */
function storedAt(groups: readonly RowGroup[], wallMs: number): number[] {
  let latest = 0;
  const moments = groups.map(({ newestMs }) => {
    if (!(newestMs >= EARLIEST_MS && newestMs <= wallMs)) return Infinity;
    latest = Math.max(latest, newestMs);
    return latest;
  });
  let following = Infinity;
  for (let i = moments.length - 1; i >= 0; i--) {
    following = Math.min(following, moments[i] ?? Infinity);
    moments[i] = following;
  }
  return moments;
}

function bytesLeft(queues: readonly { groups: readonly RowGroup[]; next: number }[]): number {
  let bytes = 0;
  for (const { groups, next } of queues)
    for (const group of groups.slice(next)) bytes += group.bytes;
  return bytes;
}
