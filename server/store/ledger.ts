import type { DuckDBConnection } from '@duckdb/node-api';
import { allSources, type CountedForm, countForms, type Source } from '../../ingest/index.ts';
import { isoUtc, type Plain } from './plain-values.ts';
import type { QueryRows } from './read/query-rows.ts';
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
  /** The fields that look like the moments of undated rows, and their forms, the most frequent first. */
  readonly undated_forms: { field: string; form: string; rows: number }[];
  /** Rows whose moment was more than a day ahead. */
  readonly future: number;
  /** Rows that have two members of one name. */
  readonly doubled: number;
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
  'source' | 'stored' | 'oldest' | 'newest' | 'oldest_ingested' | 'size' | 'undated_forms'
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

/** Adds to the forms of a source's undated rows, within the caller's transaction. A new form beyond 20 is left out. */
export async function addUndatedForms(
  connection: DuckDBConnection,
  source: Source,
  added: readonly CountedForm[],
): Promise<void> {
  if (added.length === 0) return;
  const old = await connection.runAndReadAll(
    `delete from undated_forms where source = '${source}' returning *`,
  );
  const counts = countForms();
  for (const { field, form, rows } of old.getRowObjects())
    counts.add({ field: String(field), form: String(form) }, Number(rows));
  for (const { rows, ...form } of added) counts.add(form, rows);
  const all = counts.list();
  // Texts of lines are parameters, never SQL.
  await connection.run(
    `insert into undated_forms values ${all.map((_, i) => `('${source}', $${3 * i + 1}, $${3 * i + 2}, $${3 * i + 3})`).join(', ')}`,
    all.flatMap(({ field, form, rows }) => [field, form, BigInt(rows)]),
  );
}

/** The entry of every source, in the order of `allSources()`. `sizes` gives the bytes that each takes. */
export async function readLedger(
  ask: QueryRows,
  spans: Pick<Spans, 'stored'>,
  sizes: () => Promise<ReadonlyMap<Source, number>>,
): Promise<LedgerEntry[]> {
  // Read first: no form may have more rows than there are undated ones.
  const forms = await ask('select * from undated_forms order by rows desc, field, form');
  const stored = await spans.stored();
  const bytes = await sizes();
  return allSources().map((source) => {
    const { entry, count, oldestUs, newestUs, oldestIngestedUs } = stored.get(source) ?? {};
    const undatedForms = forms
      .filter((form) => form.source === source)
      .map(({ field = null, form = null, rows }) => ({ field, form, rows: Number(rows) }));
    return numbers({
      ...entry,
      undated_forms: undatedForms,
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
