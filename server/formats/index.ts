import type { RowColumn, Rows, Store } from '../store/index.ts';
import { csv } from './csv.ts';
import type { Format } from './format.ts';
import { json } from './json.ts';
import { ndjson } from './ndjson.ts';
import type { Writer, WriterOptions } from './writer.ts';

export { FORMATS, type Format, formatOf, MEDIA_TYPES } from './format.ts';
export type { Writer } from './writer.ts';

/** A writer of rows with these columns. Parquet is none: it is written by the engine. */
export function writerOf(
  format: Exclude<Format, 'parquet'>,
  columns: readonly RowColumn[],
  options: WriterOptions,
): Writer {
  const make = { json, ndjson, csv }[format];
  return make(columns, options);
}

/** The rows of an answer in a format. */
export async function encodeRows(
  format: Format,
  rows: Rows,
  options: WriterOptions,
  store: Pick<Store, 'toParquet'>,
): Promise<Buffer> {
  if (format === 'parquet')
    return store.toParquet(rows.columns, whole(ndjson(rows.columns, options), rows));
  return Buffer.from(whole(writerOf(format, rows.columns, options), rows));
}

function whole(writer: Writer, { rows }: Rows): string {
  return writer.begin() + writer.rows(rows) + writer.end();
}
