import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ClickHouseClient, createClient } from '@clickhouse/client';
import { allSources, type Source } from '../../ingest/index.ts';
import { ROOT } from '../config/package-root.ts';
import type { Shipment, ShipmentFile } from '../store/index.ts';
import type { Waits } from '../waits.ts';
import { named } from './expressions.ts';
import type { Run } from './gaps.ts';
import { NotClickHouse, provenRow, readNumber } from './proven-row.ts';
import {
  allOf,
  CLUSTERS,
  COLUMNS,
  type ColumnInfo,
  columnFaults,
  isReplicated,
  type Members,
  settingOf,
  TABLE,
  type TableInfo,
  tableFaults,
} from './schema.ts';
import type { Warehouse } from './ship.ts';
import { type Lack, tokenOf } from './shipment.ts';
import { keptMs } from './time-to-live.ts';

export interface ServerOptions {
  /** The address of its HTTP interface. */
  readonly url: string;
  readonly database: string;
  readonly user: string;
  readonly password: string;
}

export interface ClickHouse extends Warehouse {
  /** The number of the newest shipment of a store that an endpoint has; 0 for none. Throws where it is not known. */
  newest(node: string, source: Source, endpoint: string, signal: AbortSignal): Promise<number>;
  /** How many rows of a project a source has in the table of an endpoint, and how many ids these have. */
  drilled(
    source: Source,
    project: string,
    endpoint: string,
    signal: AbortSignal,
  ): Promise<{ rows: number; ids: number }>;
  /** Why an endpoint does not read the rows of a cluster, in words. Throws where that is not known. */
  clusterFaults(cluster: string, endpoint: string, signal: AbortSignal): Promise<string[]>;
  /** What of the table of a source is not as rows need it, in words. Throws where that is not known. */
  faults(source: Source, endpoint: string, signal: AbortSignal): Promise<string[]>;
  /** The shipments whose rows a table has, and how long it keeps rows, ms. Throws where that is not known. */
  runs(
    source: Source,
    table: string,
    endpoint: string,
    signal: AbortSignal,
  ): Promise<{ runs: Run[]; keptMs: number }>;
  close(): Promise<void>;
}

/** A block of so many rows: more than a shipment has. */
const ONE_BLOCK_ROWS = 1_048_576;

/**
 * The settings of an INSERT. It is one block, and so one part or none; with the token, a repetition becomes nothing. Each is set whatever
 * the server's defaults are: `async_insert` would acknowledge before the rows are durable.
 */
const INSERT = {
  async_insert: 0,
  insert_deduplicate: 1,
  deduplicate_insert: 'enable',
  max_insert_threads: '1',
  max_insert_block_size: String(ONE_BLOCK_ROWS),
  min_insert_block_size_rows: String(ONE_BLOCK_ROWS),
  min_insert_block_size_bytes: '0',
  max_partitions_per_insert_block: '1',
  throw_on_max_partitions_per_insert_block: 1,
  insert_quorum: 'auto',
  input_format_null_as_default: 0,
} as const;

const PRINTED = 'which `tailpond clickhouse schema` prints';

/** Connections to a server at a time: as many as clients that follow, and some for questions. */
const MOST_CONNECTIONS = 64;

export function createServerClient(
  { url, database, user, password }: ServerOptions,
  timeoutMs: number,
) {
  return createClient({
    url,
    database,
    username: user,
    password,
    application: 'tailpond',
    request_timeout: timeoutMs,
    max_open_connections: MOST_CONNECTIONS,
    // What fails is told by whoever asked, with what it was for.
    log: { level: 127 },
  });
}

/** A ClickHouse of one server or several, by their URLs, as what shipments are sent to. */
export function openClickHouse(
  clients: ReadonlyMap<string, ClickHouseClient>,
  members: Members,
  waits: Pick<Waits, 'forwardInsert' | 'forwardAnswer'>,
): ClickHouse {
  const atMost = { max_execution_time: Math.ceil(waits.forwardInsert / 1000) };
  const clientOf = (endpoint: string): ClickHouseClient => {
    const client = clients.get(endpoint);
    if (!client)
      throw new Error(
        `A shipment was begun to ${endpoint}, which is not among ${[...clients.keys()].join(', ')}: name it again until the shipment is there.`,
      );
    return client;
  };
  const rows = async <T>(
    endpoint: string,
    query: string,
    values: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<T[]> => {
    const answer = await clientOf(endpoint).query({
      query,
      query_params: values,
      format: 'JSONEachRow',
      abort_signal: signal,
    });
    return answer.json<T>();
  };
  const tableOf = async (
    endpoint: string,
    source: string,
    signal: AbortSignal,
  ): Promise<TableInfo | null> => {
    const row = await provenRow(clientOf(endpoint), {
      ...TABLE,
      endpoint,
      values: { source },
      signal,
    });
    const [engine = '', full = '', partition = '', database = '', now] = row;
    if (engine === '') return null;
    return {
      engine,
      engine_full: full,
      partition_key: partition,
      database,
      nowMs: Number(now),
    };
  };
  const number = async (
    endpoint: string,
    expression: string,
    from: string,
    values: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<number> => {
    const row = await provenRow(clientOf(endpoint), {
      endpoint,
      select: [expression],
      from,
      values,
      settings: { select_sequential_consistency: '1', ...atMost },
      signal,
    });
    const found = readNumber(row[0]);
    if (found === null) throw new NotClickHouse(endpoint, row.join());
    return found;
  };

  const faults = async (
    source: Source,
    endpoint: string,
    signal: AbortSignal,
  ): Promise<string[]> => {
    const table = await tableOf(endpoint, source, signal);
    if (!table) return [`there is no table ${source}, ${PRINTED}`];
    const columns = await rows<ColumnInfo>(endpoint, COLUMNS, { source }, signal);
    return [...tableFaults(source, table), ...columnFaults(source, source, columns, members)];
  };

  return {
    longestInsertMs: longestRequestMs(waits),
    async insert(shipment: Shipment, file: ShipmentFile, signal: AbortSignal) {
      const { source, endpoint } = shipment;
      // ClickHouse makes values fit into a narrower type, and says nothing: 200 is -56 as an Int8.
      const found = await faults(source, endpoint, signal);
      if (found.length > 0) throw new Error(`${endpoint}: ${found.join('; ')}`);
      await clientOf(endpoint).insert({
        table: source,
        // Columns of the file that the table lacks are an error then, and would be passed over otherwise.
        columns: file.columns.map(named) as [string, ...string[]],
        values: createReadStream(file.path),
        format: 'Parquet',
        abort_signal: signal,
        clickhouse_settings: {
          ...INSERT,
          ...atMost,
          insert_deduplication_token: tokenOf(shipment),
        },
      });
    },
    // The times let the server skip older merged parts. The numbers alone do not: other nodes may have the same ones.
    count: ({ source, node, seq, endpoint }, { oldest, newest }, signal) =>
      number(
        endpoint,
        'count()',
        `${source} where _node = {node: String} and _seq = {seq: UInt64}
          and ingested_at between {oldest: DateTime64(6, 'UTC')} and {newest: DateTime64(6, 'UTC')}`,
        { node, seq, oldest, newest },
        signal,
      ),
    async look({ source, endpoint }, { oldest, newest }, signal): Promise<Lack> {
      const table = await tableOf(endpoint, source, signal);
      if (!table) throw new Error(`There is no table ${source} at ${endpoint}.`);
      const kept = keptMs(table.engine_full);
      const isExpired = (time: string) => msOf(time) + kept <= table.nowMs;
      return {
        expired: isExpired(newest) ? 'all' : isExpired(oldest) ? 'some' : 'none',
        forgets: !isReplicated(table.engine),
      };
    },
    newest: (node, source, endpoint, signal) =>
      number(endpoint, 'max(_seq)', `${source} where _node = {node: String}`, { node }, signal),
    async drilled(source, project, endpoint, signal) {
      const [counts] = await rows<{ rows: string; ids: string }>(
        endpoint,
        `select count() as rows, uniqExact(id) as ids from ${source} where project = {project: String}`,
        { project },
        signal,
      );
      return { rows: Number(counts?.rows), ids: Number(counts?.ids) };
    },
    async clusterFaults(cluster, endpoint, signal) {
      const known = await rows<{ name: string }>(endpoint, CLUSTERS, {}, signal);
      const names = known.map(({ name }) => name);
      if (!names.includes(cluster))
        return [`there is no cluster ${cluster}; there are ${names.join(', ') || 'none'}`];
      const faults: string[] = [];
      for (const source of allSources()) {
        const table = await tableOf(endpoint, allOf(source), signal);
        const engine = `Distributed('${cluster}', '${table?.database}', '${source}'`;
        if (!table) faults.push(`there is no table ${allOf(source)}, ${PRINTED}`);
        else if (!table.engine_full.startsWith(engine))
          faults.push(
            `${allOf(source)} is ${table.engine_full || table.engine}, and ${engine}) is expected`,
          );
        else if ((settingOf(table.engine_full, 'skip_unavailable_shards') ?? '0') !== '0')
          faults.push(
            `${allOf(source)} leaves out the rows of a shard that is away: make it again without skip_unavailable_shards`,
          );
        if (!table) continue;
        const columns = await rows<ColumnInfo>(
          endpoint,
          COLUMNS,
          { source: allOf(source) },
          signal,
        );
        faults.push(...columnFaults(allOf(source), source, columns, members));
      }
      return faults;
    },
    faults,
    async runs(source, table, endpoint, signal) {
      const kept = keptMs((await tableOf(endpoint, source, signal))?.engine_full ?? '');
      const query = readFileSync(join(ROOT, 'sql/clickhouse/shipment_runs.sql'), 'utf8');
      const found = await rows<Record<'node' | 'first' | 'last' | 'oldest_ms', string>>(
        endpoint,
        query.replace('{table}', table),
        {},
        signal,
      );
      const runs = found.map(({ node, first, last, oldest_ms: oldest }) => ({
        node,
        first: Number(first),
        last: Number(last),
        oldestMs: Number(oldest),
      }));
      return { runs, keptMs: kept };
    },
    async close() {
      for (const client of clients.values()) await client.close();
    },
  };
}

/** For how long an INSERT, or a question about it, can go on after its request was sent. */
export function longestRequestMs({
  forwardInsert,
  forwardAnswer,
}: Pick<Waits, 'forwardInsert' | 'forwardAnswer'>): number {
  return forwardInsert + forwardAnswer;
}

/** A time in UTC as the engine of the store writes it, ms since the epoch. */
function msOf(time: string): number {
  return Date.parse(`${time.replace(' ', 'T')}Z`);
}
