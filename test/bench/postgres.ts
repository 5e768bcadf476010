// PostgreSQL as Logflare keeps self-hosted logs in it: metadata as JSONB, a BRIN index on time, a primary key on id,
// loaded by COPY. The lines are turned into COPY's form on the way, while the server stores those before.
import { SUPABASE_SOURCES } from '../../ingest/index.ts';
import { startCluster } from './cluster.ts';
import { type AskJob, doJob, type LoadJob, sampleOf, timeAll } from './job.ts';
import { copy, createTable } from './postgres-table.ts';

async function load({ folder, files }: LoadJob) {
  const { client, memoryMb, close } = await startCluster(folder);
  try {
    for (const source of SUPABASE_SOURCES) {
      await createTable(client, source);
    }
    const begin = performance.now();
    for (const file of files) await copy(client, file);
    const ms = performance.now() - begin;
    const one = async (sql: string) => Object.values((await client.query(sql)).rows[0] ?? {})[0];
    const version = String(await one('show server_version'));
    const diskBytes = Number(await one('select pg_database_size(current_database())'));
    // At the end, when the shared memory that was used is still held.
    return { version, ms, peakMb: memoryMb(), diskBytes };
  } finally {
    await close();
  }
}

const NEWEST = `
  select id, timestamp, event_message, metadata
  from edge_logs
  where project = $1
  order by timestamp desc
  limit 100`;

const DAILY = `
  select
    date_trunc('day', timestamp, 'UTC') as day,
    count(*) filter (where path like '%/rest%') as rest,
    count(*) filter (where path like '%/storage%') as storage,
    count(*) filter (where path like '%/auth%') as auth,
    count(*) filter (where path like '%/realtime%') as realtime
  from (
    select timestamp, metadata #>> '{request,path}' as path
    from edge_logs
    where
      timestamp >= now() - interval '7 days'
      and timestamp <= now()
      and metadata #>> '{request,url}' ~ $1
  ) as requests
  group by 1
  order by 1`;

/** Each takes so long that a few tell enough. */
const LISTS = 40;
const COUNTS = 10;

async function ask({ folder, projects, patterns }: AskJob) {
  const { client, close } = await startCluster(folder);
  try {
    // What autovacuum does in time.
    await client.query('vacuum analyze edge_logs');
    const rows = async (sql: string, value: string) => (await client.query(sql, [value])).rows;
    const lists = await timeAll(projects.slice(0, LISTS), (project) => rows(NEWEST, project));
    const days = await timeAll(patterns.slice(0, COUNTS), (pattern) => rows(DAILY, pattern));
    return {
      listMs: lists.ms,
      countsMs: days.ms,
      sample: sampleOf(
        (lists.first ?? []).map(({ id }) => id),
        (days.first ?? []).map(({ rest, storage, auth, realtime }) => [
          rest,
          storage,
          auth,
          realtime,
        ]),
      ),
    };
  } finally {
    await close();
  }
}

await doJob({ load, ask });
