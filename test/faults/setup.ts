import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { Source } from '../../ingest/index.ts';
import type { LedgerEntry } from '../../server/store/index.ts';
import {
  eventually,
  type Service,
  type SpawnOptions,
  withFolder,
  withService,
} from '../support/helpers.ts';
import { type ExpectedLines, newExpectedLines } from './expected-lines.ts';

/** A data folder, and the expectedLines of what is written there. */
export interface Setup {
  readonly data: string;
  readonly expectedLines: ExpectedLines;
  /** The path of a log file, whose folder is made if need be. */
  at(name: string, source?: Source): string;
  /** The text of lines that must become rows. */
  lines(count: number, source?: Source, text?: string): string;
}

/** An entry of the ledger as `GET /api/ledger` gives it. */
export interface Entry extends LedgerEntry {
  readonly files: number;
  readonly pending_bytes: number;
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
}

/** Runs a case on a new data folder; at the end, when no service runs any more, its expectedLines must be in order. */
export function withSetup(action: (setup: Setup) => Promise<void>): Promise<void> {
  return withFolder(async (data) => {
    const expectedLines = newExpectedLines();
    await action({
      data,
      expectedLines,
      at(name, source = 'edge_logs') {
        const path = join(data, 'logs', source, name);
        mkdirSync(dirname(path), { recursive: true });
        return path;
      },
      lines(count, source = 'edge_logs', text = '') {
        return Array.from({ length: count }, () => expectedLines.line(source, text)).join('');
      },
    });
    expect(await expectedLines.differences(data)).to.deep.equal([]);
  });
}

/** The ledger's entry of a source. */
export async function ledger(service: Service, source: Source = 'edge_logs'): Promise<Entry> {
  const { status, body } = await service.get('/api/ledger');
  expect(status, JSON.stringify(body)).to.equal(200);
  const entry = (body.result as Entry[]).find((candidate) => candidate.source === source);
  if (!entry) throw new Error(`no ledger entry of ${source}`);
  return entry;
}

/** Waits until as many rows and rejected lines are stored as the expectedLines have. */
export async function holds(
  service: Service,
  { expectedLines }: Setup,
  sources: readonly Source[] = ['edge_logs'],
): Promise<void> {
  await eventually(async () => {
    for (const source of sources) {
      const { rows, rejected } = expectedLines.expected(source);
      const entry = await ledger(service, source);
      expect(entry.rows, `rows of ${source}`).to.be.at.least(rows);
      expect(entry.rejected, `rejected lines of ${source}`).to.be.at.least(rejected);
    }
  }, 90_000);
}

let marks = 0;

/**
 * `holds`, and everything that is there now has been looked at: a mark was taken that was made last and waits longest,
 * as a `.gz` does. Whether anything is there too often is told by the expectedLines in the end.
 */
export async function settles(
  service: Service,
  setup: Setup,
  sources: readonly Source[] = ['edge_logs'],
): Promise<void> {
  await holds(service, setup, sources);
  writeFileSync(
    setup.at(`mark${marks++}.log.gz`, 'pgbouncer_logs'),
    gzipSync(setup.lines(1, 'pgbouncer_logs')),
  );
  await holds(service, setup, [...sources, 'pgbouncer_logs']);
  const failures = service.log.filter(({ level }) => Number(level) >= 50);
  expect(failures).to.deep.equal([]);
}

/** Two lives of the service: SIGKILL ends the first, and `mishap` happens to the files before the second begins. */
export async function overKill(
  { data }: Setup,
  first: (service: Service) => Promise<void>,
  mishap: () => void | Promise<void>,
  second: (service: Service) => Promise<void>,
  options: SpawnOptions = {},
): Promise<void> {
  await withService(
    data,
    async (service) => {
      await first(service);
      expect(await service.end('SIGKILL')).to.equal('SIGKILL');
    },
    options,
  );
  await mishap();
  await run(data, second, options);
}

/** One life of the service, which ends well. */
export async function run(
  data: string,
  action: (service: Service) => Promise<void>,
  options: SpawnOptions = {},
): Promise<void> {
  await withService(
    data,
    async (service) => {
      await action(service);
      expect(await service.end('SIGTERM')).to.equal(0);
    },
    options,
  );
}

/** Resident memory of the service in MB: now, or at its peak. */
export function memoryMb({ child }: Service, what: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  const kilobytes = new RegExp(`^${what}:\\s+(\\d+) kB`, 'm').exec(status)?.[1];
  return Number(kilobytes) / 1024;
}

/** Processor time that the service has used. */
export function cpuSeconds({ child }: Service): number {
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
  const [user, system] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14).map(Number);
  // USER_HZ is 100 on Linux.
  return ((user ?? 0) + (system ?? 0)) / 100;
}

/** Waits until the service takes next to no processor time, so that no query runs in it. */
export async function idle(service: Service): Promise<void> {
  await eventually(async () => {
    const before = cpuSeconds(service);
    await delay(500);
    expect(cpuSeconds(service) - before).to.be.below(0.15);
  });
}

/** Asks `/livez` again and again until `action` ends: it must be answered each time, and gives how often it was. */
export async function livezDuring({ url }: Service, action: () => Promise<void>): Promise<number> {
  let answers = 0;
  let over = false;
  const asking = (async () => {
    for (; !over; answers++) {
      expect((await fetch(`${url}/livez`)).status).to.equal(200);
      await delay(10);
    }
  })();
  try {
    await action();
  } finally {
    over = true;
    await asking;
  }
  return answers;
}
