import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { RejectedLine, Sink, Source } from '../../ingest/index.ts';
import { WAITS, type Waits } from '../waits.ts';
import type { Clock } from './clock.ts';
import { type DiskUse, diskGuard, freeBytesOf } from './disk.ts';
import { openEngine } from './engine.ts';
import { engineErrorKind } from './errors.ts';
import { type LedgerEntry, readLedger } from './ledger.ts';
import { createBackup } from './maintenance/backup.ts';
import { type Inspection, inspect } from './maintenance/inspect.ts';
import { addMemberColumns } from './members/columns.ts';
import type { MemberSet } from './members/members.ts';
import { createSettling, type Settling } from './members/settle.ts';
import { createMemoryTurns } from './memory-turns.ts';
import { migrate } from './migrate.ts';
import { type Outbox, openOutbox, openShipments } from './outbox/outbox.ts';
import { createBackgroundTasks } from './read/own-connection.ts';
import { createParquet, type Parquet } from './read/parquet.ts';
import { openQueryPool, type QueryPool } from './read/pool.ts';
import { type QueryRows, queryRows } from './read/query-rows.ts';
import { createSpans, newestBytes, type Span } from './read/time-span.ts';
import type { TurnsOptions } from './read/turns.ts';
import { createRejected, type Rejected } from './rejected.ts';
import { createRetention, type Retention } from './retention/index.ts';
import { addSourceTables, type FormerSource } from './source-tables.ts';
import { type TextCondition, textConditions } from './text-filter/filters.ts';
import type { TornCommit } from './torn-log.ts';
import { ingestStatements, regradedRows } from './write/statements.ts';
import { type Commits, createWriter, type Writer } from './write/writer.ts';

export type { Clock } from './clock.ts';
export { type DiskUse, diskGuard } from './disk.ts';
export { engineVersion, makeFilesPrivate } from './engine.ts';
export { EngineError, RowsEndedEarly, StoreBroken, StoreInUse } from './errors.ts';
export type { LedgerEntry } from './ledger.ts';
export { type Holder, lockStore, type StoreLock, storeHolder, storeInUse } from './lock.ts';
export type { Inspection } from './maintenance/inspect.ts';
export { inspectFile } from './maintenance/inspect.ts';
export {
  columnOf,
  filledFrom,
  heldFrom,
  knownMembers,
  type MemberSet,
  pathOf,
  shipped,
  withMembers,
} from './members/members.ts';
export type { Settled } from './members/run.ts';
export type { Settling } from './members/settle.ts';
export {
  type Cut,
  type Outbox,
  type Shipment,
  type ShipmentFile,
  ShipmentMismatch,
} from './outbox/outbox.ts';
export type { Plain, ValueKind } from './plain-values.ts';
export { isoUtc, microsOf } from './plain-values.ts';
export type { PoolStats as PoolUse, QueryPool as Readers, RowColumn, Rows } from './read/pool.ts';
export type { Span } from './read/time-span.ts';
export { createTurns } from './read/turns.ts';
export type { Removal, Retention } from './retention/index.ts';
export type { Limits } from './retention/plan.ts';
export { SourceRefused } from './source-tables.ts';
export type { SoughtText } from './text-filter/words.ts';
export { URL_OF_ROW } from './write/metadata-paths.ts';

export interface StoreOptions {
  /** The folder of the database and of what belongs to it. */
  readonly folder: string;
  /** The folder of the SQL files. */
  readonly sql: string;
  /** DuckDB's memory limit, bytes. */
  readonly memory: number;
  readonly maxLine: number;
  /** The project of lines that name none; without one they have none. */
  readonly defaultProject?: Readonly<Record<Source, string | null>>;
  /** Bytes that must be free on the disk for lines to be stored; 0: any. */
  readonly minFree: number;
  /** Bytes that the database may take where rows are forwarded and may not be removed; any by default. */
  readonly mostBytes?: number;
  /** The members of each source that have columns; without it those of last time. */
  readonly members?: Readonly<Record<Source, readonly string[]>>;
  /** What lines are stamped with and retention goes by; the machine's clocks without it. */
  readonly clock?: Clock;
  readonly waits?: Pick<
    Waits,
    'checkpoint' | 'checkpointLatest' | 'checkpointBytes' | 'queryGrace'
  >;
  /** Called when DuckDB has given the database up, or a query does not stop: nothing helps then but to start anew. */
  readonly onFatal: (error: Error) => void;
  /** Called once a query goes on long after it was interrupted, `onFatal` without it: it has a thread for good. */
  readonly onStuck?: (error: Error) => void;
  /** Called with the rejected lines of a batch, once they are stored. */
  readonly onRejected?: (lines: readonly RejectedLine[]) => void;
  /** Called with a commit that a loss of power had cut off, once it was removed from the write-ahead log. */
  readonly onTornCommit?: (commit: TornCommit) => void;
}

/**
 * How many saved queries run and wait; twelve queries of all pools at a time, of libuv's 16 threads: the file system and ingest keep the
 * others. One project may take a part of each pool: the others' questions need not wait for its.
 */
const READER_TURNS: TurnsOptions = {
  running: 4,
  waiting: 64,
  ofOwner: { running: 3, waiting: 48 },
};
/** The service's own questions, which must be answered however many others wait: is it well, what is there, what is to be removed. */
const OWN_READERS = 2;
const OWN_QUEUE = 1024;
/** How many statements of callers run and wait. */
export const CALLER_TURNS: TurnsOptions = {
  running: 3,
  waiting: 32,
  ofOwner: { running: 2, waiting: 24 },
};
/** How many questions for entries, facets, histograms and exports do. */
const ENTRY_TURNS: TurnsOptions = {
  running: 3,
  waiting: 64,
  ofOwner: { running: 2, waiting: 48 },
};

export interface Store
  extends Omit<QueryPool, 'drained' | 'hold' | 'resume' | 'endRunning'>,
    Parquet,
    Rejected {
  readonly sink: Sink;
  readonly retention: Retention;
  readonly settling: Settling;
  /** The members of each source that have columns of their own. */
  readonly members: ReadonlyMap<Source, MemberSet>;
  /** Sources that the settings do not name any more, with rows that stay. */
  readonly formerSources: readonly FormerSource[];
  /** For how long nothing has been written, ms; 0 while something is, or while a copy is made or all is read. */
  quietMs(): number;
  /** Runs SQL of callers, which must not keep saved queries waiting, on connections of its own. */
  readonly callerPool: Pick<QueryPool, 'query' | 'stats'>;
  /** Runs questions for entries, which SQL of callers must not keep waiting. */
  readonly entryPool: Pick<QueryPool, 'query' | 'stats'>;
  commits(): Commits;
  /** The folder that batches are staged in. */
  readonly staging: string;
  disk(): Promise<DiskUse>;
  /**
   * How many entries a source has, and the oldest and newest of them, ms since the epoch; null when it has none. Up to a
   * second old.
   */
  span(source: Source): Promise<Span | null>;
  /** The condition on rows of a source in which texts may stand, by which others are passed over; null where there are next to none. */
  readonly mayHave: TextCondition;
  ledger(): Promise<LedgerEntry[]>;
  /**
   * Copies the database as of one moment into a new file in the staging folder, while lines come in; gives its path. It is
   * the caller's to move or remove. Throws when the disk has no room for it or another copy is being made.
   */
  backup(signal: AbortSignal): Promise<string>;
  /** Opens the outbox, by which rows are forwarded to another database. Rows must neither be settled nor removed beside it. */
  outbox(): Promise<Outbox>;
  /** The shipments that may be in the other database already. */
  openShipments(): ReturnType<typeof openShipments>;
  /** Reads everything and holds it against the ledger. */
  inspect(signal: AbortSignal): Promise<Inspection>;
  /**
   * Writes everything back and closes. What cannot be written back by `until` (of `performance.now()`) stays in the write-ahead log, for
   * the next start. Returns the bytes that stay there.
   */
  shutdown(until?: number): Promise<number>;
}

/**
 * Opens the store in `folder`, making it if it is not there. Throws StoreBroken, StoreInUse or another error when it
 * cannot be opened, and leaves it as it is.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { folder, sql, memory, maxLine, minFree, waits = WAITS } = options;
  const clock = options.clock ?? { now: Date.now, monotonic: () => performance.now() };
  const database = join(folder, 'tailpond.duckdb');
  const staging = join(folder, 'staging');
  const shipments = join(folder, 'outbox');
  mkdirSync(staging, { recursive: true, mode: 0o700 });
  const engine = await openEngine({
    database,
    folders: [staging, shipments],
    temporary: join(folder, 'tmp'),
    memory,
    checkpointBytes: waits.checkpointBytes,
    onTornCommit: options.onTornCommit,
  });
  try {
    const connection = await engine.connect();
    await migrate(connection, join(sql, 'schema'));
    const formerSources = await addSourceTables(connection, join(sql, 'source', 'table.sql'));
    const members = await addMemberColumns(connection, options.members ?? null);
    const ingest = join(sql, 'ingest');
    const databaseBytes = () => statSync(database).size;
    const walBytes = () => statSync(`${database}.wal`, { throwIfNoEntry: false })?.size ?? 0;
    const statements = ingestStatements(ingest, maxLine, options.defaultProject ?? {});
    const ends = {
      graceMs: waits.queryGrace,
      onStuck: options.onStuck ?? options.onFatal,
    };
    const readers = await openQueryPool(engine, { ...READER_TURNS, ...ends });
    const own = await openQueryPool(engine, { running: OWN_READERS, waiting: OWN_QUEUE, ...ends });
    const callerPool = await openQueryPool(engine, { ...CALLER_TURNS, ...ends });
    const entryPool = await openQueryPool(engine, { ...ENTRY_TURNS, ...ends });
    const fatal = <T>(promise: Promise<T>) =>
      promise.catch((error) => raise(error, options.onFatal));
    const turns = createMemoryTurns({ callers: callerPool, memory, settling: () => settling });
    const writer = createWriter({
      connection,
      statements,
      probe: join(staging, 'probe.ndjson'),
      clock,
      waits,
      parallelism: engine.parallelism,
      memory,
      walBytes,
      withoutCallers: turns.withoutCallers,
      onRejected: options.onRejected ?? (() => {}),
    });
    const ask: QueryRows = (text, deadline) =>
      fatal(turns.query(() => queryRows(own, text, deadline)));
    const between: Pick<Writer, 'exclusive'> = {
      exclusive: (action) => fatal(writer.exclusive(action)),
    };
    const background = createBackgroundTasks(engine);
    const pools = [readers, own, callerPool, entryPool];
    const closeReaders = () => Promise.all(pools.map((each) => each.close()));
    const retention = createRetention({
      writer: between,
      ask,
      readersEnded: () => Promise.all([...pools, background].map((each) => each.drained())),
      walBytes,
      folder: join(sql, 'retention'),
      clock,
    });
    const room = diskGuard({
      folder,
      minFree,
      freeBytes: retention.freeBytes,
      mostBytes: options.mostBytes ?? Number.POSITIVE_INFINITY,
      databaseBytes: () => databaseBytes() + walBytes(),
    });
    const settling = createSettling({
      writer: between,
      // It can wait for the memory that callers have.
      ask: (sql) => fatal(queryRows(own, sql)),
      sets: members,
      graded: regradedRows(ingest),
      memory,
      walBytes,
      room,
      now: clock.now,
    });

    const spans = createSpans({ ask, moves: settling.moves });
    const parquet = createParquet({ background, staging, minFree });
    const backup = createBackup({
      engine,
      folder,
      staging,
      minFree,
      databaseBytes: () => databaseBytes() + walBytes(),
    });

    return {
      staging,
      sink: {
        parallelism: engine.parallelism,
        capacity: engine.capacity,
        newestBytes: (source) => newestBytes(ask, source, engine.capacity.vectorRows),
        files: () => fatal(writer.files()),
        append: (batches) => fatal(turns.write(() => writer.append(batches))),
        record: (files, forgotten) => fatal(turns.write(() => writer.record(files, forgotten))),
        room: (bytes) => fatal(room(bytes)),
        idle: () => fatal(writer.idle()),
      },
      retention,
      settling,
      members,
      formerSources,
      quietMs: () => (background.busy() ? 0 : writer.quietMs()),
      commits: () => writer.commits(),
      query: (text, values, limits) =>
        fatal(turns.query(() => readers.query(text, values, limits))),
      probe: () => fatal(own.probe()),
      describe: (text) => readers.describe(text),
      stats: () => readers.stats(),
      callerPool: {
        query: (text, values, limits) => fatal(turns.callerQuery(text, values, limits)),
        stats: () => callerPool.stats(),
      },
      entryPool: {
        query: (text, values, limits) =>
          fatal(turns.query(() => entryPool.query(text, values, limits))),
        stats: () => entryPool.stats(),
      },
      busy: () => [...pools, background].some((each) => each.busy()),
      stop(reason) {
        for (const each of pools) each.stop(reason);
      },
      async close() {
        await closeReaders();
      },
      async disk() {
        const free = await freeBytesOf(folder);
        return { database: databaseBytes(), wal: walBytes(), free, minFree };
      },
      span: spans.span,
      mayHave: textConditions(ask),
      ledger: () => readLedger(ask, spans, retention.sizes),
      ...createRejected(ask, between),
      toParquet: (columns, lines, deadline) => fatal(parquet.toParquet(columns, lines, deadline)),
      exportParquet: (text, values, signal) => fatal(parquet.exportParquet(text, values, signal)),
      backup: (signal) => fatal(background.start(signal, backup)),
      openShipments: () => openShipments(ask),
      outbox: () =>
        openOutbox({
          folder: shipments,
          writer: between,
          ask,
          background,
          sets: members,
        }),
      inspect: (signal) =>
        fatal(background.start(signal, (withConnection) => withConnection(inspect))),
      async shutdown(until = Number.POSITIVE_INFINITY) {
        await background.close();
        await closeReaders();
        await writer.close(until);
        connection.closeSync();
        engine.close();
        return walBytes();
      },
    };
  } catch (error) {
    engine.close();
    throw error;
  }
}

/** DuckDB invalidates a database after some errors: every later statement of this process fails. */
function raise(error: unknown, onFatal: (error: Error) => void): never {
  if (error instanceof Error && engineErrorKind(error) === 'fatal') onFatal(error);
  throw error;
}
