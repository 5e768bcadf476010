import type { DuckDBAppender, DuckDBConnection } from '@duckdb/node-api';

/**
 * Appends rows to a table: all of them, or none and an error; within the caller's transaction. An appender that could not write
 * its rows keeps them, and writes them when it is collected as garbage, in whatever transaction there is then: it must be cleared.
 */
export async function appendRows(
  connection: DuckDBConnection,
  table: string,
  fill: (appender: DuckDBAppender) => void,
): Promise<void> {
  const appender = await connection.createAppender(table);
  try {
    fill(appender);
    appender.closeSync();
  } catch (error) {
    appender.clear();
    throw error;
  }
}
