import { type DuckDBConnection, DuckDBTimestampValue } from '@duckdb/node-api';
import type { RejectedLine, Source } from '../../../ingest/index.ts';
import { appendRows } from './append-rows.ts';

/**
 * The row of a longer line holds so many bytes, and the rest stands in pieces of so many. DuckDB has 2048 values of a column in
 * memory at once: of lines of a megabyte that is more than there is.
 */
export const PIECE_BYTES = 4096;

/** Adds rejected lines, as of `atUs` (microseconds since the epoch); within a transaction. */
export async function insertRejected(
  connection: DuckDBConnection,
  lines: readonly (RejectedLine & { readonly source: Source })[],
  atUs: bigint,
): Promise<void> {
  if (lines.length === 0) return;
  const stamped = withMoments(lines, atUs);
  await appendRows(connection, 'rejected', (rows) => {
    for (const { source, file, offset, length, reason, line, at } of stamped) {
      rows.appendVarchar(source);
      rows.appendVarchar(file);
      rows.appendBigInt(BigInt(offset));
      rows.appendBigInt(BigInt(length));
      rows.appendVarchar(reason);
      rows.appendBlob(line.subarray(0, PIECE_BYTES));
      rows.appendTimestamp(at);
      rows.appendBigInt(BigInt(line.length));
      rows.endRow();
    }
  });

  const long = stamped.filter(({ line }) => line.length > PIECE_BYTES);
  if (long.length === 0) return;
  await appendRows(connection, 'rejected_rest', (pieces) => {
    for (const { source, file, offset, line, at } of long) {
      for (let start = PIECE_BYTES; start < line.length; start += PIECE_BYTES) {
        pieces.appendVarchar(source);
        pieces.appendVarchar(file);
        pieces.appendBigInt(BigInt(offset));
        pieces.appendTimestamp(at);
        pieces.appendBigInt(BigInt(start));
        pieces.appendBlob(line.subarray(start, start + PIECE_BYTES));
        pieces.endRow();
      }
    }
  });
}

/** Place and time are what a rejected line is known by: of two files that had one path, each line has a time of its own. */
function withMoments<Line extends RejectedLine>(lines: readonly Line[], atUs: bigint) {
  const seen = new Map<string, bigint>();
  return lines.map((line) => {
    const place = `${line.offset} ${line.file}`;
    const before = seen.get(place) ?? 0n;
    seen.set(place, before + 1n);
    return { ...line, at: new DuckDBTimestampValue(atUs + before) };
  });
}
