import { setTimeout as delay } from 'node:timers/promises';
import type { Source } from '../../../ingest/index.ts';
import { ROW_GROUP_ROWS } from '../engine.ts';
import { engineErrorKind } from '../errors.ts';
import { interruptible } from '../read/pool.ts';
import type { Writer } from '../write/writer.ts';
import { isUnread, type MemberSet } from './members.ts';
import {
  type Ask,
  fillRun,
  LEAST_ROWS,
  passOver,
  placeOf,
  plan,
  rowsBetween,
  type Settled,
  settleRun,
  type Table,
  textsOf,
} from './run.ts';

export interface Settling {
  /**
   * Settles the oldest rows of a source that are not: fills the columns of their members, and puts them in order of project and time, in
   * one transaction between two batches. Null when there are fewer such rows than `least`, by default a full run.
   */
  settle(source: Source, least?: number): Promise<Settled | null>;
  /**
   * Fills the columns of rows that are not enough for a run, the oldest first, where there are `least` or more whose members were not
   * looked at. How many it were.
   */
  fill(source: Source, least: number): Promise<number>;
  /** How many rows of each source were settled since the start. */
  rows(): ReadonlyMap<Source, number>;
  /** Goes up when rows of a source are about to be put in another order, and once they are: it is odd meanwhile. */
  moves(source: Source): number;
  /** Goes up when a run begins, and once it is over: it is odd meanwhile. */
  runs(): number;
  /** Runs `action` when no run is under way, and begins none before it is over. */
  paused<T>(action: () => Promise<T>): Promise<T>;
  /** Interrupts the run at hand, which leaves its rows as they were. From now on `settle` and `fill` throw. */
  stop(): void;
}

export interface SettlingOptions {
  readonly writer: Pick<Writer, 'exclusive'>;
  readonly ask: Ask;
  readonly sets: ReadonlyMap<Source, MemberSet>;
  readonly graded: Table['graded'];
  /** The engine's memory limit, bytes. */
  readonly memory: number;
  readonly walBytes: () => number;
  /** Why the disk has no room for so many bytes; null when it has. */
  readonly room: (bytes: number) => Promise<string | null>;
  readonly now: () => number;
}

/** Rows that are settled at once, in a third of a second: what a checkpoint then writes anew. */
export const RUN_ROWS = ROW_GROUP_ROWS;
/** How often is looked whether a run may begin, or is over. */
const LOOK_MS = 20;
/** Rows whose columns are filled at once. */
const FILL_ROWS = 8192;
/** A run's texts are in memory several times until it is committed. */
const MEMORY_SHARE = 12;
/**
 * Until a checkpoint the rows of a run are in memory as they were and as they are: their texts may take so much of it, twice, …
 */
const UNWRITTEN_SHARE = 20;
/** … the write-ahead log, which holds them whole, so many bytes as this share, … */
const LOG_SHARE = 8;
/**
 * … and nothing is begun while all together takes more than this share. An UPDATE that fails for want of memory leaves some of what it
 * took behind, until the database is closed.
 */
const BUSY_SHARE = 2;

/** Settling over the tables of a store (docs/decisions/0019). */
export function createSettling({
  writer,
  ask,
  sets,
  graded,
  memory,
  walBytes,
  room,
  now,
}: SettlingOptions): Settling {
  /** How many rows a source's next run has. */
  const lengths = new Map<Source, number>();
  /** How many rows are filled at once, where memory was wanting for more. */
  const fillLengths = new Map<Source, number>();
  const total = new Map<Source, number>(Array.from(sets.keys(), (source) => [source, 0]));
  /** Bytes of texts that were settled since the last checkpoint. */
  let unwritten = 0;
  const begun = new Map<Source, number>();
  const moves = (source: Source) => begun.get(source) ?? 0;
  const stopping = new AbortController();
  const { signal } = stopping;
  let [runs, pauses] = [0, 0];
  /** Not while it is paused. */
  const inRun = async <T>(action: () => Promise<T>): Promise<T> => {
    while (pauses > 0) await delay(LOOK_MS, undefined, { signal });
    runs++;
    try {
      return await action();
    } finally {
      runs++;
    }
  };
  const isLogLong = () => walBytes() > memory / LOG_SHARE;
  const isBusy = async () => {
    // Blocks of the file are dropped as soon as others need the memory.
    const [row] = await ask(
      `select sum(memory_usage_bytes)::bigint as bytes
        from duckdb_memory()
        where tag not in ('BASE_TABLE', 'OVERFLOW_STRINGS')`,
    );
    return Number(row?.bytes) > memory / BUSY_SHARE;
  };
  /** By itself, so that a batch can go between. */
  const writeBack = async () => {
    await writer.exclusive(({ checkpoint }) => checkpoint());
    if (!isLogLong()) unwritten = 0;
  };

  /** A query that began before is in the way of the checkpoint, or the disk is full, or others have the memory. */
  const isHindered = async () => {
    if (isLogLong() || unwritten > memory / UNWRITTEN_SHARE || (await isBusy())) await writeBack();
    return isLogLong() || (await isBusy()) || (await room(memory)) !== null;
  };

  return {
    settle: (source, least = RUN_ROWS) =>
      inRun<Settled | null>(async () => {
        const set = sets.get(source);
        if (!set) return null;
        const length = lengths.get(source) ?? RUN_ROWS;
        const bounds = { length, least, mostBytes: memory / MEMORY_SHARE };
        const planned = await plan(ask, set, bounds, now());
        if (!planned) return null;
        if (await isHindered()) return { source, rows: 0, sorted: false };
        const texts = await textsOf(ask, source, planned, signal);
        const settled = await writer.exclusive(async ({ transaction, checkpoint }) => {
          begun.set(source, moves(source) + 1);
          try {
            const result = await transaction((connection) =>
              interruptible(connection, signal, () =>
                settleRun(connection, { set, graded }, planned, texts, now()),
              ),
            );
            lengths.delete(source);
            unwritten += planned.first.bytes;
            return result;
          } catch (error) {
            if (engineErrorKind(error) !== 'memory') throw error;
            lengths.set(source, Math.max(LEAST_ROWS, Math.floor(length / 2)));
            // Where memory is wanting even for this, it is given back by what else goes on.
            await checkpoint().catch(() => {});
            if (length > LEAST_ROWS) return { source, rows: 0, sorted: false };
            // What does not fit in the smallest run is read as it is stored.
            return transaction((connection) => passOver(connection, set));
          } finally {
            begun.set(source, moves(source) + 1);
          }
        });
        if (settled) total.set(source, (total.get(source) ?? 0) + settled.rows);
        if (!signal.aborted && (isLogLong() || unwritten > memory / UNWRITTEN_SHARE))
          await writeBack();
        return settled;
      }).catch((error) => {
        if (engineErrorKind(error) !== 'memory') throw error;
        // Others have it.
        return { source, rows: 0, sorted: false };
      }),
    fill: (source, least) =>
      inRun(async () => {
        const set = sets.get(source);
        if (!set) return 0;
        const [place] = await ask(placeOf(set, isUnread(set)));
        if (rowsBetween(place) < least || (await isHindered())) return 0;
        const length = fillLengths.get(source) ?? FILL_ROWS;
        // What does not fit is read as it is stored, until its run is settled.
        if (length < LEAST_ROWS) return 0;
        const bounds = { length, least };
        return writer.exclusive(({ transaction, checkpoint }) =>
          transaction((connection) =>
            interruptible(connection, signal, () => fillRun(connection, { set, graded }, bounds)),
          ).catch(async (error) => {
            if (engineErrorKind(error) !== 'memory') throw error;
            fillLengths.set(source, length / 2);
            await checkpoint().catch(() => {});
            return 0;
          }),
        );
      }),
    rows: () => total,
    moves,
    runs: () => runs,
    async paused(action) {
      pauses++;
      try {
        while (runs % 2 === 1) await delay(LOOK_MS);
        return await action();
      } finally {
        pauses--;
      }
    },
    stop: () => stopping.abort(new Error('The service is stopping.')),
  };
}
