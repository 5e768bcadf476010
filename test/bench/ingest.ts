import type { Bench } from './bench.ts';
import type { Loaded } from './job.ts';
import { load, missing } from './load.ts';
import { progress } from './progress.ts';
import { ENGINES, type EngineName, type Ingest } from './results.ts';

/** Bulk ingest of the same files by each engine in turn, `runs` times, there and back. */
export async function measureIngest(bench: Bench): Promise<Ingest> {
  const { data, options } = bench;
  const loaded: Record<EngineName, Loaded[]> = {
    tailpond: [],
    duckdb: [],
    clickhouse: [],
    postgres: [],
  };
  const engines = ENGINES.filter((engine) => missing(engine) === null);
  const bar = progress('bulk ingest', options.runs * engines.length);
  for (let run = 0; run < options.runs; run++) {
    // What one has written may be on its way to the disk while the next one runs.
    for (const engine of run % 2 === 0 ? engines : engines.toReversed()) {
      loaded[engine].push(await load(bench, engine));
      bar.step();
    }
  }
  bar.end();
  return { lines: data.lines, bytes: data.bytes, loaded };
}
