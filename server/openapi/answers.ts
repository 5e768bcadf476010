import { z } from 'zod';
import { SEVERITIES } from '../search/fields.ts';

/** What the answers hold that the console reads, which has its types from here. The tests hold every answer against these: they are strict. */

const moment = z.string().meta({ description: 'ISO 8601 in UTC', format: 'date-time' });
const count = z.number().int().nonnegative();
const text = z.string();

export const SourceName = z
  .string()
  .meta({ id: 'SourceName', description: 'The name of a source, such as edge_logs' });

export const Entry = z
  .strictObject({
    id: text,
    timestamp: moment,
    source: text.optional().meta({ description: 'Where several sources were asked' }),
    project: text.nullable(),
    severity: z
      .enum(SEVERITIES)
      .nullable()
      .meta({ description: 'How grave the entry is; null where it does not say' }),
    status: z
      .number()
      .int()
      .nullable()
      .meta({ description: 'The status of HTTP that it tells of, if it does' }),
    event_message: text,
    metadata: z.unknown().meta({ description: 'As it was stored' }),
    ingested_at: moment,
  })
  .meta({ id: 'Entry' });

export const Bucket = z
  .strictObject({
    timestamp: moment,
    entries: count,
    severity: z.enum(SEVERITIES).nullable().optional().meta({ description: 'With `by=severity`' }),
  })
  .meta({ id: 'Bucket' });

export const Facet = z.strictObject({ value: text, entries: count }).meta({ id: 'Facet' });

export const Project = z
  .strictObject({ project: text.nullable(), entries: count })
  .meta({ id: 'Project' });

const UndatedForm = z
  .strictObject({ field: text, form: text, rows: count })
  .meta({ description: 'A field that looks like the timestamp, and its text with 0 for digits' });

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
    undated_forms: z.array(UndatedForm),
    future: count,
    doubled: count,
    removed: count,
    removed_rejected: count,
    forwarded: count,
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

export const LogflareSource = z
  .strictObject({
    id: count,
    name: text,
    token: SourceName,
    uuid: z.uuid(),
    retention_days: z.number().nullable(),
    backends: z.array(z.never()),
  })
  .meta({ id: 'LogflareSource' });
