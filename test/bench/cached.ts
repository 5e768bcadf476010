import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import autocannon, { type Request } from 'autocannon';
import { ROOT } from '../../server/config/package-root.ts';
import { owned } from '../support/child.ts';
import { freePort } from '../support/port.ts';
import type { Bench } from './bench.ts';
import { question, withService } from './http.ts';
import { store } from './load.ts';
import { progress } from './progress.ts';
import type { Cached } from './results.ts';
import { drop, type Service } from './service.ts';
import { type Latency, latency } from './statistics.ts';

const CONNECTIONS = 50;
const SECONDS = 10;
const WARM_SECONDS = 2;
/** Cached answers a second that are asked for while lines come in. */
const ASKED_PER_SECOND = 100;
const COUNTS = question('daily', 0);

/** A cached answer of usage.api-counts: how many a second, next to bare Express, and how late during bulk ingest. */
export async function measureCached(bench: Bench): Promise<Cached> {
  const folder = await store(bench, 'tailpond');
  const bar = progress('cached answers', bench.options.runs * 2);
  const pairs: Cached['pairs'][number][] = [];
  const duringIngest: Latency[] = [];
  let answerBytes = 0;
  await withService(folder, async (service) => {
    const body = await service.ask(COUNTS);
    answerBytes = Buffer.byteLength(body);
    await withBare(body, async (bare) => {
      for (let run = 0; run < bench.options.runs; run++) {
        const express = await perSecond(bare);
        const url = `${service.url}/api/endpoints/query/${COUNTS}`;
        pairs.push({ express, tailpond: await perSecond(url, service.headers) });
        bar.step();
      }
    });
  });
  for (let run = 0; run < bench.options.runs; run++) {
    duringIngest.push(await whileIngesting(bench));
    bar.step();
  }
  bar.end();
  return { pairs, answerBytes, duringIngest };
}

/** Gives each request a header of its own, as clients do that are traced. */
function traced(request: Request): Request {
  return { ...request, headers: { ...request.headers, traceparent: randomUUID() } };
}

/** Requests a second, once both sides are warm. */
export async function perSecond(
  url: string,
  headers: Record<string, string> = {},
  connections = CONNECTIONS,
): Promise<number> {
  const load = { url, headers, connections, requests: [{ setupRequest: traced }] };
  await autocannon({ ...load, duration: WARM_SECONDS });
  const result = await autocannon({ ...load, duration: SECONDS });
  if (result.errors + result.non2xx > 0)
    throw new Error(`${result.errors} errors and ${result.non2xx} answers other than 2xx`);
  return result.requests.average;
}

async function withBare(body: string, use: (url: string) => Promise<void>): Promise<void> {
  const port = await freePort();
  const script = join(ROOT, 'test/bench/bare.ts');
  const child = owned(
    spawn(process.execPath, ['--import=tsx', script, String(port), body], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, NODE_ENV: 'production' },
    }),
  );
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${port}/`;
  try {
    for (let tries = 0; tries < 200; tries++) {
      if (
        await fetch(url).then(
          (answer) => answer.ok,
          () => false,
        )
      )
        break;
      await delay(50);
    }
    await use(url);
  } finally {
    child.kill();
    await ended;
  }
}

async function whileIngesting(bench: Bench): Promise<Latency> {
  const folder = bench.folder('during-ingest');
  let ms: number[] = [];
  await withService(folder, async (service) => {
    drop(folder, bench.few, 'few');
    await service.until(bench.few.lines);
    await service.ask(COUNTS);
    drop(folder, bench.data);
    let ingesting = true;
    const asking = askSteadily(service, () => ingesting);
    await service.until(bench.few.lines + bench.data.lines).finally(() => {
      ingesting = false;
    });
    ms = await asking;
  });
  return latency(ms);
}

/** Asks at a steady pace whether the last answer has come or not, and counts from when each was due. */
async function askSteadily(service: Service, on: () => boolean): Promise<number[]> {
  const asked: Promise<number>[] = [];
  const begin = performance.now();
  while (on()) {
    const due = begin + (asked.length * 1000) / ASKED_PER_SECOND;
    if (due > performance.now()) await delay(due - performance.now());
    asked.push(service.ask(COUNTS).then(() => performance.now() - due));
  }
  return Promise.all(asked);
}
