import { BATCH_LINES, type Batch } from '../../../ingest/index.ts';

/** Batches of one source whose rows one statement inserts. */
export type BatchGroup = readonly [Batch, ...Batch[]];

/** What one transaction stores. */
export interface Group {
  readonly parts: readonly BatchGroup[];
  /** One statement scans all of them, before their rows are inserted. */
  readonly scan: boolean;
}

/** Batches of no more bytes than this together are scanned by one statement: a scan costs 3 ms, however little it reads. */
const SCAN_TOGETHER_BYTES = 32 * 1024 * 1024;

export function alone(batch: Batch): Group {
  return { parts: [[batch]], scan: false };
}

/** In order: `parallelism` full batches of one source side by side, small ones together, and others alone. */
export function grouped(batches: readonly Batch[], parallelism: number): Group[] {
  const groups: Group[] = [];
  for (let next = 0; next < batches.length; ) {
    const [first, ...others] = batches.slice(next, next + parallelism);
    const group =
      first && others.length === parallelism - 1 && areFullOfOne([first, ...others])
        ? { parts: [[first, ...others] as const], scan: false }
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

/** As many of the first as are scanned together, or the first alone. */
function together(batches: readonly Batch[]): Group {
  const parts: BatchGroup[] = [];
  let bytes = 0;
  for (const batch of batches) {
    bytes += batch.staged;
    if (parts.length > 0 && bytes > SCAN_TOGETHER_BYTES) break;
    parts.push([batch]);
  }
  return { parts, scan: parts.flat().filter(({ lines }) => lines > 0).length > 1 };
}
