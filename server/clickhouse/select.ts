import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client';
import { AppError } from '../errors.ts';
import { isoUtc, type Plain, type RowColumn, type Rows } from '../store/index.ts';

/** A statement for ClickHouse, each parameter written `{name:Type}`, and the columns that its answer must have. */
export interface Statement {
  readonly sql: string;
  readonly columns: readonly RowColumn[];
}

export interface SelectOptions {
  /** Rows beyond this many are not read. */
  readonly maxRows: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Codes of ClickHouse's errors that a client can do something about. */
const CODES: Readonly<Record<string, 'QUERY_TIMEOUT' | 'QUERY_TOO_LARGE' | 'OVERLOADED'>> = {
  159: 'QUERY_TIMEOUT',
  202: 'OVERLOADED',
  241: 'QUERY_TOO_LARGE',
  307: 'QUERY_TOO_LARGE',
};

/** Runs one SELECT. Throws AppError, or that the answer has other columns than it must. */
export async function select(
  client: ClickHouseClient,
  { sql, columns }: Statement,
  values: Readonly<Record<string, string | null>>,
  { maxRows, timeoutMs, signal }: SelectOptions,
): Promise<Rows> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await client.query({
      query: sql,
      query_params: values,
      format: 'JSONCompactEachRowWithNamesAndTypes',
      abort_signal: AbortSignal.any([signal, timeout]),
      clickhouse_settings: {
        max_execution_time: Math.ceil(timeoutMs / 1000),
        cancel_http_readonly_queries_on_client_close: 1,
        output_format_json_quote_64bit_integers: 1,
        // A query that fails after its first rows else looks as if it had ended.
        wait_end_of_query: 1,
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
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted) throw new AppError('QUERY_TIMEOUT', { cause: error });
    throw asAppError(error);
  }
}

type Cell = string | number | boolean | null;

/** How a value of a type is read. */
function readerOf(type: string): (value: Exclude<Cell, null>) => Plain {
  const [, own = type] = /^(?:LowCardinality\()?(?:Nullable\()?(\w+)/.exec(type) ?? [];
  if (/^U?Int64$/.test(own)) return (value) => BigInt(value);
  if (own.startsWith('DateTime')) return (value) => isoUtc(microsOf(String(value)));
  return (value) => value;
}

/** Of `2026-11-25 13:47:23.461000`. */
function microsOf(text: string): bigint {
  const [, second = '', fraction = ''] = /^([^.]*)(?:\.(\d+))?$/.exec(text) ?? [];
  return (
    BigInt(Date.parse(`${second.replace(' ', 'T')}Z`)) * 1000n +
    BigInt(fraction.padEnd(6, '0').slice(0, 6))
  );
}

function asAppError(error: unknown): unknown {
  if (error instanceof ClickHouseError) {
    const code = CODES[error.code];
    return code ? new AppError(code, { cause: error }) : error;
  }
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) return error;
  return new AppError('UNHEALTHY', { detail: 'ClickHouse does not answer.', cause: error });
}
