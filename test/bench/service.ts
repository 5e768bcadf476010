import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { linkSync, mkdirSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { Source } from '../../ingest/index.ts';
import { ROOT } from '../../server/config/package-root.ts';
import { owned } from '../support/child.ts';
import { freePort } from '../support/port.ts';
import type { Dataset } from './dataset.ts';
import { memoryMb, processorSeconds } from './memory.ts';

/** The newest rows of a source are settled when there are so many. */
const RUN_ROWS = 30_720;

/** The built service, run as users run it: a process of its own, files in the drop folder, questions over HTTP. */
export interface Service {
  readonly url: string;
  readonly headers: Record<string, string>;
  /** From the start of the process to the first 200 of /readyz. */
  readonly readyMs: number;
  /** Rows that were taken, of all sources. */
  rows(): Promise<number>;
  until(rows: number): Promise<void>;
  /** Waits until a source that has so many rows is settled, but for the newest, which fill no run. */
  untilSettled(rows: number, source?: Source): Promise<void>;
  /** The body of an answer. */
  get(path: string): Promise<string>;
  /** The body of an endpoint's answer. */
  ask(path: string): Promise<string>;
  /** How long that took, ms. */
  time(path: string): Promise<number>;
  memoryMb(field: 'VmHWM' | 'VmRSS'): number;
  /** Processor time since its start, seconds. */
  processorSeconds(): number;
  stop(): Promise<void>;
  /** kill -9. */
  kill(): Promise<void>;
}

const TOKEN = 'a-token-for-benchmarks';
/** Seldom, because the ledger counts what is there, with the threads that ingest works with. */
const LONGEST_POLL_MS = 1000;
const POLL_MS = 50;
const START_MS = 180_000;
/** No line in this long: then ingest hangs. */
const STALL_MS = 120_000;

/** Starts the service on a data folder and waits until it is ready. */
export async function startService(
  data: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Service> {
  mkdirSync(data, { recursive: true });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const headers = { 'X-API-KEY': TOKEN };
  const agent = new Agent({ keepAlive: true });
  const begin = performance.now();
  const child = owned(
    spawn(join(ROOT, 'server/launch.cjs'), {
      env: {
        ...process.env,
        UV_THREADPOOL_SIZE: '',
        TAILPOND_DATA: data,
        TAILPOND_PORT: String(port),
        TAILPOND_TOKEN: TOKEN,
        ...settings,
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    }),
  );
  const pid = child.pid ?? 0;
  const ended = once(child, 'exit');
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    child.kill(signal);
    await ended;
    agent.destroy();
  };

  const fetch = async (path: string) => {
    const request = get(`${url}${path}`, { agent, headers });
    const [response] = await once(request, 'response');
    return { status: response.statusCode as number, body: await text(response) };
  };
  const ok = async (path: string) => {
    const { status, body } = await fetch(path);
    if (status !== 200) throw new Error(`${path} gave ${status}: ${body}`);
    return body;
  };
  const rows = async () => {
    const { result } = JSON.parse(await ok('/api/ledger')) as { result: { rows?: number }[] };
    return result.reduce((sum, row) => sum + Number(row.rows ?? 0), 0);
  };
  const settled = async (source: Source) => {
    const line = new RegExp(`^tailpond_settled_rows_total\\{source="${source}"\\} (\\d+)$`, 'm');
    return Number(line.exec(await ok('/metrics'))?.[1]);
  };
  const ask = (path: string) => ok(`/api/endpoints/query/${path}`);

  try {
    await ready(child, async () => (await fetch('/readyz')).status === 200);
  } catch (error) {
    await end('SIGKILL');
    throw error;
  }
  return {
    url,
    headers,
    readyMs: performance.now() - begin,
    rows,
    until: (wanted) => reached(rows, wanted, 'ingest', 25),
    untilSettled: (wanted, source = 'edge_logs') =>
      reached(() => settled(source), wanted - RUN_ROWS + 1, 'settling', 1000),
    get: ok,
    ask,
    async time(path) {
      const start = performance.now();
      await ask(path);
      return performance.now() - start;
    },
    memoryMb: (field) => memoryMb(field, pid),
    processorSeconds: () => processorSeconds(pid),
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

async function reached(
  count: () => Promise<number>,
  wanted: number,
  what: string,
  everyMs: number,
): Promise<void> {
  const began = performance.now();
  let [seen, seenAt] = [-1, began];
  for (;;) {
    const now = await count();
    if (now >= wanted) return;
    if (now > seen) [seen, seenAt] = [now, performance.now()];
    if (performance.now() - seenAt > STALL_MS)
      throw new Error(`${what} stopped at ${now} of ${wanted} rows`);
    // To ask costs what is measured a tenth of its processor where it is done 40 times a second.
    const leftMs = ((wanted - now) * (performance.now() - began)) / Math.max(now, 1);
    await delay(Math.min(LONGEST_POLL_MS, Math.max(everyMs, leftMs / 10)));
  }
}

/** Drops the files into the drop folder at once, by hard links, so that nothing is copied meanwhile. */
export function drop(data: string, { files }: Dataset, name = 'bulk'): void {
  for (const { source, path } of files) {
    mkdirSync(join(data, 'logs', source), { recursive: true });
    linkSync(path, join(data, 'logs', source, `${name}.ndjson`));
  }
}

async function ready(child: ChildProcess, isReady: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + START_MS;
  while (performance.now() < until) {
    if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}`);
    // Before it listens, the connection is refused.
    if (await isReady().catch(() => false)) return;
    await delay(POLL_MS);
  }
  throw new Error('the service was not ready in time');
}
