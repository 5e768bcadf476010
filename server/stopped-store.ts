import { join } from 'node:path';
import type { Config } from './config.ts';
import { ROOT } from './root.ts';
import { openStore, type Store } from './store/index.ts';

/** Opens the store in a folder that no service has open, for as long as `action` takes. Throws what `openStore` throws. */
export async function withStoppedStore<T>(
  folder: string,
  config: Config,
  action: (store: Store) => Promise<T>,
): Promise<T> {
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
}
