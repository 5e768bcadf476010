import { setTimeout as delay } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import { withService } from './http.ts';
import { store } from './load.ts';
import { progress } from './progress.ts';
import type { Restart } from './results.ts';
import { drop, startService } from './service.ts';

/** Starts a run; each takes little. */
const STARTS = 3;
const IDLE_MS = 5000;
/** The kill comes when this share of the rows is stored. */
const KILL_AT = 0.4;

/** Starts on a store that holds the lines, idle memory after one, and what a kill in the middle of bulk ingest costs. */
export async function measureRestart(bench: Bench): Promise<Restart> {
  const folder = await store(bench, 'tailpond');
  const { runs } = bench.options;
  const bar = progress('starts and kills', runs * 2);
  const [readyMs, idleMb]: [number[], number[]] = [[], []];
  const recoveries: Restart['recoveries'][number][] = [];
  for (let run = 0; run < runs; run++) {
    const { starts, idle } = await startAgain(folder);
    readyMs.push(...starts);
    idleMb.push(idle);
    bar.step();
    recoveries.push(await killAndRecover(bench));
    bar.step();
  }
  bar.end();
  return { readyMs, idleMb, recoveries };
}

/** How long starts take, and what the process holds when it has been left alone for a while. */
export async function startAgain(folder: string): Promise<{ starts: number[]; idle: number }> {
  const starts: number[] = [];
  let idle = 0;
  for (let start = 1; start <= STARTS; start++) {
    await withService(folder, async (service) => {
      starts.push(service.readyMs);
      if (start < STARTS) return;
      await delay(IDLE_MS);
      idle = service.memoryMb('VmRSS');
    });
  }
  return { starts, idle };
}

async function killAndRecover(bench: Bench): Promise<Restart['recoveries'][number]> {
  const { data } = bench;
  const folder = bench.folder('killed');
  const killed = await startService(folder);
  drop(folder, data);
  await killed.until(data.lines * KILL_AT).finally(killed.kill);
  const begin = performance.now();
  let recovery = { killedAt: 0, readyMs: 0, wholeMs: 0 };
  await withService(folder, async (service) => {
    const killedAt = (await service.rows()) / data.lines;
    await service.until(data.lines);
    const wholeMs = performance.now() - begin;
    // Exactly once is promised, so a row too many is as bad as one too few.
    const rows = await service.rows();
    if (rows !== data.lines) throw new Error(`${rows} rows of ${data.lines} lines after a kill`);
    recovery = { killedAt, readyMs: service.readyMs, wholeMs };
  });
  return recovery;
}
