import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../server/config/package-root.ts';
import type { Bench } from './bench.ts';
import { writeLines } from './dataset.ts';
import { progress } from './progress.ts';
import type { Searched } from './results.ts';
import { drop, startService } from './service.ts';

const ASKING_MS = 30 * 60_000;

/** Search queries next to the same written by hand for the engine, in turn, over settled rows. */
export async function measureSearch(bench: Bench): Promise<Searched> {
  const { rows, runs, seed } = bench.options;
  const data = await writeLines(bench.folder('searched'), ['edge_logs'], { rows, seed });
  const folder = bench.folder('tailpond-search');
  const service = await startService(folder);
  try {
    drop(folder, data);
    await service.until(data.lines);
    await service.untilSettled(data.lines);
  } finally {
    await service.stop();
  }
  const bar = progress('search queries', 1);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      '--import=tsx',
      join(ROOT, 'test/bench/search-questions.ts'),
      join(folder, 'store'),
      String(Math.max(5, runs)),
    ],
    { cwd: ROOT, timeout: ASKING_MS, maxBuffer: 1e8 },
  );
  bar.end();
  const questions = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  return { rows, questions };
}
