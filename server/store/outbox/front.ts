import type { DuckDBConnection } from '@duckdb/node-api';
import type { Source } from '../../../ingest/index.ts';

/** The oldest rows of a table. */
export interface Front {
  readonly rows: number;
  /** They are those up to this row, as of the transaction that found it: rows move when a checkpoint drops others before them. */
  readonly lastRow: number;
  /** The day, in UTC, that all of them were stored on. */
  readonly day: string;
  readonly firstId: string;
  readonly lastId: string;
  /** Whether there are rows behind them. */
  readonly hasMore: boolean;
}

/** Where rows were removed between others, the front has fewer rows than this and is never empty. */
export const FRONT_ROWS = 122_880;
/** Bytes of its texts, unless it is one row: the engine and whoever receives them hold them several times. */
const FRONT_BYTES = 32 * 1024 * 1024;

/**
 * The rows at the front of a table that were stored on one day and take no more memory than they may, or, with `rows`, just so many.
 * Null where there are none, or fewer.
 */
export async function frontOf(
  connection: DuckDBConnection,
  source: Source,
  rows: number | null,
): Promise<Front | null> {
  const one = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjects()[0] ?? {};
  const { first } = await one(`select min(rowid) as first from ${source}`);
  if (first === null) return null;
  const found = await one(
    rows === null ? asManyAsFit(source, Number(first)) : theFirst(source, Number(first), rows),
  );
  if ((found.last ?? null) === null) return null;
  const at = (row: unknown) =>
    one(`select id, ingested_at::date::varchar as day from ${source} where rowid = ${row}`);
  const [begin, end] = [await at(first), await at(found.last)];
  return {
    rows: Number(found.rows),
    lastRow: Number(found.last),
    day: String(begin.day),
    firstId: String(begin.id),
    lastId: String(end.id),
    hasMore: found.has_more === true,
  };
}

/** Up to the first row that was stored on another day, or that is too much. */
function asManyAsFit(source: Source, first: number): string {
  return `with measured as (
      select
        rowid as row,
        ingested_at::date as day,
        strlen(id) + strlen(event_message) + coalesce(strlen(metadata), 0) + coalesce(strlen(project), 0) as bytes
      from ${source}
      where rowid < ${first + FRONT_ROWS}
    ),
    judged as (
      select row, row = ${first} or (day = first_value(day) over upto and sum(bytes) over upto <= ${FRONT_BYTES}) as fits
      from measured
      window upto as (order by row rows unbounded preceding)
    )
    select
      max(row) as last,
      count(*) as rows,
      bool_or(row = ${first + FRONT_ROWS - 1}) or (select bool_or(not fits) from judged) as has_more
    from judged
    where row < coalesce((select min(row) from judged where not fits), ${first + FRONT_ROWS})`;
}

function theFirst(source: Source, first: number, rows: number): string {
  return `select max(row) as last, count(*) as rows
    from (select rowid as row from ${source} where rowid < ${first + FRONT_ROWS} order by row limit ${rows})
    having count(*) = ${rows}`;
}
