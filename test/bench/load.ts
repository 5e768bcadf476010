import { execFileSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { postgresPrograms } from '../support/postgres.ts';
import type { Bench } from './bench.ts';
import { type Loaded, runJob } from './job.ts';
import type { EngineName } from './results.ts';
import { loadTailpond } from './tailpond.ts';

/** Why an engine cannot be measured here, and what would change that; null when it can. */
export function missing(engine: EngineName): string | null {
  const modules = join(dirname(fileURLToPath(import.meta.url)), 'node_modules');
  if (engine === 'postgres' && !postgresPrograms())
    return 'PostgreSQL is not installed: apt-get install postgresql';
  if (engine === 'clickhouse' && !existsSync(join(modules, '@chdb')))
    return 'chdb has no binary for this machine';
  return null;
}

/** Loads the lines into a new folder of the engine, which is kept for the questions in place of its last one. */
export async function load(bench: Bench, engine: EngineName): Promise<Loaded> {
  const last = bench.stores.get(engine);
  if (last) rmSync(last, { recursive: true });
  const folder = bench.folder(engine);
  bench.stores.set(engine, folder);
  // What was written before must not be written back at the expense of this one.
  execFileSync('sync');
  if (engine === 'tailpond') return loadTailpond(folder, bench.data);
  return runJob(`${engine}.ts`, { task: 'load', folder, files: bench.data.files });
}

/** The folder of the engine with the lines in it, loaded now if no section has. */
export async function store(bench: Bench, engine: EngineName): Promise<string> {
  if (!bench.stores.has(engine)) await load(bench, engine);
  return bench.stores.get(engine) ?? '';
}
