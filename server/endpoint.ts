import type { RequestHandler } from 'express';
import { isSource } from '../ingest/index.ts';
import type { Cache, Cached } from './cache.ts';
import { NEWEST_FROM, type SavedQuery } from './compile.ts';
import { encodeRows } from './encode.ts';
import type { Endpoints } from './endpoints.ts';
import { AppError } from './errors.ts';
import { checkParameters, readParameters, searchOf, type Values } from './parameters.ts';
import { redact } from './redact.ts';
import { redaction } from './redaction.ts';
import type { Rows, Store } from './store/index.ts';
import { windowStarts } from './windows.ts';

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
    if (request.method !== 'GET' && request.method !== 'HEAD')
      throw new AppError('METHOD_NOT_ALLOWED');
    const search = searchOf(request.url);
    const redacted = redaction(request) ?? query.redactPii;
    if (!query.sandboxing && search.has('sql')) {
      const detail = 'Expected no "sql": this endpoint does not take SQL of the caller.';
      throw new AppError('PARAMETER_INVALID', { faults: [{ parameter: 'sql', detail }] });
    }
    const values = readParameters(query, search);
    const load = (signal?: AbortSignal) => answer(query, values, redacted, store, signal);

    if (query.caching === null) {
      const body = await load(disconnected(response));
      response.set({
        'Cache-Control': 'private, no-cache',
        'Cache-Status': 'tailpond; fwd=bypass',
      });
      response.type('json').send(body);
      return;
    }
    const key = JSON.stringify([query.id, values, redacted]);
    const cached = await cache.get(key, { caching: query.caching, warming: query.warming }, () =>
      load(),
    );
    response.set(cacheHeaders(cached, query.caching));
    response.type('json').send(cached.body);
  };
}

async function answer(
  query: SavedQuery,
  values: Values,
  redacted: boolean,
  store: Store,
  signal?: AbortSignal,
) {
  const checked = await checkParameters(query, values, store, signal);
  const rows = await run(query, checked, store, signal);
  return Buffer.from(encodeRows(rows, redacted ? redact : undefined));
}

async function run(
  query: SavedQuery,
  values: Values,
  store: Store,
  signal?: AbortSignal,
): Promise<Rows> {
  const options = signal ? { maxRows: query.maxRows, signal } : { maxRows: query.maxRows };
  const { windows } = query;
  if (!windows || !isSource(windows.source)) return store.query(query.sql, values, options);
  const bound = (atMs: number) => ({
    ...values,
    [NEWEST_FROM]: new Date(Math.floor(atMs)).toISOString(),
  });
  const span = await store.span(windows.source);
  if (!span) return store.query(query.sql, bound(0), options);
  const reach = {
    ...span,
    fromMs: toMs(values[windows.from]),
    untilMs: toMs(values[windows.until]),
  };
  let rows: Rows | undefined;
  for (const start of windowStarts(windows.rows, reach, Date.now())) {
    rows = await store.query(query.sql, bound(start), options);
    if (rows.rows.length >= Math.min(windows.rows, query.maxRows)) break;
  }
  if (!rows) throw new Error('BUG: there was no window');
  return rows;
}

function toMs(moment: string | null | undefined): number | null {
  return moment ? Date.parse(moment) : null;
}

function cacheHeaders({ age, etag, hit }: Cached, caching: number) {
  const ttl = Math.max(0, caching - age);
  return {
    ETag: etag,
    Age: String(age),
    'Cache-Control': `private, max-age=${ttl}`,
    'Cache-Status': hit ? `tailpond; hit; ttl=${ttl}` : `tailpond; fwd=miss; stored; ttl=${ttl}`,
  };
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
