import { rmSync } from 'node:fs';
import type { Bench } from './bench.ts';
import { perSecond } from './cached.ts';
import { writeDataset } from './dataset.ts';
import { askEngine, questions } from './engine.ts';
import { question, times, withService } from './http.ts';
import { startAgain } from './restart.ts';
import type { Results, Size } from './results.ts';
import { latency } from './statistics.ts';
import { loadTailpond } from './tailpond.ts';

const LISTS = 400;
const COUNTS = 60;
const CLIENTS = 8;

/** tailpond alone at several sizes: edge lines only, each size spread over the same 7 days. */
export async function measureScale(bench: Bench): Promise<NonNullable<Results['scale']>> {
  const sizes: Size[] = [];
  for (const millions of bench.options.sizes)
    sizes.push(await measureSize(bench, Math.round(millions * 1e6)));
  return { sizes };
}

async function measureSize(bench: Bench, rows: number): Promise<Size> {
  const [input, folder] = [bench.folder('input'), bench.folder('scale')];
  const data = await writeDataset(input, { rows, seed: bench.options.seed, others: false });
  console.error(`scale: ${rows} rows`);
  const loaded = await loadTailpond(folder, data);
  const engine = questions(await askEngine('tailpond', folder));
  const { starts, idle } = await startAgain(folder);
  let [list, counts, listsPerSecond] = [latency([]), latency([]), 0];
  await withService(folder, async (service) => {
    list = latency(await times(service, LISTS, (n) => question('logs.all', n)));
    counts = latency(await times(service, COUNTS, (n) => question('daily', n)));
    const url = `${service.url}/api/endpoints/query/${question('logs.all', 0)}`;
    listsPerSecond = await perSecond(url, service.headers, CLIENTS);
  });
  for (const path of [input, folder]) rmSync(path, { recursive: true });
  return {
    rows,
    inputBytes: data.bytes,
    diskBytes: loaded.diskBytes,
    ingestMs: loaded.ms,
    peakMb: loaded.peakMb,
    readyMs: starts,
    idleMb: idle,
    engine,
    list,
    counts,
    listsPerSecond,
  };
}
