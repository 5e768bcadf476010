import { SinkError } from '../identity/decisions.ts';
import type { Batch, FileState, Sink } from '../types.ts';
import { BATCH_LINES } from './batch.ts';
import type { Staging, StagingFile } from './staging.ts';

/** Hands batches to the sink, some at a time. While they are stored, the next ones are filled. */
export interface Storing {
  /** How many lines the next batches may have: a batch that was too large for the memory may pass in parts. */
  maxLines(): number;
  /** Begins the staging file of batch `n` of the next ones: not where the sink may be reading. */
  stagingFile(n: number): StagingFile;
  /** Begins to store batches, once those that are being stored are. Throws why those could not be. */
  begin(batches: readonly Batch[]): Promise<void>;
  /** Waits until what has begun is stored. Throws why it could not be. */
  stored(): Promise<void>;
  /** `Sink.record`, once the batches that led to the states are stored. Throws SinkError. */
  readonly record: Sink['record'];
  /**
   * After any error: waits for the end of what has begun, however it ends, and makes the next batches smaller. Returns how often
   * batches were stored since the last time.
   */
  giveUp(): Promise<number>;
}

/** However often storing fails, batches get no smaller than this. */
const FEWEST_LINES = 128;
/** So often small batches are stored before larger ones are tried again. */
const SMALL_ONES = 16;
/** Every name of a staging file begins with it. */
const PREFIX = 'batch-';

export function createStoring(
  staging: Staging,
  sink: Sink,
  onStored: (states: readonly FileState[]) => void,
): Storing {
  let storing: Promise<void> = Promise.resolve();
  let maxLines = BATCH_LINES;
  let storedInRow = 0;
  let slot = 0;

  const store = async (batches: readonly Batch[]) => {
    await sink.append(batches);
    for (const { files } of batches) onStored(files);
    for (const { staging: path } of batches) await staging.remove(path);
    storedInRow++;
    if (storedInRow % SMALL_ONES === 0) maxLines = Math.min(BATCH_LINES, maxLines * 4);
  };

  return {
    maxLines: () => maxLines,
    stagingFile: (n) => staging.begin(`${PREFIX}${slot}-${n}.ndjson`),
    async begin(batches) {
      await storing;
      if (batches.length === 0) return;
      // The staging files of this slot are read from now on: the next batches go to the other one.
      slot = 1 - slot;
      storing = store(batches);
      // Whoever waits for it is told.
      storing.catch(() => {});
    },
    stored: () => storing,
    // For the batch that is being filled it is enough that a file is in it once, and its state recorded before its lines are
    // taken; filling.ts sees to the batches between.
    async record(states, forgotten) {
      try {
        await storing;
        await sink.record(states, forgotten);
      } catch (cause) {
        throw new SinkError('a state could not be recorded', { cause });
      }
    },
    async giveUp() {
      await storing.catch(() => {});
      storing = Promise.resolve();
      // Their lines are read again, and the disk may be full: nothing is to be kept from the next ones.
      await staging.removeAll(PREFIX).catch(() => {});
      maxLines = Math.max(FEWEST_LINES, Math.floor(maxLines / 4));
      const since = storedInRow;
      storedInRow = 0;
      return since;
    },
  };
}
