import type { Plain, RowColumn } from '../store/index.ts';
import { member } from './value.ts';
import type { Writer, WriterOptions } from './writer.ts';

/** `{"result":[{…},…]}`, behind the rows perhaps `"count"` and `"hint"`. */
export function json(columns: readonly RowColumn[], options: WriterOptions): Writer {
  const object = objectOf(columns, options);
  let first = true;
  return {
    begin: () => '{"result":[',
    rows(rows) {
      if (rows.length === 0) return '';
      const text = rows.map(object).join(',');
      const separator = first ? '' : ',';
      first = false;
      return separator + text;
    },
    end: (count) => {
      const ofCount = count === undefined ? '' : `,"count":${count}`;
      return `]${ofCount}${options.hint ? `,"hint":${JSON.stringify(options.hint)}` : ''}}`;
    },
  };
}

/** Gives a row as the text of a JSON object. */
export function objectOf(columns: readonly RowColumn[], options: WriterOptions) {
  const keys = columns.map(({ name }) => `${JSON.stringify(name)}:`);
  return (row: readonly Plain[]): string => {
    const members = row.map((value, i) => (keys[i] ?? '') + member(value, columns[i], options));
    return `{${members.join(',')}}`;
  };
}

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
