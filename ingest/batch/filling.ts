import type { Disk } from '../files/disk.ts';
import { SinkError } from '../identity/decisions.ts';
import type { TrackedFile } from '../identity/tracked-file.ts';
import type { TrackedFiles } from '../identity/tracked-files.ts';
import type { Source } from '../source.ts';
import { hasMore, isQuiet } from '../tail/backlog.ts';
import { type TrailingText, tail, tailBuffer } from '../tail/tail.ts';
import type { Batch, Capacity, LineReader } from '../types.ts';
import type { IngestWaits } from '../waits.ts';
import { BATCH_LINES, type OpenBatch, openBatch, spaceFor } from './batch.ts';
import type { LongLineBudget } from './long-line-budget.ts';
import type { Parallelism } from './parallelism.ts';
import { StagingError } from './staging.ts';
import type { Storing } from './storing.ts';

export interface FillingOptions {
  readonly files: TrackedFiles;
  readonly disk: Pick<Disk, 'now'>;
  readonly storing: Pick<Storing, 'maxLines' | 'stagingFile' | 'stored'>;
  readonly parallelism: Parallelism;
  /** Bytes of the longest line that is taken whole. */
  readonly maxLine: number;
  readonly readerOf: (source: Source, path: string) => LineReader;
  readonly budgetOf: (source: Source) => LongLineBudget;
  readonly capacity: Capacity;
  readonly waits: Pick<IngestWaits, 'quiet' | 'entry'>;
}

/**
 * Takes lines of files into batches of one source each, all together no more than one batch may hold. The source of the
 * first file comes first; one that has enough fills several whole ones. `end` says what becomes of text at the end of a
 * file when that is certain.
 */
export type Fill = (chosen: readonly TrackedFile[], end?: TrailingText) => Promise<Batch[]>;

const UTF_16 = 'it is UTF-16, and only UTF-8 is read';

export function createFill({
  files,
  disk,
  storing,
  parallelism,
  maxLine,
  readerOf,
  budgetOf,
  capacity,
  waits,
}: FillingOptions): Fill {
  const buffer = tailBuffer(maxLine);

  const fill: Fill = async (chosen, end) => {
    const maxLines = storing.maxLines();
    const batches: Batch[] = [];
    let space = spaceFor(maxLines, capacity);
    for (const source of new Set(chosen.map((file) => file.state.source))) {
      let own = chosen.filter((file) => file.state.source === source);
      const wanted = maxLines < BATCH_LINES ? 1 : await parallelism.of(source, own);
      const budget = budgetOf(source);
      for (let n = 0; n < wanted; n++) {
        if (n === 0 && budget.due()) {
          await storing.stored();
          await budget.renew();
        }
        // What others have taken would leave one of several less than full, and then they are stored one by one.
        if (wanted > 1) space = spaceFor(maxLines, capacity);
        const open = openBatch(source, storing.stagingFile(batches.length), space);
        const batch = await takeAll(own, open, idsIn(batches), end);
        // Whoever asks for the end of a file takes it that there is none if nothing was taken.
        if (!batch && n === 0 && budget.due()) {
          n--;
          continue;
        }
        if (batch) batches.push(batch);
        space = open.left();
        // A batch that is full of other things than lines is not stored beside others.
        if (batch === null || batch.lines < maxLines) break;
        // What was replaced, refused or could not be read is followed as another file by now, or not at all.
        own = own.filter(
          (file) => hasMore(file, disk.now(), waits) && files.get(file.state.id) === file,
        );
      }
      if (space.lines === 0) break;
    }
    return batches;
  };

  /** The batch, closed; null when there is nothing to store. `waiting` are the ids of the files in those before it. */
  const takeAll = async (
    own: readonly TrackedFile[],
    open: OpenBatch,
    waiting: ReadonlySet<number>,
    end?: TrailingText,
  ): Promise<Batch | null> => {
    try {
      for (const file of own) {
        if (open.room() === 0) break;
        await take(file, open, waiting.has(file.state.id), end);
      }
    } catch (error) {
      await open.finish().catch(() => {});
      throw error;
    }
    const batch = await open.finish();
    parallelism.note(batch);
    return open.empty() ? null : batch;
  };

  /**
   * `isWaiting`: batches that are not on their way to the sink yet hold lines of the file. If it changed meanwhile, what would
   * be recorded of it now is ahead of the store, and a copy of it would go on there: the next round sees to it.
   */
  const take = async (
    file: TrackedFile,
    batch: OpenBatch,
    isWaiting: boolean,
    end?: TrailingText,
  ) => {
    if (isWaiting && !file.content) return;
    const content = await files.open(file);
    if (!content) return;
    const { version, state } = file;
    const openEnd =
      end ??
      (content.packed
        ? 'take-unless-torn'
        : isQuiet(file, disk.now(), waits.quiet)
          ? 'take-object'
          : 'leave');
    const undo = batch.mark(file.state.id);
    try {
      const result = await tail(content, file, batch, {
        maxLine,
        reader: batch.counting(readerOf(file.state.source, file.state.path)),
        budget: budgetOf(file.state.source),
        openEnd,
        isSettled: openEnd !== 'leave' || isQuiet(file, disk.now(), waits.entry),
        buffer,
      });
      if (state.offset === 0) {
        // This read may have seen bytes that its decision did not see.
        files.observe(file, content.stat());
        if (file.undecided) return undo();
      }
      if (result.outcome === 'changed') return isWaiting ? undefined : await files.replaced(file);
      if (result.outcome === 'utf16') return await files.refuse(file, UTF_16);
      const ended = result.outcome === 'end';
      file.torn = content.isTorn() ? version : null;
      const isFinished = content.packed && ended && !file.torn;
      const after = { ...result.state, finished: isFinished ? version : null };
      if (result.state !== file.state || after.finished) batch.file(after);
      files.advance(file, after, result.taken);
      file.long = result.long;
      file.hole = result.hole;
      file.isHeld = result.isHeld;
      if (ended) file.exhausted = version;
      if (ended && openEnd !== 'leave') file.judged = version;
      if (after.finished) await files.release(file);
      else if (ended) await files.closeSurplus(file);
    } catch (error) {
      undo();
      if (error instanceof StagingError || error instanceof SinkError) throw error;
      await files.fail(file, error as NodeJS.ErrnoException);
    }
  };

  return fill;
}

function idsIn(batches: readonly Batch[]): Set<number> {
  return new Set(batches.flatMap(({ files }) => files.map(({ id }) => id)));
}
