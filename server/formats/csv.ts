import { stringify } from 'csv-stringify/sync';
import type { Plain, RowColumn } from '../store/index.ts';
import { member } from './value.ts';
import type { Writer, WriterOptions } from './writer.ts';

/**
 * RFC 4180: a header, then a record a row, each ended by CRLF. NULL is an empty field, an empty text `""`; objects and
 * lists are JSON. A text that a spreadsheet would take for a formula, as it begins with `=`, `+`, `-`, `@`, a tab or a carriage
 * return, has a `'` before it. The record behind the rows is perhaps `#rows`, their count, and empty fields.
 */
export function csv(columns: readonly RowColumn[], options: WriterOptions): Writer {
  const field = (value: Plain, column: RowColumn | undefined) => {
    if (value === null) return value;
    if (typeof value === 'number' || typeof value === 'bigint')
      return options.redact ? options.redact(String(value)) : value;
    if (typeof value === 'string' && column?.kind !== 'json')
      return options.redact ? options.redact(value) : value;
    return member(value, column, options);
  };
  return {
    begin: () => records([columns.map(({ name }) => name)]),
    rows: (rows) => records(rows.map((row) => row.map((value, i) => field(value, columns[i])))),
    // Not quoted, as any text is that begins so.
    end: (count) =>
      count === undefined ? '' : `#rows,${count}${','.repeat(columns.length - 2)}\r\n`,
  };
}

function records(rows: readonly (readonly Plain[])[]): string {
  return stringify(rows as Plain[][], {
    record_delimiter: 'windows',
    escape_formulas: true,
    quoted_match: /^$|^#|[\r\n]/,
    cast: { number: plainNumber, bigint: plainNumber },
  });
}

/** A negative number is not a formula. */
function plainNumber(value: number | bigint) {
  return { value: String(value), escape_formulas: false };
}
