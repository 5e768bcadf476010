import { type DuckDBConnection, DuckDBTimestampValue } from '@duckdb/node-api';
import type { FileState, Proof, Source } from '../../../ingest/index.ts';
import { appendRows } from './append-rows.ts';

/** Puts the states of some files in place of those that are there, and forgets others; within the caller's transaction. */
export async function replaceFiles(
  connection: DuckDBConnection,
  files: readonly FileState[],
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
      appender.appendVarchar(file.birth);
      appender.appendBigInt(BigInt(file.offset));
      appender.appendVarchar(file.proofs.map(proofText).join(' '));
      appender.appendBoolean(file.unterminated);
      appender.appendBoolean(file.gone);
      if (file.finished === null) appender.appendNull();
      else appender.appendVarchar(file.finished);
      appender.appendTimestamp(updatedAt);
      appender.endRow();
    }
  });
}

/** Every file as last committed. */
export async function readFiles(connection: DuckDBConnection): Promise<FileState[]> {
  const rows = await connection.runAndReadAll('select * from files');
  return rows.getRowObjects().map((row) => ({
    id: Number(row.id),
    source: row.source as Source,
    path: String(row.path),
    inode: String(row.inode),
    birth: String(row.birth),
    offset: Number(row.offset),
    proofs: String(row.proofs).split(' ').filter(Boolean).map(proofOf),
    unterminated: Boolean(row.unterminated),
    gone: Boolean(row.gone),
    finished: row.finished === null ? null : String(row.finished),
  }));
}

/** The proof as `at/length:hash`, with `:copy` behind it where a copy ends. */
function proofText({ at, length, hash, endsCopy }: Proof): string {
  return `${at}/${length}:${hash}${endsCopy ? ':copy' : ''}`;
}

function proofOf(text: string): Proof {
  const [at = '', length = '', hash = '', copy] = text.split(/[/:]/);
  const proof = { at: Number(at), length: Number(length), hash: hash.slice(0, 12) };
  return copy ? { ...proof, endsCopy: true } : proof;
}
