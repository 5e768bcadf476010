import type { Plain, RowColumn } from '../store/index.ts';
import { strictJson } from './nested-records.ts';
import { encode } from './value.ts';
import type { WriterOptions } from './writer.ts';

/**
 * A value of a column as JSON text. Of a JSON column it is records (nested objects as one-element arrays), or `asStored`; one
 * whose text is not strict JSON stays a string, so that one stored row can never fail an answer. `redact` is applied to every
 * string value at any depth.
 */
export function member(
  value: Plain,
  column: Pick<RowColumn, 'kind'> | undefined,
  { redact, asStored }: WriterOptions,
): string {
  if (column?.kind !== 'json' || typeof value !== 'string') return encode(value, redact);
  return strictJson(value, { redact, wrap: !asStored }) ?? encode(value, redact);
}
