// Loads lines into a table of a ClickHouse server that is ordered by project and time, with a text index of the messages,
// asks it questions over HTTP, and prints what each took.
import { createReadStream } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { withClickHouse } from '../clickhouse/server.ts';
import { askAll, peerJob } from './peer-job.ts';

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

const job = peerJob();
const agent = new Agent({ keepAlive: true });
const answers = await withClickHouse(join(job.folder, 'clickhouse'), async ({ client, url }) => {
  await client.command({ query: 'create database logs' });
  await client.command({ query: TABLE });
  for (const { path } of job.files)
    await post(url, { query: INSERT, date_time_input_format: 'best_effort' }, path);
  await client.command({ query: 'optimize table logs.edge_logs final' });
  // That it remembers which granules had nothing would answer for the next question.
  const settings = { use_query_condition_cache: '0', default_format: 'JSONCompactEachRow' };
  return askAll(
    job,
    (query) => post(url, { query, ...settings }),
    (body) => body.split('\n').length - 1,
  );
});
console.log(JSON.stringify(answers));

/** The answer to a statement, which is given the bytes of a file if it inserts. */
async function post(
  url: string,
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
