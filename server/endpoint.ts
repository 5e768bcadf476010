import type { Request, RequestHandler, Response } from 'express';
import { accessOf } from './auth.ts';
import { bodyOf } from './body.ts';
import type { Cache, Cached } from './cache.ts';
import { PINNED_PROJECT, type SavedQuery } from './compile.ts';
import { encodeRows } from './encode.ts';
import type { Endpoints } from './endpoints.ts';
import { AppError } from './errors.ts';
import { newest, questionOf } from './newest.ts';
import { checkParameters, readParameters, searchOf, type Values } from './parameters.ts';
import { redact } from './redact.ts';
import { redaction } from './redaction.ts';
import { type OwnSql, ownSql, runOwnSql } from './sandbox.ts';
import type { Rows, Store } from './store/index.ts';
import type { Access } from './tokens.ts';

export interface EndpointDeps {
  readonly endpoints: Endpoints;
  readonly store: Store;
  readonly cache: Cache;
}

/**
 * Answers a saved query. The walk of a request, once it is authorised: endpoint → redaction → parameters → cache →
 * prepared statement → rows → JSON.
 */
export function endpoint({
  endpoints,
  store,
  cache,
}: EndpointDeps): RequestHandler<{ endpoint: string }> {
  return async function answerEndpoint(request, response) {
    const query = endpoints.find(request.params.endpoint);
    if (!query) throw new AppError('ENDPOINT_UNKNOWN');
    const methods = query.sandboxing ? ['GET', 'HEAD', 'POST'] : ['GET', 'HEAD'];
    if (!methods.includes(request.method))
      throw new AppError('METHOD_NOT_ALLOWED', { allow: methods });
    const search = searchOf(request.url);
    for (const [name, value] of await bodyOf(request, response)) search.append(name, value);
    const redacted = redaction(request) ?? query.redactPii;
    if (!query.sandboxing && search.has('sql')) {
      const detail = 'Expected no "sql": this endpoint does not take SQL of the caller.';
      throw new AppError('PARAMETER_INVALID', { faults: [{ parameter: 'sql', detail }] });
    }
    const own = query.sandboxing ? ownSql(search) : null;
    const values = forBearer(query, readParameters(query, search), accessOf(response));
    const load = (signal: AbortSignal) => answer(query, own, values, redacted, store, signal);

    if (query.caching === null || own) {
      const body = await load(disconnected(response));
      response.set({
        'Cache-Control': 'private, no-cache',
        'Cache-Status': 'tailpond; fwd=bypass',
      });
      response.type('json').send(body);
      return;
    }
    const key = JSON.stringify([query.id, values, redacted]);
    const lifetime = { caching: query.caching, warming: query.warming };
    const cached = await cache.get(key, lifetime, load, () => disconnected(response));
    sendCached(request, response, cached, query.caching);
  };
}

/**
 * The values as the bearer of a token may ask for them. One that is pinned to a project may ask for that one alone, at
 * endpoints that keep to it: by comparing `project` as text, or by `@pinned_project`. Throws `PROJECT_FORBIDDEN`. Comes before
 * the cache, whose key the values are.
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
  return query.pinned
    ? { ...values, ...anyMatch(query, project), [PINNED_PROJECT]: project }
    : values;
}

/** With a pin, an expression would only take away rows of that project; as one, the text of a project is not even meant. */
function anyMatch({ parameters }: SavedQuery, pin: string | null): Values {
  const expression = parameters.some(({ name, type }) => name === 'project' && type === 'regexp');
  return pin !== null && expression ? { project: '' } : {};
}

async function answer(
  query: SavedQuery,
  own: OwnSql | null,
  values: Values,
  redacted: boolean,
  store: Store,
  signal: AbortSignal,
) {
  const checked = await checkParameters(query, values, store, signal);
  const rows = own
    ? await runOwnSql(own, query, checked, store, signal)
    : await run(query, checked, store, signal);
  return Buffer.from(encodeRows(rows, redacted ? redact : undefined));
}

async function run(
  query: SavedQuery,
  values: Values,
  store: Store,
  signal?: AbortSignal,
): Promise<Rows> {
  const options = signal ? { maxRows: query.maxRows, signal } : { maxRows: query.maxRows };
  const ask = (sql: string, bound: Values) => store.query(sql, { ...values, ...bound }, options);
  if (!query.windows) return ask(query.sql, {});
  return newest(questionOf(query, query.windows), values, store, ask);
}

/** By hand: what `response.send` would find out about the body, its ETag first of all, is known already. */
function sendCached(request: Request, response: Response, cached: Cached, caching: number) {
  const { age, body, etag, hit } = cached;
  const ttl = Math.max(0, caching - age);
  response.setHeader('Age', age);
  response.setHeader('Cache-Control', `private, max-age=${ttl}`);
  response.setHeader(
    'Cache-Status',
    hit ? `tailpond; hit; ttl=${ttl}` : `tailpond; fwd=miss; stored; ttl=${ttl}`,
  );
  response.setHeader('ETag', etag);
  if (request.fresh) {
    response.statusCode = 304;
    response.end();
    return;
  }
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', body.length);
  response.end(body);
}

/** A client that went away need not be answered. */
function disconnected(response: {
  once(event: 'close', listener: () => void): unknown;
}): AbortSignal {
  const controller = new AbortController();
  response.once('close', () =>
    controller.abort(new AppError('REQUEST_INVALID', { detail: 'The client has gone.' })),
  );
  return controller.signal;
}
