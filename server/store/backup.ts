import type { DuckDBConnection } from '@duckdb/node-api';
import { quoted, STORAGE_VERSION } from './engine.ts';

/**
 * Copies the database into a new file `target`, in the staging folder, as of one moment: rows, rejected lines, ledger and
 * states of files. Others may write meanwhile. The connection is the caller's alone, to be closed when this throws; the
 * copy stays attached until `detachCopy`.
 *
 * Not by one COPY FROM DATABASE: with `preserve_insertion_order` off it would shuffle the rows, and retention counts on
 * their standing in the order they were stored in (docs/decisions/0007). One row group at a time: only one thread reads
 * it, so the order is kept without a sort, which long lines would take more memory for than there is.
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
    let from = 0;
    for (const rows of await values(rowGroups(String(table)))) {
      const until = from + Number(rows);
      await connection.run(
        `insert into backup.${table} select * from ${table} where rowid >= ${from} and rowid < ${until}`,
      );
      from = until;
    }
    const [whole] = await values(
      `select (select count(*) from ${table}) = (select count(*) from backup.${table})`,
    );
    if (!whole) throw new Error(`BUG: the copy of ${table} has not all of its rows`);
  }
  await connection.run('commit');
  await connection.run('checkpoint backup');
}

/** How many rows each row group of a table has, in their order. */
function rowGroups(table: string): string {
  return `select sum(count)
    from pragma_storage_info('${table}')
    where column_id = 0 and segment_type <> 'VALIDITY'
    group by row_group_id
    order by row_group_id`;
}

/** Lets the copy's file go, whether it was finished or not, and closes the connection, which is another one. */
export async function detachCopy(connection: DuckDBConnection): Promise<void> {
  try {
    await connection.run('detach database if exists backup');
  } finally {
    connection.closeSync();
  }
}
