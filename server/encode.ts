import { records } from './records.ts';
import type { Plain, Rows } from './store/index.ts';

/**
 * The rows as the text of an answer, `{"result":[{…}]}`. JSON columns become records (nested objects as one-element
 * arrays); one whose text is not strict JSON stays a string, so that one stored row can never fail an answer.
 * `redact` is applied to every string value at any depth.
 */
export function encodeRows({ columns, rows }: Rows, redact?: (text: string) => string): string {
  const keys = columns.map(({ name }) => `${JSON.stringify(name)}:`);
  const objects = rows.map((row) => {
    const members = row.map(
      (value, i) => (keys[i] ?? '') + member(value, columns[i]?.kind === 'json', redact),
    );
    return `{${members.join(',')}}`;
  });
  return `{"result":[${objects.join(',')}]}`;
}

function member(value: Plain, json: boolean, redact?: (text: string) => string): string {
  if (json && typeof value === 'string') return records(value, redact) ?? encode(value, redact);
  return encode(value, redact);
}

/** One value as JSON text; NaN and the infinities, which JSON lacks, as null. */
export function encode(value: Plain, redact?: (text: string) => string): string {
  if (typeof value === 'string') return JSON.stringify(redact ? redact(value) : value);
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map((item) => encode(item, redact)).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([key, item]) => `${JSON.stringify(key)}:${encode(item, redact)}`,
    );
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value);
}
