import type { Request } from 'express';
import { AppError } from '../errors.ts';

/** What answers can be had as, and the name that the parameter `format` has for it. */
export const FORMATS = ['json', 'ndjson', 'csv', 'parquet'] as const;

export type Format = (typeof FORMATS)[number];

export const MEDIA_TYPES: Readonly<Record<Format, string>> = {
  json: 'application/json; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
  parquet: 'application/vnd.apache.parquet',
};

/** Other names by which clients ask for the same. */
const ACCEPTED: Readonly<Record<string, Format>> = {
  'application/json': 'json',
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
  'text/csv': 'csv',
  'application/vnd.apache.parquet': 'parquet',
};

/**
 * The format that a request asks for: by the parameter `format`, else by `Accept`, else JSON, which clients get that accept none of
 * them, too. Throws `PARAMETER_INVALID`.
 */
export function formatOf(search: URLSearchParams, request: Request): Format {
  const given = search.getAll('format');
  const [name = ''] = given;
  if (name !== '') {
    const format = FORMATS.find((each) => each === name.toLowerCase());
    if (format && given.length === 1) return format;
    const detail = `Expected "format" once, as ${FORMATS.join(', ')}, got ${JSON.stringify(given.join(', ').slice(0, 100))}.`;
    throw new AppError('PARAMETER_INVALID', { faults: [{ parameter: 'format', detail }] });
  }
  // Most requests accept anything, and looking into it takes longer than the rest of a cached answer.
  const accept = request.headers.accept?.toLowerCase();
  if (accept === undefined || accept === '*/*' || accept.startsWith('application/json'))
    return 'json';
  // A type with parameters, as ours have, is meant too.
  const plain = ACCEPTED[accept.split(';')[0]?.trim() ?? ''];
  if (plain && !accept.includes(',')) return plain;
  return ACCEPTED[request.accepts(Object.keys(ACCEPTED)) || ''] ?? 'json';
}
