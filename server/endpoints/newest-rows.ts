import { isSource } from '../../ingest/index.ts';
import type { Plain, Rows, Store } from '../store/index.ts';
import type { Values } from './parameters.ts';
import { NEWEST_FROM, type SavedQuery, type Windows } from './query-file.ts';

/** A window that is asked in vain may cost this part of the whole question, at most. */
const SMALL = 8;

/** A question for the newest rows of a source. */
export interface NewestQuestion {
  readonly source: string;
  /** How many are wanted. */
  readonly rows: number;
  /** The statement, with `$newest_from`. */
  readonly sql: string;
  /** The statement that gives how many rows that one has, and the oldest of their timestamps. */
  readonly oldest: string;
  /**
   * What its conditions read: next to nothing, columns that are small beside the rows', or as much as these. Then farther windows are not
   * asked which rows are the newest but for the rows at once.
   */
  readonly reads: 'little' | 'columns' | 'rows';
  /** The parameters that bound it in time. */
  readonly windows: Pick<Windows, 'from' | 'until'>;
}

/**
 * The rows of a query for the newest rows. Which are the newest is asked first, of the timestamps alone, with near bounds
 * and then farther ones; the rows themselves with the bound that was found, so that nothing beside them is unpacked
 * (docs/decisions/0006).
 */
export async function newest(
  { source, rows: wanted, sql, oldest: oldestSql, reads, windows }: NewestQuestion,
  values: Values,
  store: Pick<Store, 'span'>,
  ask: (sql: string, bound: Values) => Promise<Rows>,
): Promise<Rows> {
  if (!isSource(source)) throw new Error('BUG: windows over what is not a source');
  const span = await store.span(source);
  const from = (atMs: number) => ({ [NEWEST_FROM]: new Date(Math.floor(atMs)).toISOString() });
  if (!span) return ask(sql, from(0));
  const reach = {
    ...span,
    fromMs: toMs(values[windows.from]),
    untilMs: toMs(values[windows.until]),
  };
  const starts = [...windowStarts(wanted, reach, Date.now())];
  const farthest = starts.at(-1) ?? 0;
  const isWorthwhile = (start: number) =>
    reads === 'little' || isSmall(start, reach) || (reads === 'columns' && start === farthest);
  for (const start of starts.filter(isWorthwhile)) {
    const { rows } = await ask(oldestSql, from(start));
    const [found = 0, oldest = null] = rows[0] ?? [];
    // There are no others, or none at all.
    if (start === farthest) return ask(sql, from(epochMs(oldest) ?? reach.newestMs));
    if (Number(found) < wanted) continue;
    const answer = await ask(sql, from(epochMs(oldest) ?? start));
    // Fewer when retention took some in between.
    if (answer.rows.length >= wanted) return answer;
  }
  return ask(sql, from(farthest));
}

/** Whether a window holds so little of what was asked for that looking there first costs next to nothing, if in vain. */
function isSmall(startMs: number, { oldestMs, newestMs, fromMs }: Reach): boolean {
  return newestMs - startMs <= (newestMs - Math.max(oldestMs, fromMs ?? 0)) / SMALL;
}

/** What a saved query with windows asks. */
export function questionOf({ sql, maxRows }: SavedQuery, windows: Windows): NewestQuestion {
  const { source, rows } = windows;
  return {
    source,
    rows: Math.min(rows, maxRows),
    sql,
    oldest: oldestOf(sql),
    reads: 'little',
    windows,
  };
}

/** The statement that gives how many rows a query has, and the oldest of their timestamps. */
export function oldestOf(sql: string): string {
  return `select count(*) as found, min("timestamp") as oldest from (\n${sql.replace(/[;\s]+$/, '')}\n)`;
}

/** A query may give its timestamps as such, or as microseconds since the epoch. */
function epochMs(timestamp: Plain): number | null {
  if (typeof timestamp === 'bigint') return Number(timestamp / 1000n);
  return typeof timestamp === 'string' ? toMs(timestamp) : null;
}

function toMs(moment: string | null | undefined): number | null {
  return moment ? Date.parse(moment) : null;
}

/**
 * Entries that a first window is to hold, as a multiple of the rows that are wanted: one project of many has fewer. For
 * 100 rows that is about a row group, less than which is never read.
 */
const FIRST_WINDOW = 1000;
const WIDEN = 8;
const SHORTEST_MS = 60_000;

/** The source's entries and the bounds that the request set, in ms, before the first window. */
interface Reach {
  readonly count: number;
  readonly oldestMs: number;
  readonly newestMs: number;
  readonly fromMs: number | null;
  readonly untilMs: number | null;
}

/**
 * Lower bounds of time, each farther back than the one before, the last one reaching everything that was asked for; ms since the epoch.
 * A query for the newest rows is run with one after the other until it is full: a near bound reads less, and most of all
 * while lines come in (docs/decisions/0004).
 */
function* windowStarts(rows: number, reach: Reach, nowMs: number): Generator<number> {
  const end = Math.min(reach.newestMs, reach.untilMs ?? nowMs, nowMs);
  const start = reach.fromMs ?? 0;
  const oldest = Math.max(reach.oldestMs, start);
  const density = Math.max(1, reach.newestMs - reach.oldestMs) / reach.count;
  for (
    let span = Math.max(SHORTEST_MS, density * rows * FIRST_WINDOW);
    end - span > oldest;
    span *= WIDEN
  ) {
    yield end - span;
  }
  yield start;
}
