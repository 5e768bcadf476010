import { type Deadline, deadlineIn } from '../../deadline.ts';
import type { Plain } from '../plain-values.ts';
import type { QueryPool } from './pool.ts';

/** Retention must find rows however short `TAILPOND_QUERY_TIMEOUT` is, and whatever else runs. */
const OWN_MS = 600_000;

/** Runs a statement of ours that only reads, and gives each row by the names of its columns. Without a deadline it has ten minutes. */
export type QueryRows = (sql: string, deadline?: Deadline) => Promise<Record<string, Plain>[]>;

/** Asks on a connection of the readers; throws what their `query` does. */
export async function queryRows(
  readers: QueryPool,
  sql: string,
  deadline = deadlineIn(OWN_MS),
): ReturnType<QueryRows> {
  const { columns, rows } = await readers.query(sql, {}, { maxRows: Infinity, deadline });
  return rows.map((row) =>
    Object.fromEntries(columns.map(({ name }, i) => [name, row[i] ?? null])),
  );
}
