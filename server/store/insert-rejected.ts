import { type DuckDBConnection, DuckDBTimestampValue } from '@duckdb/node-api';
import type { RejectedLine, Source } from '../../ingest/index.ts';

/**
 * Of a longer line the row holds so much, and the rest stands in pieces of so much. DuckDB has 2048 values of a column in
 * memory at once: of lines of a megabyte that is more than there is.
 */
export const PIECE_BYTES = 4096;

/** Adds rejected lines, as of `atUs` (microseconds since the epoch); within a transaction. */
export async function insertRejected(
  connection: DuckDBConnection,
  source: Source,
  lines: readonly RejectedLine[],
  atUs: bigint,
): Promise<void> {
  if (lines.length === 0) return;
  const at = new DuckDBTimestampValue(atUs);
  const rows = await connection.createAppender('rejected');
  for (const { file, offset, length, reason, line } of lines) {
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
  rows.closeSync();

  const long = lines.filter(({ line }) => line.length > PIECE_BYTES);
  if (long.length === 0) return;
  const pieces = await connection.createAppender('rejected_rest');
  for (const { file, offset, line } of long) {
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
  pieces.closeSync();
}
