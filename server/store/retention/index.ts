import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allSources, type Source } from '../../../ingest/index.ts';
import type { Clock } from '../clock.ts';
import { incrementCounters } from '../ledger.ts';
import { RUN_ROWS } from '../members/settle.ts';
import type { QueryRows } from '../read/query-rows.ts';
import { removeTextFilters } from '../text-filter/filters.ts';
import { PIECE_BYTES } from '../write/rejected.ts';
import type { Writer } from '../write/writer.ts';
import {
  EARLIEST_MS,
  type Limits,
  type Moment,
  plan,
  type RetentionSegment,
  type Step,
} from './plan.ts';
import { bytesOf, groupReader, placeOf } from './row-groups.ts';
import { trustedTime } from './trusted-clock.ts';

/** Rows or rejected lines of a source that go, or went, in one step. */
export interface Removal {
  readonly source: Source;
  readonly kind: RetentionSegment['kind'];
  readonly why: Step['why'];
  readonly rows: number;
  readonly bytes: number;
  readonly oldestMs: number;
  readonly newestMs: number;
}

export interface Retention {
  /** What `run` would remove now. */
  preview(limits: Limits): Promise<Removal[]>;
  /**
   * Removes what is beyond the limits, a row group at a time, between the batches of ingest. Ends early when `signal`
   * says so, or when queries that run keep the engine from giving space back: the rest is then for the next run.
   */
  run(limits: Limits, signal?: AbortSignal): Promise<Removal[]>;
  /**
   * Whether space of what was removed may still have to be given back, because queries ran that began before: a run sees to
   * it once they have ended, and should come soon.
   */
  owes(): boolean;
  /** How far the machine's clock is ahead of what retention believes, ms. */
  lagMs(): number;
  /** About how many bytes the rows and rejected lines of each source take; up to a minute old. */
  sizes(): Promise<ReadonlyMap<Source, number>>;
  /** Bytes of the database file that hold nothing and are written before the file grows. */
  freeBytes(): Promise<number>;
}

const earliest = `make_timestamp_ms(${EARLIEST_MS})`;
/** States of files that are gone are of use while a late copy may come. */
const FORGET_MS = 30 * 24 * 3_600_000;
const SIZES_MS = 60_000;
/** The first rows that are looked at for something to remove; no row group has more, in a store of any version. */
const ROW_GROUP = 122_880;

export interface RetentionOptions {
  readonly writer: Pick<Writer, 'exclusive'>;
  readonly ask: QueryRows;
  /** Comes when everything that reads the database now has ended. */
  readonly readersEnded: () => Promise<unknown>;
  /** Bytes of the write-ahead log. */
  readonly walBytes: () => number;
  /** The folder sql/retention. */
  readonly folder: string;
  readonly clock: Clock;
}

/** Retention over the tables of a store. The rules are in `plan`; every step looks again at what it removes. */
export function createRetention(options: RetentionOptions): Retention {
  const { writer, ask, readersEnded, walBytes, folder, clock } = options;
  const readParts = groupReader(folder, ask);
  const expiredRows = readFileSync(join(folder, 'expired_rows.sql'), 'utf8');
  const trusted = trustedTime({ writer, ask, clock });
  /** What reads while blocks of removed rows may still be in the file, and whether it is gone; null when they are not. */
  let older: { gone: boolean } | null = null;
  let sizes: { at: number; result: ReturnType<Retention['sizes']> } | null = null;

  const one = async (sql: string) => (await ask(sql))[0] ?? {};

  /** Bytes that the store takes: the blocks in use, and the write-ahead log. */
  const usedBytes = async () => {
    const size = await one(
      'select used_blocks * block_size as used, free_blocks * block_size as free from pragma_database_size() where database_name = current_database()',
    );
    return { used: Number(size.used) + walBytes(), free: Number(size.free) };
  };

  /** Whether there may be something to remove; cheap, and never wrong when it says no. */
  const isDue = async (limits: Limits, { trustedMs }: Moment, used: number) => {
    if (used > limits.maxBytes) return true;
    if (allSources().some((source) => (limits.maxSourceBytes[source] ?? Infinity) < used))
      return true;
    const heads = allSources().flatMap((source) => {
      const keepMs = limits.keepMs[source] ?? Infinity;
      if (keepMs === Infinity) return [];
      const cutoff = `make_timestamp_ms(${trustedMs - keepMs})`;
      const rejected = `select 1 from rejected where source = '${source}' and rejected_at < ${cutoff}`;
      if (limits.rowsStay) return [rejected];
      return [
        `select 1 from ${source} where rowid < ${2 * ROW_GROUP} and ingested_at < ${cutoff}`,
        rejected,
      ];
    });
    if (heads.length === 0) return false;
    return (await ask(`select 1 from (${heads.join(' union all ')}) limit 1`)).length > 0;
  };

  const steps = async (limits: Limits, moment: Moment): Promise<Step[]> => {
    let { used } = await usedBytes();
    if (used > limits.maxBytes && walBytes() > 0) {
      // The log is short-lived: only what is in the file counts against the rows.
      await writer.exclusive(({ checkpoint }) => checkpoint());
      ({ used } = await usedBytes());
    }
    if (!(await isDue(limits, moment, used))) return [];
    const { parts, deadBytes } = await readParts();
    const removable = limits.rowsStay ? parts.filter(({ kind }) => kind === 'rejected') : parts;
    return plan(removable, used - deadBytes, limits, moment);
  };

  const expired = (step: Step, moment: Moment) => {
    const place = placeOf(step);
    const words: Record<string, string> = {
      ...place,
      until: String(step.group.until),
      cutoff: String(step.cutoffMs),
      wall: String(moment.wallMs),
      earliest: String(EARLIEST_MS),
      run: String(RUN_ROWS),
    };
    return expiredRows.replaceAll(/\{([a-z]+)\}/g, (whole, word: string) => words[word] ?? whole);
  };

  /** Removes what a step says, in one transaction; null when the rows are not those it was planned for. */
  const remove = (step: Step, until: number, moment: Moment): Promise<Removal | null> =>
    writer.exclusive(async ({ transaction, checkpoint }) => {
      const removal = await transaction(async (connection) => {
        const { table, stamp, belongs, sorted } = placeOf(step);
        const first = async (sql: string) =>
          (await connection.runAndReadAll(sql)).getRowObjects()[0] ?? {};
        const found =
          step.cutoffMs === null
            ? {
                ...(await first(
                  `select count(*) as rows, epoch_ms(min(${stamp})) as oldest, epoch_ms(max(${stamp})) as newest
                    from ${table}
                    where rowid < ${until} and ${belongs}`,
                )),
                last: until - 1,
              }
            : await first(expired({ ...step, group: { ...step.group, until } }, moment));
        const rows = Number(found.rows ?? 0);
        const [oldestMs, newestMs] = [Number(found.oldest), Number(found.newest)];
        if (
          rows === 0 ||
          rows > step.group.rows + (step.cutoffMs === null ? 0 : RUN_ROWS) ||
          newestMs > step.group.newestMs
        )
          return null;
        const apart = `${sorted} and rowid < ${until + RUN_ROWS}
          and ${stamp} >= ${earliest} and ${stamp} < make_timestamp_ms(${step.cutoffMs})`;
        const beginning = `rowid <= ${Number(found.last)}`;
        const going = `(${step.cutoffMs === null ? beginning : `(${beginning} and not (${sorted})) or (${apart})`}) and ${belongs}`;
        if (step.kind === 'rejected')
          await connection.run(
            `delete from rejected_rest where (source, file, "offset", rejected_at) in
              (select (source, file, "offset", rejected_at) from rejected where ${going} and kept > ${PIECE_BYTES})`,
          );
        await connection.run(`delete from ${table} where ${going}`);
        if (step.kind === 'rows') await removeTextFilters(connection, step.source);
        const counter = step.kind === 'rows' ? 'removed' : 'removed_rejected';
        await incrementCounters(connection, [{ source: step.source, [counter]: rows }]);
        const bytes = step.cutoffMs === null ? step.group.bytes : 0;
        const { source, kind, why } = step;
        return { source, kind, why, rows, bytes, oldestMs, newestMs };
      });
      if (removal) await checkpoint();
      return removal;
    });

  /** Whether a checkpoint has dropped the removed rows, so that the rows behind them have moved to the front. */
  const isDropped = async (table: string, until: number) =>
    (await ask(`select 1 from ${table} where rowid < ${until} limit 1`)).length > 0;

  /** Runs steps of one plan as long as what they find is what was planned. */
  const carryOut = async (planned: readonly Step[], moment: Moment, signal?: AbortSignal) => {
    const removed: Removal[] = [];
    const moved = new Map<string, number>();
    let rejected = false;
    for (const step of planned) {
      if (signal?.aborted) break;
      // The rows that other sources have in a row group stay, and how a checkpoint moves them is not foreseen.
      if (step.kind === 'rejected' && rejected) continue;
      const { table } = placeOf(step);
      const until = step.group.until - (moved.get(table) ?? 0);
      const removal = await remove(step, until, moment);
      if (!removal) break;
      removed.push(removal);
      if (step.kind === 'rejected') rejected = true;
      else if (await isDropped(table, until)) moved.set(table, step.group.until);
    }
    return removed;
  };

  const forgetFiles = async ({ trustedMs }: Moment) => {
    const old = `gone
      and updated_at between ${earliest} and make_timestamp_ms(${trustedMs - FORGET_MS})`;
    // Stamped by a clock that was never set: their time begins now.
    const undated = `gone and updated_at < ${earliest} and ${trustedMs >= EARLIEST_MS}`;
    if ((await ask(`select 1 from files where (${old}) or (${undated}) limit 1`)).length === 0)
      return;
    await writer.exclusive(({ transaction }) =>
      transaction(async (connection) => {
        await connection.run(`delete from files where ${old}`);
        await connection.run(
          `update files set updated_at = make_timestamp_ms(${trustedMs}) where ${undated}`,
        );
      }),
    );
  };

  const readSizes = async () => {
    const { parts } = await readParts();
    return new Map(
      allSources().map((source): [Source, number] => {
        const own = parts.filter((part) => part.source === source);
        return [source, own.reduce((sum, { groups }) => sum + bytesOf(groups), 0)];
      }),
    );
  };

  /**
   * A checkpoint beside a query that is older than the removal leaves blocks in the file, and without a commit since the last
   * one the engine does none: so there is a commit now, and a checkpoint once what reads now has ended.
   */
  const oweCheckpoint = async () => {
    await trusted.save(0);
    const reading = { gone: false };
    older = reading;
    void readersEnded().then(() => {
      reading.gone = true;
    });
  };

  return {
    async preview(limits) {
      const moment = await trusted.now();
      const removals: Removal[] = [];
      for (const step of await steps(limits, moment)) {
        const { source, kind, why, group, cutoffMs } = step;
        const { rows, bytes, oldestMs, newestMs } = group;
        if (cutoffMs === null) {
          removals.push({ source, kind, why, rows, bytes, oldestMs, newestMs });
          continue;
        }
        const found = await one(expired(step, moment));
        if (found.rows === undefined) continue;
        removals.push({
          source,
          kind,
          why,
          rows: Number(found.rows),
          bytes: 0,
          oldestMs: Number(found.oldest),
          newestMs: Number(found.newest),
        });
      }
      return removals;
    },
    async run(limits, signal) {
      const moment = await trusted.now();
      await trusted.save();
      await forgetFiles(moment);
      // Nothing else may ask for one: where the disk is full, nothing is stored.
      if (older?.gone) {
        older = null;
        await writer.exclusive(({ checkpoint }) => checkpoint());
        if ((await readParts()).deadBytes > 0) await oweCheckpoint();
      }
      const removed: Removal[] = [];
      while (!signal?.aborted) {
        const planned = await steps(limits, moment);
        const done = await carryOut(planned, moment, signal);
        removed.push(...done);
        if (done.length === 0) break;
      }
      if (removed.length > 0) {
        sizes = null;
        await oweCheckpoint();
      }
      return removed;
    },
    owes: () => older !== null,
    lagMs: trusted.lagMs,
    sizes() {
      if (!sizes || clock.monotonic() - sizes.at > SIZES_MS) {
        const result = readSizes();
        sizes = { at: clock.monotonic(), result };
        result.catch(() => {
          sizes = null;
        });
      }
      return sizes.result;
    },
    freeBytes: async () => (await usedBytes()).free,
  };
}
