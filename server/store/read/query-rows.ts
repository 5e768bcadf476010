import type { Plain } from '../plain-values.ts';
import type { QueryPool } from './pool.ts';

/** Runs a statement of ours that only reads, and gives each row by the names of its columns. */
export type QueryRows = (sql: string) => Promise<Record<string, Plain>[]>;

/** Asks on a connection of the readers; throws what their `query` does. */
export async function queryRows(readers: QueryPool, sql: string): ReturnType<QueryRows> {
  const { columns, rows } = await readers.query(sql, {}, { maxRows: Infinity });
  return rows.map((row) =>
    Object.fromEntries(columns.map(({ name }, i) => [name, row[i] ?? null])),
  );
}
