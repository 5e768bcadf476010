import { type FSWatcher, watch as watchFolder } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { IngestLog } from '../types.ts';

/**
 * After so many changes in a second nothing is watched for a while, and the sweep finds what there is: where they come faster than they
 * are taken the event loop does not turn. No timer begins a new second then, so that they are counted on.
 */
const MOST = 5000;
const WINDOW_MS = 1000;
const REST_MS = 10_000;
/** A file that is appended to changes with every line. */
const HINT_MS = 20;

export interface Watch {
  /** Watches these folders, paths relative to the logs folder, and no others; a folder that is another one than before anew. */
  refresh(folders: Iterable<string>): Promise<void>;
  close(): void;
}

/** A folder that is watched, and which one it is. */
interface Watched {
  readonly watcher: FSWatcher;
  readonly inode: string;
}

/**
 * Calls `hint` with paths, relative to `logs`, of what seems to have changed, and with those of them that came or went. Only a hint: a full inotify table leaves none at all, which
 * is said once, and a storm of changes none for a while; the sweep finds what is missed.
 */
export function startWatch(
  logs: string,
  log: IngestLog,
  hint: (paths: ReadonlySet<string>, renamed: ReadonlySet<string>) => void,
): Watch {
  const open = new Map<string, Watched>();
  let complained = false;
  let restUntil = 0;
  let closed = false;
  let changes = 0;
  let changed = new Set<string>();
  let renamed = new Set<string>();
  let telling: NodeJS.Timeout | undefined;
  const window = setInterval(() => {
    changes = 0;
  }, WINDOW_MS).unref();

  const end = (folder: string) => {
    open.get(folder)?.watcher.close();
    open.delete(folder);
  };

  const rest = () => {
    log.debug({}, 'more changes than can be watched: they are found by the sweep');
    restUntil = performance.now() + REST_MS;
    for (const folder of open.keys()) end(folder);
  };

  /** At once, and then at most every `HINT_MS`. */
  const tell = () => {
    telling = undefined;
    if (changed.size === 0) return;
    const [paths, names] = [changed, renamed];
    changed = new Set();
    renamed = new Set();
    telling = setTimeout(tell, HINT_MS).unref();
    hint(paths, names);
  };

  const begin = (folder: string, inode: string) => {
    const onError = (err: Error) => {
      end(folder);
      if (!complained)
        log.warn({ err }, 'file watching failed; falling back to a scan every second');
      complained = true;
    };
    try {
      const watcher = watchFolder(join(logs, folder), { persistent: false });
      open.set(folder, { watcher, inode });
      watcher.on('error', onError);
      watcher.on('change', (event, name) => {
        if (++changes > MOST) return rest();
        const path = posix.join(folder, String(name));
        changed.add(path);
        if (event === 'rename') renamed.add(path);
        if (!telling) tell();
      });
    } catch (error) {
      onError(error as Error);
    }
  };

  return {
    async refresh(folders) {
      if (performance.now() < restUntil) return;
      const wanted = new Set(folders);
      for (const folder of open.keys()) if (!wanted.has(folder)) end(folder);
      await Promise.all(
        [...wanted].map(async (folder) => {
          const stats = await stat(join(logs, folder)).catch(() => null);
          const inode = stats ? `${stats.dev}:${stats.ino}` : '';
          if (open.get(folder)?.inode === inode) return;
          end(folder);
          if (inode !== '' && !closed) begin(folder, inode);
        }),
      );
    },
    close() {
      closed = true;
      clearInterval(window);
      clearTimeout(telling);
      for (const folder of open.keys()) end(folder);
    },
  };
}
