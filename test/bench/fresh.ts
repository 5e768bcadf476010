import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SUPABASE_SOURCES } from '../../ingest/index.ts';
import type { Bench } from './bench.ts';
import { withService } from './http.ts';
import { progress } from './progress.ts';
import type { Fresh } from './results.ts';
import type { Service } from './service.ts';
import { type Latency, latency } from './statistics.ts';

const LINES_PER_SECOND = 1000;
const SECONDS = 20;
/** The last lines are waited for no longer than this. */
const LAST_MS = 10_000;

/** From the write of a line to the first answer of logs.all that holds it, at 1,000 lines a second over all sources, and what they cost. */
export async function measureFresh(bench: Bench): Promise<Fresh> {
  const bar = progress('write to visible', bench.options.runs);
  const runs: Latency[] = [];
  const cores: number[] = [];
  for (let run = 0; run < bench.options.runs; run++) {
    const folder = bench.folder('fresh');
    await withService(folder, async (service) => {
      runs.push(latency(await writeAndSee(service, folder)));
      const [used, begin] = [service.processorSeconds(), performance.now()];
      await write(folder);
      cores.push((service.processorSeconds() - used) / ((performance.now() - begin) / 1000));
    });
    bar.step();
  }
  bar.end();
  return { runs, cores };
}

export async function writeAndSee(service: Service, folder: string): Promise<number[]> {
  /** When each edge line was written that was not seen yet, by its number. */
  const written = new Map<number, number>();
  const seenMs: number[] = [];
  let askUntil = Number.POSITIVE_INFINITY;
  const ask = async () => {
    while (performance.now() < askUntil && (written.size > 0 || askUntil === Infinity)) {
      const { result } = JSON.parse(await service.ask('logs.all?project=fresh'));
      const now = performance.now();
      // An answer has the newest 100, and a file is stored in order: those before them are there too.
      const newest = Math.max(-1, ...(result as { id: string }[]).map(({ id }) => Number(id)));
      for (const [number, at] of written) {
        if (number > newest) break;
        seenMs.push(now - at);
        written.delete(number);
      }
      await delay(2);
    }
  };
  const asking = ask();
  await write(folder, (n, source) => {
    // No line of the other sources is ever in logs.all.
    if (source === 'edge_logs') written.set(n, performance.now());
  });
  askUntil = performance.now() + LAST_MS;
  await asking;
  if (written.size > 0) throw new Error(`${written.size} lines were never seen`);
  return seenMs;
}

export async function write(folder: string, writing?: (n: number, source: string) => void) {
  const begin = performance.now();
  const due = () => ((performance.now() - begin) * LINES_PER_SECOND) / 1000;
  for (let n = 0; n < SECONDS * LINES_PER_SECOND; await delay(1)) {
    for (; n < due() && n < SECONDS * LINES_PER_SECOND; n++) {
      const source = SUPABASE_SOURCES[n % SUPABASE_SOURCES.length] ?? 'edge_logs';
      writing?.(n, source);
      appendFileSync(join(folder, 'logs', source, 'app.ndjson'), lineOf(n));
    }
  }
}

function lineOf(number: number): string {
  const line = {
    id: String(number),
    timestamp: new Date().toISOString(),
    project: 'fresh',
    event_message: 'GET / 200',
    metadata: { request: { path: '/', method: 'GET' } },
  };
  return `${JSON.stringify(line)}\n`;
}
