import type { RequestHandler } from 'express';
import { allSources, isSource } from '../../ingest/index.ts';
import { redaction } from '../auth/redaction-header.ts';
import { bracketed } from '../endpoints/parameters.ts';
import { AppError } from '../errors.ts';
import type { Plain, Store } from '../store/index.ts';

const REJECTED_DEFAULT = 100;
const REJECTED_MAX = 1000;

/** The latest rejected lines that a query string asks for. Throws `PARAMETER_INVALID`. */
export function rejectedLines(
  store: Pick<Store, 'rejected'>,
  search: URLSearchParams,
): Promise<Plain[]> {
  return store.rejected(readSource(search), readLimit(search));
}

/** All bytes that were kept of a rejected line, whatever they are: to be saved, not shown. */
export function rejectedBytes(store: Pick<Store, 'rejectedLine'>): RequestHandler<{ id: string }> {
  return async function answerRejectedBytes(request, response) {
    if (redaction(request)) {
      const detail =
        'Expected no redaction: these are the bytes as they were. GET /api/rejected shows them redacted.';
      throw new AppError('HEADER_INVALID', {
        faults: [{ parameter: 'SVC-ENDPOINT-REDACT-PII', detail }],
      });
    }
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

function readSource(search: URLSearchParams) {
  const value = once(search, 'source');
  if (value === '') return null;
  if (isSource(value)) return value;
  throw invalid('source', `one of ${allSources().join(', ')}`, value);
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
