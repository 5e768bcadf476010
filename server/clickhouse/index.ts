import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type ClickHouseConfig, ConfigError } from '../config/config.ts';
import type { Store } from '../store/index.ts';
import { type ClickHouse, openClickHouse } from './clickhouse.ts';
import { type Forwarder, type ForwarderOptions, startForwarder } from './forwarder.ts';

export { ForeignShipments, type Forwarder, type Forwarding } from './forwarder.ts';

export interface ForwardingOptions extends Pick<ForwarderOptions, 'log' | 'onForeign'> {
  readonly config: ClickHouseConfig;
  readonly store: Pick<Store, 'outbox'>;
}

/** Forwards the rows of a store to ClickHouse, from now on, until closed. Throws ConfigError. */
export async function startForwarding({
  config,
  store,
  ...options
}: ForwardingOptions): Promise<Forwarder> {
  const clickhouse = openConfigured(config);
  const outbox = await store.outbox();
  const endpoint = shardOf(outbox.node, config.urls);
  options.log.info({ endpoint, node: outbox.node }, 'rows are forwarded to ClickHouse');
  const forwarder = startForwarder({ ...options, outbox, clickhouse, endpoint });
  return {
    ...forwarder,
    async close() {
      await forwarder.close();
      await clickhouse.close();
    },
  };
}

/** The servers that the settings name. Throws ConfigError. */
export function openConfigured({
  urls,
  database,
  user,
  passwordFile,
}: ClickHouseConfig): ClickHouse {
  const password = passwordFile === null ? '' : readPassword(passwordFile);
  return openClickHouse({ endpoints: urls, database, user, password });
}

/** The server that takes a store's rows. One that is added takes over some of the stores, and the others stay where they are. */
export function shardOf(node: string, urls: readonly string[]): string {
  const weight = (url: string) => createHash('sha256').update(`${node} ${url}`).digest('hex');
  const [first] = [...urls].sort((a, b) => (weight(a) < weight(b) ? -1 : 1));
  if (first === undefined) throw new Error('BUG: there is no server');
  return first;
}

function readPassword(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError([
      `TAILPOND_CLICKHOUSE_PASSWORD_FILE: expected a file that can be read, got ${JSON.stringify(path)} (${code})`,
    ]);
  }
}
