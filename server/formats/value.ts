import type { Plain, RowColumn } from '../store/index.ts';
import { attributesOf } from './attributes.ts';
import { LONG_NUMBER, strictJson } from './nested-records.ts';
import type { WriterOptions } from './writer.ts';

/** One value as JSON text; NaN and the infinities, which JSON lacks, as null. */
export function encode(value: Plain, redact?: (text: string) => string): string {
  if (typeof value === 'string') return JSON.stringify(redact ? redact(value) : value);
  if (typeof value === 'bigint' || typeof value === 'number') {
    const digits = typeof value === 'bigint' ? String(value) : JSON.stringify(value);
    const shown = redact && digits.length >= LONG_NUMBER ? redact(digits) : digits;
    return shown === digits ? digits : JSON.stringify(shown);
  }
  if (Array.isArray(value)) return `[${value.map((item) => encode(item, redact)).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([key, item]) => `${JSON.stringify(key)}:${encode(item, redact)}`,
    );
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value);
}

/**
 * A value of a column as JSON text. A JSON column gives records (nested objects as one-element arrays), or `asStored`; one
 * whose text is not strict JSON stays a string, so that one stored row can never fail an answer. `redact` is applied to every
 * string value at any depth.
 */
export function member(
  value: Plain,
  column: Pick<RowColumn, 'kind'> | undefined,
  { redact, asStored }: WriterOptions,
): string {
  if (column?.kind === 'map') return typeof value === 'string' ? attributesOf(value, redact) : '{}';
  if (column?.kind !== 'json' || typeof value !== 'string') return encode(value, redact);
  return strictJson(value, { redact, wrap: !asStored }) ?? encode(value, redact);
}
