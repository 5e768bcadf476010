import type { DuckDBConnection } from '@duckdb/node-api';
import type { RejectedLine, Sink, Source } from '../../../ingest/index.ts';
import { faultOf } from '../../lines/index.ts';
import type { Waits } from '../../waits.ts';
import type { Clock } from '../clock.ts';
import { addUndatedForms, incrementCounters } from '../ledger.ts';
import { alone, type BatchGroup, type Group, grouped } from './batch-groups.ts';
import { readFiles, replaceFiles } from './file-states.ts';
import { insertRejected } from './rejected.ts';
import { blankLines, type StagedLine } from './staged-lines.ts';
import type { IngestStatements } from './statements.ts';
import { findUnreadableLines, isScanError, ScanError } from './unreadable-lines.ts';

const CHECKPOINT_RETRY_MS = 1000;
/** A checkpoint that lacks memory ends the database: where queries hold more than this share, none is made beside SQL of callers. */
const QUERIES_SHARE = 4;
/** What queries hold; rows and blocks of tables are not theirs. */
const QUERIES_BYTES = `select coalesce(sum(memory_usage_bytes), 0)
  from duckdb_memory()
  where tag not in ('BASE_TABLE', 'IN_MEMORY_TABLE', 'OVERFLOW_STRINGS', 'METADATA', 'TRANSACTION')`;
/**
 * Bytes of the write-ahead log that a checkpoint writes back in a millisecond, until one has been measured: lines that do not compress,
 * in 96 MB of memory, on a machine whose processors and disk are busy took 3.5 kB, and 23 kB on a quiet one.
 */
const CHECKPOINT_RATE = 4000;
/** How much longer than the last one a checkpoint may take: other work that has begun since slows it down. */
const CHECKPOINT_MARGIN = 4;
/** A rate that was measured over fewer bytes says nothing. */
const MEASURED_BYTES = 1e6;

/** What could not be read, when DuckDB does not say. */
const UNREADABLE = 'it is not valid JSON';

export interface WriterOptions {
  readonly connection: DuckDBConnection;
  readonly statements: IngestStatements;
  /** A path in the staging folder for the search for a line that makes DuckDB's scan throw. */
  readonly probe: string;
  /** What rows are stamped with, and what tells when to checkpoint. */
  readonly clock: Clock;
  readonly waits: Pick<Waits, 'checkpoint' | 'checkpointLatest'>;
  /** How many full batches of a source one statement reads. */
  readonly parallelism: number;
  /** DuckDB's memory limit, bytes. */
  readonly memory: number;
  /** Bytes of the write-ahead log. */
  walBytes(): number;
  /** Runs `action` while no SQL of callers runs. */
  withoutCallers(action: () => Promise<void>): Promise<void>;
  /** Told of the rejected lines of a batch, once they are stored. */
  onRejected(lines: readonly RejectedLine[]): void;
}

/** How many transactions were committed, and how many of them, the first ones, are in the database file itself. */
export interface Commits {
  readonly committed: number;
  readonly checkpointed: number;
  /** How many transactions have ended: what they stored can be read, which is not so yet when `committed` goes up. */
  readonly visible: number;
  /** What the rows of the last one were stamped with, microseconds since the epoch; 0 before the first. */
  readonly storedUs: bigint;
}

/** What may be done with the connection that writes while no batch is stored. */
export interface Exclusive {
  transaction<T>(action: (connection: DuckDBConnection) => Promise<T>): Promise<T>;
  /** Writes the write-ahead log back, if no query is in the way. */
  checkpoint(): Promise<void>;
}

export interface Writer extends Pick<Sink, 'files' | 'append' | 'record' | 'idle'> {
  /** Runs `action` between two batches, which wait for it: it must be short. */
  exclusive<T>(action: (between: Exclusive) => Promise<T>): Promise<T>;
  /**
   * Writes the write-ahead log back, waiting for whoever is in the way. Where that would not end by `until`, as `performance.now()`
   * tells time, the log is left to the next start: a checkpoint cannot be interrupted.
   */
  close(until: number): Promise<void>;
  commits(): Commits;
  /** For how long nothing has been written, ms; 0 while something is. */
  quietMs(): number;
}

/**
 * The sink of ingest: one transaction holds a batch's rows, its rejected lines, the counters and the new offsets; small
 * batches share one.
 * After any error the transaction is rolled back and nothing that is in memory may be trusted: a COMMIT can throw and
 * be durable, and can resolve after it dropped everything (docs/decisions/0001). `files` tells what is true.
 */
export function createWriter({
  connection,
  statements,
  probe,
  clock,
  waits,
  parallelism,
  memory,
  walBytes,
  withoutCallers,
  onRejected,
}: WriterOptions): Writer {
  let queue: Promise<unknown> = Promise.resolve();
  const dirty = walBytes() > 0;
  let checkpointRate = CHECKPOINT_RATE;
  let dirtySince: number | null = dirty ? clock.monotonic() : null;
  let committed = dirty ? 1 : 0;
  let checkpointed = 0;
  let visible = 0;
  let stampUs = 0n;
  let storedUs = 0n;
  let lastStored = 0;
  let triedCheckpoint = 0;
  /**
   * Whether a transaction may be open. A ROLLBACK can fail for want of memory, and until one passes the connection refuses every
   * other statement.
   */
  let open = false;
  /** What waits or runs, and when the last of it ended. */
  let busy = 0;
  let quietSince = performance.now();

  /** One statement sequence at a time: there is one connection that writes. */
  const exclusive = <T>(action: () => Promise<T>): Promise<T> => {
    busy++;
    const result = queue
      .then(async () => {
        await rollBack();
        return action();
      })
      .finally(() => {
        busy--;
        quietSince = performance.now();
      });
    queue = result.catch(() => {});
    return result;
  };

  /** Ends a transaction that failed. Throws when the engine lacks the memory even for that; the next caller tries again. */
  const rollBack = async () => {
    if (!open) return;
    await connection.run('rollback').catch((error) => {
      if (!/no transaction is active/.test(String(error))) throw error;
    });
    open = false;
  };

  const transaction = async <T>(
    action: (connection: DuckDBConnection) => Promise<T>,
  ): Promise<T> => {
    await rollBack();
    open = true;
    try {
      await connection.run('begin');
      const result = await action(connection);
      // Counted first: a COMMIT that throws may be durable.
      committed++;
      await connection.run('commit').catch((cause: Error) => {
        throw new CommitError(cause.message, { cause });
      });
      open = false;
      storedUs = stampUs;
      lastStored = clock.monotonic();
      dirtySince ??= lastStored;
      return result;
    } catch (error) {
      await rollBack().catch(() => {});
      throw error;
    } finally {
      visible++;
    }
  };

  /** Goes up with each batch, so that a tail finds every later row; a clock that is set back by more is followed. */
  const stamp = (): bigint => {
    const nowUs = BigInt(Math.floor(clock.now())) * 1000n;
    const aheadUs = stampUs - nowUs;
    stampUs = aheadUs >= 0n && aheadUs < 1_000_000n ? stampUs + 1n : nowUs;
    return stampUs;
  };

  const checkpoint = async () => {
    triedCheckpoint = clock.monotonic();
    if ((await count(connection, QUERIES_BYTES)) > memory / QUERIES_SHARE)
      await withoutCallers(writeBack);
    else await writeBack();
  };

  const writeBack = async () => {
    const [began, bytes] = [performance.now(), walBytes()];
    try {
      await connection.run('checkpoint');
      if (bytes > MEASURED_BYTES) checkpointRate = bytes / (performance.now() - began);
      dirtySince = null;
      checkpointed = committed;
    } catch (error) {
      // A query that began before the last commit is in the way: the next time, then.
      if (!/Cannot CHECKPOINT/.test(String(error))) throw error;
    }
  };

  /** Gives the rejected lines, those that the engine could not read among them. */
  const store = async ({ parts, scanned }: Group): Promise<RejectedLine[]> => {
    const ingestedAtUs = stamp();
    const batches = parts.flat();
    if (scanned.length > 0) await connection.run(statements.scan(scanned, ingestedAtUs));
    const counts: Counts[] = [];
    for (const part of parts)
      counts.push(await storeLines(part, ingestedAtUs, scanned.includes(part[0])));
    await insertRejected(
      connection,
      counts.flatMap(({ source, rejected }) => rejected.map((line) => ({ ...line, source }))),
      ingestedAtUs,
    );
    const files = new Map(batches.flatMap((batch) => batch.files.map((file) => [file.id, file])));
    await replaceFiles(connection, [...files.values()], [], clock.now());
    await incrementCounters(
      connection,
      counts.map(({ source, bytes, rows, rejected, repaired, undated, future, doubled }) => ({
        source,
        bytes,
        lines: rows + rejected.length,
        rows,
        rejected: rejected.length,
        repaired,
        undated,
        future,
        doubled,
      })),
    );
    for (const { source, undatedForms } of batches)
      await addUndatedForms(connection, source, undatedForms);
    // It would take memory from the next batch.
    if (scanned.length > 0) await connection.run('drop table scanned');
    return counts.flatMap(({ rejected }) => rejected);
  };

  const storeLines = async (part: BatchGroup, ingestedAtUs: bigint, scanned: boolean) => {
    const counts: Counts = {
      source: part[0].source,
      bytes: sum(part, ({ bytes }) => bytes),
      repaired: sum(part, ({ repaired }) => repaired),
      rows: 0,
      undated: sum(part, ({ undated }) => undated),
      future: sum(part, ({ future }) => future),
      doubled: sum(part, ({ doubled }) => doubled),
      rejected: part.flatMap(({ rejected }) => rejected),
    };
    const lines = sum(part, (batch) => batch.lines);
    if (lines === 0) return counts;
    counts.rows = await change(connection, statements.insertRows(part, ingestedAtUs, scanned));
    if (counts.rows !== lines) throw new ScanError(`${lines} lines gave ${counts.rows} rows`);
    return counts;
  };

  /**
   * In one transaction; when that fails, batch by batch: for want of memory or because of a line that DuckDB's scan throws
   * at, and then the batch at fault is stored without such lines.
   */
  const storeOrSearch = async (group: Group): Promise<void> => {
    try {
      return onRejected(await transaction(() => store(group)));
    } catch (error) {
      if (error instanceof CommitError) throw error;
      const batches = group.parts.flat();
      if (batches.length > 1) {
        for (const batch of batches) await storeOrSearch(alone(batch));
        return;
      }
      const [batch] = batches;
      if (!isScanError(error) || !batch || batch.lines === 0) throw error;
      const unreadable = await findUnreadableLines(connection, batch, probe);
      if (unreadable.length === 0) throw error;
      await blankLines(batch.staging, unreadable);
      const rejected = [
        ...batch.rejected,
        ...unreadable.map((line) => toRejected(line, faultOf(String(line.line)) ?? UNREADABLE)),
      ];
      const rest = { ...batch, rejected, lines: batch.lines - unreadable.length };
      onRejected(await transaction(() => store(alone(rest))));
    }
  };

  const isDue = (afterMs: number) => {
    const now = clock.monotonic();
    if (dirtySince === null || now - triedCheckpoint < CHECKPOINT_RETRY_MS) return false;
    return now - dirtySince >= afterMs;
  };

  return {
    append: (batches) =>
      exclusive(async () => {
        for (const group of grouped(batches, parallelism)) await storeOrSearch(group);
        if (isDue(waits.checkpointLatest)) await checkpoint();
      }),
    record: (files, forgotten) =>
      exclusive(() => transaction(() => replaceFiles(connection, files, forgotten, clock.now()))),
    files: () => exclusive(() => readFiles(connection)),
    idle: async () => {
      if (clock.monotonic() - lastStored < waits.checkpoint || !isDue(0)) return;
      await exclusive(checkpoint);
    },
    exclusive: (action) => exclusive(() => action({ transaction, checkpoint })),
    close: (until) =>
      exclusive(async () => {
        const mostMs = (CHECKPOINT_MARGIN * walBytes()) / checkpointRate;
        const fits = performance.now() + mostMs < until;
        // Closing the database would checkpoint, too.
        await connection.run(fits ? 'force checkpoint' : 'pragma disable_checkpoint_on_shutdown');
      }),
    quietMs: () => (busy > 0 ? 0 : performance.now() - quietSince),
    commits: () => ({ committed, checkpointed, visible, storedUs }),
  };
}

/** What became of the lines of batches of one source. */
interface Counts {
  readonly source: Source;
  readonly bytes: number;
  readonly repaired: number;
  rows: number;
  readonly undated: number;
  readonly future: number;
  readonly doubled: number;
  readonly rejected: RejectedLine[];
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

/** It is in doubt what was stored: nothing may be stored again before the store was asked. */
class CommitError extends Error {}

async function change(connection: DuckDBConnection, sql: string): Promise<number> {
  return (await connection.run(sql)).rowsChanged;
}

async function count(connection: DuckDBConnection, sql: string): Promise<number> {
  return Number((await connection.runAndReadAll(sql)).getRows()[0]?.[0]);
}

function toRejected({ file, offset, line }: StagedLine, reason: string): RejectedLine {
  return { file, offset, length: line.length, reason, line };
}
