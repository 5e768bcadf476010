import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { pino } from 'pino';
import { allSources } from '../../ingest/index.ts';
import { createApp } from '../app.ts';
import { readToken } from '../auth/root-token.ts';
import { tokenFileOf } from '../auth/token-file.ts';
import { openTokens } from '../auth/tokens.ts';
import { unansweredRows } from '../clickhouse/unanswered.ts';
import type { Config } from '../config/config.ts';
import { makeFolder } from '../config/make-folder.ts';
import { createCache } from '../endpoints/cache.ts';
import { endpointFolders, openEndpoints } from '../endpoints/registry.ts';
import { AppError } from '../errors.ts';
import { createHttpServer, listen } from '../http/server.ts';
import { limitsOf } from '../retention-job.ts';
import { withStoppedStore } from './store-admin.ts';
import { complain } from './terminal.ts';

/** Log files are not followed: nothing is known of them. */
const NO_INGEST = {
  status: () => ({
    sources: allSources().map((source) => ({
      source,
      files: 0,
      pendingBytes: 0,
      lagMs: 0,
      copies: [],
    })),
    refused: [],
    lastError: null,
    noRoom: null,
  }),
};

/**
 * Answers HTTP requests from the store of a data folder that no service has open, on a port of this machine, while `action` runs. It
 * reads no log file, takes no pushed line and removes no row. Throws StoreInUse while another process has the store.
 */
export async function withOwnStore<T>(
  config: Config,
  action: (url: string, token: string) => Promise<T>,
): Promise<T> {
  const folder = join(resolve(config.data), 'store');
  makeFolder(folder, 0o700);
  return withStoppedStore(folder, config, 'tailpond query', async (store) => {
    const token = readToken(config, folder);
    const answers =
      config.clickhouse &&
      (await import('../clickhouse/index.ts')).openAnswers(
        config.clickhouse,
        config.waits,
        complain,
      );
    const unanswered = answers ? null : await unansweredRows(store);
    if (unanswered) complain(unanswered);
    const { express } = createApp({
      maxLine: config.maxLine,
      maxPushLines: config.maxPushLines,
      formats: config.lineFormat,
      serviceMeans: config.serviceMeans,
      forwarder: null,
      answers,
      tokens: openTokens(token.value, tokenFileOf(config)),
      rateLimit: null,
      apiKeyInUrl: false,
      corsOrigin: null,
      store,
      queryTimeoutMs: config.queryTimeoutMs,
      ingest: NO_INGEST,
      pushFiles: {
        append: noPush,
        openSeparate: noPush,
        async close() {},
      },
      limits: limitsOf(config),
      endpoints: await openEndpoints(endpointFolders(config), store, answers !== null),
      cache: createCache({ maxEntries: 1, maxBytes: 1 }),
      logger: pino({ level: 'silent' }),
      waits: config.waits,
      isDraining: () => false,
    });
    const server = createHttpServer(config.maxConnections, config.waits, express);
    await listen(server, { port: 0, host: '127.0.0.1' });
    try {
      const { port } = server.address() as AddressInfo;
      return await action(`http://127.0.0.1:${port}`, token.value);
    } finally {
      server.close();
      server.closeAllConnections();
      await answers?.close();
    }
  });
}

/** A command takes no pushes. */
function noPush(): Promise<never> {
  return Promise.reject(new AppError('STORAGE_UNAVAILABLE'));
}
