// DuckDB by itself. Loading is the limit that tailpond cannot pass: one INSERT … SELECT … FROM read_ndjson a table of
// tailpond's own schema, by the same client with its own defaults. Asking runs the endpoints' own SQL without HTTP on a
// database that tailpond made; the service must have ended, because one process may open it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { ROOT } from '../../server/config/package-root.ts';
import { deadlineIn } from '../../server/deadline.ts';
import { createNewest, questionOf } from '../../server/endpoints/newest-rows.ts';
import type { Values } from '../../server/endpoints/parameters.ts';
import { parseQueryFile } from '../../server/endpoints/query-file.ts';
import type { Plain } from '../../server/store/index.ts';
import type { DataFile } from './dataset.ts';
import { bytesBelow } from './disk.ts';
import { type AskJob, doJob, type LoadJob, sampleOf, timeAll } from './job.ts';
import { memoryMb } from './memory.ts';

async function load({ folder, files }: LoadJob) {
  const instance = await DuckDBInstance.create(join(folder, 'raw.duckdb'), {
    storage_compatibility_version: 'v1.5.0',
    checkpoint_threshold: '256MB',
  });
  const connection = await instance.connect();
  await connection.run(`set TimeZone = 'UTC'`);
  for (const name of readdirSync(join(ROOT, 'sql/schema')).sort())
    await connection.run(readFileSync(join(ROOT, 'sql/schema', name), 'utf8'));
  const begin = performance.now();
  for (const file of files) await connection.run(insert(file));
  await connection.run('checkpoint');
  const ms = performance.now() - begin;
  const version = await versionOf(connection);
  connection.closeSync();
  instance.closeSync();
  return { version, ms, peakMb: memoryMb('VmHWM'), diskBytes: bytesBelow(folder) };
}

function insert({ source, path }: DataFile): string {
  const request =
    source === 'edge_logs'
      ? `, metadata ->> '$.request.path' as path,
          metadata ->> '$.request.host' as host,
          split_part(metadata ->> '$.request.url', '?', 1) as url_base,
          regexp_extract(metadata ->> '$.request.url', '[?].*') as url_query`
      : '';
  return `insert into ${source} by name
    select
      id,
      timestamp::timestamptz::timestamp as timestamp,
      project,
      event_message,
      metadata,
      now()::timestamp as ingested_at
      ${request}
    from read_ndjson(
      '${path}',
      columns = {id: 'VARCHAR', timestamp: 'VARCHAR', project: 'VARCHAR', event_message: 'VARCHAR', metadata: 'JSON'}
    )`;
}

/** As server/store/engine.ts sets them. */
const TAILPOND_SETTINGS = [
  `set global disabled_optimizers = 'row_group_pruner'`,
  'set global preserve_insertion_order = false',
  'set global late_materialization_max_rows = 0',
];

async function ask({ folder, projects, patterns, plain }: AskJob) {
  const instance = await DuckDBInstance.create(join(folder, 'store/tailpond.duckdb'), {
    access_mode: 'READ_ONLY',
    ...(plain ? {} : { memory_limit: '300MB' }),
  });
  const connection = await instance.connect();
  await connection.run(`set global TimeZone = 'UTC'`);
  for (const setting of plain ? [] : TAILPOND_SETTINGS) await connection.run(setting);

  const list = endpoint('logs.all');
  const span = await spanOf(connection);
  const none = { iso_timestamp_start: null, iso_timestamp_end: null };
  const newestRows = async (project: string) => {
    const values = { ...none, project };
    const statement = async (sql: string, bound: Values) => ({
      columns: [],
      rows: (await run(connection, sql, { ...values, ...bound })) as Plain[][],
      truncated: false,
    });
    if (plain) return (await statement(list.sql, { newest_from: '1970-01-01' })).rows;
    if (!list.windows) throw new Error('BUG: logs.all has no windows');
    const question = questionOf(list, list.windows);
    // As if it had not been asked before.
    const newest = createNewest({ span: async () => span });
    const answer = await newest(question, values, statement, deadlineIn(3_600_000));
    return answer.rows as unknown[][];
  };
  const counts = endpoint('usage.api-counts');
  const daily = (project: string) => run(connection, counts.sql, { interval: 'daily', project });

  const lists = await timeAll(projects, newestRows);
  const days = await timeAll(patterns, daily);
  return {
    listMs: lists.ms,
    countsMs: days.ms,
    sample: sampleOf(
      (lists.first ?? []).map(([id]) => String(id)),
      (days.first ?? []).map(([, ...numbers]) => numbers),
    ),
  };
}

function endpoint(name: string) {
  const file = join(ROOT, 'sql/endpoints', `${name}.sql`);
  return parseQueryFile(name, file, readFileSync(file, 'utf8'));
}

/** What the service knows before the first window; it asks for it once a second, not with each query. */
async function spanOf(connection: DuckDBConnection) {
  const sql = `select count(*), epoch_ms(min(timestamp)), epoch_ms(max(timestamp)) from main.edge_logs`;
  const [row = []] = await run(connection, sql, {});
  const [count = 0, oldestMs = 0, newestMs = 0] = row.map(Number);
  return { count, oldestMs, newestMs, ingestedMs: newestMs };
}

async function run(
  connection: DuckDBConnection,
  sql: string,
  values: Readonly<Record<string, string | null>>,
): Promise<unknown[][]> {
  const statement = await connection.prepare(sql);
  for (let index = 1; index <= statement.parameterCount; index++) {
    const value = values[statement.parameterName(index)] ?? null;
    if (value === null) statement.bindNull(index);
    else statement.bindVarchar(index, value);
  }
  const rows = await (await statement.stream()).getRows();
  statement.destroySync();
  return rows;
}

async function versionOf(connection: DuckDBConnection): Promise<string> {
  const [row] = await run(connection, 'select version()', {});
  return String(row?.[0]);
}

await doJob({ load, ask });
