import type { Deadline } from '../deadline.ts';
import { AppError } from '../errors.ts';
import type { RowColumn, Rows, Store } from '../store/index.ts';
import { csv } from './csv.ts';
import { json, ndjson } from './json.ts';
import type { Format } from './negotiate.ts';
import type { Writer, WriterOptions } from './writer.ts';

export { FORMATS, type Format, formatOf, MEDIA_TYPES } from './negotiate.ts';
export type { Writer } from './writer.ts';

/** A writer of rows with these columns. Parquet has none: it is written by the engine. */
export function writerOf(
  format: Exclude<Format, 'parquet'>,
  columns: readonly RowColumn[],
  options: WriterOptions,
): Writer {
  const make = { json, ndjson, csv }[format];
  return make(columns, options);
}

/** The rows of an answer in a format. Throws `PARAMETER_INVALID` for columns that the format cannot tell apart. */
export async function encodeRows(
  format: Format,
  rows: Rows,
  options: WriterOptions,
  store: Pick<Store, 'toParquet'>,
  deadline: Deadline,
): Promise<Buffer> {
  return deadline.spent.on('encode', async () => {
    if (format !== 'parquet')
      return Buffer.from(whole(writerOf(format, rows.columns, options), rows));
    expectDistinct(rows.columns);
    return store.toParquet(rows.columns, whole(ndjson(rows.columns, options), rows), deadline);
  });
}

/** The engine's names of columns do not differ by letter case alone. */
function expectDistinct(columns: readonly RowColumn[]): void {
  const seen = new Map<string, string>();
  for (const { name } of columns) {
    const other = seen.get(name.toLowerCase());
    if (other !== undefined) {
      const detail = `Expected names of columns that differ in more than the case of letters, for Parquet; got ${JSON.stringify(other)} and ${JSON.stringify(name)}: name one of them by "as", or ask for json, ndjson or csv.`;
      throw new AppError('PARAMETER_INVALID', { faults: [{ parameter: 'format', detail }] });
    }
    seen.set(name.toLowerCase(), name);
  }
}

function whole(writer: Writer, { rows }: Rows): string {
  return writer.begin() + writer.rows(rows) + writer.end();
}
