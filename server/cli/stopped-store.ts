import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { ROOT } from '../config/package-root.ts';
import { takeStore } from '../control-socket.ts';
import { type Holder, makeFilesPrivate, openStore, type Store } from '../store/index.ts';

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
