import type { DuckDBConnection } from '@duckdb/node-api';
import type { Source } from '../../../ingest/index.ts';

/** The oldest rows of a table. */
export interface Front {
  readonly rows: number;
  /** They are those up to this row until rows move: when a checkpoint drops others before them, even within a transaction that reads. */
  readonly lastRow: number;
  /** The day, in UTC, that all of them were stored on. */
  readonly day: string;
  readonly firstId: string;
  readonly lastId: string;
  /** Whether there are rows behind them. */
  readonly hasMore: boolean;
}

/** Where rows were removed between others, the front has fewer rows than this and is never empty. */
const MOST_ROWS = 122_880;
/** Bytes of its texts, unless it is one row: the engine and whoever receives them hold them several times. */
const FRONT_BYTES = 32 * 1024 * 1024;

/** Which rows are wanted: just so many, or as many of the first `among` as were stored on one day and take no more memory than they may. */
export type FrontWanted = { readonly rows: number } | { readonly among: number };

/** Rows moved between statements of one transaction: a checkpoint has dropped others before them. */
export class RowsMoved extends Error {}

/** So often rows are looked for again that have moved: a checkpoint drops rows seldom. */
const MOST_LOOKS = 8;

/** Runs what looks for rows and reads them until they stand still meanwhile. Throws what it throws, RowsMoved after some times. */
export async function whileRowsStand<T>(look: () => Promise<T>): Promise<T> {
  for (let looks = 1; ; looks++)
    try {
      return await look();
    } catch (error) {
      if (!(error instanceof RowsMoved) || looks === MOST_LOOKS) throw error;
    }
}

/**
 * The rows at the front of a table. Null where there are none, or fewer than are wanted. Each statement sees rows at places of its own, even
 * within a transaction, while others may checkpoint: so what is told of the rows comes of one. Throws RowsMoved where they are not those
 * that the statements before it have found.
 */
export async function frontOf(
  connection: DuckDBConnection,
  source: Source,
  wanted: FrontWanted,
): Promise<Front | null> {
  const one = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjects()[0] ?? {};
  const { first } = await one(`select min(rowid) as first from ${source}`);
  if (first === null) return null;
  const found = await one(
    'rows' in wanted
      ? theFirst(source, Number(first), wanted.rows)
      : asManyAsFit(source, Number(first), wanted.among),
  );
  if ((found.last ?? null) === null) return null;
  const told = await one(`select
      count(*) as rows,
      arg_min(id, rowid) as first_id,
      arg_max(id, rowid) as last_id,
      min(ingested_at::date)::varchar as day,
      max(ingested_at::date)::varchar as last_day
    from ${source}
    where rowid <= ${found.last}`);
  const isOneDay = 'rows' in wanted || told.day === told.last_day;
  if (told.rows !== found.rows || !isOneDay) throw new RowsMoved(`Rows of ${source} have moved.`);
  return {
    rows: Number(told.rows),
    lastRow: Number(found.last),
    day: String(told.day),
    firstId: String(told.first_id),
    lastId: String(told.last_id),
    hasMore: found.has_more === true,
  };
}

/** Up to the first row that was stored on another day, or that is too much. */
function asManyAsFit(source: Source, first: number, among: number): string {
  return `with measured as (
      select
        rowid as row,
        ingested_at::date as day,
        strlen(id) + strlen(event_message) + coalesce(strlen(metadata), 0) + coalesce(strlen(project), 0) as bytes
      from ${source}
      where rowid < ${first + among}
    ),
    judged as (
      select row, row = ${first} or (day = first_value(day) over upto and sum(bytes) over upto <= ${FRONT_BYTES}) as fits
      from measured
      window upto as (order by row rows unbounded preceding)
    )
    select
      max(row) as last,
      count(*) as rows,
      bool_or(row = ${first + among - 1}) or (select bool_or(not fits) from judged) as has_more
    from judged
    where row < coalesce((select min(row) from judged where not fits), ${first + among})`;
}

function theFirst(source: Source, first: number, rows: number): string {
  return `select max(row) as last, count(*) as rows
    from (select rowid as row from ${source} where rowid < ${first + MOST_ROWS} order by row limit ${rows})
    having count(*) = ${rows}`;
}

/** Vectors are read as a whole. */
const VECTOR_ROWS = 2048;

/**
 * Among how many rows the next front is looked for: to measure a row, its texts are unpacked, which takes longer than to send it. `last` is
 * the front before, of a table with rows that are alike, which was looked for among `among` rows.
 */
export function nextAmong(among: number, { rows, hasMore }: Front): number {
  // All of them fit, as far as was looked.
  if (hasMore && rows === among) return Math.min(MOST_ROWS, 2 * among);
  const wanted = Math.ceil((rows * 1.25) / VECTOR_ROWS) * VECTOR_ROWS;
  return hasMore ? Math.min(MOST_ROWS, Math.max(FIRST_AMONG, wanted)) : among;
}

/** Among so many rows the first front is looked for. */
export const FIRST_AMONG = 4 * VECTOR_ROWS;
