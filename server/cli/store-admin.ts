import { constants, existsSync } from 'node:fs';
import { access, chmod, copyFile, link, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { makeFolder } from '../config/make-folder.ts';
import { ROOT } from '../config/package-root.ts';
import { askService, takeStore } from '../control-socket.ts';
import { limitsOf, previewRetention } from '../retention-job.ts';
import {
  type Holder,
  type Inspection,
  inspectFile,
  makeFilesPrivate,
  openStore,
  type Plain,
  type Store,
  StoreBroken,
  StoreInUse,
} from '../store/index.ts';
import { counted } from './table.ts';
import { print } from './terminal.ts';

export type StoreCommand =
  | { readonly verb: 'check' }
  | { readonly verb: 'backup' | 'restore'; readonly file: string };

/** `tailpond store check | backup <file> | restore <file>` on the store of the settings' data folder; gives the exit code. */
export async function runStoreCommand(command: StoreCommand, config: Config): Promise<0 | 1> {
  const folder = join(resolve(config.data), 'store');
  switch (command.verb) {
    case 'check':
      return check(folder, config);
    case 'backup':
      return backup(folder, resolve(command.file), config);
    case 'restore':
      return restore(folder, resolve(command.file), config);
  }
}

async function check(folder: string, config: Config): Promise<0 | 1> {
  const database = join(folder, 'tailpond.duckdb');
  const served = (await askService(folder, 'check')) as Inspection | null;
  const found = served ?? (await inspectStopped(database, folder, config));
  if (found instanceof StoreBroken) {
    print(found.message);
    return 1;
  }
  console.log(`${database}, ${served ? 'asked of the service that runs' : 'no service runs'}`);
  report(found);
  return found.faults.length === 0 ? 0 : 1;
}

async function inspectStopped(database: string, folder: string, config: Config) {
  await mustExist(database);
  const lock = await takeStore(folder, 'tailpond check');
  try {
    return await inspected(database, folder, config).catch(broken);
  } finally {
    await lock.release();
  }
}

/** A finished copy lies in the staging folder; it is moved to `file`, which must not be there. */
async function backup(folder: string, file: string, config: Config): Promise<0 | 1> {
  if (await exists(file)) throw new Error(`${file} is there already; nothing is overwritten.`);
  makeFolder(dirname(file));
  const copy = ((await askService(folder, 'backup')) ??
    (await backupOfStopped(folder, config))) as string;
  try {
    await place(copy, file);
  } finally {
    await rm(copy, { force: true });
  }
  console.log(`${file}: ${counted((await stat(file)).size, 'byte')}.`);
  return 0;
}

async function backupOfStopped(folder: string, config: Config): Promise<string> {
  await mustExist(join(folder, 'tailpond.duckdb'));
  return withStoppedStore(folder, config, 'tailpond backup', (store) =>
    store.backup(new AbortController().signal),
  );
}

async function restore(folder: string, file: string, config: Config): Promise<0 | 1> {
  makeFolder(folder, 0o700);
  const lock = await takeStore(folder, 'tailpond restore');
  try {
    return await restoreTaken(folder, file, config);
  } finally {
    await lock.release();
  }
}

/**
 * At every moment there is a whole database in the place: first the write-ahead log goes, and what it held is read again
 * from the files; then the backup takes the database's place in one step.
 */
async function restoreTaken(folder: string, file: string, config: Config): Promise<0> {
  const found = await inspected(file, folder, config).catch(broken);
  if (found instanceof StoreBroken)
    throw new Error(`${file} is not a backup that can be restored; nothing was changed.`, {
      cause: found,
    });
  if (found.faults.length > 0) {
    report(found);
    throw new Error(`${file} is not whole; nothing was changed.`);
  }
  const database = join(folder, 'tailpond.duckdb');
  const restored = `${database}.restored`;
  const aside = join(
    folder,
    `tailpond.until-${new Date().toISOString().replaceAll(':', '-')}.duckdb`,
  );
  await rm(restored, { force: true });
  await place(file, restored, { keep: true });
  const kept = await exists(database);
  if (kept) await link(database, aside);
  if (await exists(`${database}.wal`)) await rename(`${database}.wal`, `${aside}.wal`);
  await rename(restored, database);
  await sync(folder);
  report(found);
  if (kept)
    console.log(`The database that was there is kept as ${aside}: remove it when all is well.`);
  console.log(
    'Now start tailpond. What the files in logs/ hold beyond the backup is read again, once.',
  );
  return 0;
}

async function inspected(database: string, folder: string, config: Config): Promise<Inspection> {
  await mustExist(database);
  return inspectFile(database, { memory: config.memory, scratch: join(folder, 'inspect') });
}

/** A broken store is a finding here; every other error is one. */
function broken(error: unknown): StoreBroken {
  if (error instanceof StoreBroken) return error;
  throw error;
}

/** Brings a file to a new place, on another disk too, whole and written through. Never overwrites. */
async function place(from: string, to: string, { keep = false } = {}): Promise<void> {
  try {
    if (keep) throw Object.assign(new Error('a link would share its bytes'), { code: 'EXDEV' });
    await link(from, to);
  } catch (error) {
    if (!/^(EXDEV|EPERM|ENOTSUP)$/.test((error as NodeJS.ErrnoException).code ?? '')) throw error;
    await copyFile(from, to, constants.COPYFILE_EXCL).catch(async (cause) => {
      if (cause.code !== 'EEXIST') await rm(to, { force: true });
      throw cause;
    });
  }
  // It holds the lines, and outside of the store's folder nothing else hides it.
  await chmod(to, 0o600);
  await sync(to);
  await sync(dirname(to));
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Throws where there is no database. Whoever opens one that has left its write-ahead log behind says what to do. */
async function mustExist(file: string): Promise<void> {
  if (!(await exists(file)) && !(await exists(`${file}.wal`)))
    throw new Error(`There is no database ${file}.`);
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function report({ schema, sources, faults }: Inspection) {
  console.log(`Schema version ${schema}.`);
  for (const { source, rows, rejected } of sources)
    console.log(`  ${source}: ${counted(rows, 'row')}, ${counted(rejected, 'rejected line')}`);
  for (const fault of faults) print(`FAULT: ${fault}`);
  if (faults.length === 0)
    console.log('Every row was read; rows and rejected lines are those of the ledger.');
}

/**
 * Opens the store in a folder that no other process has open, for as long as `action` takes. Throws what `takeStore` and
 * `openStore` throw.
 */
export async function withStoppedStore<T>(
  folder: string,
  config: Config,
  holder: Holder,
  action: (store: Store) => Promise<T>,
): Promise<T> {
  const lock = await takeStore(folder, holder);
  try {
    makeFilesPrivate();
    const store = await openStore({
      ...config,
      folder,
      sql: join(ROOT, 'sql'),
      onFatal(error) {
        throw error;
      },
    });
    try {
      return await action(store);
    } finally {
      await store.shutdown();
    }
  } finally {
    await lock.release();
  }
}

/**
 * Opens the store that no service has open and gives what retention would remove now. Throws when another process has
 * it: that one is asked over HTTP.
 */
export async function dryRun(config: Config): Promise<Plain[]> {
  const folder = join(resolve(config.data), 'store');
  if (!existsSync(join(folder, 'tailpond.duckdb'))) return [];
  try {
    return await withStoppedStore(folder, config, 'tailpond --dry-run', ({ retention }) =>
      previewRetention(retention, limitsOf(config)),
    );
  } catch (error) {
    if (!(error instanceof StoreInUse)) throw error;
    throw new Error(
      `Another process has the store in ${folder} open, most likely the service: ask it with GET /api/retention`,
      { cause: error },
    );
  }
}
