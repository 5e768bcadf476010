// `npm run bench -- [--rows N] [--runs N]`: what tailpond does with N edge lines, as users run it: the built service as
// a process of its own, files in the drop folder, questions over HTTP. Ratios are taken pair by pair in one run.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  createWriteStream,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { SOURCES } from '../../ingest/index.ts';
import { ROOT } from '../../server/root.ts';
import { edgeLines, PROJECTS } from './lines.ts';

const { values } = parseArgs({
  options: { rows: { type: 'string', default: '500000' }, runs: { type: 'string', default: '5' } },
});
const ROWS = Number(values.rows);
const RUNS = Number(values.runs);
const TOKEN = 'a-token-for-benchmarks';
const WEEK_MS = 7 * 24 * 3_600_000;
const scratch = mkdtempSync(join(tmpdir(), 'tailpond-bench-'));

try {
  execFileSync(process.execPath, ['build.cjs'], { cwd: ROOT, stdio: 'inherit' });
  console.log(
    `${cpus().length} x ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`,
  );
  const input = await generate(ROWS, 1);
  console.log(`${ROWS} edge lines, ${(statSync(input).size / ROWS).toFixed(0)} bytes each\n`);
  await bulk(input);
  await questions([input, await generate(ROWS, 2)]);
  await freshness();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** Bulk ingest against the bare INSERT … SELECT of the engine, in turn. */
async function bulk(input: string) {
  const ratios: number[] = [];
  const [ours, raw, peaks]: [number[], number[], number[]] = [[], [], []];
  for (let run = 0; run < RUNS; run++) {
    const database = join(scratch, 'raw.duckdb');
    const limit = JSON.parse(
      execFileSync(
        process.execPath,
        ['--import=tsx', join(ROOT, 'test/bench/raw.ts'), input, database],
        { encoding: 'utf8' },
      ),
    );
    rmSync(database);
    const data = join(scratch, `bulk-${run}`);
    const service = await start(data);
    const begin = performance.now();
    linkSync(input, join(data, 'logs/edge_logs/edge.ndjson'));
    await service.until(ROWS);
    const ms = performance.now() - begin;
    peaks.push(service.memory('VmHWM'));
    await service.stop();
    if (run === 0) {
      const size = statSync(join(data, 'store/tailpond.duckdb')).size;
      console.log(`disk: ${(size / statSync(input).size).toFixed(3)} bytes per byte of input`);
    }
    rmSync(data, { recursive: true });
    ratios.push(limit.ms / ms);
    ours.push(ms);
    raw.push(limit.ms);
  }
  const rate = (ms: number) => `${Math.round(ROWS / (ms / 1000) / 1000)} k lines/s`;
  console.log(`bulk ingest: ${rate(median(ours))}, bare insert … select: ${rate(median(raw))}`);
  console.log(`ratio, ${RUNS} pairs: ${spread(ratios, 2)}`);
  console.log(`peak resident memory: ${spread(peaks, 0)} MB\n`);
}

/** Both endpoints over 2 × ROWS edge rows; resident memory after a restart. */
async function questions(inputs: readonly string[]) {
  const data = join(scratch, 'questions');
  let service = await start(data);
  for (const [i, input] of inputs.entries())
    linkSync(input, join(data, `logs/edge_logs/${i}.ndjson`));
  await service.until(ROWS * inputs.length);
  await service.stop();
  service = await start(data);
  await delay(5000);
  console.log(
    `${ROWS * inputs.length} edge rows, after a restart: ${service.memory('VmRSS').toFixed(0)} MB resident when idle`,
  );
  const list: number[] = [];
  for (let i = 0; i < 200; i++)
    list.push(await service.time(`logs.all?project=${PROJECTS[i % PROJECTS.length]}`));
  console.log(`logs.all: ${percentiles(list)}`);
  for (const interval of ['daily', 'hourly', 'minutely']) {
    const counts: number[] = [];
    // Each question once: the answers are cached.
    for (const project of PROJECTS) {
      for (const regexp of [project, `${project}.`, `//${project}`]) {
        counts.push(
          await service.time(
            `usage.api-counts?interval=${interval}&project=${encodeURIComponent(regexp)}`,
          ),
        );
      }
    }
    console.log(`usage.api-counts ${interval}, uncached: ${percentiles(counts)}`);
  }
  console.log(`${service.memory('VmRSS').toFixed(0)} MB resident after the questions\n`);
  await service.stop();
}

/** From the write of a line to the first answer of logs.all that holds it, at 1,000 lines a second over all sources. */
async function freshness(seconds = 20) {
  const data = join(scratch, 'fresh');
  const service = await start(data);
  const written = new Map<string, number>();
  const seen: number[] = [];
  let writing = true;
  const ask = async () => {
    while (writing || written.size > 0) {
      const body = await service.get('endpoints/query/logs.all?project=fresh');
      const now = performance.now();
      for (const { id } of body.result as { id: string }[]) {
        const at = written.get(id);
        if (at !== undefined) seen.push(now - at);
        written.delete(id);
      }
      await delay(2);
    }
  };
  const asking = ask();
  const begin = performance.now();
  for (let n = 0; performance.now() - begin < seconds * 1000; ) {
    for (; n < performance.now() - begin; n++) {
      const source = SOURCES[n % SOURCES.length] ?? 'edge_logs';
      const id = `line-${n}`;
      const line = JSON.stringify({
        id,
        timestamp: new Date().toISOString(),
        project: 'fresh',
        event_message: 'GET / 200',
        metadata: { request: { path: '/', method: 'GET' } },
      });
      if (source === 'edge_logs') written.set(id, performance.now());
      appendFileSync(join(data, 'logs', source, 'app.ndjson'), `${line}\n`);
    }
    await delay(1);
  }
  writing = false;
  await asking;
  console.log(
    `write to visible, 1,000 lines/s over ${SOURCES.length} sources: ${percentiles(seen)}`,
  );
  await service.stop();
}

async function generate(rows: number, seed: number): Promise<string> {
  const path = join(scratch, `edge-${seed}.ndjson`);
  const out = createWriteStream(path);
  let block = '';
  for (const line of edgeLines(rows, { seed, end: Date.now(), spanMs: WEEK_MS })) {
    block += `${line}\n`;
    if (block.length < 1 << 20) continue;
    if (!out.write(block)) await once(out, 'drain');
    block = '';
  }
  out.end(block);
  await once(out, 'finish');
  return path;
}

async function start(data: string) {
  mkdirSync(data, { recursive: true });
  const env = {
    ...process.env,
    UV_THREADPOOL_SIZE: '',
    TAILPOND_DATA: data,
    TAILPOND_PORT: '0',
    TAILPOND_TOKEN: TOKEN,
  };
  const child = spawn(process.execPath, [join(ROOT, 'server/launch.cjs')], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let port = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    port = JSON.parse(line).port ?? port;
    if (port) break;
  }
  child.stdout.resume();
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}/api/${path}`, {
      headers: { 'X-API-KEY': TOKEN },
    });
    const body = (await response.json()) as { result: Record<string, unknown>[] };
    if (!response.ok) throw new Error(JSON.stringify(body));
    return body;
  };
  return {
    get,
    async until(rows: number) {
      for (;;) {
        const { result } = await get('ledger');
        if (Number(result[0]?.rows) >= rows) return;
        await delay(50);
      }
    },
    async time(path: string) {
      const begin = performance.now();
      await get(`endpoints/query/${path}`);
      return performance.now() - begin;
    },
    /** MB, from the kernel's account of the process. */
    memory(field: 'VmHWM' | 'VmRSS') {
      const kb = new RegExp(`${field}:\\s+(\\d+) kB`).exec(
        readFileSync(`/proc/${child.pid}/status`, 'utf8'),
      )?.[1];
      return Number(kb) / 1024;
    },
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function sorted(numbers: readonly number[]): number[] {
  return [...numbers].sort((a, b) => a - b);
}

function at(numbers: readonly number[], share: number): number {
  const all = sorted(numbers);
  return all[Math.min(all.length - 1, Math.floor(all.length * share))] ?? Number.NaN;
}

function median(numbers: readonly number[]): number {
  return at(numbers, 0.5);
}

function spread(numbers: readonly number[], digits: number): string {
  const show = (share: number) => at(numbers, share).toFixed(digits);
  return `median ${show(0.5)} (${show(0)} to ${show(1)})`;
}

function percentiles(ms: readonly number[]): string {
  return `p50 ${at(ms, 0.5).toFixed(1)} ms, p99 ${at(ms, 0.99).toFixed(1)} ms (${ms.length} samples)`;
}
