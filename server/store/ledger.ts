import type { DuckDBConnection } from '@duckdb/node-api';
import { allSources, type Source } from '../../ingest/index.ts';
import { isoUtc, type Plain } from './plain-values.ts';
import type { Spans } from './read/time-span.ts';

/**
 * The counters and sizes of a source. Counters count since the beginning; `stored`, `size`, `oldest`, `newest` and
 * `oldest_ingested` say what is there now. lines = rows + rejected and stored = rows - removed - forwarded, always.
 */
export interface LedgerEntry {
  readonly source: Source;
  readonly bytes: number;
  readonly lines: number;
  readonly rows: number;
  readonly rejected: number;
  readonly repaired: number;
  readonly undated: number;
  /** Rows, and rejected lines, that retention took away. */
  readonly removed: number;
  readonly removed_rejected: number;
  /** Rows that left the store for another database. */
  readonly forwarded: number;
  readonly stored: number;
  readonly oldest: string | null;
  readonly newest: string | null;
  /** When the oldest of them was stored. */
  readonly oldest_ingested: string | null;
  /** Bytes that rows and rejected lines take on the disk: an estimate, up to a minute old. */
  readonly size: number;
}

/** By how much a source's counters go up. */
export type LedgerChange = Partial<Record<Counter, number>> & { readonly source: Source };
type Counter = Exclude<
  keyof LedgerEntry,
  'source' | 'stored' | 'oldest' | 'newest' | 'oldest_ingested' | 'size'
>;

/**
 * Raises counters, within the caller's transaction. Entries are put in place of the old ones: a committed UPDATE would keep
 * checkpoints away as long as any query runs that began before it, and the write-ahead log would grow meanwhile.
 */
export async function incrementCounters(
  connection: DuckDBConnection,
  changes: readonly LedgerChange[],
): Promise<void> {
  const sources = [...new Set(changes.map(({ source }) => source))];
  if (sources.length === 0) return;
  const old = await connection.runAndReadAll(
    `delete from ledger where source in (${sources.map((source) => `'${source}'`).join(', ')}) returning *`,
  );
  if (old.currentRowCount !== sources.length)
    throw new Error(`BUG: the ledger has ${old.currentRowCount} entries of ${sources}`);
  const [, ...counters] = old.columnNames();
  const entries = old.getRowObjects().map((entry) => {
    const own = changes.filter(({ source }) => source === entry.source);
    const raised = counters.map((counter) =>
      own.reduce(
        (total, change) => total + BigInt(change[counter as Counter] ?? 0),
        entry[counter] as bigint,
      ),
    );
    return `('${entry.source}', ${raised.join(', ')})`;
  });
  await connection.run(`insert into ledger values ${entries.join(', ')}`);
}

/** The entry of every source, in the order of `allSources()`. `sizes` gives the bytes that each takes. */
export async function readLedger(
  spans: Pick<Spans, 'stored'>,
  sizes: () => Promise<ReadonlyMap<Source, number>>,
): Promise<LedgerEntry[]> {
  const stored = await spans.stored();
  const bytes = await sizes();
  return allSources().map((source) => {
    const { entry, count, oldestUs, newestUs, oldestIngestedUs } = stored.get(source) ?? {};
    return numbers({
      ...entry,
      stored: count ?? 0,
      oldest: moment(oldestUs),
      newest: moment(newestUs),
      oldest_ingested: moment(oldestIngestedUs),
      size: bytes.get(source) ?? 0,
    });
  });
}

function moment(micros: bigint | null | undefined): string | null {
  return typeof micros === 'bigint' ? isoUtc(micros) : null;
}

/** Counters are 64 bits wide in the database. */
function numbers(entry: Record<string, Plain>): LedgerEntry {
  if (!entry.source) throw new Error('BUG: a source is missing in the ledger');
  const values = Object.entries(entry).map(([key, value]) => [
    key,
    typeof value === 'bigint' ? Number(value) : value,
  ]);
  return Object.fromEntries(values) as LedgerEntry;
}
