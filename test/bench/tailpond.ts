import { join } from 'node:path';
import type { Dataset } from './dataset.ts';
import { bytesBelow } from './disk.ts';
import type { Loaded } from './job.ts';
import { drop, startService } from './service.ts';
import { version } from './version.ts';

/** Loads the lines as users do: the files are dropped, and the ledger is watched until it names every row. */
export async function loadTailpond(folder: string, data: Dataset): Promise<Loaded> {
  const service = await startService(folder);
  try {
    const begin = performance.now();
    drop(folder, data);
    await service.until(data.lines);
    const ms = performance.now() - begin;
    const peakMb = service.memoryMb('VmHWM');
    await service.stop();
    // Without the staging folder: what it holds is bounded, and not kept.
    const diskBytes = bytesBelow(join(folder, 'store'), 'tailpond.duckdb');
    return { version, ms, peakMb, diskBytes };
  } catch (error) {
    await service.kill();
    throw error;
  }
}
