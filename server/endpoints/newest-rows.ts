import { LRUCache } from 'lru-cache';
import type { Source } from '../../ingest/index.ts';
import { type Deadline, waitFor } from '../deadline.ts';
import type { Plain, Rows, Span, Store } from '../store/index.ts';
import type { Values } from './parameters.ts';
import { NEWEST_FROM, type SavedQuery, type Windows } from './query-file.ts';

/** A window that is asked in vain may cost this part of the whole question, at most. */
const SMALL = 8;

/** A question for the newest rows of sources. */
export interface NewestQuestion {
  readonly sources: readonly Source[];
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
  /** Other parameters that say the same as those. */
  readonly alsoBounds?: readonly string[];
}

/** Gives the rows of a query for the newest rows. */
export type Newest = (
  question: NewestQuestion,
  values: Values,
  ask: (sql: string, bound: Values) => Promise<Rows>,
  deadline: Deadline,
) => Promise<Rows>;

/** The bound that gave a question all of its rows, when the newest entry was that of `endMs`. */
interface Found {
  readonly fromMs: number;
  readonly endMs: number;
}

/** Characters of the questions whose bounds are remembered. */
const REMEMBERED = 4 * 1024 * 1024;

/**
 * Which rows are the newest is asked first, of the timestamps alone, with near bounds and then farther ones; the rows themselves with the
 * bound that was found, so that nothing beside them is unpacked (docs/decisions/0006). Pages ask the same again every few seconds: until
 * as much time again has passed in the rows, they are asked with that bound at once.
 */
export function createNewest(store: Pick<Store, 'span'>): Newest {
  const found = new LRUCache<string, Found>({
    maxSize: REMEMBERED,
    sizeCalculation: (_, key) => key.length + 1,
  });
  return async (question, values, ask, deadline) => {
    const span = await waitFor(deadline, () => spanOf(question.sources, store));
    return newest(question, values, span, found, ask);
  };
}

async function newest(
  question: NewestQuestion,
  values: Values,
  span: SourcesSpan | null,
  found: LRUCache<string, Found>,
  ask: (sql: string, bound: Values) => Promise<Rows>,
): Promise<Rows> {
  const { rows: wanted, sql, oldest: oldestSql, reads, windows } = question;
  const from = (atMs: number) => ({ [NEWEST_FROM]: new Date(Math.floor(atMs)).toISOString() });
  if (!span) return ask(sql, from(0));
  const reach = {
    ...span,
    fromMs: toMs(values[windows.from]),
    untilMs: toMs(values[windows.until]),
  };
  const now = Date.now();
  const key = keyOf(question, values);
  const known = found.get(key);
  if (known && isNear(known, reach, now)) {
    const answer = await ask(sql, from(known.fromMs));
    if (answer.rows.length >= wanted) return answer;
    found.delete(key);
  }
  const askRows = async (fromMs: number) => {
    const answer = await ask(sql, from(fromMs));
    // A bound before all rows spares nothing.
    const isBound = fromMs > Math.max(reach.oldestMs, reach.fromMs ?? 0);
    if (isBound && answer.rows.length >= wanted)
      found.set(key, { fromMs, endMs: endOf(reach, now) });
    return answer;
  };
  const starts = [...windowStarts(wanted, reach, now)];
  const farthest = starts.at(-1) ?? 0;
  const isWorthwhile = (start: number) =>
    reads === 'little' || isSmall(start, reach) || (reads === 'columns' && start === farthest);
  for (const start of starts.filter(isWorthwhile)) {
    const { rows } = await ask(oldestSql, from(start));
    const [count = 0, oldest = null] = rows[0] ?? [];
    // There are no others, or none at all.
    if (start === farthest) return askRows(epochMs(oldest) ?? reach.newestMs);
    if (Number(count) < wanted) continue;
    const answer = await askRows(epochMs(oldest) ?? start);
    // Fewer when retention took some in between.
    if (answer.rows.length >= wanted) return answer;
  }
  return askRows(farthest);
}

type SourcesSpan = Omit<Span, 'ingestedMs'>;

/** The span of the entries of several sources; null when they have none. */
async function spanOf(
  sources: readonly Source[],
  store: Pick<Store, 'span'>,
): Promise<SourcesSpan | null> {
  const all = await Promise.all(sources.map((source) => store.span(source)));
  const spans = all.filter((span) => span !== null);
  if (spans.length === 0) return null;
  return {
    count: spans.reduce((sum, { count }) => sum + count, 0),
    oldestMs: Math.min(...spans.map(({ oldestMs }) => oldestMs)),
    newestMs: Math.max(...spans.map(({ newestMs }) => newestMs)),
  };
}

/** What two questions have in common that differ in nothing but their bounds of time. */
function keyOf({ sql, windows, alsoBounds = [] }: NewestQuestion, values: Values): string {
  const bounds = [windows.from, windows.until, ...alsoBounds];
  return JSON.stringify([sql, Object.entries(values).filter(([name]) => !bounds.includes(name))]);
}

/** Whether a bound that was found still is one of this question, and no more than as much again has come since. */
function isNear({ fromMs, endMs }: Found, reach: Reach, nowMs: number): boolean {
  const passed = endOf(reach, nowMs) - endMs;
  return passed >= 0 && passed <= endMs - fromMs && fromMs >= (reach.fromMs ?? fromMs);
}

/** Whether a window holds so little of what was asked for that looking there first costs next to nothing, if in vain. */
function isSmall(startMs: number, { oldestMs, newestMs, fromMs }: Reach): boolean {
  return newestMs - startMs <= (newestMs - Math.max(oldestMs, fromMs ?? 0)) / SMALL;
}

/** What a saved query with windows asks. */
export function questionOf({ sql, maxRows }: SavedQuery, windows: Windows): NewestQuestion {
  const { source, rows } = windows;
  return {
    sources: [source],
    rows: Math.min(rows, maxRows),
    sql,
    oldest: oldestOf(sql),
    reads: 'little',
    windows,
  };
}

/** The order of rows of one timestamp, at the end of a statement. */
const TIES = /(\border by (?:\w+\.)?timestamp desc)(?:, \w+)+(?=\s+limit \d+$)/i;

/**
 * The statement that gives how many rows a query has, and the oldest of their timestamps. Neither depends on the order of rows that have one
 * timestamp, so it reads no other column for that: over a whole table, ids would take as long again.
 */
export function oldestOf(sql: string): string {
  const rows = sql.replace(/[;\s]+$/, '').replace(TIES, '$1');
  return `select count(*) as found, min("timestamp") as oldest from (\n${rows}\n)`;
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
  const end = endOf(reach, nowMs);
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

/** The latest moment that a row of an answer can have, but for those of clocks that are ahead. */
function endOf({ newestMs, untilMs }: Reach, nowMs: number): number {
  return Math.min(newestMs, untilMs ?? nowMs, nowMs);
}
