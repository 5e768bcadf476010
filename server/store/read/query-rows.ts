import type { Plain } from '../values.ts';
import type { Readers } from './pool.ts';

/** Runs a statement of ours that only reads, and gives each row by the names of its columns. */
export type Ask = (sql: string) => Promise<Record<string, Plain>[]>;

/** Asks on a connection of the readers; throws what their `query` does. */
export async function askReaders(readers: Readers, sql: string): ReturnType<Ask> {
  const { columns, rows } = await readers.query(sql, {}, { maxRows: Infinity });
  return rows.map((row) =>
    Object.fromEntries(columns.map(({ name }, i) => [name, row[i] ?? null])),
  );
}
