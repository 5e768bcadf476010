import { LRUCache } from 'lru-cache';
import { isSource, type Source } from '../../ingest/index.ts';
import {
  BEYOND_REACH,
  DIALECTS,
  type Dialect,
  type Reach,
  SqlRefused,
  type Translation,
  type TranslationScope,
  translate,
  Uncountable,
} from '../caller-sql/index.ts';
import { type Deadline, waitFor } from '../deadline.ts';
import { AppError } from '../errors.ts';
import { EngineError, type Rows, RowsEndedEarly, type Store } from '../store/index.ts';
import type { FetchedRows } from './fetched-rows.ts';
import type { ForwardedSql } from './forwarded-sql.ts';
import { createNewest, type Newest } from './newest-rows.ts';
import type { Values } from './parameters.ts';
import { NEWEST_FROM, type SavedQuery, type Views } from './query-file.ts';

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

/**
 * Returns the caller's SQL in a request's parameters; null without any, when the saved query is meant, which may be such SQL itself. The
 * dialect is the query's where none is named.
 */
export function parseCallerSql(search: URLSearchParams, query: SavedQuery): CallerSql | null {
  const [text = '', ...more] = search.getAll('sql');
  if (more.length > 0) throw fault('sql', `Expected "sql" once, got it ${more.length + 1} times.`);
  if (text === '') return query.text === null ? null : { text: query.text, dialect: query.dialect };
  const [given = query.dialect, ...others] = search.getAll('dialect');
  const dialect = DIALECTS.find((known) => known === given);
  if (!dialect || others.length > 0)
    throw fault('dialect', `Expected "dialect" once, as ${DIALECTS.join(', ')}.`);
  return { text, dialect };
}

/** A caller's question of an endpoint. */
interface Question {
  readonly asked: CallerSql;
  readonly query: SavedQuery;
  readonly values: Values;
  readonly deadline: Deadline;
}

/** The same, once it is known what it may name. */
type Viewed = Question & { readonly views: Views };

type Answer = { readonly rows: Rows; readonly sources: readonly Source[] };

/** Runs SQL of callers over the views of an endpoint. */
export interface CallerSqlRunner {
  /** Throws `SQL_INVALID` for what it may not say, and `QUERY_TOO_LARGE`, `RESULT_TOO_LARGE`, `QUERY_TIMEOUT` and `OVERLOADED`. */
  run(question: Question): Promise<Answer>;
}

/** Each reach, and for how long a view with a row beyond it is asked by the next one at once: rows that were stored just now are many. */
const BEYOND_MS: Readonly<Record<Reach, number>> = { columns: 5000, singles: 10 * 60_000, all: 0 };
const REACHES = Object.keys(BEYOND_MS) as Reach[];
const ALL = REACHES.length - 1;

type Readers = Pick<Store, 'callerPool' | 'span' | 'mayHave'>;

/** Characters of the statements of an endpoint that are remembered, as they came and as they were written anew. */
const REMEMBERED = 512 * 1024;

/** What statements of an endpoint became: pages send the same again and again, with other bounds of time. */
type Remembered = WeakMap<SavedQuery, LRUCache<string, Translation>>;

/**
 * Where rows are forwarded, they are fetched first, and one statement is asked of them. Else a question is asked by the statement of the
 * least reach, which is planned soonest; where that meets a row beyond its reach, all of the question is asked again by the next one
 * (docs/decisions/0022).
 */
export function createCallerSql(
  store: Readers,
  fetched: FetchedRows | null = null,
  forwarded: ForwardedSql | null = null,
): CallerSqlRunner {
  /** The place of the least reach of each view that had a row beyond another, and until when. */
  const known = new Map<string, { readonly place: number; readonly untilMs: number }>();
  const newest = createNewest(store);
  const remembered: Remembered = new WeakMap();
  const placeOf = (view: string) => {
    const { place = 0, untilMs = 0 } = known.get(view) ?? {};
    return untilMs > performance.now() ? place : 0;
  };
  const note = (views: ReadonlySet<string>, place: number, ms: number) => {
    const untilMs = performance.now() + ms;
    for (const view of views) if (placeOf(view) <= place) known.set(view, { place, untilMs });
  };
  const attempt = async (question: Viewed, translated: Translator, place: number) => {
    const reach = REACHES[place] ?? 'all';
    const translation = await translated(reach);
    return answered(translation, question, store, newest, reach).catch(
      async (error: unknown): Promise<Answer> => {
        if (reach === 'all' || !mayBeBeyondReach(error)) throw error;
        if (isBeyondReach(error)) {
          note(translation.views, place + 1, BEYOND_MS[reach]);
          return attempt(question, translated, place + 1);
        }
        // Where rows are many, what ended them is not told: memory, where the statement for all rows is the same.
        if ((await translated('all')).sql === translation.sql) throw refusal(error);
        const answer = await attempt(question, translated, ALL);
        note(translation.views, ALL, BEYOND_MS.singles);
        return answer;
      },
    );
  };
  const overFetched = async (question: Viewed): Promise<Answer> => {
    if (!fetched) throw new Error('BUG: nothing is fetched');
    const translated = translator(question, store, remembered);
    const translation = await translated('all');
    const fetching = { ...question, translation };
    const ask = (translation: Translation) => (sql: string) =>
      answered({ ...translation, sql, newest: null }, question, store, newest, 'all');
    const wanted = translation.newest?.rows;
    if (wanted !== undefined && sourcesOf(translation, question.views).length === 1) {
      const isEnough = ({ rows }: Answer) => rows.truncated || rows.rows.length >= wanted;
      const answer = await fetched
        .overNewest(fetching, ask(translation), isEnough)
        .catch(unless('QUERY_TOO_LARGE'));
      if (answer) return answer;
    }
    const there = forwarded && (await askedThere(question, translation, forwarded));
    if (there) return there;
    const counting = await translated('all', true).catch((error: unknown) => {
      if (error instanceof Uncountable) return null;
      throw error;
    });
    const counted =
      counting &&
      (await fetched
        .overCounted({ ...question, translation: counting }, ask(counting))
        // A sum of the largest numbers, which are too large once they are multiplied.
        .catch(unless('SQL_INVALID')));
    return counted ?? fetched.over(fetching, ask(translation));
  };
  return {
    async run(asked) {
      const views = await waitFor(asked.deadline, asked.query.views);
      const question = { ...asked, views };
      if (fetched) return overFetched(question);
      const text = question.asked.text.toLowerCase();
      const places = [...known.keys()].map((view) => (text.includes(view) ? placeOf(view) : 0));
      return attempt(question, translator(question, store, remembered), Math.max(0, ...places));
    },
  };
}

/** Gives null in the place of an error with this code. */
function unless(code: AppError['code']): (error: unknown) => null {
  return (error) => {
    if (error instanceof AppError && error.code === code) return null;
    throw error;
  };
}

/** The answer of what holds the rows, where that is asked the statement itself; null elsewhere. */
async function askedThere(
  question: Viewed,
  translation: Translation,
  forwarded: ForwardedSql,
): Promise<Answer | null> {
  const { asked, query, views } = question;
  if (asked.dialect !== 'clickhouse' || !query.unionThere) return null;
  const sources = sourcesOf(translation, views);
  const rows = await forwarded.ask({ ...question, text: asked.text, translation, sources });
  return rows && { rows, sources };
}

/** `counting`: for rows that may stand for several. Throws Uncountable then. */
type Translator = (reach: Reach, counting?: boolean) => Promise<Translation>;

function translator(
  { asked, query, views, values: given, deadline }: Viewed,
  store: Readers,
  remembered: Remembered,
): Translator {
  const { text, dialect } = asked;
  const trees = new Map<string, Promise<string>>();
  const parsing = deadline.apart();
  const parse = (statement: string) => {
    const values = { text: statement };
    const tree =
      trees.get(statement) ??
      store.callerPool
        .query(PARSE, values, { maxRows: 1, deadline: parsing, owner: ownerOf(given) })
        .then(({ rows }) => String(rows[0]?.[0]));
    trees.set(statement, tree);
    return tree;
  };
  const { maxRows } = query;
  const ofQuery =
    remembered.get(query) ??
    new LRUCache<string, Translation>({
      maxSize: REMEMBERED,
      sizeCalculation: ({ sql }, key) => key.length + sql.length,
    });
  remembered.set(query, ofQuery);
  return async (reach, counting = false) => {
    const key = JSON.stringify([dialect, reach, counting, text]);
    const known = ofQuery.get(key);
    if (known) return known;
    let isLasting = true;
    // Where texts may stand changes as rows come.
    const mayHave: TranslationScope['mayHave'] = async (table, texts) => {
      isLasting = false;
      return isSource(table) ? store.mayHave(table, texts, parsing) : null;
    };
    const parameters = parametersOf(query);
    const scope = { dialect, views, parameters, maxRows, mayHave, reach, counting };
    const translation = await deadline.spent.on('parse', () =>
      translate(text, scope, parse).catch((error: unknown) => {
        throw error instanceof SqlRefused
          ? fault('sql', `${error.sentence(text)}.`, error)
          : refusal(error);
      }),
    );
    if (isLasting) ofQuery.set(key, translation);
    return translation;
  };
}

async function answered(
  translation: Translation,
  question: Viewed,
  store: Readers,
  newest: Newest,
  reach: Reach,
): Promise<Answer> {
  const { asked, query, views, values, deadline } = question;
  const { maxRows } = query;
  const bound = query.windows ? { ...values, [NEWEST_FROM]: new Date(0).toISOString() } : values;
  const ask = (sql: string, more: Values, limits: { maxBytes?: number }) =>
    store.callerPool.query(
      sql,
      { ...bound, ...more },
      { maxRows, deadline, owner: ownerOf(values), ...limits },
    );
  try {
    const rows = withMaps(await run(translation, question, newest, ask), translation.maps);
    return { rows, sources: sourcesOf(translation, views) };
  } catch (error) {
    if (reach !== 'all' && mayBeBeyondReach(error)) throw error;
    throw (await wrongPattern(error, asked.text, translation, store, deadline)) ?? refusal(error);
  }
}

/** Returns whose rows are asked for: all that ask for one project share what one owner may take. */
function ownerOf({ project }: Values): string {
  return project ?? '';
}

/** The rows, of which the columns at these places are maps. */
function withMaps(rows: Rows, maps: readonly number[]): Rows {
  if (maps.length === 0) return rows;
  const columns = rows.columns.map((column, i) =>
    maps.includes(i) ? { ...column, kind: 'map' as const } : column,
  );
  return { ...rows, columns };
}

/** The sources whose rows the views of a statement give. */
function sourcesOf({ views: read }: Translation, views: Views): Source[] {
  const tables = [...read].flatMap((view) => views.get(view)?.tables ?? []);
  return [...new Set(tables)].filter(isSource);
}

/** The whole message: others quote what the caller wrote. */
function isBeyondReach(error: unknown): boolean {
  return error instanceof EngineError && error.message === `Invalid Input Error: ${BEYOND_REACH}`;
}

function mayBeBeyondReach(error: unknown): boolean {
  return isBeyondReach(error) || error instanceof RowsEndedEarly;
}

function run(
  { sql, newest: question, views: reads }: Translation,
  { query: { windows }, views, values, deadline }: Viewed,
  newest: Newest,
  ask: (sql: string, more: Values, limits: { maxBytes?: number }) => Promise<Rows>,
): Promise<Rows> {
  if (!question || !windows) return ask(sql, {}, { maxBytes: MAX_BYTES });
  const { view, rows, sql: oldest, narrow } = question;
  const { arms, tables = [] } = views.get(view.toLowerCase()) ?? {};
  const read = arms
    ? arms.each.filter((arm) => reads.has(arm.view)).map((arm) => arm.view)
    : tables;
  const sources = read.flatMap((name) => views.get(name)?.tables ?? name).filter(isSource);
  return newest(
    { sources, rows, sql, oldest, reads: narrow ? 'columns' : 'rows', windows },
    values,
    (text, more) => ask(text, more, text === sql ? { maxBytes: MAX_BYTES } : {}),
    deadline,
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
  deadline: Deadline,
): Promise<AppError | null> {
  if (!(error instanceof EngineError) || error.kind !== 'input') return null;
  for (const { text: pattern, at } of patterns) {
    const sql = `select regexp_matches('', $pattern::varchar)`;
    const isPattern = await callerPool.query(sql, { pattern }, { maxRows: 1, deadline }).then(
      () => true,
      (failure: unknown) => {
        if (failure instanceof EngineError) return false;
        throw failure;
      },
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
