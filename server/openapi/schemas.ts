import { z } from 'zod';
import { ERRORS } from '../errors.ts';
import { type AnswerName, type BodyName, PARAMETER_TYPES } from '../http/route.ts';
import {
  Bucket,
  Entry,
  Facet,
  Homeless,
  LedgerEntry,
  LogflareSource,
  Project,
  RejectedLine,
  Removal,
} from './answers.ts';

/** What bodies look like. The tests hold every answer of the service against these, so they are strict. */

const count = z.number().int().nonnegative();
const text = z.string();

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

const Retry = z
  .strictObject({
    id: text,
    line: text
      .optional()
      .meta({ description: 'Instead of the bytes it came with; no line breaks' }),
  })
  .meta({ id: 'Retry' });

const Endpoint = z
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

const Logged = z.strictObject({ message: z.literal('Logged!') }).meta({ id: 'Logged' });

const Health = z.strictObject({ status: z.enum(['alive', 'ready']) }).meta({ id: 'Health' });

/** A list as all of ours come. */
function resultOf<T extends z.ZodType>(item: T) {
  return z.strictObject({ result: z.array(item) });
}

/** What routes answer with 200. */
export const ANSWERS: Readonly<Record<AnswerName, z.ZodType>> = {
  Backends: z.array(z.never()),
  Document: z.looseObject({ openapi: text }),
  Endpoints: resultOf(Endpoint),
  Entries: resultOf(Entry).extend({
    hint: text.optional().meta({
      description: 'Without entries: how `q` was read, and what to write if it was meant otherwise',
    }),
  }),
  Export: resultOf(Entry).extend({ count: z.number().int() }),
  Facets: resultOf(Facet),
  Health,
  Histogram: resultOf(Bucket).extend({ step_seconds: z.number().positive() }),
  Ledger: resultOf(z.union([LedgerEntry, Homeless])),
  Logged,
  LogRecordsTaken: z.strictObject({
    partialSuccess: z
      .strictObject({ rejectedLogRecords: text, errorMessage: text })
      .optional()
      .meta({ description: 'Where some records do not become rows' }),
  }),
  LogflareSources: z.array(LogflareSource),
  Projects: resultOf(Project),
  RejectedLines: resultOf(RejectedLine),
  Removals: resultOf(Removal),
  Retried: z.strictObject({ result: z.strictObject({ retried: z.literal(1) }) }),
  Rows: resultOf(z.looseObject({})),
};

/** What routes take as a body. */
export const BODIES: Readonly<Record<BodyName, z.ZodType>> = {
  Lines: z
    .union([z.array(z.unknown()), z.looseObject({})])
    .meta({ description: 'Lines: an array, one object, or NDJSON; at most 12 MB' }),
  LogRecords: z
    .looseObject({ resourceLogs: z.array(z.looseObject({})) })
    .meta({ description: 'An ExportLogsServiceRequest of OTLP; also in protobuf; at most 12 MB' }),
  Retry,
};
