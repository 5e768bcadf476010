import { createWriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client';
import type { Source } from '../../ingest/index.ts';
import { type Deadline, deadlineIn, within } from '../deadline.ts';
import { AppError } from '../errors.ts';
import { isoUtc, type Plain, type RowColumn, type Rows } from '../store/index.ts';
import { type Narrow, narrowCondition, narrowSelects } from './narrow.ts';

/** A statement for ClickHouse, each parameter written `{name:Type}`, and the columns that its answer must have. */
export interface Statement {
  readonly sql: string;
  readonly columns: readonly RowColumn[];
}

export interface SelectOptions {
  /** Rows beyond this many are not read. */
  readonly maxRows: number;
  /** Bytes that the rows may have together. Beyond it `RESULT_TOO_LARGE`. */
  readonly maxBytes?: number;
  readonly deadline: Deadline;
}

/** Codes of ClickHouse's errors that a client can do something about. */
const CODES: Readonly<
  Record<string, 'QUERY_TIMEOUT' | 'QUERY_TOO_LARGE' | 'OVERLOADED' | 'UNHEALTHY'>
> = {
  159: 'QUERY_TIMEOUT',
  // A server that is asked does not reach another shard, or loses it meanwhile.
  32: 'UNHEALTHY',
  209: 'UNHEALTHY',
  210: 'UNHEALTHY',
  279: 'UNHEALTHY',
  202: 'OVERLOADED',
  241: 'QUERY_TOO_LARGE',
  307: 'QUERY_TOO_LARGE',
};
/** Something that answers need is not there: a database, a table, a column, a user with this password, or a right of his. */
const NOT_SET_UP = ['81', '60', '47', '16', '192', '194', '516', '497'];
/** More rows, or bytes of them, than the settings allow: in the result, and in a GROUP BY. */
const TOO_MUCH = ['396', '158'];

/** Runs one SELECT. Throws AppError, or that the answer has other columns than it must. */
export async function select(
  client: ClickHouseClient,
  { sql, columns }: Statement,
  values: Readonly<Record<string, string | null>>,
  { maxRows, maxBytes, deadline }: SelectOptions,
): Promise<Rows> {
  return bounded(deadline, async (ends) => {
    const answer = await client.query({
      query: sql,
      query_params: values,
      format: 'JSONCompactEachRowWithNamesAndTypes',
      abort_signal: ends,
      clickhouse_settings: {
        ...readSettings(deadline),
        output_format_json_quote_64bit_integers: 1,
        ...(maxBytes === undefined
          ? {}
          : { max_result_bytes: String(maxBytes), result_overflow_mode: 'throw' }),
      },
    });
    const [names = [], types = [], ...lines] = await answer.json<Cell[]>();
    const [found, wanted] = [names.join(), columns.map(({ name }) => name).join()];
    if (found !== wanted)
      throw new Error(`ClickHouse gives the columns ${found}, and ${wanted} are expected`);
    const read = types.map((type) => readerOf(String(type)));
    return {
      columns,
      rows: lines
        .slice(0, maxRows)
        .map((line) =>
          line.map((value, i) => (value === null ? null : (read[i]?.(value) ?? null))),
        ),
      truncated: lines.length > maxRows,
    };
  });
}

/** Runs what ends with the deadline. Throws AppError, and the reason of the deadline's signal. */
export function bounded<T>(
  deadline: Deadline,
  action: (ends: AbortSignal) => Promise<T>,
): Promise<T> {
  return deadline.spent.on('read', () =>
    within(deadline, (ends) =>
      action(ends).catch((error: unknown) => {
        throw ends.aborted ? ends.reason : asAppError(error);
      }),
    ),
  );
}

type Cell = string | number | boolean | null;

/** How a value of a type is read. */
function readerOf(type: string): (value: Exclude<Cell, null>) => Plain {
  const [, own = type] = /^(?:LowCardinality\()?(?:Nullable\()?(\w+)/.exec(type) ?? [];
  if (/^U?Int64$/.test(own)) return (value) => BigInt(value);
  if (own.startsWith('DateTime')) return (value) => isoUtc(microsOf(String(value)));
  return (value) => value;
}

/** Returns the microseconds of `2026-11-25 13:47:23.461000`. */
function microsOf(text: string): bigint {
  const [, second = '', fraction = ''] = /^([^.]*)(?:\.(\d+))?$/.exec(text) ?? [];
  return (
    BigInt(Date.parse(`${second.replace(' ', 'T')}Z`)) * 1000n +
    BigInt(fraction.padEnd(6, '0').slice(0, 6))
  );
}

function asAppError(error: unknown): unknown {
  if (error instanceof ClickHouseError) {
    if (TOO_MUCH.includes(error.code)) return new AppError('RESULT_TOO_LARGE', { cause: error });
    if (NOT_SET_UP.includes(error.code))
      return new AppError('UNHEALTHY', {
        detail: `ClickHouse lacks something that answers need (${error.type}): \`tailpond clickhouse check\` names it.`,
        cause: error,
      });
    const code = CODES[error.code];
    if (code === 'UNHEALTHY')
      return new AppError(code, { detail: 'A shard of ClickHouse does not answer.', cause: error });
    return code ? new AppError(code, { cause: error }) : error;
  }
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) return error;
  return new AppError('UNHEALTHY', { detail: 'ClickHouse does not answer.', cause: error });
}

/** Rows of a source that are asked for. */
export interface RowsWanted {
  readonly source: Source;
  /** Null: of every project. */
  readonly project: string | null;
  /** Inclusive bounds of the timestamp, ISO 8601; null: none. */
  readonly from: string | null;
  readonly until: string | null;
  readonly narrow: Narrow;
}

/** So many rows, and bytes of them, are fetched to be asked here: whole, … */
const MOST_ROWS = 100_000;
const MOST_BYTES = 64 * 1024 * 1024;
/** … and without the texts that make them long. */
const MOST_NARROW_ROWS = 1_000_000;
const MOST_NARROW_BYTES = 256 * 1024 * 1024;

const ROWS_WANTED = `({project:Nullable(String)} is null or project = {project:Nullable(String)})
  and timestamp >= coalesce(parseDateTime64BestEffort({from:Nullable(String)}, 6, 'UTC'), toDateTime64('1969-12-31 00:00:00', 6, 'UTC'))
  and timestamp <= coalesce(parseDateTime64BestEffort({until:Nullable(String)}, 6, 'UTC'), toDateTime64('2201-12-31 00:00:00', 6, 'UTC'))`;

/** Gives the timestamp of the last of the newest rows of `table`, `count` at most, and how many there are. Throws AppError. */
export async function newestOf(
  client: ClickHouseClient,
  table: string,
  { project, from, until, narrow }: RowsWanted,
  count: number,
  deadline: Deadline,
): Promise<{ from: string | null; rows: number }> {
  const { condition, values: sought } = narrowCondition(narrow);
  const sql = `select minOrNull(timestamp) as oldest, count() as rows
    from (
      select timestamp from {table:Identifier}
      where ${ROWS_WANTED}${condition}
      order by timestamp desc
      limit ${count}
    )`;
  const columns: RowColumn[] = [
    { name: 'oldest', kind: 'plain', type: 'TIMESTAMP' },
    { name: 'rows', kind: 'plain', type: 'UBIGINT' },
  ];
  const values = { table, project, from, until, ...sought };
  const { rows } = await select(client, { sql, columns }, values, { deadline, maxRows: 1 });
  const [[oldest = null, found] = []] = rows;
  return { from: oldest === null ? null : String(oldest), rows: Number(found) };
}

/** Writes rows of the table `table` to a Parquet file. Throws AppError, `QUERY_TOO_LARGE` where they are too many. */
export async function fetchRows(
  client: ClickHouseClient,
  table: string,
  { project, from, until, narrow }: RowsWanted,
  path: string,
  deadline: Deadline,
): Promise<void> {
  const selects = narrowSelects(narrow);
  const isWhole = narrow.columns.has('metadata') && narrow.members === null;
  const most = isWhole ? MOST_ROWS : MOST_NARROW_ROWS;
  await bounded(deadline, async (ends) => {
    const { stream } = await client.exec({
      query: `${selects
        .map(({ list, condition, counts }) => {
          const rows = `select ${list} from {table:Identifier} where ${ROWS_WANTED}${condition}`;
          // A key is a column's name: ClickHouse does not find a long expression among its keys again.
          return counts
            ? `select ${counts.list} from (${rows}) as t group by ${counts.groups}`
            : rows;
        })
        .join(' union all ')}
        format Parquet`,
      query_params: { table, project, from, until, ...selects[0]?.values },
      abort_signal: ends,
      clickhouse_settings: {
        ...readSettings(deadline),
        max_result_rows: String(most),
        max_result_bytes: String(isWhole ? MOST_BYTES : MOST_NARROW_BYTES),
        result_overflow_mode: 'throw',
        // Before all of them are in memory there.
        max_rows_to_group_by: String(most),
        group_by_overflow_mode: 'throw',
        output_format_parquet_string_as_string: 1,
      },
    });
    await pipeline(stream, createWriteStream(path, { mode: 0o600 }), { signal: ends });
  }).catch((error: unknown) => {
    if (!(error instanceof AppError && error.code === 'RESULT_TOO_LARGE')) throw error;
    throw new AppError('QUERY_TOO_LARGE', {
      detail: `The statement reads more than ${most} rows of the project and the time that are asked for: narrow the time by iso_timestamp_start and iso_timestamp_end.`,
      cause: error,
    });
  });
}

/** Making a Parquet file of all rows may take so long. */
export const LONGEST_EXPORT_MS = 3_600_000;

/** The rows of a statement as a Parquet file, with their number: ClickHouse makes it whole before it sends it. Throws AppError. */
export async function parquetOf(
  client: ClickHouseClient,
  sql: string,
  values: Readonly<Record<string, string | null>>,
  signal: AbortSignal,
): Promise<{ rows: number; file: Readable }> {
  const deadline = deadlineIn(LONGEST_EXPORT_MS, signal);
  return bounded(deadline, async () => {
    const { stream, summary } = await client.exec({
      query: `${sql} format Parquet`,
      query_params: values,
      // Sending it takes as long as the client reads.
      abort_signal: signal,
      clickhouse_settings: {
        ...readSettings(deadline),
        output_format_parquet_compression_method: 'zstd',
      },
    });
    if (!summary) {
      stream.destroy();
      throw new Error('What stands before ClickHouse drops its header X-ClickHouse-Summary');
    }
    return { rows: Number(summary.result_rows), file: stream };
  });
}

function readSettings(deadline: Deadline) {
  return {
    // 0 would be no limit.
    max_execution_time: Math.max(1, Math.ceil(deadline.remainingMs() / 1000)),
    cancel_http_readonly_queries_on_client_close: 1,
    // A query that fails after its first rows else looks as if it had ended.
    wait_end_of_query: 1,
  } as const;
}
