import { allSources } from '../../ingest/index.ts';
import type { ClickHouse } from '../clickhouse/clickhouse.ts';
import { gapFaults } from '../clickhouse/gaps.ts';
import { checkReader, openConfigured } from '../clickhouse/index.ts';
import { readerStatements } from '../clickhouse/reader-schema.ts';
import { allOf, type SchemaOptions, schemaStatements } from '../clickhouse/schema.ts';
import {
  type ClickHouseConfig,
  ConfigError,
  type EX_CONFIG,
  settingsOf,
} from '../config/config.ts';
import { membersOf } from '../config/members.ts';
import { WAITS } from '../waits.ts';
import { escaped } from './terminal.ts';

const ANSWER_MS = 30_000;
/** A look for gaps reads the numbers of all rows: a second for 20 million on two cores. */
const GAPS_MS = 600_000;

export interface PrintOptions extends Omit<SchemaOptions, 'members'> {
  /** Prints what lets this user read, in place of the tables. */
  readonly reader: string | null;
}

/** Prints the statements that make the tables, or that let a user read them. */
export function printSchema({ reader, ...options }: PrintOptions): 0 {
  const members = membersOf(settingsOf());
  const statements =
    reader === null
      ? schemaStatements({ ...options, members })
      : readerStatements(reader, options.cluster, members);
  for (const statement of statements) console.log(`${statement};\n`);
  return 0;
}

/** The servers of the settings. Throws ConfigError where they name none. */
export function clickhouseSettings(): ClickHouseConfig {
  const { clickhouse } = settingsOf();
  if (clickhouse) return clickhouse;
  throw new ConfigError([
    'TAILPOND_CLICKHOUSE_URL: expected http or https URLs, such as http://127.0.0.1:8123, got none',
  ]);
}

/** Checks the tables of every server that the settings name, and what they have of each node. Prints the faults. */
export async function checkClickHouse(): Promise<0 | 1 | typeof EX_CONFIG> {
  const config = clickhouseSettings();
  const clickhouse = openConfigured(config, membersOf(settingsOf()), WAITS, GAPS_MS);
  let wrong = 0;
  try {
    for (const url of config.urls) {
      const { cluster } = config;
      const checks: [string, (signal: AbortSignal) => Promise<string[]>][] = allSources().map(
        (source) => [source, (signal) => clickhouse.faults(source, url, signal)],
      );
      if (cluster !== null)
        checks.push([
          `cluster ${cluster}`,
          (signal) => clickhouse.clusterFaults(cluster, url, signal),
        ]);
      const { reader } = config;
      if (reader)
        checks.push([`user ${reader.user}`, (signal) => checkReader(config, url, signal)]);
      let failure: string | null = null;
      for (const [what, faultsOf] of checks) {
        // What hinders one question, such as a database that is not there, hinders all.
        if (failure !== null) break;
        const faults = await faultsOf(AbortSignal.timeout(ANSWER_MS)).catch((error: Error) => {
          failure = `${what}: ${reasonOf(error)}`;
          return [failure];
        });
        wrong += faults.length;
        for (const fault of faults) console.log(escaped(`WRONG ${url}: ${fault}`));
        if (faults.length === 0) console.log(escaped(`ok    ${url}: ${what}`));
      }
    }
    // Gaps are known only where every table is there and right.
    if (wrong === 0) wrong += await checkGaps(clickhouse, config);
  } finally {
    await clickhouse.close();
  }
  return wrong === 0 ? 0 : 1;
}

/** Prints the shipments that all servers together lack, and returns the number of faults. */
async function checkGaps(
  clickhouse: ClickHouse,
  { urls, cluster }: ClickHouseConfig,
): Promise<number> {
  const where = urls.join(', ');
  // The first server of a cluster reads all shards, also those that get no rows any more.
  const asked = cluster === null ? urls : urls.slice(0, 1);
  let wrong = 0;
  for (const source of allSources()) {
    const table = cluster === null ? source : allOf(source);
    const signal = AbortSignal.timeout(GAPS_MS);
    const faults = await Promise.all(
      asked.map((url) => clickhouse.runs(source, table, url, signal)),
    ).then(
      (found) =>
        gapFaults(
          source,
          found.flatMap(({ runs }) => runs),
          { keptMs: Math.min(...found.map(({ keptMs }) => keptMs)), nowMs: Date.now() },
        ),
      (error: Error) => [`${source}: ${reasonOf(error)}`],
    );
    wrong += faults.length;
    for (const fault of faults) console.log(`WRONG ${where}: ${fault}`);
  }
  if (wrong === 0) console.log(`ok    ${where}: shipments of every node`);
  return wrong;
}

/** Why a server could not be asked, in its own words. */
function reasonOf(error: Error): string {
  const { message } = error.cause instanceof Error ? error.cause : error;
  if (/wrong version number/.test(message)) return 'the URL says https, and the port speaks http';
  // The server goes on with advice for others.
  return message.split('\n')[0] ?? message;
}
