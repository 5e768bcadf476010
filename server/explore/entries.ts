import type { Rows } from '../store/index.ts';
import type { EntryEngine, Filter } from './engine.ts';

/** The newest entries, newest first. */
export async function newestEntries(
  filter: Filter,
  limit: number,
  engine: Pick<EntryEngine, 'newest'>,
  signal: AbortSignal,
): Promise<Rows> {
  const rows = await engine.newest(filter, limit, signal);
  return { ...rows, rows: rows.rows.slice(0, limit), truncated: rows.rows.length > limit };
}
