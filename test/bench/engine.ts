import { distinctPatterns, nthProject } from '../support/projects.ts';
import type { Bench } from './bench.ts';
import { scanFiles } from './grep.ts';
import { type Asked, runJob } from './job.ts';
import { missing, store } from './load.ts';
import { progress } from './progress.ts';
import { ENGINES, type Engine, type EngineName, type Questions } from './results.ts';
import { latency } from './statistics.ts';

const LISTS = 200;
const COUNTS = 60;

/** The two questions at each engine, without HTTP, over the same rows. */
export async function measureEngine(bench: Bench): Promise<Engine> {
  const asked: Record<EngineName, Questions[]> = {
    tailpond: [],
    duckdb: [],
    clickhouse: [],
    postgres: [],
  };
  const samples = new Set<string>();
  const engines = ENGINES.filter((engine) => missing(engine) === null);
  const bar = progress('questions at the engine', bench.options.runs * engines.length);
  for (let run = 0; run < bench.options.runs; run++) {
    for (const engine of engines) {
      const { sample, ...times } = await askEngine(engine, await folderOf(bench, engine));
      asked[engine].push(questions(times));
      samples.add(sample);
      bar.step();
    }
  }
  bar.end();
  return { asked, scanned: scanFiles(bench.data), agree: samples.size === 1 };
}

/** tailpond's own SQL runs on DuckDB too: as tailpond asks, and with nothing but the SQL. */
export function askEngine(engine: EngineName, folder: string): Promise<Asked> {
  const projects = Array.from({ length: LISTS }, (_, i) => nthProject(i));
  const patterns = distinctPatterns(COUNTS);
  const script = engine === 'tailpond' ? 'duckdb.ts' : `${engine}.ts`;
  const plain = engine === 'duckdb';
  return runJob(script, { task: 'ask', folder, projects, patterns, plain });
}

export function questions({ listMs, countsMs }: Pick<Asked, 'listMs' | 'countsMs'>): Questions {
  return { list: latency(listMs), counts: latency(countsMs) };
}

function folderOf(bench: Bench, engine: EngineName): Promise<string> {
  return store(bench, engine === 'duckdb' ? 'tailpond' : engine);
}
