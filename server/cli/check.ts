import { constants } from 'node:fs';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { readTokenFile, tokenFileOf } from '../auth/token-file.ts';
import { type Config, ConfigError, EX_CONFIG, settingsOf } from '../config/config.ts';
import { QueryFileError } from '../endpoints/query-file.ts';
import { endpointFolders, loadEndpoints } from '../endpoints/registry.ts';
import { addressOf } from './service-client.ts';
import { withStoppedStore } from './store-admin.ts';
import { escaped, print } from './terminal.ts';

/** One thing that was looked at; `fault`: what is wrong with it. */
interface Finding {
  readonly what: string;
  readonly state: string;
  readonly fault: boolean;
}

/** Looks at settings, tokens, endpoints and the data folder, changes nothing, and prints what it finds. */
export async function check({ json }: { json?: boolean }): Promise<0 | typeof EX_CONFIG> {
  const findings: Finding[] = [];
  const look = async (what: string, action: () => Promise<string>) => {
    const [state, fault] = await action().then(
      (text) => [text, false] as const,
      (error: Error) => [error.message, true] as const,
    );
    findings.push({ what, state, fault });
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
  return findings.some(({ fault }) => fault) ? EX_CONFIG : 0;
}

async function lookAt(
  config: Config,
  look: (what: string, action: () => Promise<string>) => Promise<void>,
) {
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
  await look('service', async () => {
    const url = await addressOf(join(data, 'store'));
    return url ? `runs on ${url}` : 'none runs on this data folder';
  });
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
