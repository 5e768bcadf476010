import type { LedgerEntry } from '../store/index.ts';

/** The ledger as it was last read, and how long ago that was, ms. */
export interface Kept {
  readonly entries: readonly LedgerEntry[];
  readonly ageMs: number;
}

/** Gives the ledger, some seconds old; null when it was never read. One reading serves all metrics of a scrape. */
export type KeptLedger = () => Promise<Kept | null>;

const TIMES = {
  keepMs: 5000,
  /** A scrape has 10 s, and must not fail where queries wait long: that is when it is needed. */
  waitMs: 2000,
};
/**
 * After rows were removed or sorted, the times of every row are read, with the threads that ingest works with: 8 ms for a million rows. So
 * that it takes a twentieth of the time at most, it is read the less often the longer it takes.
 */
const REST = 20;

/** Keeps what `read` gives. While that takes long or fails, what was read before stands. */
export function keepLedger(
  read: () => Promise<readonly LedgerEntry[]>,
  { keepMs, waitMs } = TIMES,
): KeptLedger {
  let last: { entries: readonly LedgerEntry[]; at: number; until: number } | null = null;
  let reading: Promise<void> | null = null;

  const begin = async () => {
    const from = performance.now();
    try {
      const entries = await read();
      const at = performance.now();
      last = { entries, at, until: at + Math.max(keepMs, REST * (at - from)) };
    } catch {
      // Harmless: the age of the one before says so, and the next scrape tries again.
    } finally {
      reading = null;
    }
  };

  return async () => {
    if (!last || performance.now() >= last.until) {
      reading ??= begin();
      await noLongerThan(reading, waitMs);
    }
    return last && { entries: last.entries, ageMs: performance.now() - last.at };
  };
}

async function noLongerThan(promise: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
