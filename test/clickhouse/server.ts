import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type ClickHouseClient, createClient } from '@clickhouse/client';
import { owned } from '../support/child.ts';
import { freePort } from '../support/port.ts';

/** A ClickHouse server of a test's own, on loopback. */
export interface ClickHouseServer {
  readonly url: string;
  /** The port of the protocol by which servers reach one another. */
  readonly tcpPort: number;
  readonly client: ClickHouseClient;
  /** The id of its process. */
  pid(): number;
  /** Ends it at once, as a loss of power would. */
  kill(): Promise<void>;
  /** Starts it again with the data and the ports that it had. */
  start(): Promise<void>;
}

export interface ServerOptions {
  /** Free ones by default. */
  readonly ports?: Ports;
  /** More of the configuration, in XML: users, or `remote_servers`. */
  readonly config?: string;
}

interface Ports {
  readonly http: number;
  readonly tcp: number;
}

const HERE = fileURLToPath(new URL('.', import.meta.url));
/** Half a gigabyte is read first, of a disk that others may keep busy. */
const START_MS = 120_000;
const PING_MS = 5000;

/** Why there is no server for the tests here; null if there is one, or one can be installed. */
export function whyNoClickHouse(): string | null {
  return process.platform === 'linux' && process.arch === 'x64'
    ? null
    : 'the library of ClickHouse’s engine is for Linux on x64';
}

/** Starts a server in `folder` for as long as `action` takes. */
export async function withClickHouse<T>(
  folder: string,
  action: (server: ClickHouseServer) => Promise<T>,
  { config = '', ports }: ServerOptions = {},
): Promise<T> {
  install();
  mkdirSync(folder, { recursive: true });
  const { http: httpPort, tcp: tcpPort } = ports ?? (await freePorts());
  const url = `http://127.0.0.1:${httpPort}`;
  const [configFile, data] = [join(folder, 'config.xml'), join(folder, 'data')];
  writeFileSync(configFile, configuration({ folder, httpPort, tcpPort, more: config }));
  const client = createClient({ url, log: { level: 127 } });
  let isKilled = false;
  let child = spawnEngine(configFile, data);
  // The engine aborts now and then when a connection is cut while it answers. Its unit would start it again.
  const startAgainWhenItEnds = () =>
    child.once('exit', (code, signal) => {
      if (isKilled) return;
      console.log(`      ClickHouse ended by itself (${signal ?? code}) and is started again`);
      child = spawnEngine(configFile, data);
      startAgainWhenItEnds();
    });
  const server: ClickHouseServer = {
    url,
    tcpPort,
    client,
    pid: () => child.pid ?? 0,
    async kill() {
      isKilled = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
    async start() {
      child = spawnEngine(configFile, data);
      isKilled = false;
      startAgainWhenItEnds();
      await answers(client);
    },
  };
  try {
    // What ends before it has answered is configured wrongly.
    await answers(client, () => child.exitCode ?? child.signalCode);
    startAgainWhenItEnds();
    return await action(server);
  } finally {
    await client.close();
    await server.kill();
  }
}

/** Starts two servers, each a shard of the cluster `pond`. */
export async function withTwoShards<T>(
  folder: string,
  action: (servers: readonly [ClickHouseServer, ClickHouseServer]) => Promise<T>,
): Promise<T> {
  const [a, b] = [await freePorts(), await freePorts()];
  const shards = [a, b].map(
    ({ tcp }) => `<shard><replica><host>127.0.0.1</host><port>${tcp}</port></replica></shard>`,
  );
  const config = `<remote_servers><pond>${shards.join('')}</pond></remote_servers>`;
  return withClickHouse(
    join(folder, 'a'),
    (one) =>
      withClickHouse(join(folder, 'b'), (other) => action([one, other]), { config, ports: b }),
    { config, ports: a },
  );
}

async function freePorts(): Promise<Ports> {
  return { http: await freePort(), tcp: await freePort() };
}

/** The engine takes half a gigabyte: it is installed when it is needed first, perhaps by several processes at once, and appears whole. */
function install(): void {
  const isInstalled = () => {
    const [wanted, installed] = ['package-lock.json', 'node_modules/.package-lock.json'].map(
      (name) => statSync(join(HERE, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
    );
    return Number(installed) >= Number(wanted);
  };
  if (isInstalled()) return;
  const own = mkdtempSync(join(HERE, 'installing-'));
  try {
    for (const name of ['package.json', 'package-lock.json'])
      copyFileSync(join(HERE, name), join(own, name));
    execFileSync('npm', ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: own,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    // Another process may have been faster.
    if (isInstalled()) return;
    rmSync(join(HERE, 'node_modules'), { recursive: true, force: true });
    renameSync(join(own, 'node_modules'), join(HERE, 'node_modules'));
  } catch (error) {
    if (!isInstalled()) throw error;
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

function spawnEngine(configFile: string, data: string) {
  const script = join(HERE, 'engine.ts');
  const debug = process.env.TAILPOND_TEST_DEBUG ? 'inherit' : 'ignore';
  return owned(
    spawn(process.execPath, ['--import=tsx', script, configFile, data], {
      stdio: ['ignore', debug, debug],
    }),
    'SIGKILL',
  );
}

async function answers(
  client: ClickHouseClient,
  ended: () => number | string | null = () => null,
): Promise<void> {
  const until = performance.now() + START_MS;
  for (;;) {
    // A question that was sent too early may never be answered.
    const ping = await client.ping({ select: false, abort_signal: AbortSignal.timeout(PING_MS) });
    if (ping.success) return;
    if (ended() !== null) throw new Error(`the server ended with ${ended()}`);
    if (performance.now() > until)
      throw new Error(`the server does not answer: ${ping.error.message}`);
    await delay(100);
  }
}

function configuration(options: {
  readonly folder: string;
  readonly httpPort: number;
  readonly tcpPort: number;
  readonly more: string;
}): string {
  const { folder, httpPort, tcpPort, more } = options;
  return `<clickhouse>
  <logger><level>error</level><console>1</console></logger>
  <timezone>America/New_York</timezone>
  <listen_host>127.0.0.1</listen_host>
  <http_port>${httpPort}</http_port>
  <tcp_port>${tcpPort}</tcp_port>
  <tmp_path>${folder}/tmp/</tmp_path>
  <user_files_path>${folder}/user_files/</user_files_path>
  <format_schema_path>${folder}/format_schemas/</format_schema_path>
  <max_server_memory_usage>4000000000</max_server_memory_usage>
  <mark_cache_size>67108864</mark_cache_size>
  ${more.includes('<users_config>') ? '' : DEFAULT_USER}
  ${more}
</clickhouse>
`;
}

const DEFAULT_USER = `<profiles><default/></profiles>
  <quotas><default/></quotas>
  <users><default><password/><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users>`;
