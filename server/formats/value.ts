import type { Plain } from '../store/index.ts';
import { LONG_NUMBER } from './nested-records.ts';

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
