// VictoriaLogs, built by Go and run as its users run it: one process, asked over HTTP.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, existsSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { owned } from '../support/child.ts';
import { freePort } from '../support/port.ts';
import { memoryMb, processorSeconds } from './memory.ts';

export const VERSION = 'v1.52.1';
const PACKAGE = 'github.com/VictoriaMetrics/VictoriaLogs/app/victoria-logs';
/** Git ignores this folder. */
const CACHE = join(dirname(fileURLToPath(import.meta.url)), '.cache', `victoria-logs-${VERSION}`);

/** Its default keeps seven days: it would refuse the oldest lines. */
const RETENTION = '30d';

/** The parameters of its endpoint of JSON lines that name fields. */
export type InsertFields = Readonly<
  Record<'_time_field' | '_msg_field' | '_stream_fields', string>
>;

export const SUPABASE_FIELDS: InsertFields = {
  _time_field: 'timestamp',
  _msg_field: 'event_message',
  _stream_fields: 'project',
};
/** As shippers send it: a few connections, and a body of some megabytes after the other. */
const CONNECTIONS = 4;
const BLOCK_BYTES = 8 << 20;
const START_MS = 180_000;
const POLL_MS = 25;
/** Longer than its interval of five seconds between flushes to the disk. */
const QUIET_MS = 6000;
/** Processor seconds in that time below which it merges nothing. */
const QUIET_SECONDS = 0.1;

export interface VictoriaLogs {
  /** Sends the lines of a file, and waits until questions see `lines` lines. */
  load(path: string, lines: number, fields: InsertFields): Promise<void>;
  /** Waits until the lines are on the disk and merged. */
  untilQuiet(): Promise<void>;
  /** The body of an answer. */
  get(path: string): Promise<string>;
  memoryMb(field: 'VmHWM' | 'VmRSS'): number;
  /** Processor time since its start, seconds. */
  processorSeconds(): number;
}

/** Why VictoriaLogs cannot be measured here, and what would change that; null when it can. */
export function whyNoVictoriaLogs(): string | null {
  return spawnSync('go', ['version']).status === 0
    ? null
    : 'VictoriaLogs, because there is no `go` on the PATH to build it with';
}

/** Builds VictoriaLogs unless that was done before. Throws where its modules cannot be fetched. */
export function buildVictoriaLogs(): void {
  if (existsSync(join(CACHE, 'victoria-logs'))) return;
  console.error(`building VictoriaLogs ${VERSION} (some minutes)`);
  execFileSync('go', ['install', `${PACKAGE}@${VERSION}`], {
    env: { ...process.env, CGO_ENABLED: '0', GOBIN: CACHE },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

/** Starts it on a folder, and stops it whatever happens. */
export async function withVictoriaLogs<T>(
  folder: string,
  use: (server: VictoriaLogs) => Promise<T>,
): Promise<T> {
  const address = `127.0.0.1:${await freePort()}`;
  const child = owned(
    spawn(
      join(CACHE, 'victoria-logs'),
      [
        `-httpListenAddr=${address}`,
        `-storageDataPath=${folder}`,
        `-retentionPeriod=${RETENTION}`,
        '-loggerLevel=ERROR',
      ],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    ),
  );
  const pid = child.pid ?? 0;
  const ended = once(child, 'exit');
  const agent = new Agent({ keepAlive: true });
  const ask = async (path: string, body?: Buffer) => {
    const sent = request(`http://${address}${path}`, { agent, method: body ? 'POST' : 'GET' });
    sent.end(body);
    const [response] = await once(sent, 'response');
    const answer = await text(response);
    if (response.statusCode !== 200)
      throw new Error(`${path} gave ${response.statusCode}: ${answer}`);
    return answer;
  };
  const rows = async () => {
    const query = new URLSearchParams({ query: '* | stats count() rows' });
    const answer = await ask(`/select/logsql/query?${query}`);
    return Number((JSON.parse(answer) as { rows: string }).rows);
  };
  try {
    const until = performance.now() + START_MS;
    // Before it listens, the connection is refused.
    while (!(await ask('/health').catch(() => null))) {
      if (child.exitCode !== null || performance.now() > until)
        throw new Error('VictoriaLogs did not start');
      await delay(POLL_MS);
    }
    return await use({
      async load(path, lines, fields) {
        const insert = `/insert/jsonline?${new URLSearchParams(fields)}`;
        const blocks = blocksOf(path);
        const send = async () => {
          for await (const block of blocks) await ask(insert, block);
        };
        await Promise.all(Array.from({ length: CONNECTIONS }, send));
        await ask('/internal/force_flush');
        const found = await rows();
        if (found !== lines) throw new Error(`VictoriaLogs has ${found} of ${lines} lines`);
      },
      async untilQuiet() {
        for (let used = 0, last = Number.NEGATIVE_INFINITY; ; last = used) {
          used = processorSeconds(pid);
          if (used - last < QUIET_SECONDS) return;
          await delay(QUIET_MS);
        }
      },
      get: (path) => ask(path),
      memoryMb: (field) => memoryMb(field, pid),
      processorSeconds: () => processorSeconds(pid),
    });
  } finally {
    agent.destroy();
    child.kill();
    await ended;
  }
}

/** A file in blocks of whole lines. */
async function* blocksOf(path: string): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { highWaterMark: BLOCK_BYTES })) {
    const end = (chunk as Buffer).lastIndexOf('\n') + 1;
    yield Buffer.concat([rest, chunk.subarray(0, end)]);
    rest = chunk.subarray(end);
  }
  if (rest.length > 0) yield rest;
}
