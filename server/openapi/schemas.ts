import { z } from 'zod';
import { SOURCES } from '../../ingest/index.ts';
import { PARAMETER_TYPES } from '../endpoints/query-file.ts';
import { ERRORS } from '../errors.ts';

/** What bodies look like. The tests hold every answer of the service against these, so they are strict. */

const moment = z.string().meta({ description: 'ISO 8601 in UTC', format: 'date-time' });
const count = z.number().int().nonnegative();
const text = z.string();

export const SourceName = z.enum(SOURCES).meta({ id: 'SourceName' });

export const Problem = z
  .strictObject({
    type: z.literal('about:blank'),
    title: text,
    status: z.number().int(),
    detail: text,
    instance: z.uuid().meta({ description: 'The id of the request, as the log has it' }),
    code: z.enum(Object.keys(ERRORS) as [keyof typeof ERRORS]),
    errors: z.array(z.strictObject({ parameter: text, detail: text })),
    error: z.strictObject({ message: text }).meta({ description: 'For clients of Logflare' }),
  })
  .meta({ id: 'Problem', description: 'RFC 9457' });

export const Entry = z
  .strictObject({
    id: text,
    timestamp: moment,
    project: text.nullable(),
    event_message: text,
    metadata: z.unknown().meta({ description: 'As it was stored' }),
    ingested_at: moment,
  })
  .meta({ id: 'Entry' });

export const Bucket = z.strictObject({ timestamp: moment, entries: count }).meta({ id: 'Bucket' });

export const Project = z.strictObject({ project: text, entries: count }).meta({ id: 'Project' });

const Refusal = z.strictObject({ path: text, reason: text });

export const LedgerEntry = z
  .strictObject({
    source: SourceName,
    files: count,
    pending_bytes: count,
    lag_seconds: z.number().nonnegative(),
    bytes: count,
    lines: count,
    rows: count,
    rejected: count,
    repaired: count,
    undated: count,
    removed: count,
    removed_rejected: count,
    stored: count,
    oldest: moment.nullable(),
    newest: moment.nullable(),
    oldest_ingested: moment.nullable(),
    size: count,
    refused: z.array(Refusal),
  })
  .meta({ id: 'LedgerEntry' });

export const Homeless = z
  .strictObject({ source: z.null(), refused: z.array(Refusal) })
  .meta({ id: 'Homeless', description: 'What is there, is not read, and belongs to no source' });

export const RejectedLine = z
  .strictObject({
    id: text,
    source: SourceName,
    file: text,
    offset: count,
    length: count,
    reason: text,
    rejected_at: moment,
    line: text,
    shown_bytes: count,
    whole: z.boolean(),
  })
  .meta({ id: 'RejectedLine' });

export const Retry = z
  .strictObject({
    id: text,
    line: text
      .optional()
      .meta({ description: 'Instead of the bytes it came with; no line breaks' }),
  })
  .meta({ id: 'Retry' });

export const Removal = z
  .strictObject({
    source: SourceName,
    why: z.enum(['age', 'size']),
    would_remove_rows: count,
    would_remove_rejected: count,
    oldest: moment,
    newest: moment,
    bytes: count,
  })
  .meta({ id: 'Removal' });

export const Endpoint = z
  .strictObject({
    id: z.uuid(),
    name: text,
    description: text,
    max_rows: count,
    caching: count.nullable().meta({ description: 'Seconds; null: off' }),
    cache_warming: count.nullable().meta({ description: 'Seconds; null: off' }),
    sandboxing: z.boolean(),
    redact_pii: z.boolean(),
    parameters: z.array(
      z.strictObject({
        name: text,
        type: z.enum(PARAMETER_TYPES),
        allowed: z.array(text).optional(),
        required: z.boolean(),
        default: text.optional(),
        description: text,
      }),
    ),
  })
  .meta({ id: 'Endpoint' });

export const LogflareSource = z
  .strictObject({
    id: count,
    name: text,
    token: SourceName,
    retention_days: z.number().nullable(),
    backends: z.array(z.never()),
  })
  .meta({ id: 'LogflareSource' });

export const Logged = z.strictObject({ message: z.literal('Logged!') }).meta({ id: 'Logged' });

export const Health = z.strictObject({ status: z.enum(['alive', 'ready']) }).meta({ id: 'Health' });

/** A list as all of ours come. */
export function resultOf<T extends z.ZodType>(item: T) {
  return z.strictObject({ result: z.array(item) });
}
