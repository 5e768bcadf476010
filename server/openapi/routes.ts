import { z } from 'zod';
import type { Scope } from '../auth/token-file.ts';
import type { Parameter } from '../endpoints/query-file.ts';
import { EXPLORE } from '../explore/index.ts';
import { FORMATS } from '../formats/index.ts';
import {
  Bucket,
  Endpoint,
  Entry,
  Health,
  Homeless,
  LedgerEntry,
  LogflareSource,
  Logged,
  Project,
  RejectedLine,
  Removal,
  Retry,
  resultOf,
  SourceName,
} from './schemas.ts';

/** A path of the service, as the document has it. */
export interface Route {
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly summary: string;
  /** What the token must allow; null: none is needed. */
  readonly scope: Scope | null;
  readonly parameters?: readonly Parameter[];
  readonly format?: boolean;
  readonly body?: { readonly type: string; readonly schema: z.ZodType };
  /** The answer with 200; a text: of this media type, which no schema describes. */
  readonly answer: z.ZodType | string;
}

const plain = (
  name: string,
  type: Parameter['type'],
  description: string,
  preset: string | null = null,
): Parameter => ({ name, type, required: false, preset, description });

const LINES = {
  type: 'application/json',
  schema: z
    .union([z.array(z.unknown()), z.looseObject({})])
    .meta({ description: 'Lines: an array, one object, or NDJSON; at most 12 MB' }),
};

/** All routes but those of the saved queries. */
export const ROUTES: readonly Route[] = [
  {
    method: 'get',
    path: '/api/endpoints',
    summary: 'The saved queries',
    scope: 'query',
    answer: resultOf(Endpoint),
  },
  {
    method: 'get',
    path: '/api/entries/{source}',
    summary: 'The newest entries of a source',
    scope: 'query',
    parameters: EXPLORE.entries,
    format: true,
    answer: resultOf(Entry),
  },
  {
    method: 'get',
    path: '/api/histogram/{source}',
    summary: 'How many entries came when',
    scope: 'query',
    parameters: EXPLORE.histogram,
    answer: resultOf(Bucket).extend({ step_seconds: z.number().positive() }),
  },
  {
    method: 'get',
    path: '/api/projects/{source}',
    summary: 'The projects that have most entries',
    scope: 'query',
    parameters: EXPLORE.projects,
    answer: resultOf(Project),
  },
  {
    method: 'get',
    path: '/api/tail/{source}',
    summary: 'Entries as they are stored, as server-sent events',
    scope: 'query',
    parameters: EXPLORE.tail,
    answer: 'text/event-stream',
  },
  {
    method: 'get',
    path: '/api/export/{source}',
    summary: 'Any number of entries, oldest first, with their count at the end',
    scope: 'query',
    parameters: EXPLORE.export,
    format: true,
    answer: resultOf(Entry).extend({ count: z.number().int() }),
  },
  {
    method: 'get',
    path: '/api/ledger',
    summary: 'What is known of the lines of each source',
    scope: 'admin',
    answer: resultOf(z.union([LedgerEntry, Homeless])),
  },
  {
    method: 'get',
    path: '/api/rejected',
    summary: 'The latest rejected lines',
    scope: 'admin',
    parameters: [
      plain('source', SourceName.options, 'only of this source'),
      plain('limit', 'integer', 'how many, 1 to 1000', '100'),
    ],
    answer: resultOf(RejectedLine),
  },
  {
    method: 'get',
    path: '/api/rejected/{id}',
    summary: 'All that was kept of a rejected line, byte by byte',
    scope: 'admin',
    answer: 'application/octet-stream',
  },
  {
    method: 'post',
    path: '/api/rejected/retry',
    summary: 'Sends a rejected line in again',
    scope: 'admin',
    body: { type: 'application/json', schema: Retry },
    answer: z.strictObject({ result: z.strictObject({ retried: z.literal(1) }) }),
  },
  {
    method: 'get',
    path: '/api/retention',
    summary: 'What retention would remove now',
    scope: 'admin',
    answer: resultOf(Removal),
  },
  {
    method: 'post',
    path: '/api/logs',
    summary: 'Takes lines, as Logflare does',
    scope: 'ingest',
    parameters: [
      plain('source_name', 'string', "the source, by its name or by Logflare's"),
      plain('source', 'string', 'the same, by its other name'),
    ],
    body: LINES,
    answer: Logged,
  },
  {
    method: 'post',
    path: '/api/logs/{source}',
    summary: 'Takes lines of a source',
    scope: 'ingest',
    body: LINES,
    answer: Logged,
  },
  {
    method: 'get',
    path: '/api/backends',
    summary: 'The log drains of Logflare, of which there are none',
    scope: 'query',
    answer: z.array(z.never()),
  },
  {
    method: 'get',
    path: '/api/sources',
    summary: 'The sources, as Logflare lists them',
    scope: 'query',
    answer: z.array(LogflareSource),
  },
  {
    method: 'get',
    path: '/api/openapi.json',
    summary: 'This document',
    scope: 'query',
    answer: z.looseObject({ openapi: z.string() }),
  },
  {
    method: 'get',
    path: '/metrics',
    summary: 'Figures for Prometheus, in its text format',
    scope: 'metrics',
    answer: 'text/plain',
  },
  ...['/readyz', '/health', '/healthz'].map(
    (path): Route => ({
      method: 'get',
      path,
      summary: 'Whether the service answers and takes lines',
      scope: null,
      answer: Health,
    }),
  ),
  {
    method: 'get',
    path: '/livez',
    summary: 'Whether the process runs',
    scope: null,
    answer: Health,
  },
];

/** The parameter that chooses among the formats. */
export const FORMAT = plain('format', FORMATS, 'what the rows come as; before Accept', 'json');
