import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { Source } from './source.ts';
import type { Batch, KnownFile, RejectedLine, Slice } from './types.ts';

/**
 * A row group of DuckDB: a batch of this many lines is written straight to the database file, past its write-ahead
 * log, and needs no rewriting at the next checkpoint. Fewer cost up to a third of the speed (docs/decisions/0003).
 */
export const BATCH_LINES = 122_880;
/** Bounds the disk that staging takes when lines are long. */
const BATCH_BYTES = 192 * 1024 * 1024;
/** Rejected lines wait in memory for the commit; a file of garbage must not fill it. */
const REJECTED_BYTES = 8 * 1024 * 1024;
/** Of a line beyond the limit this much is kept. */
export const HEAD_OF_LONG_LINE = 4096;

/** The staging file could not be written: not the fault of the file that is being read. */
export class StagingError extends Error {}

/** A batch that is being filled. */
export interface OpenBatch {
  lines: number;
  bytes: number;
  repaired: number;
  /** How many more lines it takes. */
  room(): number;
  /** Copies whole lines, newline included, that begin at `offset` of `file`. */
  stage(bytes: Uint8Array, file: string, offset: number): Promise<void>;
  reject(line: RejectedLine): void;
  /** Notes what a file is once the batch is stored. */
  file(state: KnownFile): void;
  /** Whether there is anything to store. */
  empty(): boolean;
  /** Forgets what was staged since `mark` was taken, because the file changed while it was read. */
  mark(): () => void;
  /** Closes the staging file and hands the batch over. */
  finish(): Promise<Batch>;
}

/** Opens the staging file `staging`, emptied, for a batch of at most `maxLines` lines of `source`. */
export async function openBatch(
  source: Source,
  staging: string,
  maxLines: number,
): Promise<OpenBatch> {
  const output: FileHandle = await open(
    staging,
    constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC,
    0o600,
  );
  const slices: Slice[] = [];
  const rejected: RejectedLine[] = [];
  const files = new Map<number, KnownFile>();
  let staged = 0;
  let rejectedBytes = 0;

  const batch: OpenBatch = {
    lines: 0,
    bytes: 0,
    repaired: 0,
    room() {
      const full = staged >= BATCH_BYTES || rejectedBytes >= REJECTED_BYTES;
      return full ? 0 : Math.max(0, maxLines - batch.lines - rejected.length);
    },
    async stage(bytes, file, offset) {
      const last = slices.at(-1);
      const follows =
        last !== undefined && last.file === file && last.offset - last.staged === offset - staged;
      if (!follows) slices.push({ file, offset, staged });
      try {
        for (let done = 0; done < bytes.length; ) {
          const left = bytes.length - done;
          done += (await output.write(bytes, done, left, staged + done)).bytesWritten;
        }
      } catch (cause) {
        throw new StagingError(`${staging} could not be written`, { cause });
      }
      staged += bytes.length;
    },
    reject(line) {
      rejected.push(line);
      rejectedBytes += line.line.length + 64;
    },
    file(state) {
      files.set(state.id, state);
    },
    empty() {
      return files.size === 0;
    },
    mark() {
      const before = {
        lines: batch.lines,
        bytes: batch.bytes,
        repaired: batch.repaired,
        staged,
        rejectedBytes,
      };
      const [slicesBefore, rejectedBefore] = [slices.length, rejected.length];
      return () => {
        ({ staged, rejectedBytes } = before);
        Object.assign(batch, {
          lines: before.lines,
          bytes: before.bytes,
          repaired: before.repaired,
        });
        slices.length = slicesBefore;
        rejected.length = rejectedBefore;
      };
    },
    async finish() {
      try {
        await output.truncate(staged);
      } finally {
        await output.close();
      }
      const { lines, bytes, repaired } = batch;
      return {
        source,
        staging,
        lines,
        slices,
        rejected,
        bytes,
        repaired,
        files: [...files.values()],
      };
    },
  };
  return batch;
}

/** Where byte `staged` of a batch's staging file stands in the file it came from. */
export function originOf(batch: Batch, staged: number): { file: string; offset: number } {
  const slice = batch.slices.findLast((candidate) => candidate.staged <= staged);
  if (!slice) throw new Error(`BUG: no slice of the batch holds byte ${staged}`);
  return { file: slice.file, offset: slice.offset + (staged - slice.staged) };
}
