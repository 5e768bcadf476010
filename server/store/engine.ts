import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, linkSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import { type DuckDBConnection, DuckDBInstance, version } from '@duckdb/node-api';
import { textDecoder } from '@duckdb/node-api/lib/vectors/dataAccessors.js';
import type { Capacity } from '../../ingest/index.ts';
import { WAITS } from '../waits.ts';
import { endsTorn, refuseLoneLog, refuseTruncated, whyNotOpened } from './errors.ts';
import { isLocked } from './lock.ts';
import { cutOff, damagedCommit, type TornCommit, tornCommit } from './torn-log.ts';

export interface EngineOptions {
  /** Path of the database file. */
  readonly database: string;
  /** The folders, beside the database's own files, that SQL may read from and write to. */
  readonly folders: readonly string[];
  /** Where DuckDB spills to. */
  readonly temporary: string;
  /** DuckDB's `memory_limit`, bytes. */
  readonly memory: number;
  /** A COMMIT that finds so many bytes in the write-ahead log writes it back; by default `WAITS.checkpointBytes`. */
  readonly checkpointBytes?: number;
  /** Nothing is written, the write-ahead log is not written back, and a database that is not there is not made. */
  readonly readOnly?: boolean;
  /** Called with a commit that was cut off the write-ahead log, since a kill or a loss of power had left a part of it. */
  readonly onTornCommit?: ((commit: TornCommit) => void) | undefined;
}

export interface Engine {
  /**
   * How many full batches one INSERT should read, each from a file of its own. Each thread then makes the row groups of
   * a file and compresses them itself; with fewer files than threads they share each file, and one of them compresses
   * (docs/decisions/0008).
   */
  readonly parallelism: number;
  readonly capacity: Capacity;
  connect(): Promise<DuckDBConnection>;
  close(): void;
}

/** With the default a write-ahead log that belongs to another state of the file is applied in silence. */
const STORAGE_VERSION = 'v1.5.0';
/** Rows of a row group (docs/decisions/0033). Row groups of a file that an earlier version made stay as they are. */
export const ROW_GROUP_ROWS = 30_720;
/** Bytes of a block in a file that is made. Each large column of a row group begins in a block of its own. */
const BLOCK_BYTES = 65_536;
/** What SQL calls the database, whatever its file is called. */
const CATALOG = 'tailpond';
/** What stands before the blocks in a database file: three headers. */
const HEADER_BYTES = 3 * 4096;

/** A thread reads and compresses a row group of its own, in so much memory at least: with more threads none of them could. */
const THREAD_MEMORY = 85e6;
const MAX_THREADS = 4;
/** DuckDB's vector size, which is compiled in, … */
const VECTOR_ROWS = 2048;
/** … and the part of the memory that one of texts may take: a checkpoint holds it packed and unpacked, a query once a thread. */
const VECTOR_SHARE = 8;
/** Until the commit, the rows of a batch that is not a whole row group are in memory several times. */
const PART_SHARE = 32;
/** To read a line, and to judge what is not a common one, takes up to ninety times its bytes. */
const LONG_SHARE = 128;

// The driver's own decoder takes the byte order mark from a text that begins with one.
const whole = new TextDecoder('utf-8', { ignoreBOM: true });
textDecoder.decode = (bytes: Uint8Array) => whole.decode(bytes);

let opened = false;

/** The version of DuckDB, `v1.5.6`. */
export const engineVersion: () => string = version;

/**
 * Opens the database and locks the engine: files but those of `folders`, extensions and settings are out of reach
 * from then on, and statements that must fail are tried. Throws StoreBroken when the file is not a database or damaged,
 * StoreInUse when another process has it, and when this one opened it before or a forbidden statement passes.
 *
 * A second instance in this process, in a worker thread too, would lose committed rows without an error, and so would
 * opening and closing the database file by other means (docs/decisions/0001); hence the guard.
 */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  if (opened || !isMainThread) throw new Error('BUG: the database is open in this process');
  opened = true;
  const affordable = Math.max(1, Math.floor(options.memory / THREAD_MEMORY));
  const threads = Math.min(MAX_THREADS, availableParallelism(), affordable);
  let instance: DuckDBInstance | undefined;
  let connection: DuckDBConnection | undefined;
  try {
    mkdirSync(options.temporary, { recursive: true, mode: 0o700 });
    refuseLoneLog(options.database);
    if (!options.readOnly) keepPrivate(options.database);
    if (!options.readOnly && !existsSync(options.database)) await makeDatabase(options.database);
    const open = () =>
      attached(options, {
        checkpoint_threshold: `${options.checkpointBytes ?? WAITS.checkpointBytes}B`,
        memory_limit: `${options.memory}B`,
        threads: String(threads),
        temp_directory: options.temporary,
        autoinstall_known_extensions: 'false',
        autoload_known_extensions: 'false',
        allow_community_extensions: 'false',
      });
    const mend = (torn: TornCommit) => {
      if (options.readOnly) throw endsTorn(torn);
      cutOff(torn);
      options.onTornCommit?.(torn);
    };
    const torn = tornCommit(`${options.database}.wal`);
    // Another program that has the database open may be in the midst of a commit: the open will tell.
    if (torn && !(await isLocked(options.database))) mend(torn);
    instance = await open().catch((error) => {
      const damaged = damagedCommit(error);
      if (!damaged) throw whyNotOpened(error, options.database);
      mend(damaged);
      return open().catch((again) => {
        throw whyNotOpened(again, options.database);
      });
    });
    connection = await connect(instance);
    // To close what is refused must not write the write-ahead log into it.
    await connection.run('pragma disable_checkpoint_on_shutdown');
    await checkLength(connection, options.database).catch((error) => {
      throw whyNotOpened(error, options.database);
    });
    await connection.run('pragma enable_checkpoint_on_shutdown');
    for (const setting of settings(options.folders)) await connection.run(setting);
    for (const statement of forbidden(options)) await mustFail(connection, statement);
    connection.closeSync();
  } catch (error) {
    // Else the database stays open until the connection is collected.
    connection?.closeSync();
    instance?.closeSync();
    opened = false;
    throw error;
  }
  const open = instance;
  let closed = false;
  return {
    parallelism: threads,
    capacity: {
      vectorRows: VECTOR_ROWS,
      vectorBytes: Math.floor(options.memory / VECTOR_SHARE),
      partBytes: Math.floor(options.memory / PART_SHARE),
      longBytes: Math.floor(options.memory / LONG_SHARE),
    },
    async connect() {
      // A closed one would take the process along.
      if (closed) throw new Error('The store is closed.');
      return connect(open);
    },
    close() {
      closed = true;
      open.closeSync();
      opened = false;
    },
  };
}

/** An instance with the database attached, which the engine is to do all in: row groups have a size in attached databases alone. */
async function attached(
  { database, readOnly = false }: Pick<EngineOptions, 'database' | 'readOnly'>,
  config: Record<string, string>,
): Promise<DuckDBInstance> {
  const instance = await DuckDBInstance.create(':memory:', {
    // Syntax trees are written in this version's form, too.
    storage_compatibility_version: STORAGE_VERSION,
    ...config,
  });
  try {
    const connection = await instance.connect();
    await connection.run(attachment(database, CATALOG, readOnly));
    connection.closeSync();
    return instance;
  } catch (error) {
    instance.closeSync();
    throw error;
  }
}

async function connect(instance: DuckDBInstance): Promise<DuckDBConnection> {
  const connection = await instance.connect();
  await connection.run(`use ${CATALOG}`);
  return connection;
}

/** The statement that attaches a database file, which is made where there is none. */
export function attachment(path: string, catalog: string, readOnly = false): string {
  const options = [
    readOnly ? 'read_only' : 'read_write',
    `row_group_size ${ROW_GROUP_ROWS}`,
    `storage_version '${STORAGE_VERSION}'`,
    ...(existsSync(path) ? [] : [`block_size ${BLOCK_BYTES}`]),
  ];
  return `attach ${quoted(path)} as ${catalog} (${options.join(', ')})`;
}

/**
 * Has this process make files that its user alone may read, as the database and its write-ahead log must be whatever their folder's mode
 * is: the engine makes the log anew after each checkpoint, with the mask of the process. For a program that opens a store, before it does.
 */
export function makeFilesPrivate(): void {
  process.umask(process.umask() | 0o077);
}

/** Files of before, which may have been made by another version, become private, too. */
function keepPrivate(database: string): void {
  for (const path of [database, `${database}.wal`])
    try {
      chmodSync(path, 0o600);
    } catch (error) {
      // It is not there yet, or is another user's, who has decided.
      const { code = '' } = error as NodeJS.ErrnoException;
      if (!['ENOENT', 'EPERM', 'EROFS'].includes(code)) throw error;
    }
}

/**
 * Makes an empty database beside its place and links it there whole: a kill leaves none, not half a header, and of two
 * processes the later one does not replace the other's.
 */
async function makeDatabase(database: string): Promise<void> {
  const unfinished = `${database}.${randomUUID()}`;
  const instance = await attached({ database: unfinished }, {});
  instance.closeSync();
  try {
    linkSync(unfinished, database);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(unfinished);
  }
}

/**
 * Only blocks in use must be there: a checkpoint cuts free ones off the end of the file, and the header may still
 * count them. Which those are takes some 0.35 ms a row group, and is looked up only when the file is shorter than that.
 */
async function checkLength(connection: DuckDBConnection, database: string): Promise<void> {
  const values = async (sql: string) =>
    (await connection.runAndReadAll(sql)).getRows().map((row) => row.map(Number));
  const [[used = 0, total = 0, block = 0] = []] = await values(
    `select used_blocks, total_blocks, block_size from pragma_database_size() where database_name = current_database()`,
  );
  const { size } = statSync(database);
  refuseTruncated(database, size, HEADER_BYTES + used * block);
  if (size >= HEADER_BYTES + total * block) return;
  const tables = await connection.runAndReadAll(
    `select format('"{}"."{}"', replace(schema_name, '"', '""'), replace(table_name, '"', '""')) from duckdb_tables()`,
  );
  const last = ['select max(block_id) from pragma_metadata_info()'].concat(
    tables
      .getRows()
      .map(
        ([table]) =>
          `select max(greatest(block_id, list_max(additional_block_ids))) from pragma_storage_info(${quoted(String(table))})`,
      ),
  );
  const [[blocks = 0] = []] = await values(
    `select max(last) + 1 from (${last.join(' union all ')}) blocks(last)`,
  );
  refuseTruncated(database, size, HEADER_BYTES + blocks * block);
}

/** Text as an SQL string literal. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function settings(folders: readonly string[]): string[] {
  return [
    // This rule makes `order by … limit` answer nothing, now and then, while lines come in (docs/decisions/0004).
    `set global disabled_optimizers = 'row_group_pruner'`,
    // Global, or the other connections would keep the machine's.
    `set global TimeZone = 'UTC'`,
    // A batch is then written as whole row groups, once; in insertion order parts of it are often written twice.
    'set global preserve_insertion_order = false',
    // Rows of a top-N are not fetched by rowid: unless they stand side by side, all between them is unpacked (docs/decisions/0006).
    'set global late_materialization_max_rows = 0',
    // Memory goes back to the system after each batch, and without a query's waiting for it.
    `set allocator_flush_threshold = '16MB'`,
    'set allocator_background_threads = true',
    // The room that is free at the first spill would be the limit for good, and a full disk has none.
    `set max_temp_directory_size = '1000TB'`,
    // In this order: the second makes the first final, the third both.
    `set allowed_directories = [${folders.map(quoted).join(', ')}]`,
    'set enable_external_access = false',
    'set lock_configuration = true',
  ];
}

/** What no statement may do. Each is harmless should it pass. */
function forbidden(options: EngineOptions): string[] {
  return [
    `set memory_limit = '1GB'`,
    'set enable_external_access = true',
    'set lock_configuration = false',
    `copy (select 1) to ${quoted(`${options.database}.check`)}`,
    `select count(*) from read_text('/etc/hostname')`,
    `select count(*) from read_csv(${quoted(`${options.database}.check`)})`,
    `attach ${quoted(`${options.database}.check`)} as outside`,
    'install httpfs',
    'load httpfs',
  ];
}

async function mustFail(connection: DuckDBConnection, statement: string): Promise<void> {
  const passed = await connection.run(statement).then(
    () => true,
    () => false,
  );
  if (passed) throw new Error(`The engine is not locked, this statement passed: ${statement}`);
}
