import { type NewestQuestion, newest, oldestOf } from '../endpoints/newest-rows.ts';
import type { RowColumn, Rows, Store } from '../store/index.ts';
import { BETWEEN, type Filter } from './filter.ts';

/** The columns of an entry, as they are shown. */
export const ENTRY: readonly RowColumn[] = [
  { name: 'id', kind: 'plain', type: 'VARCHAR' },
  { name: 'timestamp', kind: 'plain', type: 'TIMESTAMP' },
  { name: 'project', kind: 'plain', type: 'VARCHAR' },
  { name: 'event_message', kind: 'plain', type: 'VARCHAR' },
  { name: 'metadata', kind: 'json', type: 'JSON' },
  { name: 'ingested_at', kind: 'plain', type: 'TIMESTAMP' },
];

/** How many bytes an entry has, about, as the store bounds answers by it. */
export const BYTES =
  'strlen(event_message) + coalesce(strlen(metadata::varchar), 0) + 128 as bytes';
/** An answer, or a part of one, is put together in memory. */
export const MAX_BYTES = 16 * 1024 * 1024;

export const COLUMNS = ENTRY.map(({ name }) => name).join(', ');

/** The newest entries, newest first. */
export async function newestEntries(
  { source, where, values }: Filter,
  limit: number,
  store: Pick<Store, 'callerPool' | 'span'>,
  signal: AbortSignal,
): Promise<Rows> {
  const sql = `select ${COLUMNS}, ${BYTES}
    from ${source}
    where ${where}
      and ${BETWEEN}
      and timestamp >= $newest_from::timestamp
    order by ${source}.timestamp desc
    limit ${limit + 1}`;
  const question: NewestQuestion = {
    source,
    rows: limit + 1,
    sql,
    oldest: oldestOf(sql),
    reads: values.search === null ? 'little' : 'rows',
    windows: { from: 'from', until: 'to' },
  };
  const rows = await newest(question, values, store, (text, bound) =>
    store.callerPool.query(
      text,
      { ...values, ...bound },
      { maxRows: limit + 1, signal, ...(text === sql ? { maxBytes: MAX_BYTES } : {}) },
    ),
  );
  return { ...rows, rows: rows.rows.slice(0, limit), truncated: rows.rows.length > limit };
}
