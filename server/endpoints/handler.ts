import type { Request, RequestHandler, Response } from 'express';
import { accessOf } from '../auth/middleware.ts';
import { redaction } from '../auth/redaction-header.ts';
import type { Access } from '../auth/tokens.ts';
import type { Answers } from '../clickhouse/index.ts';
import { type Deadline, deadlineIn } from '../deadline.ts';
import { AppError } from '../errors.ts';
import { encodeRows, type Format, formatOf, MEDIA_TYPES } from '../formats/index.ts';
import { redact } from '../formats/redact.ts';
import { bodyOf } from '../http/body.ts';
import { disconnected } from '../http/disconnect.ts';
import { TIMING } from '../spent.ts';
import type { Rows, Store } from '../store/index.ts';
import type { Answer, Cache, Cached, Load } from './cache.ts';
import {
  type CallerSql,
  type CallerSqlRunner,
  createCallerSql,
  parseCallerSql,
} from './caller-sql.ts';
import { createFetchedRows } from './fetched-rows.ts';
import { createForwardedSql } from './forwarded-sql.ts';
import { type FreshnessDeps, freshness, visibleTo } from './freshness.ts';
import { createNewest, type Newest, questionOf } from './newest-rows.ts';
import { checkParameters, readParameters, searchOf, type Values } from './parameters.ts';
import { ALL_PROJECTS, ANY_PROJECT, PINNED_PROJECT, type SavedQuery } from './query-file.ts';
import type { Endpoints } from './registry.ts';

/** A question: an endpoint by its name, and whether its saved query or a caller's SQL is meant. */
export interface Asked {
  readonly endpoint: string;
  readonly kind: 'saved' | 'caller';
}

/** Runs a query and notes how long it took, waiting included, and how it failed. */
export type Measure = <T>(asked: Asked, run: () => Promise<T>) => Promise<T>;

export interface EndpointDeps extends FreshnessDeps {
  readonly endpoints: Endpoints;
  readonly store: Store;
  /** Where rows are forwarded: asks what holds them. */
  readonly answers: Answers | null;
  readonly cache: Cache;
  readonly measure: Measure;
  /** Bounds each question as a whole. */
  readonly queryTimeoutMs: number;
}

/**
 * Answers a saved query. The way of a request, once it is authorised: endpoint → redaction → parameters → cache →
 * statement → rows → JSON, or another format.
 */
export function endpoint(deps: EndpointDeps): RequestHandler<{ endpoint: string }> {
  const { endpoints, cache } = deps;
  const answers = {
    ...deps,
    callerSql: createCallerSql(
      deps.store,
      deps.answers && createFetchedRows(deps.store, deps.answers),
      deps.answers && createForwardedSql(deps.store, deps.answers),
    ),
    newest: createNewest(deps.store),
  };
  return async function answerEndpoint(request, response) {
    const query = endpoints.find(request.params.endpoint);
    if (!query) throw new AppError('ENDPOINT_UNKNOWN');
    const methods = query.sandboxing ? ['GET', 'HEAD', 'POST'] : ['GET', 'HEAD'];
    if (!methods.includes(request.method))
      throw new AppError('METHOD_NOT_ALLOWED', { allow: methods });
    const search = searchOf(request.url);
    const inUrl = search.has('sql') || search.has('lql');
    // Logflare reads a statement in the body of a GET, too, where the URL has none.
    if (request.method === 'POST' || (query.sandboxing && !inUrl))
      for (const [name, value] of await bodyOf(request, response)) search.append(name, value);
    const format = formatOf(search, request);
    const redacted = redaction(request) ?? query.redactPii;
    if (!query.sandboxing && search.has('sql')) {
      const detail = 'Expected no "sql": this endpoint does not take SQL of the caller.';
      throw new AppError('PARAMETER_INVALID', { faults: [{ parameter: 'sql', detail }] });
    }
    if (search.get('lql') && !search.get('sql')) {
      const detail =
        'Expected SQL in "sql", got LQL in "lql": Logflare\'s own language is not read here.';
      throw new AppError('PARAMETER_INVALID', { faults: [{ parameter: 'lql', detail }] });
    }
    const own = query.sandboxing ? parseCallerSql(search, query) : null;
    const values = forBearer(query, readParameters(query, search), accessOf(response));
    const load = loader({ query, callerSql: own, values, redacted, format }, answers);

    if (query.caching === null || own) {
      const { body, headers } = await load(disconnected(response));
      response.set({
        ...visibleTo(accessOf(response), headers),
        'Cache-Control': 'private, no-cache',
        'Cache-Status': 'tailpond; fwd=bypass',
        'Content-Type': MEDIA_TYPES[format],
      });
      response.send(body);
      return;
    }
    const key = JSON.stringify([query.id, query.version, values, redacted, format]);
    const lifetime = { caching: query.caching, warming: query.warming };
    const found = cache.get(key, lifetime, load, () => disconnected(response));
    const cached = found instanceof Promise ? await found : found;
    sendCached(request, response, cached, query.caching, format);
  };
}

interface AnswerDeps extends EndpointDeps {
  readonly callerSql: CallerSqlRunner;
  readonly newest: Newest;
}

/** Outside the handler, whose request and response all functions that are made in it would hold: these are kept for long. */
function loader(question: Question, deps: AnswerDeps): Load {
  const asked = {
    endpoint: question.query.name,
    kind: question.callerSql ? 'caller' : 'saved',
  } as const;
  return (signal) =>
    deps.measure(asked, () => answer(question, deps, deadlineIn(deps.queryTimeoutMs, signal)));
}

/**
 * The values as the bearer of a token may ask for them. A token that is pinned to a project may ask for that one alone, at
 * endpoints that keep to it: by comparing `project` as text, or by `@pinned_project`. Others may ask for all. Throws
 * `PROJECT_FORBIDDEN` and `PARAMETER_INVALID`. Comes before the cache, whose key the values are.
 */
function forBearer(query: SavedQuery, values: Values, { project }: Access): Values {
  if (project !== null) {
    const parameter = query.parameters.find(({ name }) => name === 'project');
    if (!parameter || (parameter.type === 'regexp' && !query.pinned))
      throw new AppError('PROJECT_FORBIDDEN', {
        detail: 'Expected an endpoint that keeps to one project: this token may ask no other.',
      });
    if (values.project !== project) {
      const detail = 'Expected "project" to be the one that this token is for, got another.';
      throw new AppError('PROJECT_FORBIDDEN', { faults: [{ parameter: 'project', detail }] });
    }
  }
  const isOfAny = project === null && values.project === ALL_PROJECTS;
  if (isOfAny && !query.anyProject) {
    const detail = `Expected "project" to be one project, got "${ALL_PROJECTS}": this endpoint does not use @${ANY_PROJECT}.`;
    throw new AppError('PARAMETER_INVALID', { faults: [{ parameter: 'project', detail }] });
  }
  // With a pin, an expression would only take away rows of that project; as one, the text of a project is not even meant.
  const matchesAll = isOfAny || (query.pinned && project !== null);
  const isExpression = query.parameters.some(
    ({ name, type }) => name === 'project' && type === 'regexp',
  );
  return {
    ...values,
    ...(matchesAll && isExpression ? { project: '' } : {}),
    ...(query.pinned ? { [PINNED_PROJECT]: project } : {}),
    ...(query.anyProject ? { [ANY_PROJECT]: String(isOfAny) } : {}),
  };
}

interface Question {
  readonly query: SavedQuery;
  readonly callerSql: CallerSql | null;
  readonly values: Values;
  readonly redacted: boolean;
  readonly format: Format;
}

async function answer(
  { query, callerSql: own, values, redacted, format }: Question,
  deps: AnswerDeps,
  deadline: Deadline,
): Promise<Answer> {
  const { store } = deps;
  const checked = await checkParameters(query, values, store, deadline);
  const { rows, sources } = own
    ? await deps.callerSql.run({ asked: own, query, values: checked, deadline })
    : { rows: await run(query, checked, deps, deadline), sources: query.sources };
  return {
    body: await encodeRows(
      format,
      rows,
      // Clients of ClickHouse know no records as Logflare's clients do.
      { redact: redacted ? redact : undefined, asStored: own?.dialect === 'clickhouse' },
      store,
      deadline,
    ),
    headers: {
      ...(await freshness(sources, deps, deadline)),
      'Tailpond-Truncated': String(rows.truncated),
      ...deadline.spent.headers(),
    },
  };
}

async function run(
  query: SavedQuery,
  values: Values,
  { store, answers, newest }: Pick<AnswerDeps, 'store' | 'answers' | 'newest'>,
  deadline: Deadline,
): Promise<Rows> {
  if (answers && query.clickhouse) {
    const most = query.windows?.rows ?? Number.POSITIVE_INFINITY;
    const rows = await answers.select(query.clickhouse, values, {
      maxRows: query.maxRows,
      deadline,
    });
    return { ...rows, truncated: rows.truncated || rows.rows.length >= most };
  }
  const options = { maxRows: query.maxRows, deadline, owner: values.project ?? '' };
  const ask = (sql: string, bound: Values) => store.query(sql, { ...values, ...bound }, options);
  if (!query.windows) return ask(query.sql, {});
  const question = questionOf(query, query.windows);
  const newestRows = await newest(question, values, ask, deadline);
  // Its own limit is not seen from here; at that many rows there may be more.
  return { ...newestRows, truncated: newestRows.rows.length >= question.rows };
}

/** By hand: what `response.send` would find out about the body, its ETag first of all, is known already. */
function sendCached(
  request: Request,
  response: Response,
  { age, body, etag, headers, hit }: Cached,
  caching: number,
  format: Format,
) {
  const ttl = Math.max(0, caching - age);
  const status = hit ? `hit; ttl=${ttl}` : `fwd=miss; stored; ttl=${ttl}`;
  const visible = visibleTo(accessOf(response), headers);
  // biome-ignore format: name and value
  const head = [
    'Age', String(age),
    'Cache-Control', `private, max-age=${ttl}`,
    'Cache-Status', `tailpond; ${status}`,
    'ETag', etag,
  ];
  for (const name in visible) if (!hit || name !== TIMING) head.push(name, visible[name] ?? '');
  if (isFresh(request, response, etag)) {
    response.writeHead(304, head).end();
    return;
  }
  head.push('Content-Type', MEDIA_TYPES[format], 'Content-Length', String(body.length));
  response.writeHead(200, head).end(body);
}

function isFresh(request: Request, response: Response, etag: string): boolean {
  if (request.headers['if-none-match'] === undefined) return false;
  // Express looks for it there.
  response.setHeader('ETag', etag);
  return request.fresh;
}
