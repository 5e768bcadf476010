import { stat } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import { type FSWatcher, watch as watchFiles } from 'chokidar';
import type { IngestLog } from '../types.ts';

/** More changes than this in a second are not watched: to take each of them would keep all else waiting. … */
const MOST = 1000;
const WINDOW_MS = 1000;
/** … The sweep finds what there is meanwhile, and files that grow are looked at often anyway. */
const REST_MS = 60_000;

export interface Watch {
  /** Begins anew when the folder at the path is another one than before: the old watch would stay silent for ever. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Calls `hint` with the path, relative to `folder`, of what seems to have changed. Only a hint: chokidar drops the last
 * event of a burst, and a full inotify table leaves none at all, which is said once; the sweep finds what it misses.
 */
export async function startWatch(
  folder: string,
  log: IngestLog,
  hint: (path: string) => void,
): Promise<Watch> {
  let watcher: FSWatcher | undefined;
  let watched = '';
  let complained = false;
  let resting: NodeJS.Timeout | undefined;
  let [changes, since] = [0, 0];

  /** Watches nothing for a while. */
  const rest = () => {
    log.debug({}, 'more changes than can be watched: they are found by the sweep');
    resting = setTimeout(() => {
      resting = undefined;
      watched = '';
    }, REST_MS).unref();
    watcher?.close().catch(() => {});
    watcher = undefined;
  };

  const open = () => {
    const opened = watchFiles(folder, { ignoreInitial: true, followSymlinks: false });
    opened.on('raw', () => {
      const now = performance.now();
      if (now - since > WINDOW_MS) [changes, since] = [0, now];
      if (++changes > MOST && !resting) rest();
    });
    opened.on('all', (_event, path) => hint(relative(folder, path).split(sep).join('/')));
    opened.on('error', (error) => {
      if (!complained)
        log.warn(
          { err: error },
          'watching is impaired: new lines are found by the sweep, once a second',
        );
      complained = true;
    });
    return opened;
  };

  const watch: Watch = {
    async refresh() {
      if (resting) return;
      const stats = await stat(folder).catch(() => null);
      const identity = stats ? `${stats.dev}:${stats.ino}` : '';
      if (identity === watched) return;
      watched = identity;
      await watcher?.close();
      watcher = identity === '' ? undefined : open();
    },
    async close() {
      clearTimeout(resting);
      await watcher?.close();
    },
  };
  await watch.refresh();
  return watch;
}
