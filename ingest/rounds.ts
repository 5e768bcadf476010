import { createFill } from './batch/filling.ts';
import { longLineBudgets } from './batch/long-line-budget.ts';
import { createParallelism } from './batch/parallelism.ts';
import type { Storing } from './batch/storing.ts';
import type { Disk } from './files/disk.ts';
import { type TrackedFile, untakenBytes } from './identity/tracked-file.ts';
import type { Tracker } from './identity/tracker.ts';
import type { Source } from './source.ts';
import { isHot, isLive, pending } from './tail/backlog.ts';
import type { TrailingText } from './tail/tail.ts';
import type { IngestLog, LineReader, Sink } from './types.ts';
import type { IngestWaits } from './waits.ts';

/** The work that is repeated while files are followed. Every method throws what kept lines from being stored. */
export interface Rounds {
  /** Looks at the files that have just changed, and at those that no path leads to, through their handles. */
  look(): Promise<void>;
  /** Fills and stores what there is: what grows now, of all sources at once, then one batch of the backlog. */
  work(): Promise<'nothing' | 'live' | 'backlog'>;
  /** Files that are no longer listed are read to their end, and let go; without room those that have been. */
  letGo(room: boolean): Promise<void>;
}

export interface RoundsOptions {
  readonly disk: Disk;
  readonly tracker: Tracker;
  readonly storing: Storing;
  readonly sink: Sink;
  /** Bytes of the longest line that is taken whole. */
  readonly maxLine: number;
  readonly readerOf: (source: Source, path: string) => LineReader;
  readonly log: IngestLog;
  readonly waits: IngestWaits;
}

export async function createRounds(options: RoundsOptions): Promise<Rounds> {
  const { disk, tracker, storing, sink, maxLine, readerOf, log, waits } = options;
  const fill = createFill({
    files: tracker.files,
    disk,
    storing,
    parallelism: createParallelism(sink),
    maxLine,
    readerOf,
    budgetOf: await longLineBudgets(sink, log),
    capacity: sink.capacity,
    waits,
  });
  let turn = 0;

  /** Fills batches while the last ones are stored, and hands them over then. */
  const store = async (chosen: readonly TrackedFile[], end?: TrailingText) =>
    storing.begin(await fill(chosen, end));

  /** With what no newline closes, as long as there is progress: one batch need not hold all of it. */
  const storeToTheEnd = async (file: TrackedFile) => {
    let before: number;
    file.judged = null;
    do {
      before = file.state.offset;
      await store([file], 'take');
    } while (file.judged !== file.version && file.state.offset > before);
  };

  return {
    async look() {
      const now = disk.now();
      const due = [...tracker.files.values()].filter((file) => isHot(file, now) || !file.entry);
      await Promise.all(
        due.map((file) =>
          tracker.files.look(file).catch((error) => tracker.files.fail(file, error)),
        ),
      );
    },
    async work() {
      const now = disk.now();
      const { live, backlog } = pending(tracker.files.values(), now, waits);
      if (live.length > 0) {
        // Filled after the commit that runs, so that lines that come meanwhile are in it.
        await storing.stored();
        await store(live);
      }
      // The oldest file first; every other turn belongs to a file that grows now, but is far behind.
      const growing = turn++ % 2 === 1 ? backlog.findLast((file) => isLive(file, now)) : undefined;
      const first = growing ?? backlog[0];
      if (!first) return live.length > 0 ? 'live' : 'nothing';
      await store([first, ...backlog.filter((file) => file !== first)]);
      return 'backlog';
    },
    async letGo(room) {
      const over: TrackedFile[] = [];
      for (const file of [...tracker.files.values()]) {
        if (!tracker.isOver(file)) continue;
        if (!file.copy && !file.undecided && untakenBytes(file) > 0) {
          if (!room) continue;
          await storeToTheEnd(file);
          // It has grown meanwhile, from too few bytes to tell which file it is.
          if (file.undecided) continue;
        }
        over.push(file);
      }
      if (over.length === 0) return;
      await storing.stored();
      await tracker.files.drop(over.filter((file) => tracker.files.get(file.state.id) === file));
    },
  };
}
