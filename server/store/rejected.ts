import { isSource, type Source } from '../../ingest/index.ts';
import { incrementCounters } from './ledger.ts';
import type { Plain } from './plain-values.ts';
import type { QueryRows } from './read/query-rows.ts';
import type { Writer } from './write/writer.ts';

/** A rejected line, whole or cut, as the bytes that it was kept as. */
export interface RejectedBytes {
  readonly source: Source;
  readonly line: Buffer;
  /** Whether these are all bytes of it. */
  readonly whole: boolean;
}

export interface Rejected {
  /** The latest rejected lines, of one source or of all; `line` as text, the first 4 KiB of it. */
  rejected(source: Source | null, limit: number): Promise<Record<string, Plain>[]>;
  /** The line of this id; null when it is not there (any more). */
  rejectedLine(id: string): Promise<RejectedBytes | null>;
  /** Removes the line of this id, and counts it as removed. Gives whether it was there. */
  removeRejected(id: string): Promise<boolean>;
}

/** Where a line stood and when it was rejected is what it is known by, and its rest: rows of the tables move. */
const ID = `left(md5(concat_ws(' ', source, "offset", epoch_us(rejected_at), file)), 16)`;
const WHOLE = 'coalesce(kept, octet_length(line)) = length as whole';

export function createRejected(ask: QueryRows, writer: Pick<Writer, 'exclusive'>): Rejected {
  return {
    rejected(source, limit) {
      if (source !== null && !isSource(source)) throw new Error('BUG: not a source');
      const from = source ? `rejected where source = '${source}'` : 'rejected';
      return ask(
        `select ${ID} as id, source, file, "offset", length, reason, rejected_at, line, octet_length(line) as shown_bytes, ${WHOLE}
          from ${from}
          order by rejected.rowid desc
          limit ${limit}`,
      );
    },
    async rejectedLine(id) {
      if (!isId(id)) return null;
      const pieces = await ask(
        `select source, to_base64(line) as bytes, ${WHOLE}, 0 as start from rejected where ${ID} = '${id}'
          union all
          select source, to_base64(piece), null, start from rejected_rest where ${ID} = '${id}'
          order by start`,
      );
      const [first] = pieces;
      if (!first) return null;
      const line = Buffer.concat(pieces.map(({ bytes }) => Buffer.from(String(bytes), 'base64')));
      return { source: first.source as Source, line, whole: first.whole === true };
    },
    async removeRejected(id) {
      if (!isId(id)) return false;
      const removed = await writer.exclusive(({ transaction }) =>
        transaction(async (connection) => {
          await connection.run(`delete from rejected_rest where ${ID} = '${id}'`);
          const deleted = await connection.runAndReadAll(
            `delete from rejected where ${ID} = '${id}' returning source`,
          );
          await incrementCounters(
            connection,
            deleted
              .getRows()
              .map(([source]) => ({ source: source as Source, removed_rejected: 1 })),
          );
          return deleted.currentRowCount;
        }),
      );
      return removed > 0;
    },
  };
}

function isId(text: string): boolean {
  return /^[0-9a-f]{16}$/.test(text);
}
