import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Service } from '../support/helpers.ts';
import type { OtelEntry } from '../support/otel-logs.ts';

/** Writes entries to the drop folders of several data folders. */
export function dropEntries(folders: readonly string[], entries: readonly OtelEntry[]): void {
  for (const data of folders)
    for (const { source, line } of entries) {
      mkdirSync(join(data, 'logs', source), { recursive: true });
      appendFileSync(join(data, 'logs', source, 'a.ndjson'), line);
    }
}

/** Returns how many rows of all sources a node has stored, or forwarded. */
export async function totalOf({ get }: Service, count: 'stored' | 'forwarded'): Promise<number> {
  const { body } = await get('/api/ledger');
  return (body.result as Record<string, number>[]).reduce((sum, row) => sum + (row[count] ?? 0), 0);
}
