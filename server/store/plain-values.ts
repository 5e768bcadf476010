import {
  DuckDBBlobValue,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBListValue,
  DuckDBStructValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  type DuckDBType,
  type DuckDBValue,
} from '@duckdb/node-api';

/**
 * A value as it leaves the store: a bigint where a number could lose digits, moments as ISO 8601 text in UTC, bytes as
 * text in which whatever is not UTF-8 became U+FFFD.
 */
export type Plain = null | boolean | number | bigint | string | Plain[] | { [key: string]: Plain };

/** Whether a column's texts are JSON; `map`: and are shown as a map of texts by dotted names, which the store itself does not know. */
export type ValueKind = 'json' | 'map' | 'plain';

export function valueKind(type: DuckDBType): ValueKind {
  return type.alias === 'JSON' ? 'json' : 'plain';
}

/** A column's type as SQL calls it. */
export function typeName(type: DuckDBType): string {
  return type.alias ?? type.toString();
}

/** DuckDB's value as a plain one. */
export function plain(value: DuckDBValue): Plain {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  if (value instanceof DuckDBTimestampValue || value instanceof DuckDBTimestampTZValue)
    return isoUtc(value.micros);
  if (value instanceof DuckDBBlobValue) return Buffer.from(value.bytes).toString('utf8');
  if (value instanceof DuckDBDateValue) return value.toString();
  if (value instanceof DuckDBDecimalValue) return value.toDouble();
  if (value instanceof DuckDBListValue) return value.items.map(plain);
  if (value instanceof DuckDBStructValue) {
    return Object.fromEntries(
      Object.entries(value.entries).map(([key, entry]) => [key, plain(entry)]),
    );
  }
  return String(value);
}

/** `2026-11-20T14:00:00Z`, with as many digits of a fraction as are needed. `micros` counts from the epoch. */
export function isoUtc(micros: bigint): string {
  const second = micros / 1_000_000n - (micros % 1_000_000n < 0n ? 1n : 0n);
  const fraction = micros - second * 1_000_000n;
  const text = new Date(Number(second) * 1000).toISOString().slice(0, 19);
  return fraction === 0n
    ? `${text}Z`
    : `${text}.${String(fraction).padStart(6, '0').replace(/0+$/, '')}Z`;
}

/** The microseconds since the epoch of a text that `isoUtc` made. */
export function microsOf(iso: string): bigint {
  const [, second = '', fraction = ''] = /^([^.]*?)(?:\.(\d+))?Z$/.exec(iso) ?? [];
  return BigInt(Date.parse(`${second}Z`)) * 1000n + BigInt(fraction.padEnd(6, '0'));
}
