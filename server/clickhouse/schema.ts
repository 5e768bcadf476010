import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allSources, type Source } from '../../ingest/index.ts';
import { ROOT } from '../config/package-root.ts';
import { columnOf, pathOf } from '../store/index.ts';
import { named, quoted } from './expressions.ts';

/** The members that have columns, of each source: `request.method`. */
export type Members = Readonly<Record<Source, readonly string[]>>;

export interface SchemaOptions {
  /** The name of the cluster that the tables are made on; null: one server. */
  readonly cluster: string | null;
  /** Whether each shard has several servers with the same rows. */
  readonly replicated: boolean;
  /** After so many days rows are removed. */
  readonly days: number;
  readonly members: Members;
}

/** How many tokens a table knows: those of a minute must be among them, of all nodes together. */
const TOKENS = 10_000;
const FEWEST_TOKENS = 1000;
const TOKEN_SECONDS = 604_800;
const REQUEST_COLUMNS = `path Nullable(String),
  url Nullable(String) codec(ZSTD(3)),
  host LowCardinality(Nullable(String)),`;

/** The statements that make the tables, one a line of the list, for an operator to run: tailpond never makes them itself. */
export function schemaStatements({ cluster, replicated, days, members }: SchemaOptions): string[] {
  const text = readFileSync(join(ROOT, 'sql/clickhouse/table.sql'), 'utf8');
  const on = cluster === null ? '' : `on cluster ${named(cluster)}`;
  const words = (source: Source): Record<string, string> => ({
    name: source,
    on_cluster: on,
    request_columns: source === 'edge_logs' ? REQUEST_COLUMNS : '',
    member_columns: memberColumns(source, members)
      .map((column) => `${named(column)} ${MEMBER_TYPE} codec(ZSTD),`)
      .join('\n  '),
    engine: replicated ? 'ReplicatedMergeTree' : 'MergeTree',
    days: String(days),
    window: replicated
      ? `replicated_deduplication_window = ${TOKENS}, replicated_deduplication_window_seconds = ${TOKEN_SECONDS}`
      : `non_replicated_deduplication_window = ${TOKENS}`,
  });
  return allSources().flatMap((source) => {
    const table = text
      .replaceAll(/^--.*\n/gm, '')
      .replaceAll(/\{([a-z_]+)\}/g, (whole, word: string) => words(source)[word] ?? whole)
      .replaceAll(/^ +\n/gm, '')
      .replace(/;\s*$/, '');
    if (cluster === null) return [table];
    return [
      table,
      `create table ${allOf(source)} ${on} as ${source}\nengine = Distributed(${quoted(cluster)}, currentDatabase(), ${source})`,
    ];
  });
}

function memberColumns(source: Source, members: Members): string[] {
  return (members[source] ?? []).map((member) => columnOf(pathOf(member)));
}

/** What the tables of a source are called. */
export function tablesOf(source: Source): string[] {
  return [source, allOf(source)];
}

/** The table that reads a source's rows of every shard. */
export function allOf(source: Source): string {
  return `${source}_all`;
}

/** A table as ClickHouse describes it. */
export interface TableInfo {
  readonly engine: string;
  /** With its settings. */
  readonly engine_full: string;
  readonly partition_key: string;
  /** The database that it is in. */
  readonly database: string;
  /** The server's clock, ms since the epoch. */
  readonly nowMs: number;
}

export interface ColumnInfo {
  readonly name: string;
  readonly type: string;
}

/** Gives one row, which begins with an empty text where there is no such table. */
export const TABLE = {
  select: [
    ...['any(engine)', 'any(engine_full)', 'any(partition_key)', 'any(database)'],
    'toUnixTimestamp64Milli(now64(3))',
  ],
  from: 'system.tables where database = currentDatabase() and name = {source: String}',
};
export const CLUSTERS = 'select distinct cluster as name from system.clusters order by name';
export const COLUMNS =
  'select name, type from system.columns where database = currentDatabase() and table = {source: String}';

const TYPES: Readonly<Record<string, string>> = {
  id: 'String',
  timestamp: "DateTime64(6, 'UTC')",
  project: 'LowCardinality(Nullable(String))',
  severity: 'LowCardinality(Nullable(String))',
  status: 'Nullable(Int16)',
  event_message: 'String',
  metadata: 'Nullable(String)',
  ingested_at: "DateTime64(6, 'UTC')",
  member_set: 'LowCardinality(String)',
  member_state: 'UInt64',
  _node: 'LowCardinality(String)',
  _seq: 'UInt64',
};
const MEMBER_TYPE = 'Nullable(String)';
const REQUEST_TYPES: typeof TYPES = {
  path: 'Nullable(String)',
  url: 'Nullable(String)',
  host: 'LowCardinality(Nullable(String))',
};
/** Engines that keep each row: others of their family, such as ReplacingMergeTree, make one of rows that are alike. */
const ENGINES = ['MergeTree', 'ReplicatedMergeTree', 'SharedMergeTree'];
/** Without it rows of one shipment would be several parts, and it could be there in part. */
const PARTITION = 'toDate(ingested_at)';
/** Without them a loss of power takes rows that were confirmed, and that have left their node since. */
const FLUSHED = ['fsync_after_insert', 'fsync_part_directory'];

/** Which columns of a table, of a source or of all its shards, are not as rows need them. Further columns are the operator's. */
export function columnFaults(
  table: string,
  source: Source,
  columns: readonly ColumnInfo[],
  members: Members,
): string[] {
  const own = memberColumns(source, members).map((column) => [column, MEMBER_TYPE]);
  const types: typeof TYPES = {
    ...TYPES,
    ...(source === 'edge_logs' ? REQUEST_TYPES : {}),
    ...Object.fromEntries(own),
  };
  const there = new Map(columns.map(({ name, type }) => [name, type]));
  return Object.entries(types).flatMap(([column, type]) =>
    there.get(column) === type
      ? []
      : [`${table}.${column} is ${there.get(column) ?? 'missing'}, and ${type} is expected`],
  );
}

/** Returns true where replicas of a table share its tokens. They commit each token together with its rows. */
export function isReplicated(engine: string): boolean {
  return /^(?:Replicated|Shared)/.test(engine);
}

/** What of a table is not as shipments need it, beside its columns. */
export function tableFaults(
  source: Source,
  { engine, engine_full: full, partition_key: partition }: TableInfo,
): string[] {
  if (!ENGINES.includes(engine))
    return [`the engine of ${source} is ${engine}, and one of ${ENGINES.join(', ')} is expected`];
  const faults: string[] = [];
  if (partition !== PARTITION)
    faults.push(
      `${source} is partitioned by ${partition || 'nothing'}, and ${PARTITION} is expected`,
    );
  const hasReplicas = isReplicated(engine);
  const knows = `${hasReplicas ? '' : 'non_'}replicated_deduplication_window`;
  const window = settingOf(full, knows);
  if (window === undefined ? !hasReplicas : Number(window) < FEWEST_TOKENS)
    faults.push(
      `${source} knows the tokens of ${window ?? 'no'} INSERTs, and at least ${FEWEST_TOKENS} are expected (${knows})`,
    );
  if (FLUSHED.some((setting) => settingOf(full, setting) !== '1'))
    faults.push(
      `${source} confirms rows that a loss of power takes: alter table ${source} modify setting ${FLUSHED.map((setting) => `${setting} = 1`).join(', ')}`,
    );
  return faults;
}

/** A setting of a table that is a number, out of its `engine_full`; undefined where the server's holds. */
export function settingOf(full: string, name: string): string | undefined {
  return new RegExp(`[ ,]${name} = (\\d+)`).exec(full)?.[1];
}
