import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { isSource, type Sink, SOURCES, type Source } from '../../ingest/index.ts';
import { createWriter } from './append.ts';
import { copyDatabase, detachCopy } from './backup.ts';
import type { Clock } from './clock.ts';
import { diskGuard, freeBytesOf } from './disk.ts';
import { openEngine } from './engine.ts';
import { type Inspection, inspect } from './inspect.ts';
import { migrate } from './migrate.ts';
import { interruptible, openReaders, type Readers } from './read.ts';
import { createRetention, type Retention } from './retention.ts';
import { ingestStatements, timestampExpression } from './statements.ts';
import type { Plain } from './values.ts';

export { StoreBroken, StoreInUse } from './broken.ts';
export type { Clock } from './clock.ts';
export type { Inspection } from './inspect.ts';
export { inspectFile } from './inspect.ts';
export type { Limits } from './plan.ts';
export type { Readers, Rows } from './read.ts';
export type { Removal, Retention } from './retention.ts';
export type { Plain, ValueKind } from './values.ts';
export { isoUtc } from './values.ts';

export interface StoreOptions {
  /** The folder of the database and of what belongs to it. */
  readonly folder: string;
  /** The folder of the SQL files. */
  readonly sql: string;
  /** DuckDB's memory limit, bytes. */
  readonly memory: number;
  readonly maxLine: number;
  readonly queryTimeoutMs: number;
  /** Bytes that must be free on the disk for lines to be stored; 0: any. */
  readonly minFree: number;
  /** What lines are stamped with and retention goes by; the machine's clocks without it. */
  readonly clock?: Clock;
  /** How long a query may go on after it was interrupted at its time limit, ms. */
  readonly graceMs?: number;
  /** Called when DuckDB has given the database up, or a query does not stop: nothing helps then but to start anew. */
  readonly onFatal: (error: Error) => void;
  /** Called once a query goes on long after it was interrupted, `onFatal` without it: it has a thread for good. */
  readonly onStuck?: (error: Error) => void;
}

/**
 * What is known of a source's lines. Counters count since the beginning; `stored`, `size`, `oldest`, `newest` and
 * `oldest_ingested` say what is there now. lines = rows + rejected and stored = rows - removed, always.
 */
export interface LedgerEntry {
  readonly source: Source;
  readonly bytes: number;
  readonly lines: number;
  readonly rows: number;
  readonly rejected: number;
  readonly repaired: number;
  readonly undated: number;
  /** Rows, and rejected lines, that retention took away. */
  readonly removed: number;
  readonly removed_rejected: number;
  readonly stored: number;
  readonly oldest: string | null;
  readonly newest: string | null;
  /** When the oldest of them was stored. */
  readonly oldest_ingested: string | null;
  /** Bytes that rows and rejected lines take on the disk: an estimate, up to a minute old. */
  readonly size: number;
}

/** The entries of a source: how many, and their first and last moment, ms since the epoch. */
export interface Span {
  readonly count: number;
  readonly oldestMs: number;
  readonly newestMs: number;
}

/** Six queries at a time, of libuv's 16 threads: the file system and ingest keep the others. */
const READERS = 4;
const QUEUE = 64;
const SANDBOX_READERS = 2;
const SANDBOX_QUEUE = 32;

/** Interrupts are obeyed within ms, but by a few functions that look for none while they work on one value. */
const GRACE_MS = 15_000;

/** Parts of row groups that are copied one by one are compressed less well: 1.25 was measured. */
const COPY_SIZE = 1.5;

/** A span only says where to look first, so it may be old; measured at 1.4 ms beside 8.5 ms for the query itself. */
const SPAN_MS = 1000;

export interface Store extends Readers {
  readonly sink: Sink;
  readonly retention: Retention;
  /** Runs SQL of callers, which must not keep saved queries waiting, on connections of its own. */
  readonly sandbox: Pick<Readers, 'query'>;
  /** The folder that batches are staged in. */
  readonly staging: string;
  /** The expression that reads the text `expression` as a moment in UTC, as lines are read; NULL if it is none. */
  moment(expression: string): string;
  /**
   * How many entries a source has, and the oldest and newest of them, ms since the epoch; null when it has none. Up to a
   * second old.
   */
  span(source: Source): Promise<Span | null>;
  ledger(): Promise<LedgerEntry[]>;
  /** The latest rejected lines, of one source or of all. */
  rejected(source: Source | null, limit: number): Promise<Record<string, Plain>[]>;
  /**
   * Copies the database as of one moment into a new file in the staging folder, while lines come in; gives its path. It is
   * the caller's to move or remove. Throws when the disk has no room for it or another copy is being made.
   */
  backup(signal: AbortSignal): Promise<string>;
  /** Reads everything and holds it against the ledger. */
  inspect(signal: AbortSignal): Promise<Inspection>;
  /** Writes everything back and closes. */
  shutdown(): Promise<void>;
}

/**
 * Opens the store in `folder`, making it if it is not there. Throws StoreBroken, StoreInUse or another error when it
 * can not be opened, and leaves it as it is.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { folder, sql, memory, maxLine, queryTimeoutMs, minFree } = options;
  const clock = options.clock ?? { now: Date.now, monotonic: () => performance.now() };
  const database = join(folder, 'tailpond.duckdb');
  const staging = join(folder, 'staging');
  mkdirSync(staging, { recursive: true, mode: 0o700 });
  const engine = await openEngine({
    database,
    staging,
    temporary: join(folder, 'tmp'),
    memory,
  });
  try {
    const connection = await engine.connect();
    await migrate(connection, join(sql, 'schema'));
    const ingest = join(sql, 'ingest');
    const statements = ingestStatements(ingest, maxLine);
    const writer = createWriter({
      connection,
      statements,
      probe: join(staging, 'probe.ndjson'),
      clock,
      lanes: engine.lanes,
    });
    const ends = {
      timeoutMs: queryTimeoutMs,
      graceMs: options.graceMs ?? GRACE_MS,
      onStuck: options.onStuck ?? options.onFatal,
    };
    const readers = await openReaders(engine, { connections: READERS, queue: QUEUE, ...ends });
    const sandbox = await openReaders(engine, {
      connections: SANDBOX_READERS,
      queue: SANDBOX_QUEUE,
      ...ends,
    });
    const fatal = <T>(promise: Promise<T>) =>
      promise.catch((error) => raise(error, options.onFatal));
    const rows = async (text: string, values: Record<string, string | null>, maxRows: number) => {
      const result = await fatal(readers.query(text, values, { maxRows }));
      return result.rows.map((row) =>
        Object.fromEntries(result.columns.map(({ name }, i) => [name, row[i] ?? null])),
      );
    };

    const walBytes = () => statSync(`${database}.wal`, { throwIfNoEntry: false })?.size ?? 0;
    const retention = createRetention({
      writer: { between: (action) => fatal(writer.between(action)) },
      ask: (text) => rows(text, {}, Infinity),
      walBytes,
      folder: join(sql, 'retention'),
      clock,
    });
    const room = diskGuard({ folder, minFree, freeBytes: retention.freeBytes });

    /** Work that a shutdown interrupts and waits for, on connections of its own. */
    const closing = new AbortController();
    const asides = new Set<Promise<unknown>>();
    const aside = <T>(work: () => Promise<T>): Promise<T> => {
      const result = fatal(work());
      const settled: Promise<unknown> = result.catch(() => {}).then(() => asides.delete(settled));
      asides.add(settled);
      return result;
    };
    const onOwn = async <T>(signal: AbortSignal, action: (own: DuckDBConnection) => Promise<T>) => {
      const own = await engine.connect();
      try {
        const ends = AbortSignal.any([signal, closing.signal]);
        return await interruptible(own, ends, () => action(own));
      } finally {
        own.closeSync();
      }
    };

    let copying = false;
    const backup = async (signal: AbortSignal) => {
      if (copying) throw new Error('A backup is being made; wait for it.');
      copying = true;
      const file = join(staging, `backup-${randomUUID()}.duckdb`);
      try {
        await roomForCopy();
        await onOwn(signal, (own) => copyDatabase(own, file)).finally(() =>
          // Not on the connection that copied: the interrupts would meet this, too.
          engine.connect().then(detachCopy),
        );
        return file;
      } catch (error) {
        for (const path of [file, `${file}.wal`]) rmSync(path, { force: true });
        throw error;
      } finally {
        copying = false;
      }
    };
    /** A disk that is full in the copy's checkpoint would be the end of the whole engine. */
    const roomForCopy = async () => {
      const bytes = COPY_SIZE * (statSync(database).size + walBytes());
      const free = await freeBytesOf(folder);
      if (free < bytes + minFree)
        throw new Error(
          `There is no room for a backup: it is made in ${staging} and may take ${bytes} bytes beside TAILPOND_MIN_FREE, and ${free} are free.`,
        );
    };

    const spans = new Map<Source, Span & { at: number }>();

    return {
      staging,
      sink: {
        lanes: engine.lanes,
        files: () => fatal(writer.files()),
        append: (batches) => fatal(writer.append(batches)),
        record: (files, forgotten) => fatal(writer.record(files, forgotten)),
        room: (bytes) => fatal(room(bytes)),
        idle: () => fatal(writer.idle()),
      },
      retention,
      query: (text, values, limits) => fatal(readers.query(text, values, limits)),
      probe: () => fatal(readers.probe()),
      describe: (text) => readers.describe(text),
      sandbox: { query: (text, values, limits) => fatal(sandbox.query(text, values, limits)) },
      busy: () => readers.busy() || sandbox.busy(),
      stop(reason) {
        readers.stop(reason);
        sandbox.stop(reason);
      },
      async close() {
        await Promise.all([readers.close(), sandbox.close()]);
      },
      moment: (expression) => timestampExpression(ingest, expression),
      async span(source) {
        const known = spans.get(source);
        if (known && performance.now() - known.at < SPAN_MS) return known;
        const [row] = await rows(
          `select count(*) as count, epoch_ms(min(timestamp)) as oldest, epoch_ms(max(timestamp)) as newest from ${source}`,
          {},
          1,
        );
        if (!row || row.oldest === null) return null;
        const span = {
          count: Number(row.count),
          oldestMs: Number(row.oldest),
          newestMs: Number(row.newest),
          at: performance.now(),
        };
        spans.set(source, span);
        return span;
      },
      async ledger() {
        const stored = SOURCES.map(
          (source) =>
            `select '${source}' as source, count(*) as stored, min(timestamp) as oldest, max(timestamp) as newest,
              min(ingested_at) as oldest_ingested from ${source}`,
        );
        const entries = await rows(
          `select * from ledger join (${stored.join(' union all ')}) using (source)`,
          {},
          SOURCES.length,
        );
        const sizes = await retention.sizes();
        const bySource = new Map(entries.map((entry) => [entry.source, entry]));
        return SOURCES.map((source) =>
          numbers({ ...bySource.get(source), size: sizes.get(source) ?? 0 }),
        );
      },
      rejected: (source, limit) => {
        if (source !== null && !isSource(source)) throw new Error('BUG: not a source');
        const from = source ? `rejected where source = '${source}'` : 'rejected';
        return rows(
          `select source, file, "offset", length, reason, rejected_at, line
            from ${from}
            order by rejected.rowid desc
            limit ${limit}`,
          {},
          limit,
        );
      },
      backup: (signal) => aside(() => backup(signal)),
      inspect: (signal) => aside(() => onOwn(signal, inspect)),
      async shutdown() {
        closing.abort(new Error('The service is stopping.'));
        await Promise.all(asides);
        await Promise.all([readers.close(), sandbox.close()]);
        await writer.close();
        connection.closeSync();
        engine.close();
      },
    };
  } catch (error) {
    engine.close();
    throw error;
  }
}

/** DuckDB invalidates a database after some errors: every later statement of this process fails. */
function raise(error: unknown, onFatal: (error: Error) => void): never {
  if (error instanceof Error && /FATAL Error|database has been invalidated/.test(error.message))
    onFatal(error);
  throw error;
}

function numbers(entry: Record<string, Plain>): LedgerEntry {
  if (!entry.source) throw new Error('BUG: a source is missing in the ledger');
  const values = Object.entries(entry).map(([key, value]) => [
    key,
    typeof value === 'bigint' ? Number(value) : value,
  ]);
  return Object.fromEntries(values) as LedgerEntry;
}
