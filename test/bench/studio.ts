import { rmSync } from 'node:fs';
import { OWN } from '../caller-sql-oracle/own/index.ts';
import { requestsOf } from '../caller-sql-oracle/request.ts';
import { projects } from '../support/projects.ts';
import type { Bench } from './bench.ts';
import { writeMonth } from './dataset.ts';
import { withService } from './http.ts';
import type { Studio } from './results.ts';
import { drop } from './service.ts';
import { median } from './statistics.ts';

const TIMES = 5;
const DAYS_MS = 7 * 24 * 3_600_000;

/** Requests of Studio's kind over the last 7 days, one after the other, at several sizes of a store of 30 days. */
export async function measureStudio({ options, folder }: Bench): Promise<Studio> {
  const all = options.requests === null ? OWN : requestsOf(options.requests);
  const requests = all.filter(({ refused }) => refused === undefined);
  const sizes: Studio['sizes'][number][] = [];
  for (const millions of options.sizes) {
    const rows = Math.round(millions * 1e6);
    console.error(`requests of Studio's kind: ${rows} rows`);
    sizes.push(await measureSize(folder('month'), folder('studio'), rows, options.seed, requests));
  }
  return { sizes };
}

async function measureSize(
  input: string,
  folder: string,
  rows: number,
  seed: number,
  requests: readonly { readonly name: string; readonly sql: string }[],
): Promise<Studio['sizes'][number]> {
  const names = projects(1);
  const data = await writeMonth(input, rows, { seed, projects: names });
  let settleMs = 0;
  await withService(folder, async (service) => {
    drop(folder, data);
    await service.until(data.lines);
    const begin = performance.now();
    for (const { source, lines } of data.files) await service.untilSettled(lines, source);
    settleMs = performance.now() - begin;
  });
  rmSync(input, { recursive: true });
  const asked: { name: string; ms: number }[] = [];
  let idleMb = 0;
  await withService(folder, async (service) => {
    idleMb = service.memoryMb('VmRSS');
    for (const { name, sql } of requests) {
      const query = new URLSearchParams({
        project: names[0] ?? '',
        iso_timestamp_start: new Date(Date.now() - DAYS_MS).toISOString(),
        sql,
      });
      const ms: number[] = [];
      for (let n = 0; n <= TIMES; n++) ms.push(await service.time(`logs.all?${query}`));
      asked.push({ name, ms: median(ms.slice(1)) });
    }
  });
  rmSync(folder, { recursive: true });
  return { rows, settleMs, idleMb, requests: asked };
}
