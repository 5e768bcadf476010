import { type RequestHandler, Router } from 'express';
import { type Ingest, isSource, SOURCES } from '../../ingest/index.ts';
import { requires } from '../auth/middleware.ts';
import { redaction } from '../auth/redaction-header.ts';
import { bracketed, searchOf } from '../endpoints/parameters.ts';
import type { Endpoints } from '../endpoints/registry.ts';
import { AppError } from '../errors.ts';
import { redact } from '../formats/redact.ts';
import { encode } from '../formats/value.ts';
import { wouldRemove } from '../retention-job.ts';
import type { Limits, Plain, Store } from '../store/index.ts';
import { type RetryDeps, retry } from './retry-rejected.ts';

export interface BooksDeps extends RetryDeps {
  readonly endpoints: Endpoints;
  readonly store: Pick<
    Store,
    'ledger' | 'rejected' | 'rejectedLine' | 'removeRejected' | 'retention'
  >;
  readonly limits: Limits;
  readonly ingest: Pick<Ingest, 'status'>;
}

const REJECTED_DEFAULT = 100;
const REJECTED_MAX = 1000;

/**
 * What can be looked up beside the saved queries: themselves, the ledger, the rejected lines, what is due. All but the
 * first is for tokens of the scope `admin` alone, and so is whatever comes behind this router.
 */
export function books({ endpoints, store, limits, ingest, pushFiles }: BooksDeps): Router {
  const router = Router();
  router.all(
    '/endpoints',
    requires('query'),
    answer(() => endpoints.all.map(publicFields)),
  );
  router.use(requires('admin'));
  router.all(
    '/ledger',
    answer(() => ledger(store, ingest)),
  );
  router.all(
    '/rejected',
    answer((search) => store.rejected(readSource(search), readLimit(search))),
  );
  router.all('/rejected/retry', retry({ store, pushFiles }));
  router.all('/rejected/:id', rejectedBytes(store));
  router.all(
    '/retention',
    answer(() => wouldRemove(store.retention, limits)),
  );
  return router;
}

function answer(read: (search: URLSearchParams) => Plain[] | Promise<Plain[]>): RequestHandler {
  return async function answerBooks(request, response) {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      throw new AppError('METHOD_NOT_ALLOWED');
    const result = await read(searchOf(request.url));
    response
      .set('Cache-Control', 'private, no-cache')
      .type('json')
      .send(`{"result":${encode(result, redaction(request) ? redact : undefined)}}`);
  };
}

/** All bytes that were kept of a rejected line, whatever they are: to be saved, not shown. */
function rejectedBytes(store: Pick<Store, 'rejectedLine'>): RequestHandler<{ id: string }> {
  return async function answerRejectedBytes(request, response) {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      throw new AppError('METHOD_NOT_ALLOWED');
    const { id } = request.params;
    const rejected = await store.rejectedLine(id);
    if (!rejected) throw new AppError('REJECTED_UNKNOWN');
    response
      .set({
        'Cache-Control': 'private, no-cache',
        'Content-Disposition': `attachment; filename="rejected-${id}.log"`,
        'Tailpond-Truncated': String(!rejected.whole),
      })
      .type('application/octet-stream')
      .send(rejected.line);
  };
}

function publicFields(query: Endpoints['all'][number]): Plain {
  return {
    id: query.id,
    name: query.name,
    description: query.description,
    max_rows: query.maxRows,
    caching: query.caching,
    cache_warming: query.warming,
    sandboxing: query.sandboxing,
    redact_pii: query.redactPii,
    parameters: query.parameters.map(({ name, type, required, preset, description }) => ({
      name,
      type: typeof type === 'string' ? type : 'string',
      ...(typeof type === 'string' ? {} : { allowed: [...type] }),
      required,
      ...(preset === null ? {} : { default: preset }),
      description,
    })),
  };
}

async function ledger(store: Pick<Store, 'ledger'>, ingest: BooksDeps['ingest']): Promise<Plain[]> {
  const { sources, refused } = ingest.status();
  const now = new Map(sources.map((status) => [status.source, status]));
  const copies = sources.flatMap(({ source, copies: own }) =>
    own.map(({ path, of }) => ({ source, path, reason: `it is a copy of ${of}, which is read` })),
  );
  const notRead = (source: string | null): Plain[] =>
    [...refused, ...copies]
      .filter((refusal) => refusal.source === source)
      .map(({ path, reason }) => ({ path, reason }));
  const entries: Plain[] = (await store.ledger()).map(({ source, ...counted }) => ({
    source,
    files: now.get(source)?.files ?? 0,
    pending_bytes: now.get(source)?.pendingBytes ?? 0,
    lag_seconds: Math.round(now.get(source)?.lagMs ?? 0) / 1000,
    ...counted,
    refused: notRead(source),
  }));
  const homeless = notRead(null);
  return homeless.length === 0 ? entries : [...entries, { source: null, refused: homeless }];
}

function readSource(search: URLSearchParams) {
  const value = once(search, 'source');
  if (value === '') return null;
  if (isSource(value)) return value;
  throw invalid('source', `one of ${SOURCES.join(', ')}`, value);
}

function readLimit(search: URLSearchParams): number {
  const value = once(search, 'limit');
  if (value === '') return REJECTED_DEFAULT;
  if (/^\d{1,4}$/.test(value) && Number(value) >= 1 && Number(value) <= REJECTED_MAX)
    return Number(value);
  throw invalid('limit', `a whole number from 1 to ${REJECTED_MAX}`, value);
}

function once(search: URLSearchParams, name: string): string {
  const detail = bracketed(search, name);
  if (detail) throw new AppError('PARAMETER_INVALID', { faults: [{ parameter: name, detail }] });
  const given = search.getAll(name);
  if (given.length > 1) throw invalid(name, 'given once', given.join(', '));
  return given[0] ?? '';
}

function invalid(parameter: string, allowed: string, value: string): AppError {
  const detail = `Expected "${parameter}" to be ${allowed}, got ${JSON.stringify(value.slice(0, 100))}.`;
  return new AppError('PARAMETER_INVALID', { faults: [{ parameter, detail }] });
}
