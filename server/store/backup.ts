import type { DuckDBConnection } from '@duckdb/node-api';
import { quoted, STORAGE_VERSION } from './engine.ts';

/** Rows that are sorted at a time, to be written in the order they stand in. */
const CHUNK_ROWS = 4 * 122_880;

/**
 * Copies the database into a new file `target`, in the staging folder, as of one moment: rows, rejected lines, ledger and
 * states of files. Others may write meanwhile. The connection is the caller's alone, to be closed when this throws; the
 * copy stays attached until `detachCopy`.
 *
 * Not by one COPY FROM DATABASE: with `preserve_insertion_order` off it would shuffle the rows, and retention counts on
 * their standing in the order they were stored in (docs/decisions/0007).
 */
export async function copyDatabase(connection: DuckDBConnection, target: string): Promise<void> {
  const values = async (sql: string) =>
    (await connection.runAndReadAll(sql)).getRows().map(([value]) => value);
  const [catalog] = await values('select current_database()');
  await connection.run(`attach ${quoted(target)} as backup (storage_version '${STORAGE_VERSION}')`);
  await connection.run('begin');
  await connection.run(`copy from database ${catalog} to backup (schema)`);
  const tables = await values(
    'select table_name from duckdb_tables() where database_name = current_database() and not temporary',
  );
  for (const table of tables) {
    const [last] = await values(`select coalesce(max(rowid), -1) from ${table}`);
    for (let from = 0; from <= Number(last); from += CHUNK_ROWS)
      await connection.run(
        `insert into backup.${table}
          select * from ${table} where rowid >= ${from} and rowid < ${from + CHUNK_ROWS} order by rowid`,
      );
  }
  await connection.run('commit');
  await connection.run('checkpoint backup');
}

/** Lets the copy's file go, whether it was finished or not, and closes the connection, which is another one. */
export async function detachCopy(connection: DuckDBConnection): Promise<void> {
  try {
    await connection.run('detach database if exists backup');
  } finally {
    connection.closeSync();
  }
}
