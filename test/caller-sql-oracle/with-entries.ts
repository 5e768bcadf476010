import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SUPABASE_SOURCES } from '../../ingest/index.ts';
import {
  eventually,
  type Service,
  TOKEN,
  withFolder,
  withService,
  withStore,
} from '../support/helpers.ts';
import { type Event, events, PROJECT } from './events.ts';
import type { Target } from './replay.ts';

export interface EntriesOptions {
  readonly seed?: number;
  /** Whether the entries are settled, but for those of one source. */
  readonly settled?: boolean;
  /** The ClickHouse that the entries are forwarded to. */
  readonly clickhouse?: string;
}

/** Starts the service on a new folder, waits until it has stored the generated entries, and ends it afterwards. */
export function withEntries<T>(
  action: (target: Target, events: readonly Event[]) => Promise<T>,
  { seed = 1, settled = false, clickhouse }: EntriesOptions = {},
): Promise<T> {
  const all = events(seed);
  return withFolder(async (data) => {
    drop(data, all);
    if (settled)
      await withService(data, async (service) => {
        await stored(service, all);
        await service.end('SIGTERM');
      });
    if (settled) await settle(data);
    return withService(
      data,
      async (service) => {
        await stored(service, all, clickhouse ? 'forwarded' : 'rows');
        const result = await action({ url: service.url, token: TOKEN, project: PROJECT }, all);
        await service.end('SIGTERM');
        return result;
      },
      clickhouse ? { env: { TAILPOND_CLICKHOUSE_URL: clickhouse } } : {},
    );
  });
}

async function settle(data: string): Promise<void> {
  await withStore(data, async ({ settling }) => {
    for (const source of SUPABASE_SOURCES.slice(0, -1)) await settling.settle(source, 1);
  });
}

function drop(data: string, all: readonly Event[]): void {
  for (const source of SUPABASE_SOURCES) {
    const lines = all.filter((event) => event.source === source);
    mkdirSync(join(data, 'logs', source), { recursive: true });
    writeFileSync(
      join(data, 'logs', source, 'studio.ndjson'),
      lines.map(({ line }) => `${JSON.stringify(line)}\n`).join(''),
    );
  }
}

async function stored(
  service: Service,
  all: readonly Event[],
  counted: 'rows' | 'forwarded' = 'rows',
): Promise<void> {
  await eventually(async () => {
    const { body } = await service.get('/api/ledger');
    for (const entry of body.result as Record<string, unknown>[]) {
      const { source, rejected, [counted]: rows } = entry;
      const expected = all.filter((event) => event.source === source).length;
      if (rejected !== 0) throw new Error(`${rejected} lines of ${source} were rejected`);
      if (rows !== expected)
        throw new Error(`${rows} rows of ${source} ${counted} instead of ${expected}`);
    }
  }, 60_000);
}
