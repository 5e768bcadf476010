import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { Express } from 'express';
import { pino } from 'pino';
import supertest from 'supertest';
import type TestAgent from 'supertest/lib/agent.js';
import {
  allSources,
  type IgnoredFile,
  type Ingest,
  type NamePatterns,
  type Source,
  startIngest,
} from '../../ingest/index.ts';
import { type AppDeps, createApp } from '../../server/app.ts';
import { openTokens } from '../../server/auth/tokens.ts';
import { type Config, readConfig } from '../../server/config/config.ts';
import { ROOT } from '../../server/config/package-root.ts';
import { type Deadline, deadlineIn } from '../../server/deadline.ts';
import { type Clock, createCache } from '../../server/endpoints/cache.ts';
import { loadEndpoints } from '../../server/endpoints/registry.ts';
import type { Route } from '../../server/http/route.ts';
import { readersOf } from '../../server/lines/index.ts';
import { isPushPath, openPushFiles } from '../../server/push/index.ts';
import {
  type LedgerEntry,
  type Limits,
  openStore,
  type Plain,
  type Store,
  type Clock as StoreClock,
  withMembers,
} from '../../server/store/index.ts';
import { WAITS, type Waits } from '../../server/waits.ts';
import { lineReaders } from './line-readers.ts';
import type { Counts } from './report.ts';

/** The script that starts the service from dist/, where the tests' setup has just built it. */
export const LAUNCH = join(ROOT, 'server/launch.cjs');
export const TOKEN = 'a-token-for-tests-only';
/** Every token of this run, which no log of a service may hold; tests add those that they make. */
export const secrets = new Set([TOKEN]);
/** How many log lines of all services of this run were searched for them, and the lines that hold one. */
export const watched = { lines: 0, leaks: [] as string[] };

const none: Counts = { starts: 0, kills: 0, requests: 0 };
let counts = { ...none };
/** Returns what the services did that ended since the last call. */
export function takeCounts(): Counts {
  const taken = counts;
  counts = { ...none };
  return taken;
}

/** A logger that says nothing. */
export const silent = pino({ level: 'silent' });

/** Runs `action` with a new folder, and removes it afterwards. */
export async function withFolder<T>(action: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'tailpond-test-'));
  try {
    return await action(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Calls `check` until it no longer throws, and returns its result. Throws its last error after `withinMs`. Four workers of the long form at once
 * may take several times as long. Only a failing test waits that long: no test asserts how fast a busy machine is.
 */
export async function eventually<T>(check: () => T | Promise<T>, withinMs = 50_000): Promise<T> {
  const patienceMs = process.env.TAILPOND_TEST_LONG === '1' ? 5 * withinMs : withinMs;
  const begin = performance.now();
  for (;;) {
    try {
      return await check();
    } catch (error) {
      const waitedMs = performance.now() - begin;
      if (waitedMs > patienceMs) throw error;
      // A check may ask the store: while something takes seconds, asking all the time would take the processor from it.
      await delay(Math.min(250, 10 + waitedMs / 8));
    }
  }
}

const NO_MEMBERS = Object.fromEntries(
  allSources().map((source) => [source, []]),
) as unknown as Record<Source, readonly string[]>;

export interface StoreSettings {
  readonly maxLine?: number;
  readonly maxPushLines?: number;
  readonly queryTimeoutMs?: number;
  /** The folder of the SQL files; by default the project's own. */
  readonly sql?: string;
  /** Bytes that must be free on the disk; by default the disk is not checked. */
  readonly minFree?: number;
  /** The engine's memory limit, bytes; by default 300 MB. */
  readonly memory?: number;
  /** Members of metadata that get columns beside the built-in ones. */
  readonly members?: Readonly<Record<Source, readonly string[]>>;
  /** Names of further logs. */
  readonly files?: NamePatterns;
  /** The clocks for storage times and for retention; by default the machine's. */
  readonly storeClock?: StoreClock;
  /** How lines are read; by default as with no settings of lines. */
  readonly lines?: Pick<Config, 'lineFormat' | 'timeZone' | 'fields'>;
  /** Changes to what the service waits for, ms. */
  readonly waits?: Partial<Waits>;
}

const waitsOf = ({ waits }: StoreSettings): Waits => ({ ...WAITS, ...waits });

type QueryOptions = Parameters<Store['query']>[2];
type TestPool = Omit<Store['callerPool'], 'query'> & {
  query(
    sql: string,
    values: Readonly<Record<string, string | null>>,
    options: Omit<QueryOptions, 'deadline'> & {
      readonly deadline?: Deadline;
      readonly signal?: AbortSignal;
    },
  ): ReturnType<Store['query']>;
};
type Sought = Parameters<Store['mayHave']>;

/** A store that may be asked without a deadline: then a statement has the time of a question for itself. */
export interface TestStore extends Omit<Store, 'query' | 'callerPool' | 'entryPool' | 'mayHave'> {
  query: TestPool['query'];
  readonly callerPool: TestPool;
  readonly entryPool: TestPool;
  mayHave(source: Sought[0], texts: Sought[1], deadline?: Deadline): ReturnType<Store['mayHave']>;
}

function withDeadlines(store: Store, ms: number): TestStore {
  const timed = <P extends Pick<Store, 'query'>>(
    pool: P,
  ): Omit<P, 'query'> & Pick<TestPool, 'query'> => ({
    ...pool,
    query: (sql, values, { signal, deadline = deadlineIn(ms, signal), ...options }) =>
      pool.query(sql, values, { ...options, deadline }),
  });
  return {
    ...timed(store),
    callerPool: timed(store.callerPool),
    entryPool: timed(store.entryPool),
    mayHave: (source, texts, deadline = deadlineIn(ms)) => store.mayHave(source, texts, deadline),
  };
}

/** No test asserts how fast a busy machine is. */
const QUERY_MS = 240_000;

let made: Promise<string> | null = null;

/** Makes an empty store once in this process, and returns its folder: a copy opens in half the time that a new store takes. */
function newStore(): Promise<string> {
  made ??= (async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tailpond-new-store-'));
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    const store = await openStore({
      folder,
      sql: join(ROOT, 'sql'),
      memory: 300e6,
      members: withMembers(NO_MEMBERS),
      maxLine: 1024 * 1024,
      minFree: 0,
      onFatal(error) {
        throw error;
      },
    });
    await store.shutdown();
    return folder;
  })();
  return made;
}

/** Opens the store of a data folder, and closes it afterwards. One at a time: a process has one database. */
export async function withStore<T>(
  data: string,
  action: (store: TestStore) => Promise<T>,
  settings: StoreSettings = {},
): Promise<T> {
  const folder = join(data, 'store');
  // A test that has given up root's rights cannot read what it has made before.
  const isUsual =
    settings.members === undefined &&
    settings.sql === undefined &&
    process.geteuid?.() === process.getuid?.();
  if (isUsual && !existsSync(folder)) cpSync(await newStore(), folder, { recursive: true });
  const store = await openStore({
    folder,
    sql: settings.sql ?? join(ROOT, 'sql'),
    memory: settings.memory ?? 300e6,
    members: withMembers({ ...NO_MEMBERS, ...settings.members }),
    maxLine: settings.maxLine ?? 1024 * 1024,
    minFree: settings.minFree ?? 0,
    waits: waitsOf(settings),
    ...(settings.storeClock ? { clock: settings.storeClock } : {}),
    onFatal(error) {
      throw error;
    },
  });
  try {
    return await action(withDeadlines(store, settings.queryTimeoutMs ?? QUERY_MS));
  } finally {
    await store.shutdown();
  }
}

/** A running ingest over a data folder, and ways to look at what it made of the files. */
export interface Ingesting {
  readonly data: string;
  readonly store: TestStore;
  readonly ingest: Ingest;
  /** Appends text to a file below the logs folder, making it and its folders. */
  write(path: string, text: string | Uint8Array): void;
  /** The ledger's entry of a source. */
  ledger(source?: Source): Promise<LedgerEntry>;
  /** Waits until a source counts this many lines, and returns the ledger's entry. Fails if there are more. */
  lines(count: number, source?: Source): Promise<LedgerEntry>;
  /** Every row of a source, in the order of `orderBy`. */
  rows(source?: Source, orderBy?: string): Promise<Record<string, Plain>[]>;
  rejected(source?: Source): Promise<Record<string, Plain>[]>;
  refused(): readonly IgnoredFile[];
  /** What ingest has logged at warn, or above. */
  readonly warnings: readonly { readonly file?: string; readonly msg: string }[];
}

/** Starts store and ingest on a data folder, and stops both afterwards. A second call on the folder is a restart. */
export async function withIngest<T>(
  data: string,
  action: (ingesting: Ingesting) => Promise<T>,
  settings: StoreSettings = {},
): Promise<T> {
  return withStore(
    data,
    async (store) => {
      const logs = join(data, 'logs');
      const maxLine = settings.maxLine ?? 1024 * 1024;
      const warnings: Ingesting['warnings'][number][] = [];
      const log = pino({ level: 'warn' }, { write: (line) => warnings.push(JSON.parse(line)) });
      const ingest = await startIngest(
        {
          logs,
          staging: store.staging,
          maxLine,
          readerOf: settings.lines ? readersOf(settings.lines, isPushPath) : lineReaders,
          names: settings.files ?? {},
          log,
          waits: waitsOf(settings),
        },
        store.sink,
      );
      try {
        return await action(ingesting(data, store, ingest, warnings));
      } finally {
        await ingest.close();
      }
    },
    settings,
  );
}

function ingesting(
  data: string,
  store: TestStore,
  ingest: Ingest,
  warnings: Ingesting['warnings'],
): Ingesting {
  const self: Ingesting = {
    data,
    store,
    ingest,
    write(path, text) {
      const file = join(data, 'logs', path);
      mkdirSync(dirname(file), { recursive: true });
      appendFileSync(file, text);
    },
    async ledger(source = 'edge_logs') {
      const entry = (await store.ledger()).find((candidate) => candidate.source === source);
      if (!entry) throw new Error(`no ledger entry of ${source}`);
      return entry;
    },
    lines: (count, source = 'edge_logs') =>
      eventually(async () => {
        const entry = await self.ledger(source);
        if (entry.lines !== count) throw new Error(`${entry.lines} lines instead of ${count}`);
        return entry;
      }),
    async rows(source = 'edge_logs', orderBy = 'id') {
      const result = await store.query(
        `select * from ${source} order by ${orderBy}`,
        {},
        { maxRows: 1_000_000 },
      );
      const names = result.columns.map(({ name }) => name);
      // Columns of members are told of by the answers that they speed up.
      return result.rows.map((row) =>
        Object.fromEntries(
          names.flatMap((name, i) =>
            /^(?:member_state|text_block)$|^metadata\./.test(name) ? [] : [[name, row[i] ?? null]],
          ),
        ),
      );
    },
    rejected: (source = 'edge_logs') => store.rejected(source, 1000),
    refused: () => ingest.status().refused,
    warnings,
  };
  return self;
}

/** Returns limits of retention that keep everything. */
export function unlimited(): Limits {
  const { keepMs, maxBytes, maxSourceBytes } = readConfig({ TAILPOND_RETENTION: 'off' }).config;
  return { keepMs, maxBytes, maxSourceBytes };
}

/** Returns limits that keep rows for `ms`, and rows of some sources for another time. */
export function keep(ms: number, others: Readonly<Record<Source, number>> = {}): Limits {
  const keepMs = Object.fromEntries(allSources().map((source) => [source, others[source] ?? ms]));
  return { ...unlimited(), keepMs: keepMs as Limits['keepMs'] };
}

/** Returns limits of `maxBytes` for the store, and of other sizes for some sources. */
export function size(maxBytes: number, others: Readonly<Record<Source, number>> = {}): Limits {
  const { maxSourceBytes, ...rest } = unlimited();
  return { ...rest, maxBytes, maxSourceBytes: { ...maxSourceBytes, ...others } };
}

export interface Served extends Ingesting {
  readonly express: Express;
  /** The table of routes that express serves. */
  readonly routes: readonly Route[];
  /** supertest on the real app, without a token. */
  readonly http: TestAgent;
  /** A GET with the token. */
  get(path: string): supertest.Test;
  /** What the app has logged at warn, or above. */
  readonly logged: readonly { readonly level: number; readonly msg: string }[];
}

/** The real app over a data folder with store and ingest; `clock` drives the cache. */
export async function withApp<T>(
  data: string,
  action: (served: Served) => Promise<T>,
  settings: StoreSettings & {
    clock?: Clock;
    corsOrigin?: string;
    endpoints?: string;
    limits?: Limits;
    forwarder?: AppDeps['forwarder'];
  } = {},
): Promise<T> {
  return withIngest(
    data,
    async (ingesting) => {
      const folder = settings.endpoints ?? join(ROOT, 'sql', 'endpoints');
      const pushFiles = openPushFiles({
        logs: join(data, 'logs'),
        minFree: 0,
        log: silent,
        removal: { add() {}, bytes: () => 0 },
        waits: waitsOf(settings),
      });
      const logged: Served['logged'][number][] = [];
      const { express, routes } = createApp({
        maxLine: settings.maxLine ?? 1 << 20,
        maxPushLines: settings.maxPushLines ?? 500_000,
        formats: settings.lines?.lineFormat ?? {},
        serviceMeans: 'project',
        forwarder: settings.forwarder ?? null,
        answers: null,
        tokens: openTokens(TOKEN, join(data, 'tokens.json')),
        rateLimit: null,
        apiKeyInUrl: false,
        corsOrigin: settings.corsOrigin ?? null,
        store: ingesting.store,
        queryTimeoutMs: settings.queryTimeoutMs ?? QUERY_MS,
        ingest: ingesting.ingest,
        pushFiles,
        limits: settings.limits ?? unlimited(),
        endpoints: await loadEndpoints([folder], ingesting.store),
        cache: createCache({
          maxEntries: 100,
          maxBytes: 1e7,
          ...(settings.clock ? { clock: settings.clock } : {}),
        }),
        logger: pino({ level: 'warn' }, { write: (line) => logged.push(JSON.parse(line)) }),
        waits: waitsOf(settings),
        isDraining: () => false,
      });
      const server = createServer(express).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const http = supertest(server) as unknown as TestAgent;
      const get = (path: string) => http.get(path).set('X-API-KEY', TOKEN);
      return action({ ...ingesting, express, routes, http, get, logged }).finally(() => {
        server.close();
        server.closeAllConnections();
        return pushFiles.close();
      });
    },
    settings,
  );
}

/** The service as a process of its own. */
export interface Service {
  readonly child: ChildProcess;
  readonly url: string;
  /** The log lines so far, parsed. */
  readonly log: readonly Record<string, unknown>[];
  /** The lines of stderr so far. */
  readonly errors: readonly string[];
  /** Sends a GET with the token, and returns the parsed body. */
  get(path: string): Promise<{ status: number; body: Record<string, unknown> }>;
  /** Sends a signal and waits for the end. Returns the exit code, or the signal's name. */
  end(signal: NodeJS.Signals): Promise<number | string>;
}

export interface SpawnOptions {
  /** The service's first script; by default this project's. */
  readonly launch?: string;
  readonly env?: Record<string, string>;
  readonly args?: readonly string[];
  /** A command that replaces itself with the command behind it, as `nice` does. */
  readonly inside?: readonly string[];
}

/** Starts the service on a data folder with a free port, waits until it listens and is ready, and ends it afterwards. */
export async function withService<T>(
  data: string,
  action: (service: Service) => Promise<T>,
  options: SpawnOptions = {},
): Promise<T> {
  const { child, log, errors } = spawnService(data, options);
  const ended = once(child, 'exit');
  try {
    const url = await eventually(() => {
      // The service has ended and will not listen.
      if (child.exitCode !== null) return null;
      const line = log.find(({ port }) => typeof port === 'number');
      if (!line) throw new Error('the service does not listen yet');
      return `http://127.0.0.1:${line.port}`;
    });
    if (url === null)
      throw new Error(`the service ended with ${child.exitCode}: ${errors.slice(-5).join('\n')}`);
    return await action({
      child,
      url,
      log,
      errors,
      async get(path) {
        const response = await fetch(url + path, { headers: { 'X-API-KEY': TOKEN } });
        return {
          status: response.status,
          body: (await response.json()) as Record<string, unknown>,
        };
      },
      async end(signal) {
        child.kill(signal);
        const [code, name] = await ended;
        return code ?? name;
      },
    });
  } finally {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await ended;
    }
  }
}

/** Starts the service and does not wait: for starts that are meant to fail. stderr is kept in `errors`. */
export function spawnService(data: string, options: SpawnOptions = {}) {
  const env = {
    PATH: process.env.PATH,
    TAILPOND_DATA: data,
    TAILPOND_PORT: '0',
    TAILPOND_TOKEN: TOKEN,
    TAILPOND_LOG_LEVEL: 'debug',
    ...options.env,
  };
  // As the command `tailpond`, which sets the memory of the C library.
  const launch = options.launch ?? LAUNCH;
  const [command = launch, ...args] = [...(options.inside ?? []), launch, ...(options.args ?? [])];
  const child = spawn(command, args, {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log: Record<string, unknown>[] = [];
  const errors: string[] = [];
  secrets.add(env.TAILPOND_TOKEN);
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    log.push(line.startsWith('{') ? JSON.parse(line) : { text: line });
  });
  createInterface({ input: child.stderr }).on('line', (line) => {
    lines.push(line);
    errors.push(line);
  });
  child.once('close', (_code, signal) => {
    look(lines, madeToken(env.TAILPOND_DATA));
    counts.starts++;
    if (signal === 'SIGKILL') counts.kills++;
    counts.requests += log.filter(({ res }) => res !== undefined).length;
  });
  return { child, log, errors };
}

/** Searches the output of a service for tokens. */
function look(lines: readonly string[], made: string | null) {
  const searched = [...secrets, ...(made ? [made] : [])].filter((secret) => secret.length >= 16);
  watched.lines += lines.length;
  watched.leaks.push(...lines.filter((line) => searched.some((secret) => line.includes(secret))));
}

/** Returns the token that the service has made for itself, if there is one and its folder still exists. */
function madeToken(data: string): string | null {
  try {
    return readFileSync(join(data, 'store', 'access-token'), 'utf8').trim();
  } catch {
    return null;
  }
}
