import { isSource, type Source } from '../../ingest/index.ts';
import {
  type Dialect,
  SqlRefused,
  type Translation,
  type TranslationScope,
  translate,
} from '../caller-sql/index.ts';
import { AppError } from '../errors.ts';
import { EngineError, type Rows, type Store } from '../store/index.ts';
import { newest } from './newest-rows.ts';
import type { Values } from './parameters.ts';
import { NEWEST_FROM, type SavedQuery } from './query-file.ts';

/** An answer is put together in memory. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Gives the syntax tree of `$text`; without the members that are as they mostly are. */
export const PARSE =
  'select json_serialize_sql($text::varchar, skip_null := true, skip_empty := true, skip_default := true)';

/** What a caller asks in his own words. */
export interface CallerSql {
  readonly text: string;
  readonly dialect: Dialect;
}

/** Returns the caller's SQL in a request's parameters; null without any, when the saved query is meant. */
export function parseCallerSql(search: URLSearchParams): CallerSql | null {
  const [text = '', ...more] = search.getAll('sql');
  if (more.length > 0) throw fault('sql', `Expected "sql" once, got it ${more.length + 1} times.`);
  if (text === '') return null;
  const [dialect = 'bigquery', ...others] = search.getAll('dialect');
  if ((dialect !== 'bigquery' && dialect !== 'duckdb') || others.length > 0)
    throw fault('dialect', 'Expected "dialect" once, as bigquery or duckdb.');
  return { text, dialect };
}

/**
 * Runs SQL of a caller over the views of an endpoint. Throws `SQL_INVALID` for what it may not say, and `QUERY_TOO_LARGE`,
 * `RESULT_TOO_LARGE`, `QUERY_TIMEOUT` and `OVERLOADED`.
 */
export async function runCallerSql(
  { text, dialect }: CallerSql,
  query: SavedQuery,
  values: Values,
  store: Pick<Store, 'callerPool' | 'span' | 'mayHave'>,
  signal: AbortSignal,
): Promise<{ rows: Rows; sources: readonly Source[] }> {
  const { maxRows } = query;
  const parse = async (statement: string) => {
    const { rows } = await store.callerPool.query(
      PARSE,
      { text: statement },
      { maxRows: 1, signal },
    );
    return String(rows[0]?.[0]);
  };
  const mayHave: TranslationScope['mayHave'] = async (table, texts) =>
    isSource(table) ? store.mayHave(table, texts) : null;
  const parameters = parametersOf(query);
  const scope = { dialect, views: query.views, parameters, maxRows, mayHave };
  const translation = await translate(text, scope, parse).catch((error: unknown) => {
    throw error instanceof SqlRefused
      ? fault('sql', `${error.sentence(text)}.`, error)
      : refusal(error);
  });

  const bound = query.windows ? { ...values, [NEWEST_FROM]: new Date(0).toISOString() } : values;
  const ask = (sql: string, more: Values, limits: { maxBytes?: number }) =>
    store.callerPool.query(sql, { ...bound, ...more }, { maxRows, signal, ...limits });
  try {
    const rows = await run(translation, query, values, store, ask);
    const read = [...translation.views].flatMap((view) => query.views.get(view)?.tables ?? []);
    return { rows, sources: [...new Set(read)].filter(isSource) };
  } catch (error) {
    throw (await wrongPattern(error, text, translation, store, signal)) ?? refusal(error);
  }
}

function run(
  { sql, newest: question }: Translation,
  { windows }: SavedQuery,
  values: Values,
  store: Pick<Store, 'span'>,
  ask: (sql: string, more: Values, limits: { maxBytes?: number }) => Promise<Rows>,
): Promise<Rows> {
  if (!question || !windows) return ask(sql, {}, { maxBytes: MAX_BYTES });
  const { view, rows, sql: oldest, narrow } = question;
  return newest(
    { source: view, rows, sql, oldest, reads: narrow ? 'columns' : 'rows', windows },
    values,
    store,
    (text, more) => ask(text, more, text === sql ? { maxBytes: MAX_BYTES } : {}),
  );
}

/** A caller may name the parameters whose values are texts or moments; the others are words, and texts, too. */
function parametersOf({ parameters }: SavedQuery): ReadonlyMap<string, 'text' | 'timestamp'> {
  return new Map(parameters.map(({ name, type }) => [name, type === 'timestamp' ? type : 'text']));
}

function fault(parameter: string, detail: string, cause?: unknown): AppError {
  const code = parameter === 'sql' ? 'SQL_INVALID' : 'PARAMETER_INVALID';
  return new AppError(code, { faults: [{ parameter, detail }], cause });
}

/** The first of the statement's regular expressions that is not one, as an error; null when that is not what is wrong. */
async function wrongPattern(
  error: unknown,
  text: string,
  { patterns }: Translation,
  { callerPool }: Pick<Store, 'callerPool'>,
  signal: AbortSignal,
): Promise<AppError | null> {
  if (!(error instanceof EngineError) || error.kind !== 'input') return null;
  for (const { text: pattern, at } of patterns) {
    const sql = `select regexp_matches('', $pattern::varchar)`;
    const isPattern = await callerPool.query(sql, { pattern }, { maxRows: 1, signal }).then(
      () => true,
      () => false,
    );
    const detail = 'Expected a regular expression (RE2 syntax)';
    if (!isPattern) return fault('sql', `${new SqlRefused(at, detail).sentence(text)}.`, error);
  }
  return null;
}

const UNGROUPED = 'Each column of the result must be in GROUP BY or within an aggregate function.';
const UNFIT = 'The statement cannot be run: check operand types and where each name is used.';

/** What the engine says quotes its own names and stored values, so it is put in words of ours. */
function refusal(error: unknown): unknown {
  if (!(error instanceof EngineError)) return error;
  if (error.kind === 'memory') return new AppError('QUERY_TOO_LARGE', { cause: error });
  if (error.kind !== 'statement' && error.kind !== 'input') return error;
  return fault('sql', error.ofGrouping ? UNGROUPED : UNFIT, error);
}
