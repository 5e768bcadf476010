import type { RowColumn } from '../store/index.ts';
import { objectOf } from './json.ts';
import type { Writer, WriterOptions } from './writer.ts';

/**
 * A JSON object a line; the last one perhaps `{"count":…}`. The texts of `encode` are joined, which keep all digits of a number:
 * the package `ndjson` would write JavaScript's numbers.
 */
export function ndjson(columns: readonly RowColumn[], options: WriterOptions): Writer {
  const object = objectOf(columns, options);
  return {
    begin: () => '',
    rows: (rows) => rows.map((row) => `${object(row)}\n`).join(''),
    end: (count) => (count === undefined ? '' : `{"count":${count}}\n`),
  };
}
