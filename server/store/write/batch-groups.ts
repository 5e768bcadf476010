import { BATCH_LINES, type Batch } from '../../../ingest/index.ts';

/** Batches of one source whose rows one statement inserts. */
export type BatchGroup = readonly [Batch, ...Batch[]];

/** What one transaction stores. */
export interface Group {
  readonly parts: readonly BatchGroup[];
  /** Batches that one statement scans, before their rows are inserted; none, or several. */
  readonly scanned: readonly Batch[];
}

/** Batches of no more bytes than this together are stored in one transaction. */
const TOGETHER_BYTES = 32 * 1024 * 1024;
/** One statement scans batches of no more bytes than this together: a scan costs 3 ms, however little it reads. For more, the way over a table costs more. */
const SCAN_TOGETHER_BYTES = 1024 * 1024;

export function alone(batch: Batch): Group {
  return { parts: [[batch]], scanned: [] };
}

/** In order: `parallelism` full batches of one source side by side, small ones together, and others alone. */
export function grouped(batches: readonly Batch[], parallelism: number): Group[] {
  const groups: Group[] = [];
  for (let next = 0; next < batches.length; ) {
    const [first, ...others] = batches.slice(next, next + parallelism);
    const group =
      first && others.length === parallelism - 1 && areFullOfOne([first, ...others])
        ? { parts: [[first, ...others] as const], scanned: [] }
        : together(batches.slice(next));
    next += group.parts.flat().length;
    groups.push(group);
  }
  return groups;
}

function areFullOfOne([first, ...others]: BatchGroup): boolean {
  return [first, ...others].every(
    ({ source, lines }) => source === first.source && lines === BATCH_LINES,
  );
}

/** As many of the first as are stored together, or the first alone. */
function together(batches: readonly Batch[]): Group {
  const parts: BatchGroup[] = [];
  let bytes = 0;
  for (const batch of batches) {
    bytes += batch.staged;
    if (parts.length > 0 && bytes > TOGETHER_BYTES) break;
    parts.push([batch]);
  }
  const small = parts
    .flat()
    .filter(({ lines, staged }) => lines > 0 && staged <= SCAN_TOGETHER_BYTES);
  return { parts, scanned: small.length > 1 ? small : [] };
}
