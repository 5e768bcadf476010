import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import type { Client } from 'pg';
import { from } from 'pg-copy-streams';
import type { SupabaseSource } from '../../ingest/index.ts';
import type { DataFile } from './dataset.ts';

const BLOCK_BYTES = 1 << 18;

/** A table as Logflare keeps self-hosted logs in it. */
export async function createTable(client: Client, source: SupabaseSource): Promise<void> {
  await client.query(`create table ${source} (
    id text primary key,
    timestamp timestamptz not null,
    project text,
    event_message text not null,
    metadata jsonb
  )`);
  await client.query(`create index on ${source} using brin (timestamp)`);
}

/** Loads lines by COPY, whose form they are turned into while the server stores those before. */
export async function copy(client: Client, { source, path }: DataFile) {
  const stream = client.query(
    from(`copy ${source} (id, timestamp, project, event_message, metadata) from stdin`),
  );
  let block = '';
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const { id, timestamp, project, event_message, metadata } = JSON.parse(line);
    const row = [id, timestamp, project, event_message, JSON.stringify(metadata)];
    block += `${row.map(escaped).join('\t')}\n`;
    if (block.length < BLOCK_BYTES) continue;
    if (!stream.write(block)) await once(stream, 'drain');
    block = '';
  }
  stream.end(block);
  await finished(stream);
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** A value in COPY's text form. */
function escaped(text: string): string {
  return text.replace(/[\\\n\r\t]/g, (character) => ESCAPES[character] ?? character);
}
