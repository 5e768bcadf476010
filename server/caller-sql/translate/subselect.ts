import { join, type Sql, sql } from '../sql-fragment.ts';
import type { Key, Query } from './context.ts';

/** A query as it stands within another: in order only where that decides which rows there are. */
export function subselect({ columns, rows, keys, limit, offset }: Query): Sql {
  if (limit === null && offset === null)
    return keys.length === 0 ? rows : sql`select ${list(columns)} from (${rows}) as q`;
  return sql`select ${list(columns)} from (${rows}) as q${ordered(keys)}${limited(limit, offset)}`;
}

function list(columns: readonly unknown[]): string {
  return columns.map((_, i) => `c${i + 1}`).join(', ');
}

export function ordered(keys: readonly Key[]): Sql {
  if (keys.length === 0) return '';
  const each = keys.map(
    ({ sql: key, descending, nulls }) => sql`${key} ${descending ? 'desc' : 'asc'} nulls ${nulls}`,
  );
  return sql` order by ${join(each, ', ')}`;
}

export function limited(limit: number | null, offset: number | null): string {
  return `${limit === null ? '' : ` limit ${limit}`}${offset ? ` offset ${offset}` : ''}`;
}
