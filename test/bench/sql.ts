import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../server/config/package-root.ts';
import type { Bench } from './bench.ts';
import { writeLines } from './dataset.ts';
import { progress } from './progress.ts';
import { ASKED } from './questions.ts';
import type { OwnSql } from './results.ts';
import { loadTailpond } from './tailpond.ts';

const ASKING_MS = 30 * 60_000;

/** The questions of Studio's log pages, as it asks them, next to the same written by hand for the engine, in turn. */
export async function measureSql(bench: Bench): Promise<OwnSql> {
  const { rows, runs, seed } = bench.options;
  const data = await writeLines(bench.folder('asked'), ASKED, { rows, seed });
  const folder = bench.folder('tailpond-sql');
  await loadTailpond(folder, data);
  const bar = progress('SQL of callers', 1);
  const script = join(ROOT, 'test/bench/sql-questions.ts');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import=tsx', script, join(folder, 'store'), String(Math.max(5, runs))],
    { cwd: ROOT, timeout: ASKING_MS, maxBuffer: 1e8 },
  );
  bar.end();
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as OwnSql;
}
