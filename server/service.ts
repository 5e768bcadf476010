import { statSync } from 'node:fs';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { startIngest } from '../ingest/index.ts';
import { createRejectionLog } from './admin/rejection-log.ts';
import { createApp, createStartingApp } from './app.ts';
import { isGuessable, logflareTokens } from './auth/logflare-tokens.ts';
import { readToken, type Token } from './auth/root-token.ts';
import { tokenFileOf } from './auth/token-file.ts';
import { openTokens, type Tokens } from './auth/tokens.ts';
import { unansweredRows } from './clickhouse/unanswered.ts';
import { type Config, ConfigError, EX_CONFIG } from './config/config.ts';
import { makeFolder } from './config/make-folder.ts';
import { membersOf } from './config/members.ts';
import { ROOT } from './config/package-root.ts';
import { type Commands, NOT_LISTENING, openControl, takeStore } from './control-socket.ts';
import { createCache } from './endpoints/cache.ts';
import { QueryFileError } from './endpoints/query-file.ts';
import { endpointFolders, type OpenEndpoints, openEndpoints } from './endpoints/registry.ts';
import { AppError } from './errors.ts';
import { createHttpServer, listen } from './http/server.ts';
import { readersOf } from './lines/index.ts';
import { isPushPath, openPushFiles, recoverSpool, startRemoval } from './push/index.ts';
import { limitsOf, startRetention } from './retention-job.ts';
import { startSettling } from './settling-job.ts';
import {
  makeFilesPrivate,
  openStore,
  SourceRefused,
  type Store,
  StoreInUse,
  type StoreLock,
} from './store/index.ts';

/** Closes one thing that was opened. */
type Closer = () => Promise<void> | void;

/** The end of a stop, whatever hangs: the database is whole at any moment, and container engines kill after 10 s. */
const STOP_MS = 9000;
/** Requests that run when the stop begins have this long to finish. */
const DRAIN_MS = 3000;
/** Then queries are interrupted, which one sees every 2048 rows, and their clients are told within this. */
const TELL_MS = 2500;
/** What closing needs beside the database's last checkpoint. */
const CLOSE_MS = 1000;

/** The terminal tells the service of a Ctrl-C, and so does npm: a signal that follows this soon is the same one. */
const SAME_SIGNAL_MS = 1000;

const STORE_RETRY_MS = 100;
const CACHE_ENTRIES = 1000;
const CACHE_BYTES = 64 * 1024 * 1024;

/**
 * Runs the service until SIGTERM or SIGINT, then exits: 0 after a clean stop. Throws when it cannot start, with
 * everything closed again that was opened; `onClose` is called last.
 */
export async function runService(
  config: Config,
  logger: Logger,
  onClose: Closer = () => {},
): Promise<void> {
  const { waits } = config;
  const closers: Closer[] = [onClose];
  let draining = false;
  let stopUntil = Number.POSITIVE_INFINITY;
  let store: Store | null = null;
  const exit = (code: number): never => {
    logger.flush();
    process.exit(code);
  };

  // `process.exit` waits for the threads of libuv's pool, so for as long as a query runs in one.
  const abandon = () => {
    logger.flush();
    process.kill(process.pid, 'SIGKILL');
  };

  const closeAll = async () => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  let stopSince = 0;
  const stop = async (signal: string) => {
    if (draining) {
      if (performance.now() - stopSince > SAME_SIGNAL_MS) abandon();
      return;
    }
    draining = true;
    stopSince = performance.now();
    stopUntil = performance.now() + STOP_MS - CLOSE_MS;
    logger.info({ signal }, 'stopping');
    setTimeout(() => {
      logger.warn('ended before the stop was over, for want of time; what was committed is safe');
      abandon();
    }, STOP_MS).unref();
    try {
      await closeAll();
      logger.info('stopped');
      exit(0);
    } catch (error) {
      logger.error({ err: error }, 'the stop failed; what was committed is safe');
      abandon();
    }
  };
  const endNow = () => (store?.busy() ? abandon() : exit(1));
  const crash = (error: unknown, message: string, end: () => void = endNow) => {
    logger.fatal({ err: error }, `${message}; start again, nothing that was committed is lost`);
    end();
  };
  // A rejection that nobody handles comes here, too. The memory may hold anything now; what is committed is right.
  process.on('uncaughtException', (error) => {
    crash(error, `an error that nobody handles${store?.busy() ? ', while queries run' : ''}`);
  });
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);

  try {
    const data = resolve(config.data);
    const [logs, folder] = [join(data, 'logs'), join(data, 'store')];
    makeFolders(config, logs, folder);
    const token = readToken(config, folder);
    const tokenFile = tokenFileOf(config);
    const ofLogflare = logflareTokens(process.env);
    for (const { name } of ofLogflare.filter(isGuessable))
      logger.warn(`${name} is easily guessed: take a longer one that only you know`);
    const tokens = openTokens(token.value, tokenFile, ofLogflare);
    const reloadTokens = () => reload(tokens, tokenFile, logger);
    process.on('SIGHUP', reloadTokens);

    const taken = await takeUnlessBusy(folder);

    // The server listens first: while the store is opened, requests are told so.
    let answer: RequestListener = createStartingApp(logger);
    const server = createHttpServer(config.maxConnections, waits, (request, response) =>
      answer(request, response),
    );
    await listen(server, config);

    const lock = taken ?? (await takeAfterCommand(folder, logger));
    closers.push(lock.release);
    if (!lock.works)
      logger.warn(
        'the file system of the store has no locks: see that no second tailpond is started on it',
      );
    const rejections = createRejectionLog(logger, waits.rejections);
    closers.push(rejections.close);
    makeFilesPrivate();
    const opened = await openStore({
      folder,
      sql: join(ROOT, 'sql'),
      memory: config.memory,
      maxLine: config.maxLine,
      defaultProject: config.defaultProject,
      minFree: config.minFree,
      waits,
      mostBytes: config.clickhouse ? config.maxBytes : Number.POSITIVE_INFINITY,
      members: membersOf(config),
      onFatal: (error) => crash(error, 'the database has given up'),
      onRejected: rejections.note,
      onTornCommit: ({ log, bytes }) =>
        logger.warn(
          { log, bytes },
          'removed a commit from the write-ahead log that was cut off before it was confirmed, by a kill or a loss of power; its lines are read again',
        ),
      onStuck: (error) => crash(error, 'a query cannot be ended', abandon),
    }).catch((error: unknown) => {
      throw error instanceof SourceRefused ? new ConfigError([error.message]) : error;
    });
    for (const { source, rows } of opened.formerSources)
      logger.warn(
        { source, rows },
        'TAILPOND_SOURCES does not name a source any more: its rows stay, and are in no answer',
      );
    store = opened;
    closers.push(async () => {
      const walBytes = await opened.shutdown(stopUntil);
      if (walBytes > 0)
        logger.info({ walBytes }, 'left the write-ahead log to the next start, for want of time');
    });
    await refuseOpenShipments(opened, config.clickhouse?.urls ?? []);
    const unanswered = config.clickhouse ? null : await unansweredRows(opened);
    if (unanswered) logger.warn(unanswered);
    // Closed after the store: until then it says that the store is in use.
    const commands: Commands = {
      check: (gone) => opened.inspect(gone),
      backup: (gone) => opened.backup(gone),
      address: async () => urlOf(server.address()),
      tokens: async () => {
        takeTokens(tokens, tokenFile, logger);
        return { path: tokenFile };
      },
    };
    closers.splice(-1, 0, await control(folder, commands, logger));
    const endpoints = await openEndpoints(
      endpointFolders(config),
      opened,
      config.clickhouse !== null,
    );
    const reloadAll = coalesced(async () => {
      if (draining) return;
      reloadTokens();
      await reloadEndpoints(endpoints, logger);
    });
    process.off('SIGHUP', reloadTokens).on('SIGHUP', reloadAll);
    const left = await recoverSpool(logs, opened.sink, logger);
    const ingest = await startIngest(
      {
        logs,
        staging: opened.staging,
        maxLine: config.maxLine,
        readerOf: readersOf(config, isPushPath),
        names: config.files,
        log: logger,
        waits,
      },
      opened.sink,
    );
    closers.push(ingest.close);
    const removal = startRemoval({
      logs,
      left,
      store: opened,
      ingest,
      log: logger,
      everyMs: waits.pushRemoval,
    });
    closers.push(removal.close);
    const pushFiles = openPushFiles({
      logs,
      minFree: config.minFree,
      log: logger,
      removal,
      waits,
    });
    closers.push(pushFiles.close);
    const limits = limitsOf(config);
    const retention = startRetention({
      retention: opened.retention,
      limits,
      log: logger,
      everyMs: waits.retention,
    });
    closers.push(retention.close);
    const forwarding = await openForwarding(config, opened, logger, (error) =>
      crash(error, 'rows are not forwarded', () => exit(EX_CONFIG)),
    );
    if (forwarding) closers.push(forwarding.close);
    else if (config.settling)
      closers.push(startSettling({ store: opened, ingest, log: logger, waits }).close);
    const cache = createCache({
      maxEntries: CACHE_ENTRIES,
      maxBytes: CACHE_BYTES,
      onRefreshFailed: (error) =>
        logger.warn({ err: error }, 'a cached answer could not be refreshed'),
    });
    answer = createApp({
      maxLine: config.maxLine,
      maxPushLines: config.maxPushLines,
      formats: config.lineFormat,
      serviceMeans: config.serviceMeans,
      tokens,
      rateLimit: config.rateLimit,
      apiKeyInUrl: config.apiKeyInUrl,
      corsOrigin: config.corsOrigin,
      store: opened,
      queryTimeoutMs: config.queryTimeoutMs,
      ingest,
      pushFiles,
      forwarder: forwarding?.forwarder ?? null,
      answers: forwarding?.answers ?? null,
      limits,
      endpoints,
      cache,
      logger,
      waits,
      isDraining: () => draining,
    }).express;
    closers.push(() => {
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeIdleConnections();
      setTimeout(() => opened.stop(new AppError('DRAINING')), DRAIN_MS).unref();
      setTimeout(() => server.closeAllConnections(), DRAIN_MS + TELL_MS).unref();
      return closed;
    });
    greet(logger, server.address() as AddressInfo, logs, token);
  } catch (error) {
    // A stop closes what the start is using, and ends the process itself.
    if (draining) return;
    await closeAll();
    throw error;
  }
}

/** What a path can be at fault for, and not the disk: starting again does not help. */
const WRONG_PATH = [
  'ENOENT',
  'ENOTDIR',
  'EEXIST',
  'EACCES',
  'EPERM',
  'EROFS',
  'ELOOP',
  'ENAMETOOLONG',
];

/** Makes the folders of the data. Throws ConfigError where a setting names no folder, and none that could be made. */
function makeFolders({ data, endpoints }: Config, logs: string, store: string): void {
  try {
    makeFolder(logs);
    makeFolder(store, 0o700);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!WRONG_PATH.includes(code)) throw error;
    throw new ConfigError([
      `TAILPOND_DATA: expected a folder, or a path where one can be made, got ${JSON.stringify(data)} (${code})`,
    ]);
  }
  if (endpoints && !statSync(endpoints, { throwIfNoEntry: false })?.isDirectory())
    throw new ConfigError([
      `TAILPOND_ENDPOINTS: expected a folder, got ${JSON.stringify(endpoints)}, which is not one`,
    ]);
}

/** Forwards the rows of a store, and asks where they are then; null where they stay. Throws ConfigError. */
async function openForwarding(
  { clickhouse: config, columns, waits }: Config,
  store: Store,
  log: Logger,
  onForeign: (error: Error) => void,
) {
  if (!config) return null;
  // Whoever forwards nothing need not load it.
  const { openAnswers, startForwarding } = await import('./clickhouse/index.ts');
  const answers = openAnswers(config, waits, (reason) => log.warn(reason));
  const forwarder = await startForwarding({
    config,
    members: membersOf({ columns }),
    store,
    log,
    onForeign,
    waits,
  });
  return {
    forwarder,
    answers,
    async close() {
      await forwarder.close();
      await answers.close();
    },
  };
}

/** Throws ConfigError where rows may be in a ClickHouse that is not named, so that they must not be settled, removed or sent elsewhere. */
async function refuseOpenShipments(
  { openShipments }: Store,
  urls: readonly string[],
): Promise<void> {
  const open = (await openShipments()).find(({ endpoint }) => !urls.includes(endpoint));
  if (!open) return;
  throw new ConfigError([
    `TAILPOND_CLICKHOUSE_URL: expected ${open.endpoint} until what was sent is known to be there, got ${urls.join() || 'none'} (shipment ${open.seq} of ${open.source}). Rows that were not sent stay here if it is removed after that.`,
  ]);
}

/** Takes the store; null while a command has it that will soon have ended. Throws StoreInUse for a service or a restore. */
async function takeUnlessBusy(folder: string): Promise<StoreLock | null> {
  try {
    return await takeStore(folder, 'the service');
  } catch (error) {
    if (error instanceof StoreInUse && error.endsSoon) return null;
    throw error;
  }
}

async function takeAfterCommand(folder: string, logger: Logger): Promise<StoreLock> {
  logger.warn('a command of tailpond has the store open; the start goes on when it has ended');
  for (;;) {
    await delay(STORE_RETRY_MS);
    const lock = await takeUnlessBusy(folder);
    if (lock) return lock;
  }
}

/** Takes the token file as it is now. Throws ConfigError. */
function takeTokens(tokens: Tokens, path: string, logger: Logger) {
  tokens.reload();
  logger.info({ path, tokens: tokens.count() }, 'the token file was read again');
}

/** Takes the token file as it is now; while it is wrong, the tokens stay as they were. */
function reload(tokens: Tokens, path: string, logger: Logger) {
  try {
    takeTokens(tokens, path, logger);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    logger.error({ faults: error.faults }, 'the token file is wrong; the tokens stay as they were');
  }
}

/** Runs `action` after each call; calls that come while it runs are one. */
function coalesced(action: () => Promise<void>): () => Promise<void> {
  let [running, wanted] = [false, false];
  return async () => {
    wanted = true;
    if (running) return;
    for (running = true; wanted; ) {
      wanted = false;
      await action();
    }
    running = false;
  };
}

/** Takes the files of the endpoints as they are now; while one is wrong, all endpoints stay as they were. */
async function reloadEndpoints(endpoints: OpenEndpoints, logger: Logger) {
  try {
    await endpoints.reload();
    const names = endpoints.all.map(({ name }) => name);
    logger.info({ endpoints: names }, 'the endpoints were read again');
  } catch (error) {
    // Too many queries that wait, a time limit, a stop: nobody waits for this promise, so it must not throw.
    if (error instanceof QueryFileError)
      logger.error({ fault: error.message }, 'an endpoint is wrong; all stay as they were');
    else logger.error({ err: error }, 'the endpoints cannot be read now; all stay as they were');
  }
}

/**
 * What the commands ask. Some file systems that a container shares with its host have no sockets: then the engine's
 * lock alone keeps others out.
 */
async function control(folder: string, commands: Commands, logger: Logger): Promise<Closer> {
  try {
    return await openControl(folder, commands);
  } catch (error) {
    logger.warn(
      { err: error },
      'no socket can be made in the store: tailpond store works only while nothing runs, the other commands need --url',
    );
    return () => {};
  }
}

/** Where the service is reached from this machine. */
function urlOf(bound: ReturnType<Server['address']>): string {
  if (!bound) throw new Error(NOT_LISTENING);
  const { address, port } = bound as AddressInfo;
  const everywhere = address === '0.0.0.0' || address === '::';
  const host = everywhere ? '127.0.0.1' : address.includes(':') ? `[${address}]` : address;
  return `http://${host}:${port}`;
}

/** Says where lines go in and how answers come out; never the token itself. */
function greet(logger: Logger, bound: AddressInfo, logs: string, token: Token) {
  const base = urlOf(bound);
  const secret = token.where === 'TAILPOND_TOKEN' ? '$TAILPOND_TOKEN' : `$(cat ${token.where})`;
  logger.info({ host: bound.address, port: bound.port }, `listening on ${base}`);
  logger.info(`look at it in a browser: ${base}/`);
  logger.info(`drop log files into ${logs}/<source>/`);
  logger.info(`the access token is in ${token.where}`);
  logger.info(
    `try: curl -G -H X-API-KEY:${secret} ${base}/api/endpoints/query/logs.all -d project=default`,
  );
}
