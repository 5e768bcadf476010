import { type DuckDBConnection, DuckDBTimestampValue } from '@duckdb/node-api';
import type { KnownFile, Source } from '../../ingest/index.ts';
import { appendRows } from './append-rows.ts';

/** Puts the states of some files in place of those that are there, and forgets others; within the caller's transaction. */
export async function replaceFiles(
  connection: DuckDBConnection,
  files: readonly KnownFile[],
  forgotten: readonly number[],
  nowMs: number,
) {
  const ids = [...files.map(({ id }) => id), ...forgotten];
  if (ids.length > 0) await connection.run(`delete from files where id in (${ids.join(', ')})`);
  if (files.length === 0) return;
  const updatedAt = new DuckDBTimestampValue(BigInt(Math.floor(nowMs)) * 1000n);
  await appendRows(connection, 'files', (appender) => {
    for (const file of files) {
      appender.appendBigInt(BigInt(file.id));
      appender.appendVarchar(file.source);
      appender.appendVarchar(file.path);
      appender.appendVarchar(file.inode);
      appender.appendBigInt(BigInt(file.offset));
      appender.appendBigInt(BigInt(file.head.length));
      appender.appendVarchar(file.head.hash);
      appender.appendBigInt(BigInt(file.anchor.length));
      appender.appendVarchar(file.anchor.hash);
      appender.appendBoolean(file.openLine);
      if (file.shadowOf === null) appender.appendNull();
      else appender.appendBigInt(BigInt(file.shadowOf));
      appender.appendBoolean(file.gone);
      if (file.finished === null) appender.appendNull();
      else appender.appendVarchar(file.finished);
      appender.appendTimestamp(updatedAt);
      appender.endRow();
    }
  });
}

/** Every file as last committed. */
export async function readFiles(connection: DuckDBConnection): Promise<KnownFile[]> {
  const rows = await connection.runAndReadAll('select * from files');
  return rows.getRowObjects().map((row) => ({
    id: Number(row.id),
    source: row.source as Source,
    path: String(row.path),
    inode: String(row.inode),
    offset: Number(row.offset),
    head: { length: Number(row.head_length), hash: String(row.head_hash) },
    anchor: { length: Number(row.anchor_length), hash: String(row.anchor_hash) },
    openLine: Boolean(row.open_line),
    shadowOf: row.shadow_of === null ? null : Number(row.shadow_of),
    gone: Boolean(row.gone),
    finished: row.finished === null ? null : String(row.finished),
  }));
}
