import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { wouldRemove } from '../retention-job.ts';
import { type Plain, StoreInUse } from '../store/index.ts';
import { withStoppedStore } from './stopped-store.ts';

/**
 * Opens the store that no service has open and gives what retention would remove now. Throws when another process has
 * it: that one is asked over HTTP.
 */
export async function dryRun(config: Config): Promise<Plain[]> {
  const folder = join(resolve(config.data), 'store');
  if (!existsSync(join(folder, 'tailpond.duckdb'))) return [];
  try {
    return await withStoppedStore(folder, config, 'tailpond --dry-run', ({ retention }) =>
      wouldRemove(retention, config),
    );
  } catch (error) {
    if (!(error instanceof StoreInUse)) throw error;
    throw new Error(
      `Another process has the store in ${folder} open, most likely the service: ask it with GET /api/retention`,
      { cause: error },
    );
  }
}
