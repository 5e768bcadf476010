import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allSources, type Source } from '../../../ingest/index.ts';
import { IS_SORTED } from '../members/members.ts';
import type { QueryRows } from '../read/query-rows.ts';
import { PIECE_BYTES } from '../write/rejected.ts';
import { EARLIEST_MS, type RetentionSegment, type RowGroup } from './plan.ts';

export interface Parts {
  readonly parts: readonly RetentionSegment[];
  /** Bytes of row groups whose rows are all removed, but that no checkpoint has dropped yet. */
  readonly deadBytes: number;
}

/** What a row takes while it is only in memory and its table has nothing on disk yet that it could be compared with. */
const ROW_BYTES = 200;

/** Where a part is kept, and by which column its age is told. */
export const placeOf = ({ source, kind }: Pick<RetentionSegment, 'source' | 'kind'>) =>
  kind === 'rows'
    ? { table: source, stamp: 'ingested_at', belongs: 'true', sorted: IS_SORTED }
    : { table: 'rejected', stamp: 'rejected_at', belongs: `source = '${source}'`, sorted: 'false' };

/**
 * Reads which row groups each source's rows and rejected lines stand in. Takes some 0.35 ms a row group, so it is for
 * when there may be something to remove; `folder` is sql/retention.
 */
export function groupReader(folder: string, ask: QueryRows) {
  const read = (name: string) => readFileSync(join(folder, `${name}.sql`), 'utf8');
  const [rowGroups, rejectedParts] = [read('row_groups'), read('rejected_parts')];

  const rowGroupsOf = (table: string, stamp: string) =>
    ask(rowGroups.replaceAll('{table}', table).replaceAll('{stamp}', stamp));

  /** The row groups of a table, without those at its beginning whose rows are all removed. */
  const groupsOf = async (table: string, stamp: string) => {
    const rows = await rowGroupsOf(table, stamp);
    let until = 0;
    const all = rows.map((row): RowGroup => {
      until += Number(row.rows);
      return {
        rows: Number(row.rows),
        bytes: Number(row.bytes),
        oldestMs: Number(row.oldest ?? Infinity),
        newestMs: Number(row.newest ?? Infinity),
        until,
      };
    });
    const [first] = await ask(`select min(rowid) as position from ${table}`);
    const start = first?.position === null ? until : Number(first?.position);
    const groups = estimated(all).filter((group) => group.until > start);
    return { groups, deadBytes: bytesOf(all) - bytesOf(all.filter((g) => g.until > start)) };
  };

  const partOf = async (source: Source): Promise<RetentionSegment & { deadBytes: number }> => {
    const { groups, deadBytes } = await groupsOf(source, 'ingested_at');
    const [head, ...others] = groups;
    if (!head) return { source, kind: 'rows', groups, deadBytes };
    // What the engine notes of a row group still holds for rows that were removed from it.
    const [first] = await ask(
      `select count(*) as rows, epoch_ms(min(ingested_at) filter (ingested_at >= make_timestamp_ms(${EARLIEST_MS}))) as oldest
        from ${source}
        where rowid < ${head.until}`,
    );
    const oldestMs = Number(first?.oldest ?? Infinity);
    const exact = { ...head, oldestMs, rows: Number(first?.rows) };
    return { source, kind: 'rows', groups: [exact, ...others], deadBytes };
  };

  const rejected = async () => {
    const { groups, deadBytes } = await groupsOf('rejected', 'rejected_at');
    const bySource = new Map<Source, RowGroup[]>(allSources().map((source) => [source, []]));
    if (groups.length > 0) {
      const first = groups.map((_, i) => (i === 0 ? 0 : groups[i - 1]?.until));
      const shares = await ask(
        rejectedParts
          .replaceAll('{first_rows}', `[${first.join(', ')}]::bigint[]`)
          .replaceAll('{piece_bytes}', String(PIECE_BYTES)),
      );
      for (const share of shares) {
        const group = groups[Number(share.group_index)];
        if (!group) throw new Error('BUG: a rejected line stands in no row group');
        bySource.get(share.source as Source)?.push({
          rows: Number(share.rows),
          bytes:
            Math.round((group.bytes * Number(share.rows)) / group.rows) + Number(share.rest_bytes),
          oldestMs: Number(share.oldest),
          newestMs: Number(share.newest),
          until: group.until,
        });
      }
    }
    const parts = [...bySource].map(
      ([source, own]): RetentionSegment => ({ source, kind: 'rejected', groups: own }),
    );
    return { parts, deadBytes };
  };

  /** Bytes of removed pieces of long rejected lines: a row group of them is freed as a whole, and lines of all sources share it. */
  const deadPieces = async () => {
    const rows = await rowGroupsOf('rejected_rest', 'rejected_at');
    const all = rows.reduce((sum, group) => sum + Number(group.rows), 0);
    if (all === 0) return 0;
    const bytes = rows.reduce((sum, group) => sum + Number(group.bytes), 0);
    const [left] = await ask('select count(*) as rows from rejected_rest');
    return Math.round(bytes * (1 - Number(left?.rows) / all));
  };

  return async (): Promise<Parts> => {
    const tables = [];
    for (const source of allSources()) tables.push(await partOf(source));
    const lines = await rejected();
    const ofPieces = await deadPieces();
    return {
      parts: [
        ...tables.map(({ source, kind, groups }) => ({ source, kind, groups })),
        ...lines.parts,
      ],
      deadBytes: tables.reduce((sum, table) => sum + table.deadBytes, lines.deadBytes + ofPieces),
    };
  };
}

export function bytesOf(groups: readonly RowGroup[]): number {
  return groups.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Row groups that are not on disk yet take as much a row as the others. */
function estimated(groups: readonly RowGroup[]): RowGroup[] {
  const onDisk = groups.filter(({ bytes }) => bytes > 0);
  const rows = onDisk.reduce((sum, group) => sum + group.rows, 0);
  const rowBytes = rows > 0 ? bytesOf(onDisk) / rows : ROW_BYTES;
  return groups.map((group) =>
    group.bytes > 0 ? group : { ...group, bytes: Math.round(group.rows * rowBytes) },
  );
}
