import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { freeBytesOf } from '../disk.ts';
import { attachment, type Engine } from '../engine.ts';
import type { WithConnection } from '../read/own-connection.ts';

export interface BackupOptions {
  readonly engine: Engine;
  /** The folder of the database, on the disk that must have the room. */
  readonly folder: string;
  /** The folder that the copy is made in. */
  readonly staging: string;
  /** Bytes that must stay free on the disk; 0: any. */
  readonly minFree: number;
  /** Bytes of the database file and of its write-ahead log. */
  readonly databaseBytes: () => number;
}

/** Parts of row groups that are copied one by one are compressed less well: 1.25 was measured. */
const COPY_SIZE = 1.5;

const PREFIX = 'backup-';

/** Makes a copy of the database in a new file and gives its path. When it throws, nothing is left behind. */
export type Backup = (withConnection: WithConnection) => Promise<string>;

/** A backup throws when the disk has no room for it, and while another one is being made. */
export function createBackup(options: BackupOptions): Backup {
  const { engine, staging } = options;
  let copying = false;
  return async (withConnection) => {
    if (copying) throw new Error('A backup is being made; wait for it.');
    copying = true;
    const file = join(staging, `${PREFIX}${randomUUID()}.duckdb`);
    try {
      // A command that was killed while it copied one elsewhere could not; one that still does has it open.
      for (const name of readdirSync(staging))
        if (name.startsWith(PREFIX)) rmSync(join(staging, name), { force: true });
      await refuseWithoutRoom(options);
      await withConnection((own) => copyDatabase(own, file)).finally(() =>
        // Not on the connection that copied: the interrupts would meet this, too.
        engine.connect().then(detachCopy),
      );
      return file;
    } catch (error) {
      for (const path of [file, `${file}.wal`]) rmSync(path, { force: true });
      throw error;
    } finally {
      copying = false;
    }
  };
}

/** A disk that is full in the copy's checkpoint would be the end of the whole engine. */
async function refuseWithoutRoom({ folder, staging, minFree, databaseBytes }: BackupOptions) {
  const bytes = COPY_SIZE * databaseBytes();
  const free = await freeBytesOf(folder);
  if (free < bytes + minFree)
    throw new Error(
      `There is no room for a backup: it is made in ${staging} and may take ${bytes} bytes beside TAILPOND_MIN_FREE, and ${free} are free.`,
    );
}

/**
 * Copies the database into a new file `target`, in the staging folder, as of one moment: rows, rejected lines, ledger and
 * states of files. Others may write meanwhile. The connection is the caller's alone, to be closed when this throws; the
 * copy stays attached until `detachCopy`.
 *
 * Not by one COPY FROM DATABASE: with `preserve_insertion_order` off it would shuffle the rows, and retention counts on
 * their standing in the order they were stored in (docs/decisions/0007). One row group at a time: only one thread reads
 * it, so the order is kept without a sort, which long lines would take more memory for than there is.
 */
async function copyDatabase(connection: DuckDBConnection, target: string): Promise<void> {
  const values = async (sql: string) =>
    (await connection.runAndReadAll(sql)).getRows().map(([value]) => value);
  const [catalog] = await values('select current_database()');
  await connection.run(attachment(target, 'backup'));
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
async function detachCopy(connection: DuckDBConnection): Promise<void> {
  try {
    await connection.run('detach database if exists backup');
  } finally {
    connection.closeSync();
  }
}
