import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { owned } from '../support/child.ts';
import { postgresPrograms } from '../support/postgres.ts';

/** A PostgreSQL of our own in a folder, reached by a socket in that folder alone. */
export interface Cluster {
  readonly client: Client;
  /** What all its processes hold now, what they share counted once. */
  memoryMb(): number;
  close(): Promise<void>;
}

const START_MS = 30_000;
/** Without waiting for those that are connected. */
const FAST_STOP = 'SIGINT';
/**
 * Beyond Debian's defaults, which are for a small machine: memory that holds the table, and fewer checkpoints in a
 * load. A commit waits for the disk, as it does by default.
 */
const SETTINGS = {
  listen_addresses: '',
  shared_buffers: '1GB',
  max_wal_size: '8GB',
  work_mem: '64MB',
};

/** Starts the cluster in `folder`, made if there is none. The system's own cluster is not touched. */
export async function startCluster(folder: string): Promise<Cluster> {
  const programs = postgresPrograms();
  if (!programs) throw new Error('BUG: PostgreSQL is not installed');
  const user = unprivileged();
  mkdirSync(folder, { recursive: true });
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  if (!existsSync(data)) {
    const options = ['-D', data, '-U', 'bench', '-A', 'trust', '-E', 'UTF8', '--locale=C'];
    execFileSync(join(programs, 'initdb'), options, { ...user, cwd: folder, stdio: 'pipe' });
  }
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = owned(
    spawn(join(programs, 'postgres'), ['-D', data, '-k', folder, ...settings], {
      ...user,
      cwd: folder,
      stdio: 'ignore',
    }),
    FAST_STOP,
  );
  const ended = once(server, 'exit');
  const stop = async () => {
    server.kill(FAST_STOP);
    await ended;
  };
  try {
    const client = await connect(folder, server.pid);
    return {
      client,
      memoryMb: () => heldMb(server.pid ?? 0),
      async close() {
        await client.end();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function heldMb(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return [pid, ...children].reduce((sum: number, each) => {
    const rollup = readFileSync(`/proc/${each}/smaps_rollup`, 'utf8');
    return sum + Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1]) / 1024;
  }, 0);
}

/** PostgreSQL refuses to run as root. */
function unprivileged(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function connect(host: string, pid: number | undefined): Promise<Client> {
  const until = performance.now() + START_MS;
  for (;;) {
    const client = new Client({ host, user: 'bench', database: 'postgres' });
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (pid === undefined || performance.now() > until) throw error;
      await delay(50);
    }
  }
}
