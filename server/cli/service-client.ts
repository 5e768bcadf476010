import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Config, ConfigError, settingsOf } from '../config/config.ts';
import { ROOT } from '../config/package-root.ts';
import { askService } from '../control-socket.ts';
import { StoreInUse } from '../store/errors.ts';
import { complain } from './terminal.ts';

export interface Remote {
  /** The service that is asked; without it, the one that runs on the data folder of the settings. */
  readonly url?: string;
}

/** What a command does where no service runs: it answers from the store alone, or has a service do its work. */
type Alone = 'answers' | 'ingests';

/** A service that can be asked over HTTP. */
export interface Reached {
  /** Throws what a problem's detail says. */
  ask(path: string, init?: RequestInit): Promise<Response>;
}

const READY_MS = 60_000;
const LOOK_MS = 50;
/** How long a command waits for a store that another process has open. */
const BUSY_MS = 10_000;
/** How long a service may take to tell its address, which is at hand. */
const ANSWER_MS = 10_000;

/**
 * Runs `action` with the service that is meant. Where none runs on the data folder, a command that only reads opens the store itself; for
 * others a service is started, on a port of its own, and stopped again. Throws when it cannot be reached.
 */
export async function withService<T>(
  { url }: Remote,
  alone: Alone,
  action: (service: Reached) => Promise<T>,
): Promise<T> {
  const config = settingsOf();
  if (url) return action(reached(url.replace(/\/+$/, ''), tokenOf(config)));
  const data = resolve(config.data);
  const folder = join(data, 'store');
  if (!existsSync(data))
    throw new Error(
      `No service runs on ${data}, which is not there: go where the data folder is, or set TAILPOND_DATA.`,
    );
  for (const end = performance.now() + BUSY_MS; ; await delay(LOOK_MS)) {
    const running = await addressOf(folder);
    if (running) {
      await started(running);
      return action(reached(running, tokenOf(config)));
    }
    if (alone === 'ingests')
      return withOwnService(folder, (address) => action(reached(address, tokenOf(config))));
    const { withOwnStore } = await import('./own-store.ts');
    try {
      return await withOwnStore(config, (address, token) => action(reached(address, token)));
    } catch (error) {
      // Another command has the store for a moment, or a service has begun to start.
      if (!(error instanceof StoreInUse) || performance.now() > end) throw error;
    }
  }
}

/** Waits while a service opens its store. */
async function started(url: string): Promise<void> {
  for (const end = performance.now() + READY_MS; performance.now() < end; await delay(LOOK_MS)) {
    const answer = await fetch(`${url}/readyz`).then(
      (response) => response.json() as Promise<{ code?: string }>,
      () => null,
    );
    if (answer?.code !== 'STARTING') return;
  }
}

function reached(url: string, token: string): Reached {
  return {
    async ask(path, init = {}) {
      const headers = { 'X-API-KEY': token, ...init.headers };
      const response = await fetch(url + path, { ...init, headers, redirect: 'error' }).catch(
        (error: Error) => {
          throw new Error(`${url} cannot be reached: ${String(error.cause ?? error.message)}`);
        },
      );
      if (response.ok) return response;
      const problem = (await response.json().catch(() => ({}))) as { detail?: string };
      const told = `${url} answers ${response.status} ${response.statusText}`;
      throw new Refused(response, problem.detail ?? told);
    },
  };
}

/** What the service has answered instead. */
export class Refused extends Error {
  readonly status: number;
  readonly retryAfterS: number;
  constructor({ status, headers }: Response, detail: string) {
    super(detail);
    this.status = status;
    this.retryAfterS = Number(headers.get('Retry-After')) || 1;
  }
}

/** Returns the address of the service that runs on the store in `folder`; null when none runs. Throws when it hangs. */
export async function addressOf(folder: string): Promise<string | null> {
  return (await askService(folder, 'address', ANSWER_MS)) as string | null;
}

/** A service that this process has started, on a port of its own; it ends with this process. */
export interface OwnService {
  readonly child: ChildProcess;
  /** Comes when it has ended. */
  readonly ended: Promise<unknown>;
  /** Its address, once it is ready. Throws when it ends before, or takes too long. */
  ready(): Promise<string>;
}

/** Starts a service on the store in `folder`, with the settings of this process and these. */
export function startOwnService(
  folder: string,
  settings: Readonly<Record<string, string>> = {},
): OwnService {
  const script = join(ROOT, 'server/launch.cjs');
  const child = spawn(process.execPath, [script, 'start', '--with-parent'], {
    env: {
      ...process.env,
      TAILPOND_PORT: '0',
      TAILPOND_HOST: '127.0.0.1',
      TAILPOND_LOG_LEVEL: 'fatal',
      ...settings,
    },
    // The channel tells it when this process ends, however it does.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  return {
    child,
    ended: once(child, 'exit'),
    async ready() {
      for (const end = performance.now() + READY_MS; ; await delay(LOOK_MS)) {
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error('No service runs, and none could be started.');
        const url = await addressOf(folder);
        if (url && (await fetch(`${url}/livez`)).ok && (await fetch(`${url}/readyz`)).ok)
          return url;
        if (performance.now() > end) throw new Error('The service did not become ready.');
      }
    },
  };
}

async function withOwnService<T>(folder: string, action: (url: string) => Promise<T>): Promise<T> {
  const { child, ended, ready } = startOwnService(folder);
  // It must not outlive the command; `tail` has listeners of its own, and returns.
  const leave = (signal: NodeJS.Signals) => {
    child.kill('SIGTERM');
    void ended.then(() => process.exit(signal === 'SIGINT' ? 130 : 143));
  };
  const caught = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).filter(
    (signal) => process.listenerCount(signal) === 0,
  );
  for (const signal of caught) process.once(signal, leave);
  try {
    return await action(await ready());
  } finally {
    for (const signal of caught) process.off(signal, leave);
    child.kill('SIGTERM');
    await ended;
  }
}

/** The token of the settings, or the one that the service has made. */
function tokenOf({ token, tokenFile, data }: Config): string {
  if (token) return token;
  const path = tokenFile ?? join(resolve(data), 'store', 'access-token');
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError([
      `No token: ${path} cannot be read (${code}). Set TAILPOND_TOKEN or TAILPOND_TOKEN_FILE.`,
    ]);
  }
}

/** Asks the service that runs with the same settings whether it is ready: 0, else 1. */
export async function checkHealth({ host, port }: Pick<Config, 'host' | 'port'>): Promise<0 | 1> {
  const everywhere = host === '0.0.0.0' || host === '::';
  const address = everywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  try {
    const response = await fetch(`http://${address}:${port}/readyz`, {
      signal: AbortSignal.timeout(5000),
    });
    if (!response.ok) complain(await response.text());
    return response.ok ? 0 : 1;
  } catch (error) {
    complain(String(error instanceof Error ? (error.cause ?? error.message) : error));
    return 1;
  }
}
