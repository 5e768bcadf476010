import { allSources, type Source } from '../source.ts';
import type { Capacity, IngestLog, Sink } from '../types.ts';

/**
 * Sees to it that the rows of a source that follow one another do not have more bytes together than the sink can hold. Only lines
 * beyond the mean that it can are ever refused: usual ones always fit (docs/decisions/0014). It counts what the newest rows
 * had when that was last asked, and all long lines since: so neither restarts, nor lines that become no rows after all, nor lines
 * that are read again lead beyond.
 */
export interface LongLineBudget {
  /** Whether a line of so many bytes is too much unless `renew` finds that others have followed the long ones before it. */
  waits(bytes: number): boolean;
  /** Whether a line of so many bytes may be a row; one that may is counted. */
  takes(bytes: number): boolean;
  /** Whether a line waits. */
  due(): boolean;
  /** Asks the sink what the newest rows have. All that was taken must be stored. */
  renew(): Promise<void>;
}

/** With fewer lines since the last time it is not worth asking again. */
const FEW_LINES = 128;

export async function longLineBudgets(
  sink: Pick<Sink, 'capacity' | 'newestBytes'>,
  log: IngestLog,
): Promise<(source: Source) => LongLineBudget> {
  const all = new Map<Source, LongLineBudget>();
  for (const source of allSources()) {
    const one = budgetOf(sink.capacity, () =>
      sink.newestBytes(source).catch((err) => {
        // Mostly for want of memory, so there must be many.
        log.warn({ source, err }, 'the newest rows cannot be read: longer lines are rejected');
        return Infinity;
      }),
    );
    await one.renew();
    all.set(source, one);
  }
  return (source) => {
    const found = all.get(source);
    if (!found) throw new Error(`BUG: no budget of ${source}`);
    return found;
  };
}

function budgetOf(
  { vectorRows, vectorBytes, longBytes }: Capacity,
  newestBytes: () => Promise<number>,
): LongLineBudget {
  const mean = vectorBytes / vectorRows;
  let [counted, lines, due] = [0, 0, false];
  const isTooMuch = (bytes: number) => bytes > mean && counted + bytes > vectorBytes;
  return {
    waits(bytes) {
      due ||= isTooMuch(bytes) && bytes <= longBytes && lines >= FEW_LINES;
      return due;
    },
    takes(bytes) {
      if (bytes > longBytes || isTooMuch(bytes)) return false;
      if (bytes > mean) counted += bytes;
      lines++;
      return true;
    },
    due: () => due,
    async renew() {
      counted = await newestBytes();
      [lines, due] = [0, false];
    },
  };
}
