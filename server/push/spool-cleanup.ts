import { lstat, open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  allSources,
  type Ingest,
  type IngestLog,
  isSource,
  type Sink,
} from '../../ingest/index.ts';
import type { Store } from '../store/index.ts';
import { isPartName, isPushPath, pushFolder, type SealedFile, sync } from './spool-file.ts';

export interface SpoolCleanupOptions {
  /** The drop folder. */
  readonly logs: string;
  /** What `recoverSpool` gave. */
  readonly left: readonly SealedFile[];
  readonly store: Pick<Store, 'sink' | 'commits'>;
  readonly ingest: Pick<Ingest, 'forget'>;
  readonly log: Pick<IngestLog, 'error'>;
  /** Between two looks, ms. */
  readonly everyMs: number;
}

export interface SpoolCleanup {
  add(file: SealedFile): void;
  /** Bytes of the files that are still there. */
  bytes(): number;
  close(): Promise<void>;
}

/**
 * Removes files of pushed lines, until closed, when what was acknowledged of them is stored, and written back into the database
 * file: so where a write-ahead log has to be given up, its lines can be read again (docs/backup.md).
 */
export function startSpoolCleanup({
  logs,
  left,
  store,
  ingest,
  log,
  everyMs,
}: SpoolCleanupOptions): SpoolCleanup {
  /** Which commit stored the last of a file's lines, or a later one; null while they are not. */
  const sealed = new Map<SealedFile, number | null>(left.map((file) => [file, null]));
  /** Paths that ingest need not remember any more. */
  const removed = new Set<string>();
  let closed = false;

  const look = async () => {
    if (sealed.size > 0) {
      const taken = new Map<string, number>();
      for (const { path, inode, offset, gone } of await store.sink.files())
        if (!gone) taken.set(`${inode} ${path}`, offset);
      const { committed, checkpointed } = store.commits();
      for (const [file, commit] of sealed) {
        const { path, inode, end } = file;
        const size = await sizeOf(file);
        if (size === null) sealed.delete(file);
        else if (commit !== null && commit <= checkpointed) await remove(file);
        else if (commit === null && (taken.get(`${inode} ${path}`) ?? 0) >= Math.min(end, size))
          sealed.set(file, committed);
      }
    }
    for (const path of removed) if (await ingest.forget(path)) removed.delete(path);
  };

  /** Less than `end` when another program has cut it off. Null when it is gone: what has its name by now is not ours. */
  const sizeOf = async ({ path, inode }: SealedFile) => {
    const there = await lstat(join(logs, path), { bigint: true }).catch(() => null);
    return there !== null && `${there.dev}:${there.ino}` === inode ? Number(there.size) : null;
  };

  const remove = async (file: SealedFile) => {
    await rm(join(logs, file.path));
    // Before it is forgotten: a name that comes back with the power must be known.
    await sync(dirname(join(logs, file.path)));
    sealed.delete(file);
    removed.add(file.path);
  };

  let running: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    running = running.then(look).catch((error) => {
      // Harmless: the files stay, and are looked at again.
      if (!closed) log.error({ err: error }, 'files of pushed lines could not be removed');
    });
  }, everyMs).unref();

  return {
    add(file) {
      sealed.set(file, null);
    },
    bytes: () => [...sealed.keys()].reduce((sum, { end }) => sum + end, 0),
    async close() {
      closed = true;
      clearInterval(timer);
      await running;
    },
  };
}

/**
 * The files of pushed lines that an earlier process has left, fit to be read: half a line at the end, which nobody was told
 * is safe, is cut off. To be called before ingest starts. States of files that are not there any more are forgotten.
 */
export async function recoverSpool(
  logs: string,
  sink: Pick<Sink, 'files' | 'record'>,
  log: Pick<IngestLog, 'warn'>,
): Promise<SealedFile[]> {
  const left: SealedFile[] = [];
  // Files of a source that the settings do not name are not missing: they may name it again.
  const known = (await sink.files()).filter(
    ({ path, source }) => isPushPath(path) && isSource(source),
  );
  const paths = await pushPaths(logs);
  for (const path of paths) {
    try {
      const { dev, ino, size } = await stat(join(logs, path), { bigint: true });
      const inode = `${dev}:${ino}`;
      const state = known.find((file) => file.path === path && file.inode === inode && !file.gone);
      const offset = state?.offset ?? 0;
      // Lines were stored that the disk had not kept when the power failed: what is left of the file was read before them.
      if (Number(size) < offset) await rm(join(logs, path));
      else left.push({ path, inode, end: await cutHalfLine(join(logs, path), offset) });
    } catch (error) {
      log.warn({ file: path, err: error }, 'a file of pushed lines is read, and cannot be removed');
    }
  }
  const missing = known.filter(({ path }) => !paths.includes(path));
  for (const folder of new Set(missing.map(({ path }) => dirname(path)))) {
    await sync(join(logs, folder)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
  if (missing.length > 0)
    await sink.record(
      [],
      missing.map(({ id }) => id),
    );
  return left;
}

/** The files of pushed lines. It removes those that were not published. */
async function pushPaths(logs: string): Promise<string[]> {
  const paths: string[] = [];
  for (const source of allSources()) {
    const names = await readdir(join(logs, pushFolder(source)), { withFileTypes: true }).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
        throw error;
      },
    );
    for (const entry of names) {
      const path = `${pushFolder(source)}/${entry.name}`;
      if (!entry.isFile()) continue;
      if (isPushPath(path)) paths.push(path);
      // No client was told that its lines are safe.
      else if (isPartName(entry.name)) await rm(join(logs, path));
    }
  }
  return paths;
}

/** Cuts off what stands behind the last newline, but nothing before `offset`. Gives the file's size then. */
async function cutHalfLine(path: string, offset: number): Promise<number> {
  const handle = await open(path, 'r+');
  try {
    let end = (await handle.stat()).size;
    const block = Buffer.alloc(64 * 1024);
    const size = end;
    while (end > offset) {
      const from = Math.max(offset, end - block.length);
      const { bytesRead } = await handle.read(block, 0, end - from, from);
      const newline = block.subarray(0, bytesRead).lastIndexOf(0x0a);
      end = newline < 0 ? from : from + newline + 1;
      if (newline >= 0) break;
    }
    if (end < size) await handle.truncate(end);
    return end;
  } finally {
    await handle.close();
  }
}
