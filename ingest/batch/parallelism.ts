import { type TrackedFile, untakenBytes } from '../identity/tracked-file.ts';
import type { Source } from '../source.ts';
import type { Batch, Sink } from '../types.ts';
import { BATCH_LINES } from './batch.ts';

/** Before a full batch of a source was seen, its lines are taken to be as long as an edge line. */
const LINE_BYTES = 1024;
/** Lines differ in length: so much more than the last ones would fill must be there. */
const MARGIN = 1.02;

/** Tells how many full batches of a source are worth filling for the sink to store side by side. */
export interface Parallelism {
  /** Notes how long a source's lines are. */
  note(batch: Batch): void;
  /** `own`: the files of `source` that are to be read. 1, unless they fill as many as the sink wants at once. */
  of(source: Source, own: readonly TrackedFile[]): Promise<number>;
}

/** Fewer than the sink wants would be stored one after the other: they would only be stored later than need be. */
export function createParallelism(sink: Sink): Parallelism {
  const batchBytes = new Map<Source, number>();
  return {
    note({ source, bytes, lines }) {
      if (lines === BATCH_LINES) batchBytes.set(source, bytes);
    },
    async of(source, own) {
      const each = (batchBytes.get(source) ?? BATCH_LINES * LINE_BYTES) * MARGIN;
      const wanted = each * sink.parallelism;
      if (sink.parallelism === 1 || own.reduce((sum, file) => sum + untakenBytes(file), 0) < wanted)
        return 1;
      return (await sink.room(wanted)) === null ? sink.parallelism : 1;
    },
  };
}
