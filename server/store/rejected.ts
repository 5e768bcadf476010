import { isSource, type Source } from '../../ingest/index.ts';
import type { Writer } from './append.ts';
import type { Ask } from './ask.ts';
import type { Plain } from './values.ts';

/** A rejected line, whole or cut, as the bytes that it was kept as. */
export interface RejectedBytes {
  readonly source: Source;
  readonly line: Buffer;
  /** Whether these are all bytes of it. */
  readonly whole: boolean;
}

export interface Rejected {
  /** The latest rejected lines, of one source or of all; `line` as text. */
  rejected(source: Source | null, limit: number): Promise<Record<string, Plain>[]>;
  /** The line of this id; null when it is not there (any more). */
  rejectedLine(id: string): Promise<RejectedBytes | null>;
  /** Removes the line of this id, and counts it as removed. Gives whether it was there. */
  removeRejected(id: string): Promise<boolean>;
}

export function createRejected(ask: Ask, writer: Pick<Writer, 'between'>): Rejected {
  return {
    async rejected(source, limit) {
      if (source !== null && !isSource(source)) throw new Error('BUG: not a source');
      const from = source ? `rejected where source = '${source}'` : 'rejected';
      const lines = await ask(
        `select source, file, "offset", length, reason, rejected_at, line,
            octet_length(line) = length as whole, epoch_us(rejected_at) as at
          from ${from}
          order by rejected.rowid desc
          limit ${limit}`,
      );
      return lines.map(({ at, ...line }) => ({
        id: idOf([line.source, line.offset, at, line.file].map(String)),
        ...line,
      }));
    },
    async rejectedLine(id) {
      const place = placeOf(id);
      if (!place) return null;
      const [found] = await ask(
        `select to_base64(line) as bytes, octet_length(line) = length as whole
          from rejected where ${place.where} limit 1`,
      );
      if (!found) return null;
      const line = Buffer.from(String(found.bytes), 'base64');
      return { source: place.source, line, whole: found.whole === true };
    },
    async removeRejected(id) {
      const place = placeOf(id);
      if (!place) return false;
      const removed = await writer.between(({ transaction }) =>
        transaction(async (connection) => {
          const { rowsChanged } = await connection.run(`delete from rejected where ${place.where}`);
          await connection.run(
            `update ledger set removed_rejected = removed_rejected + ${rowsChanged} where source = '${place.source}'`,
          );
          return rowsChanged;
        }),
      );
      return removed > 0;
    },
  };
}

/** Where a line stood and when it was rejected is what it is known by: rows of the table move. */
function idOf(parts: readonly string[]): string {
  return Buffer.from(parts.join(' ')).toString('base64url');
}

/** What an id stands for, as a condition; null when it is none. */
function placeOf(id: string): { source: Source; where: string } | null {
  const text = Buffer.from(id, 'base64url').toString();
  const [, source = '', offset, at, file = ''] = /^(\S+) (\d+) (\d+) (.*)$/s.exec(text) ?? [];
  if (!isSource(source)) return null;
  const where = `source = '${source}' and "offset" = ${offset} and epoch_us(rejected_at) = ${at}
    and file = '${file.replaceAll("'", "''")}'`;
  return { source, where };
}
