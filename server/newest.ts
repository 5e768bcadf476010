import { isSource } from '../ingest/index.ts';
import { NEWEST_FROM, type SavedQuery, type Windows } from './compile.ts';
import type { Values } from './parameters.ts';
import type { Plain, Rows, Store } from './store/index.ts';
import { windowStarts } from './windows.ts';

/**
 * The rows of a query for the newest rows. Which are the newest is asked first, of the timestamps alone, with near bounds
 * and then farther ones; the rows themselves with the bound that was found, so that nothing beside them is unpacked
 * (docs/decisions/0006).
 */
export async function newest(
  query: SavedQuery,
  windows: Windows,
  values: Values,
  store: Pick<Store, 'span'>,
  ask: (sql: string, bound: Values) => Promise<Rows>,
): Promise<Rows> {
  if (!isSource(windows.source)) throw new Error('BUG: windows over what is no source');
  const span = await store.span(windows.source);
  const from = (atMs: number) => ({ [NEWEST_FROM]: new Date(Math.floor(atMs)).toISOString() });
  if (!span) return ask(query.sql, from(0));
  const wanted = Math.min(windows.rows, query.maxRows);
  const reach = {
    ...span,
    fromMs: toMs(values[windows.from]),
    untilMs: toMs(values[windows.until]),
  };
  let start = 0;
  for (start of windowStarts(windows.rows, reach, Date.now())) {
    const { rows } = await ask(oldestOf(query.sql), from(start));
    const [found = 0, oldest = null] = rows[0] ?? [];
    if (Number(found) < wanted) continue;
    const answer = await ask(query.sql, from(epochMs(oldest) ?? start));
    // Fewer when retention took some in between.
    if (answer.rows.length >= wanted) return answer;
  }
  return ask(query.sql, from(start));
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
