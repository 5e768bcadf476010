import { createReadStream } from 'node:fs';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { withClickHouse } from '../clickhouse/server.ts';
import type { DataFile } from './dataset.ts';

const TABLE = `create table logs.edge_logs (
  id String codec(ZSTD),
  timestamp DateTime64(6, 'UTC') codec(ZSTD),
  project LowCardinality(String) codec(ZSTD),
  event_message String codec(ZSTD),
  metadata String codec(ZSTD),
  path LowCardinality(String) codec(ZSTD),
  url String codec(ZSTD),
  index words event_message type text(tokenizer = splitByNonAlpha)
) engine = MergeTree order by (project, timestamp)`;

const INSERT = `insert into logs.edge_logs
  select id, timestamp, project, event_message, metadata,
    if(metadata like '[%', JSONExtractString(metadata, 1, 'request', 1, 'path'), JSONExtractString(metadata, 'request', 'path')),
    if(metadata like '[%', JSONExtractString(metadata, 1, 'request', 1, 'url'), JSONExtractString(metadata, 'request', 'url'))
  from input('id String, timestamp DateTime64(6), project String, event_message String, metadata String')
  format JSONEachRow`;

/**
 * Starts a ClickHouse server in `folder` for as long as `action` takes, with the lines in a table that is ordered by project and time and has
 * a text index of the messages. `action` is given what answers a statement, a row a line.
 */
export function withClickHouseTable<T>(
  folder: string,
  files: readonly DataFile[],
  action: (ask: (query: string) => Promise<string>) => Promise<T>,
): Promise<T> {
  return withClickHouse(folder, async ({ client, url }) => {
    const agent = new Agent({ keepAlive: true });
    await client.command({ query: 'create database logs' });
    await client.command({ query: TABLE });
    for (const { path } of files)
      await post(url, agent, { query: INSERT, date_time_input_format: 'best_effort' }, path);
    await client.command({ query: 'optimize table logs.edge_logs final' });
    // That it remembers which granules had nothing would answer for the next question.
    const settings = { use_query_condition_cache: '0', default_format: 'JSONCompactEachRow' };
    try {
      return await action((query) => post(url, agent, { query, ...settings }));
    } finally {
      agent.destroy();
    }
  });
}

/** The answer to a statement, which is given the bytes of a file if it inserts. */
async function post(
  url: string,
  agent: Agent,
  parameters: Readonly<Record<string, string>>,
  file?: string,
): Promise<string> {
  const sent = request(`${url}/?${new URLSearchParams(parameters)}`, { method: 'POST', agent });
  const answered = new Promise<string>((resolve, reject) => {
    sent.once('error', reject).once('response', async (response) => {
      const body = await text(response);
      if (response.statusCode === 200) resolve(body);
      else reject(new Error(body));
    });
  });
  if (file) await pipeline(createReadStream(file), sent);
  else sent.end();
  return answered;
}
