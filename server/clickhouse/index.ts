import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client';
import { allSources } from '../../ingest/index.ts';
import { type ClickHouseConfig, ConfigError } from '../config/config.ts';
import { type Deadline, deadlineIn, within } from '../deadline.ts';
import { AppError } from '../errors.ts';
import { createTurns, type Rows, type Store } from '../store/index.ts';
import { WAITS, type Waits } from '../waits.ts';
import {
  type ClickHouse,
  createServerClient,
  longestRequestMs,
  openClickHouse,
} from './clickhouse.ts';
import { type Forwarder, type ForwarderOptions, startForwarder } from './forwarder.ts';
import {
  type AskAsReaderOptions,
  createAskAsReader,
  type Question,
  readerFaults,
} from './reader.ts';
import { allOf, type Members, tablesOf } from './schema.ts';
import {
  fetchRows,
  LONGEST_EXPORT_MS,
  newestOf,
  parquetOf,
  type RowsWanted,
  type SelectOptions,
  type Statement,
  select,
} from './select.ts';

export { ForeignShipments, type Forwarder, type Forwarding } from './forwarder.ts';
export type { Counted, Filled, Narrow } from './narrow.ts';
export type { Question } from './reader.ts';
export { tablesOf } from './schema.ts';
export { type UnionView, unionRows } from './union-rows.ts';

export interface ForwardingOptions extends Pick<ForwarderOptions, 'log' | 'onForeign'> {
  readonly waits: Waits;
  readonly config: ClickHouseConfig;
  readonly members: Members;
  readonly store: Pick<Store, 'outbox' | 'commits'>;
}

/** Forwards the rows of a store to ClickHouse, from now on, until closed. Throws ConfigError. */
export async function startForwarding({
  config,
  members,
  store,
  ...options
}: ForwardingOptions): Promise<Forwarder> {
  const clickhouse = openConfigured(config, members, options.waits);
  const outbox = await store.outbox();
  const endpoint = shardOf(outbox.node, config.urls);
  options.log.info({ endpoint, node: outbox.node }, 'rows are forwarded to ClickHouse');
  const forwarder = startForwarder({
    ...options,
    outbox,
    clickhouse,
    endpoint,
    others: config.urls.filter((url) => url !== endpoint),
    intervalMs: config.intervalMs,
    storedUs: () => store.commits().storedUs,
  });
  return {
    ...forwarder,
    async close() {
      await forwarder.close();
      await clickhouse.close();
    },
  };
}

/** Asks ClickHouse, which holds the rows that were forwarded. */
export interface Answers {
  /** Runs a statement; `values` are of its parameters. Throws AppError. */
  select(
    statement: Statement,
    values: Readonly<Record<string, string | null>>,
    options: SelectOptions,
  ): Promise<Rows>;
  /** Asks as the user who may only read; null where there is none, and where ClickHouse refuses the statement. Throws AppError. */
  ask(question: Question, options: SelectOptions): Promise<Rows | null>;
  /** The rows of a statement as a Parquet file, and their number. Throws AppError. */
  parquet(
    sql: string,
    values: Readonly<Record<string, string | null>>,
    signal: AbortSignal,
  ): Promise<{ rows: number; file: Readable }>;
  /** Writes rows of a source to a Parquet file. Throws AppError, `QUERY_TOO_LARGE` where they are too many. */
  fetch(wanted: RowsWanted, path: string, deadline: Deadline): Promise<void>;
  /** The timestamp of the last of the newest rows, `count` at most, and how many these are. Throws AppError. */
  newest(
    wanted: RowsWanted,
    count: number,
    deadline: Deadline,
  ): Promise<{ from: string | null; rows: number }>;
  close(): Promise<void>;
}

/** Opens what asks ClickHouse: the first of the servers that answers. Throws ConfigError. */
export function openAnswers(
  config: ClickHouseConfig,
  waits: AskAsReaderOptions['waits'],
  warn: (reason: string) => void,
): Answers {
  const clients = clientsOf(config);
  const readers = config.reader && clientsOf({ ...config, ...config.reader });
  // Exports last: they must not take the connections of questions.
  const exporters = clientsOf(config, LONGEST_EXPORT_MS);
  const tables = Object.fromEntries(
    allSources().map((source) => [source, config.cluster === null ? source : allOf(source)]),
  );
  let killsFail = false;
  const askAsReader = createAskAsReader({
    tables: Object.values(tables),
    waits,
    warn: (reason) =>
      warn(
        `rows are fetched for SQL of callers, because the ClickHouse user ${config.reader?.user} cannot be used: ${reason}`,
      ),
    async kill(reader, id) {
      const [client] = [...clients].flatMap(([url, each]) =>
        readers?.get(url) === reader ? [each] : [],
      );
      try {
        await client?.command({
          query: 'kill query where query_id = {id:String} sync',
          query_params: { id },
          abort_signal: AbortSignal.timeout(KILL_MS),
        });
      } catch (error) {
        if (!killsFail)
          warn(
            `a query in ClickHouse whose caller has left goes on, because the user ${config.user} cannot end it: ${error instanceof Error ? error.message : error}`,
          );
        killsFail = true;
      }
    },
  });
  let isAway = false;
  /** Asks the first server that answers. */
  const first = async <T>(
    ask: (client: ClickHouseClient) => Promise<T>,
    among = clients,
  ): Promise<T> => {
    const failures: [url: string, error: AppError][] = [];
    for (const [url, client] of among)
      try {
        const answer = await ask(client);
        isAway = false;
        return answer;
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'UNHEALTHY')) throw error;
        failures.push([url, error]);
      }
    // Clients are not told which servers there are.
    const told = failures.map(([url, { cause, detail }]) => {
      const [message = detail] = cause instanceof Error ? cause.message.split('\n') : [];
      return `${url}: ${message}`;
    });
    if (!isAway) warn(`ClickHouse does not answer questions: ${told.join('; ')}`);
    isAway = true;
    throw failures.at(-1)?.[1];
  };
  const turns = createTurns(TURNS);
  /** Waits for the turn of a project, and has it until the answer is there. Null and undefined: of all projects. */
  const inTurn = async <T>(
    project: string | null | undefined,
    deadline: Deadline,
    ask: (client: ClickHouseClient) => Promise<T>,
  ): Promise<T> => {
    const owner = project ?? '';
    await within(deadline, (ends) => turns.enter(ends, owner));
    try {
      return await first(ask);
    } finally {
      turns.leave(owner);
    }
  };
  return {
    select: (statement, values, options) =>
      inTurn(values.project, options.deadline, (client) =>
        select(client, statement, { ...values, ...tables }, options),
      ),
    ask: async (question, options) =>
      readers &&
      first(
        (client) =>
          askAsReader(client, { ...question, values: { ...question.values, ...tables } }, options),
        readers,
      ),
    parquet: (sql, values, signal) =>
      first((client) => parquetOf(client, sql, { ...values, ...tables }, signal), exporters),
    fetch: (wanted, path, deadline) =>
      inTurn(wanted.project, deadline, (client) =>
        fetchRows(client, tables[wanted.source] ?? '', wanted, path, deadline),
      ),
    newest: (wanted, count, deadline) =>
      inTurn(wanted.project, deadline, (client) =>
        newestOf(client, tables[wanted.source] ?? '', wanted, count, deadline),
      ),
    async close() {
      for (const each of [clients, exporters, readers ?? []])
        for (const [, client] of each) await client.close();
    },
  };
}

/** The servers that the settings name, for tables with columns of these members. Throws ConfigError. */
export function openConfigured(
  config: ClickHouseConfig,
  members: Members,
  waits: Waits = WAITS,
  timeoutMs = longestRequestMs(waits),
): ClickHouse {
  return openClickHouse(clientsOf(config, timeoutMs), members, waits);
}

/** Returns what is wrong with the user who may only read, in words. Throws where that is not known. */
export async function checkReader(
  config: ClickHouseConfig,
  url: string,
  signal: AbortSignal,
): Promise<string[]> {
  const { reader, cluster } = config;
  const tables = cluster === null ? allSources() : allSources().flatMap(tablesOf);
  const [client, forwarding] = [{ ...config, ...reader }, config].flatMap((user) => [
    ...clientsOf({ ...user, urls: [url] }).values(),
  ]);
  if (!client || !forwarding) return [];
  try {
    const faults = await readerFaults(client, tables, deadlineIn(CHECK_MS, signal));
    const may = await mayEndQueries(forwarding, signal);
    return [
      ...faults.map((fault) => `the user ${reader?.user}: ${fault}`),
      ...(may
        ? []
        : [
            `the user ${config.user} cannot end a query whose caller has left: grant kill query on *.* to ${config.user}`,
          ]),
    ];
  } finally {
    await client.close();
    await forwarding.close();
  }
}

/** Whether a user may end queries of others; true where the server is too old to say. */
async function mayEndQueries(client: ClickHouseClient, signal: AbortSignal): Promise<boolean> {
  try {
    // The statement takes no FORMAT, which `query` would add.
    const { stream } = await client.exec({
      query: 'check grant kill query on *.*',
      abort_signal: signal,
    });
    return (await text(stream)).trim() !== '0';
  } catch (error) {
    if (error instanceof ClickHouseError && error.code === SYNTAX_ERROR) return true;
    throw error;
  }
}

const SYNTAX_ERROR = '62';

/** How many questions ClickHouse has at a time, and how many wait. One project may take a half: the others' questions go on beside its. */
const TURNS = { running: 16, waiting: 128, ofOwner: { running: 8, waiting: 64 } };

const CHECK_MS = 30_000;
/** A query that does not end for so long is left to its own time limit. */
const KILL_MS = 30_000;

/** The server that takes a store's rows. A server that is added takes over some of the stores, and the others stay where they are. */
export function shardOf(node: string, urls: readonly string[]): string {
  const weight = (url: string) => createHash('sha256').update(`${node} ${url}`).digest('hex');
  const [first] = [...urls].sort((a, b) => (weight(a) < weight(b) ? -1 : 1));
  if (first === undefined) throw new Error('BUG: there is no server');
  return first;
}

/** A client of each server, by its URL. */
function clientsOf(
  { urls, database, user, passwordFile }: ClickHouseConfig,
  timeoutMs = longestRequestMs(WAITS),
): Map<string, ClickHouseClient> {
  const password = passwordFile === null ? '' : readPassword(passwordFile);
  return new Map(
    urls.map((url) => [url, createServerClient({ url, database, user, password }, timeoutMs)]),
  );
}

function readPassword(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError([
      `TAILPOND_CLICKHOUSE_PASSWORD_FILE: expected a file that can be read, got ${JSON.stringify(path)} (${code})`,
    ]);
  }
}
