// The limit: one INSERT … SELECT … FROM read_ndjson of the same columns and compression into an empty database file, by
// the same client with its own defaults. Prints {"ms", "rss"} for `raw.ts <input> <database>`.
import { readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';

const [input, database] = process.argv.slice(2);
const instance = await DuckDBInstance.create(database, {
  storage_compatibility_version: 'v1.5.0',
  checkpoint_threshold: '256MB',
});
const connection = await instance.connect();
await connection.run(`set TimeZone = 'UTC'`);
await connection.run(
  `create table edge_logs (
    id varchar not null,
    timestamp timestamp not null,
    project varchar,
    event_message varchar not null using compression zstd,
    metadata json using compression zstd,
    ingested_at timestamp not null,
    path varchar,
    url varchar,
    host varchar
  )`,
);
const start = performance.now();
await connection.run(
  `insert into edge_logs
    select
      id,
      timestamp::timestamptz::timestamp,
      project,
      event_message,
      metadata,
      now()::timestamp,
      metadata ->> '$.request.path',
      metadata ->> '$.request.url',
      metadata ->> '$.request.host'
    from read_ndjson(
      '${input}',
      columns = {id: 'VARCHAR', timestamp: 'VARCHAR', project: 'VARCHAR', event_message: 'VARCHAR', metadata: 'JSON'}
    )`,
);
await connection.run('checkpoint');
const ms = performance.now() - start;
const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
console.log(JSON.stringify({ ms, peakMb: Number(peak) / 1024 }));
