// ClickHouse's engine inside a Node process (chdb): the same rows in MergeTree tables, the same two questions as one
// would write them for ClickHouse.
import { join } from 'node:path';
import { Session } from 'chdb';
import { SUPABASE_SOURCES } from '../../ingest/index.ts';
import type { DataFile } from './dataset.ts';
import { type AskJob, doJob, type LoadJob, sampleOf, timeAll } from './job.ts';
import { memoryMb } from './memory.ts';

async function load({ folder, files }: LoadJob) {
  const session = new Session(join(folder, 'clickhouse'));
  session.query('create database if not exists bench');
  for (const source of SUPABASE_SOURCES) session.query(table(source));
  const begin = performance.now();
  for (const file of files) session.query(insert(file));
  const ms = performance.now() - begin;
  const version = session.query('select version()', 'TSV').trim();
  const diskBytes = Number(
    session.query(
      `select sum(bytes_on_disk) from system.parts where active and database = 'bench'`,
      'TSV',
    ),
  );
  session.close();
  return { version, ms, peakMb: memoryMb('VmHWM'), diskBytes };
}

/** One codec for every column, and the project, of which there are few, as a dictionary. */
function table(source: string): string {
  const request =
    source === 'edge_logs'
      ? ', path LowCardinality(String) codec(ZSTD), url String codec(ZSTD), host LowCardinality(String) codec(ZSTD)'
      : '';
  return `create table bench.${source} (
    id String codec(ZSTD),
    timestamp DateTime64(6, 'UTC') codec(ZSTD),
    project LowCardinality(String) codec(ZSTD),
    event_message String codec(ZSTD),
    metadata String codec(ZSTD),
    ingested_at DateTime64(6, 'UTC') codec(ZSTD)
    ${request}
  ) engine = MergeTree order by (project, timestamp)`;
}

function insert({ source, path }: DataFile): string {
  const lines = `file(
    '${path}',
    JSONEachRow,
    'id String, timestamp DateTime64(6), project String, event_message String, metadata String'
  )`;
  const columns = 'id, timestamp, project, event_message, metadata, now64(6)';
  const select =
    source === 'edge_logs'
      ? `select
          ${columns},
          simpleJSONExtractString(request, 'path'),
          simpleJSONExtractString(request, 'url'),
          simpleJSONExtractString(request, 'host')
        from (select *, simpleJSONExtractRaw(metadata, 'request') as request from ${lines})`
      : `select ${columns} from ${lines}`;
  return `insert into bench.${source} ${select} settings date_time_input_format = 'best_effort'`;
}

const NEWEST = `
  select id, toUnixTimestamp64Micro(timestamp) as at, event_message, metadata
  from bench.edge_logs
  where project = {project:String}
  order by timestamp desc
  limit 100`;

const DAILY = `
  select
    toStartOfDay(timestamp) as day,
    countIf(path like '%/rest%'),
    countIf(path like '%/storage%'),
    countIf(path like '%/auth%'),
    countIf(path like '%/realtime%')
  from bench.edge_logs
  where timestamp >= now64(6) - interval 7 day and timestamp <= now64(6) and match(url, {pattern:String})
  group by day
  order by day`;

async function ask({ folder, projects, patterns }: AskJob) {
  const session = new Session(join(folder, 'clickhouse'));
  // What its merges in the background come to in time; at its best for the questions.
  session.query('optimize table bench.edge_logs final');
  const rows = (text: string) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown[]);
  const lists = await timeAll(projects, (project) =>
    session.queryBind(NEWEST, { project }, 'JSONCompactEachRow'),
  );
  const days = await timeAll(patterns, (pattern) =>
    session.queryBind(DAILY, { pattern }, 'JSONCompactEachRow'),
  );
  session.close();
  return {
    listMs: lists.ms,
    countsMs: days.ms,
    sample: sampleOf(
      rows(lists.first ?? '').map(([id]) => id),
      rows(days.first ?? '').map(([, ...numbers]) => numbers),
    ),
  };
}

await doJob({ load, ask });
