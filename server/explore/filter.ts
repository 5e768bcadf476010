import type { Request, Response } from 'express';
import { allSources, isSource, type Source } from '../../ingest/index.ts';
import { accessOf } from '../auth/middleware.ts';
import { faultOf } from '../caller-sql/regular-expressions.ts';
import type { Deadline } from '../deadline.ts';
import { checkParameters, readParameters, searchOf, type Values } from '../endpoints/parameters.ts';
import { ALL_PROJECTS } from '../endpoints/query-file.ts';
import { AppError } from '../errors.ts';
import { optional, type Parameter } from '../http/route.ts';
import { conditionOf } from '../search/condition.ts';
import { hintOf } from '../search/hint.ts';
import { parseQuery, QueryInvalid } from '../search/query.ts';
import { EngineError, type Store } from '../store/index.ts';
import { boundsOf, type EntryEngine, type Filter } from './engine.ts';

export const PROJECT = optional(
  'project',
  'string',
  'only entries of this project; * or nothing: of all',
);
export const SEARCH = optional(
  'search',
  'string',
  'only entries that have this text in their message or their metadata, in any letter case',
);
export const QUERY = optional(
  'q',
  'string',
  'only entries for which this search query holds, such as status:>=500 path:/rpc/* -timeout',
);
export const FROM = optional('from', 'timestamp', 'inclusive lower bound of the timestamp');
export const TO = optional('to', 'timestamp', 'exclusive upper bound of the timestamp');

/** All sources, in the place of their names. */
const ALL_SOURCES = '*';

/**
 * What a request to `/api/…/{source}` asks for, of each source that it names. A token that is pinned to a project gets that one. Throws
 * `SOURCE_UNKNOWN`, `PARAMETER_INVALID` and `PROJECT_FORBIDDEN`.
 */
export async function filtersOf(
  request: Request<{ source: string }>,
  response: Response,
  parameters: readonly Parameter[],
  store: Pick<Store, 'query'>,
  engine: Pick<EntryEngine, 'words' | 'relation' | 'mayHave'>,
  deadline: Deadline,
): Promise<readonly Filter[]> {
  const sources = sourcesOf(request.params.source);
  const { project: pin } = accessOf(response);
  const asked = readParameters({ parameters }, searchOf(request.url));
  const given =
    pin === null && asked.project === ALL_PROJECTS ? { ...asked, project: null } : asked;
  if (pin !== null && given.project && given.project !== pin) {
    const detail = 'Expected "project" to be the one that this token is for, got another.';
    throw new AppError('PROJECT_FORBIDDEN', { faults: [{ parameter: 'project', detail }] });
  }
  const checked = await checkParameters({ parameters }, given, store, deadline);
  const values: Values = {
    search: null,
    q: null,
    ...checked,
    ...boundsOf(checked),
    project: pin ?? checked.project ?? null,
  };
  const filters: Filter[] = [];
  for (const source of sources)
    filters.push(await filterOf(source, values, store, engine, deadline));
  return filters;
}

/** The sources of a list such as `edge_logs,auth_logs`, or all of them. Throws `SOURCE_UNKNOWN`. */
function sourcesOf(list: string): readonly Source[] {
  if (list === ALL_SOURCES) return allSources();
  return [...new Set(list.split(','))].map((source) => {
    if (isSource(source)) return source;
    throw new AppError('SOURCE_UNKNOWN', {
      detail: `There is no source ${JSON.stringify(source)}; there are ${allSources().join(', ')}.`,
    });
  });
}

/** Returns what checked parameters ask of a source. Throws `PARAMETER_INVALID`. */
export async function filterOf(
  source: Source,
  values: Values,
  store: Pick<Store, 'query'>,
  { words, relation: relationOf, mayHave }: Pick<EntryEngine, 'words' | 'relation' | 'mayHave'>,
  deadline: Deadline,
): Promise<Filter> {
  const { q } = values;
  const query = q ? unlessInvalid('q', () => parseQuery(q)) : null;
  const relation = relationOf(source);
  const asks = query ? unlessInvalid('q', () => conditionOf(query, source, relation.search)) : null;
  for (const each of asks?.regexes ?? []) await expectRegex(each, store, deadline);
  const hint = q && query ? hintOf(q, query, source) : null;
  const texts = values.search ? [{ text: values.search, escaped: false }] : [];
  const may = await mayHave(source, [...texts, ...(asks?.texts ?? [])], deadline);
  const sought = ['event_message', 'metadata'].map(words.hasSought);
  const where = [
    values.project === null ? [] : [`project = ${words.text('project')}`],
    may === null ? [] : [may],
    asks ? [asks.sql] : [],
    values.search ? [`(${sought.join(' or ')})`] : [],
  ].flat();
  return {
    source,
    relation,
    where: where.join(' and ') || 'true',
    hint,
    values: { ...values, ...asks?.values },
  };
}

/** Throws `PARAMETER_INVALID` for a text that is not a regular expression, which the engine alone knows, or one that would take too long. */
async function expectRegex(
  { regex, at }: { readonly regex: string; readonly at: number },
  store: Pick<Store, 'query'>,
  deadline: Deadline,
): Promise<void> {
  const refuse = (fault: string): never => {
    const detail = `${fault} at character ${at + 1}.`;
    throw new AppError('PARAMETER_INVALID', { faults: [{ parameter: 'q', detail }] });
  };
  const fault = faultOf(regex);
  if (fault !== null) refuse(fault);
  const sql = `select regexp_matches('', $regex::varchar)`;
  await store.query(sql, { regex }, { maxRows: 1, deadline }).catch((error: unknown) => {
    if (!(error instanceof EngineError) || error.kind !== 'input') throw error;
    refuse(`Expected a regular expression (RE2 syntax), got ${JSON.stringify(regex)}`);
  });
}

/** What `make` makes of the value of a parameter. Throws `PARAMETER_INVALID` for QueryInvalid. */
export function unlessInvalid<T>(parameter: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof QueryInvalid)) throw error;
    throw new AppError('PARAMETER_INVALID', { faults: [{ parameter, detail: error.message }] });
  }
}
