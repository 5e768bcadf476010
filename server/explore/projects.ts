import type { Plain, Store } from '../store/index.ts';
import type { Filter } from './filter.ts';

const MOST = 100;

/** The projects of a source that have most entries, and how many they have. */
export async function projects(
  { source, where, values }: Filter,
  store: Pick<Store, 'sandbox'>,
  signal: AbortSignal,
): Promise<Plain[]> {
  const { rows } = await store.sandbox.query(
    `select project, count(*) as entries
      from ${source}
      where project is not null and ${where}
      group by project
      order by entries desc, project
      limit ${MOST}`,
    values,
    { maxRows: MOST, signal },
  );
  return rows.map(([project = null, entries]) => ({ project, entries: Number(entries) }));
}
