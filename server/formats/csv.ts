import { stringify } from 'csv-stringify/sync';
import type { Plain, RowColumn } from '../store/index.ts';
import { member } from './value.ts';
import type { Writer, WriterOptions } from './writer.ts';

/**
 * RFC 4180: a header, then a record a row, each ended by CRLF. NULL is an empty field, an empty text `""`; objects and
 * lists are JSON. A text that a spreadsheet would take for a formula has a `'` before it. The record behind the rows is perhaps
 * `#rows`, their count, and empty fields.
 */
export function csv(columns: readonly RowColumn[], options: WriterOptions): Writer {
  const field = (value: Plain, column: RowColumn | undefined) => {
    if (value === null) return value;
    if (typeof value === 'number' || typeof value === 'bigint') return numberOf(value, options);
    if (typeof value === 'string' && column?.kind !== 'json')
      return defused(options.redact ? options.redact(value) : value);
    return member(value, column, options);
  };
  return {
    begin: () => records([columns.map(({ name }) => defused(name))]),
    rows: (rows) => records(rows.map((row) => row.map((value, i) => field(value, columns[i])))),
    // Not quoted, as any text is that begins so.
    end: (count) =>
      count === undefined ? '' : `#rows,${count}${','.repeat(columns.length - 2)}\r\n`,
  };
}

function records(rows: readonly (readonly Plain[])[]): string {
  return stringify(rows as Plain[][], {
    record_delimiter: 'windows',
    quoted_match: /^$|^#|[\r\n]/,
  });
}

/**
 * The beginnings that OWASP lists under CSV injection: a tab or a line break, and `=`, `+`, `-` or `@`, also in full width. Some spreadsheets
 * trim what they do not show, so that blanks and controls before such a sign do not count.
 */
const FORMULA = /^[\t\r\n]|^[\s\p{Cc}\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20]/u;

function defused(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** A negative number is not a formula. */
function numberOf(value: number | bigint, { redact }: WriterOptions): Plain {
  const digits = String(value);
  const shown = redact ? redact(digits) : digits;
  return shown === digits ? value : defused(shown);
}
