import { constants, existsSync } from 'node:fs';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { readTokenFile, tokenFileOf } from '../auth/token-file.ts';
import { type Config, ConfigError, EX_CONFIG, settingsOf } from '../config/config.ts';
import { NOT_LISTENING } from '../control-socket.ts';
import { QueryFileError } from '../endpoints/query-file.ts';
import { endpointFolders, loadEndpoints } from '../endpoints/registry.ts';
import { diskGuard, storeHolder } from '../store/index.ts';
import { addressOf } from './service-client.ts';
import { withStoppedStore } from './store-admin.ts';
import { escaped, print } from './terminal.ts';

/** One thing that was looked at; `fault`: what is wrong with it. */
interface Finding {
  readonly what: string;
  readonly state: string;
  readonly fault: boolean;
}

/** Looks at one thing: the action gives its state, or throws what is wrong with it. `NotReady` may pass by itself. */
type Look = (what: string, action: () => Promise<string>) => Promise<void>;

/** Nothing is wrong with the settings, and yet lines cannot be stored or questions answered now. */
class NotReady extends Error {}

/** A service that is ready answers at once. */
const ANSWER_MS = 10_000;

/**
 * Looks at settings, tokens, endpoints, the data folder and the running service, changes nothing, and prints what it finds. Returns 78 where a
 * setting is wrong, and 1 where all of them are right and the service is not ready, or would not be.
 */
export async function check({ json }: { json?: boolean }): Promise<0 | 1 | typeof EX_CONFIG> {
  const findings: Finding[] = [];
  let code: 0 | 1 | typeof EX_CONFIG = 0;
  const look: Look = async (what, action) => {
    const [state, fault] = await action().then(
      (text) => [text, null] as const,
      (error: Error) => [error.message, error] as const,
    );
    findings.push({ what, state, fault: fault !== null });
    if (fault) code = fault instanceof NotReady && code !== EX_CONFIG ? 1 : EX_CONFIG;
  };
  let config: Config | null = null;
  await look('settings', async () => {
    config = settingsOf();
    return 'are right';
  });
  if (config) await lookAt(config, look);
  if (json) print(JSON.stringify({ result: findings }));
  else
    for (const { what, state, fault } of findings)
      console.log(escaped(`${fault ? 'WRONG' : 'ok   '} ${what}: ${state}`));
  return code;
}

async function lookAt(config: Config, look: Look) {
  const data = resolve(config.data);
  await look('tokens', async () => {
    const path = tokenFileOf(config);
    return `${readTokenFile(path).length} in ${path}, beside the one of the settings`;
  });
  await look('endpoints', async () => {
    return (await namesOf(endpointFolders(config), config)).join(', ');
  });
  await look('data folder', async () => {
    for (const folder of [data, join(data, 'logs'), join(data, 'store')]) {
      const missing = await access(folder, constants.F_OK).then(
        () => false,
        () => true,
      );
      if (missing) return `${folder} is not there yet; the service makes it`;
      await access(folder, constants.R_OK | constants.W_OK | constants.X_OK).catch(() => {
        throw new ConfigError([`${folder} cannot be read and written by this user`]);
      });
    }
    return data;
  });
  const { clickhouse } = config;
  if (clickhouse)
    await look('forwarding', async () => {
      return `to ${clickhouse.urls.join(', ')}; tailpond clickhouse check asks ${clickhouse.urls.length === 1 ? 'it' : 'them'}`;
    });
  const store = join(data, 'store');
  const url = await serviceOn(store).catch((error: Error) => error);
  if (url === null) await look('disk', () => roomIn(store, config.minFree));
  await look('service', async () => {
    if (url instanceof Error) throw new NotReady(url.message);
    return url === null ? 'none runs on this data folder' : readiness(url);
  });
}

/** Returns the address of the service that runs; null for none. Throws where it hangs, starts or stops. */
async function serviceOn(store: string): Promise<string | null> {
  const url = await addressOf(store);
  if (url === null && (await storeHolder(store)) === 'the service') throw new Error(NOT_LISTENING);
  return url;
}

/** Asks the service at `url` what `/readyz` says. Throws NotReady, with its words. */
async function readiness(url: string): Promise<string> {
  const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(ANSWER_MS) }).catch(
    () => null,
  );
  if (response?.ok) return `runs on ${url} and is ready`;
  const problem = (await response?.json().catch(() => null)) as { detail?: string } | null;
  throw new NotReady(`runs on ${url}. ${problem?.detail ?? 'It does not answer.'}`);
}

/** Looks at the disk by the service's own rule, where no service runs. Throws NotReady. */
async function roomIn(store: string, minFree: number): Promise<string> {
  let folder = store;
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder);
  // Only the engine knows how much of its file is free: whether that is enough shows when it has been opened.
  const isNew = !existsSync(join(store, 'tailpond.duckdb'));
  const noRoom = await diskGuard({
    folder,
    minFree,
    freeBytes: async () => (isNew ? 0 : Number.POSITIVE_INFINITY),
    mostBytes: Number.POSITIVE_INFINITY,
    databaseBytes: () => 0,
  })();
  if (noRoom) throw new NotReady(noRoom);
  return 'has room for lines';
}

/** The names of the endpoints, as the engine finds them right, over a store that is empty. */
async function namesOf(folders: readonly string[], config: Config): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tailpond-check-'));
  try {
    return await withStoppedStore(folder, config, 'tailpond check', async (store) =>
      (await loadEndpoints(folders, store, config.clickhouse !== null)).all.map(({ name }) => name),
    );
  } catch (error) {
    if (error instanceof QueryFileError) throw error;
    throw new Error('they cannot be checked', { cause: error });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
