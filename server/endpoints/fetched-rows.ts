import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SOURCES, type Source } from '../../ingest/index.ts';
import type { Answers } from '../clickhouse/index.ts';
import type { Store } from '../store/index.ts';
import type { Values } from './parameters.ts';
import { PINNED_PROJECT, type SavedQuery } from './query-file.ts';

/** Rows of sources that are fetched from where they were forwarded to, for one question. */
export interface FetchedRows {
  /**
   * Fetches the rows that views of the query may give, and runs `ask`: `place` puts them into a statement in which a source is called
   * `fetchedName`.
   */
  over<T>(
    sources: readonly Source[],
    question: Fetching,
    ask: (place: (sql: string) => string) => Promise<T>,
  ): Promise<T>;
  /**
   * The same for a question of the newest rows of one source: over some of the newest, over more, and over all that may be fetched, until
   * an answer is enough.
   */
  overNewest<T>(
    source: Source,
    question: Fetching,
    ask: (place: (sql: string) => string) => Promise<T>,
    isEnough: (answer: T) => boolean,
  ): Promise<T>;
}

/** What the rows are fetched for. */
export interface Fetching {
  readonly query: SavedQuery;
  readonly values: Values;
  readonly signal: AbortSignal;
}

/** So many of the newest rows are fetched first, where the newest are asked for. */
const NEWEST = [2000, 20_000];

/** Begins a name that nobody who writes SQL knows. */
const MARK = `fetched_${randomUUID().replaceAll('-', '')}_`;
const NAME = new RegExp(`"?${MARK}(${SOURCES.join('|')})"?`, 'g');

/** What stands for the table of a source until its rows are fetched. */
export function fetchedName(source: Source): string {
  return `${MARK}${source}`;
}

export function createFetchedRows(
  { staging }: Pick<Store, 'staging'>,
  answers: Pick<Answers, 'fetch' | 'newest'>,
): FetchedRows {
  const over = async <T>(
    sources: readonly Source[],
    bounds: ReturnType<typeof boundsOf>,
    signal: AbortSignal,
    ask: (place: (sql: string) => string) => Promise<T>,
  ): Promise<T> => {
    const paths = new Map(
      sources.map((source) => [source, join(staging, `fetched-${randomUUID()}.parquet`)]),
    );
    try {
      // One after the other: each may be as large as there is memory for.
      for (const [source, path] of paths) await answers.fetch({ source, ...bounds }, path, signal);
      return await ask((sql) =>
        sql.replaceAll(NAME, (_, source: Source) => rowsOf(source, paths.get(source) ?? '')),
      );
    } finally {
      for (const path of paths.values()) await rm(path, { force: true });
    }
  };
  return {
    over: (sources, { query, values, signal }, ask) =>
      over(sources, boundsOf(query, values), signal, ask),
    async overNewest(source, { query, values, signal }, ask, isEnough) {
      const bounds = boundsOf(query, values);
      for (const count of NEWEST) {
        const { from, rows } = await answers.newest({ source, ...bounds }, count, signal);
        // These are all there are.
        if (rows < count) break;
        // With those that have the timestamp of the last, so that no older row comes before any.
        const answer = await over([source], { ...bounds, from }, signal, ask);
        if (isEnough(answer)) return answer;
      }
      return over([source], bounds, signal, ask);
    },
  };
}

/** The rows of a file as the table has them. */
function rowsOf(source: Source, path: string): string {
  const request = source === 'edge_logs' ? ', path, url, host' : '';
  return `(
    select id, timestamp::timestamp as timestamp, project, event_message, metadata::json as metadata,
      ingested_at::timestamp as ingested_at${request}
    from read_parquet('${path.replaceAll("'", "''")}')
  )`;
}

/** What of the rows can be left out before they are fetched: the views leave out the rest. */
function boundsOf({ parameters, windows }: SavedQuery, values: Values) {
  const project = parameters.find(({ name }) => name === 'project');
  const isText = project?.type === 'string';
  return {
    project: values[PINNED_PROJECT] ?? (isText ? (values.project ?? null) : null),
    from: windows ? (values[windows.from] ?? null) : null,
    until: windows ? (values[windows.until] ?? null) : null,
  };
}
