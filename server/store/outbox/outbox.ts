import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Source } from '../../../ingest/index.ts';
import { quoted } from '../engine.ts';
import { incrementCounters } from '../ledger.ts';
import { columnOf, type MemberSet, shipped } from '../members/members.ts';
import { memberRows } from '../members/values.ts';
import type { BackgroundTasks } from '../read/own-connection.ts';
import type { QueryRows } from '../read/query-rows.ts';
import { removeTextFilters } from '../text-filter/filters.ts';
import { URL_OF_ROW } from '../write/metadata-paths.ts';
import type { Writer } from '../write/writer.ts';
import {
  FIRST_AMONG,
  type Front,
  type FrontWanted,
  frontOf,
  nextAmong,
  RowsMoved,
  whileRowsStand,
} from './front.ts';

/** Rows from the front of a table that go to another database in one INSERT of one block, in one partition: all of them or none. */
export interface Shipment {
  /** Which store they are of: a random UUID that was made with it. */
  readonly node: string;
  readonly source: Source;
  /** 1 for a source's first shipment, without a gap. */
  readonly seq: number;
  readonly rows: number;
  /** The day, in UTC, that all of its rows were stored on: `2026-11-25`. */
  readonly day: string;
  /** The hash of the file that was sent last, or is to be sent, in hex. */
  readonly sha256: string;
  /** The server that it is sent to, which never changes. */
  readonly endpoint: string;
}

/**
 * A Parquet file with the rows of a shipment: the columns that each source has, those of its members with `member_set` and `member_state`,
 * `_node` and `_seq`.
 */
export interface ShipmentFile {
  readonly path: string;
  /** In hex. */
  readonly sha256: string;
  /** The names of its columns: one that was made before a restart may have those of other members. */
  readonly columns: readonly string[];
  /** When the first and the last of its rows were stored, in UTC: `2026-11-25 10:00:00.000001`. */
  readonly oldest: string;
  readonly newest: string;
}

export interface Cut {
  readonly shipment: Shipment;
  /** Whether there are rows behind its own, which it could not take. */
  readonly hasMore: boolean;
}

/** What a store does for its shipments. A source has one open shipment at a time. Every method throws what kept it from being done. */
export interface Outbox {
  /** Which store this is; a copy of it has the same. */
  readonly node: string;
  /** The number of the last shipment of a source, open or settled; 0 before the first. */
  last(source: Source): Promise<number>;
  /** The open shipment of a source. */
  open(source: Source): Promise<Shipment | null>;
  /**
   * Makes a shipment of the oldest rows of a source, which has none open: its file is on the disk, and that it may have been sent is
   * committed. Null when the source has no rows.
   */
  cut(source: Source, endpoint: string, signal: AbortSignal): Promise<Cut | null>;
  /** The file of an open shipment, made again from its rows where it is missing or torn. */
  file(shipment: Shipment, signal: AbortSignal): Promise<ShipmentFile>;
  /** The file of an open shipment, made again with the same rows and other bytes. */
  renew(shipment: Shipment, signal: AbortSignal): Promise<ShipmentFile>;
  /** Commits that this file may have been sent. */
  mark(shipment: Shipment, file: ShipmentFile): Promise<void>;
  /** Removes the rows of an open shipment from the store and counts them as forwarded, in one transaction. */
  settle(shipment: Shipment): Promise<void>;
  /** How many rows of each source wait to be forwarded, and when the oldest of them was stored, ms since the epoch. */
  waiting(source: Source): Promise<{ readonly rows: number; readonly oldestMs: number | null }>;
}

/** The rows at the front of a table are not those of its open shipment: nothing may be removed. */
export class ShipmentMismatch extends Error {}

export interface OutboxOptions {
  /** The folder of the shipments' files, which is made. SQL may read and write it. */
  readonly folder: string;
  readonly writer: Pick<Writer, 'exclusive'>;
  readonly ask: QueryRows;
  readonly background: BackgroundTasks;
  readonly sets: ReadonlyMap<Source, MemberSet>;
}

/** The facts about a shipment that no other module needs: by which its rows are told from others. */
interface Kept extends Shipment {
  readonly firstId: string;
  readonly lastId: string;
}

const COLUMNS = [
  'id',
  'timestamp',
  'project',
  'severity',
  'status',
  'event_message',
  'metadata',
  'ingested_at',
];
/** Columns of a request, which `edge_logs` alone has, as the other database calls them, and what each is here. */
const REQUEST = { path: 'path', url: URL_OF_ROW, host: 'host' };

/** The shipments of a store that are neither known to be in the other database nor known not to be. */
export async function openShipments(
  ask: QueryRows,
): Promise<{ source: string; seq: number; endpoint: string }[]> {
  const rows = await ask('select source, seq, endpoint from shipments where is_open');
  return rows.map(({ source, seq, endpoint }) => ({
    source: String(source),
    seq: Number(seq),
    endpoint: String(endpoint),
  }));
}

/** Opens the outbox of a store, and removes the files that no open shipment has. */
export async function openOutbox({
  folder,
  writer,
  ask,
  background,
  sets,
}: OutboxOptions): Promise<Outbox> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const [own] = await ask('select id::varchar as id from node');
  const node = String(own?.id);
  let turn: Promise<unknown> = Promise.resolve();
  const amongs = new Map<Source, number>();

  const fileOf = ({ source, seq }: Pick<Shipment, 'source' | 'seq'>) =>
    join(folder, `${source}-${seq}.parquet`);

  const describe = async (path: string, sha256: string): Promise<ShipmentFile> => {
    // What has no children is a column: the root has.
    const columns = await ask(
      `select name from parquet_schema(${quoted(path)}) where num_children is null`,
    );
    const [times] = await ask(
      `select min(ingested_at)::varchar as oldest, max(ingested_at)::varchar as newest from read_parquet(${quoted(path)})`,
    );
    return {
      path,
      sha256,
      columns: columns.map(({ name }) => String(name)),
      oldest: String(times?.oldest),
      newest: String(times?.newest),
    };
  };

  const read = async (source: Source): Promise<(Kept & { readonly isOpen: boolean }) | null> => {
    const [row] = await ask(
      `select seq, rows, day::varchar as day, first_id, last_id, sha256, endpoint, is_open from shipments where source = '${source}'`,
    );
    if (!row) return null;
    return {
      node,
      source,
      seq: Number(row.seq),
      rows: Number(row.rows),
      day: String(row.day),
      sha256: String(row.sha256),
      endpoint: String(row.endpoint),
      firstId: String(row.first_id),
      lastId: String(row.last_id),
      isOpen: row.is_open === true,
    };
  };
  const readOpen = async (source: Source): Promise<Kept | null> => {
    const last = await read(source);
    return last?.isOpen ? last : null;
  };

  /** Replaces what is known of the last shipment, within the caller's transaction. */
  const write = async (connection: DuckDBConnection, shipment: Kept, isOpen: boolean) => {
    const { source, seq, rows, day, firstId, lastId, sha256, endpoint } = shipment;
    const texts = [day, firstId, lastId, sha256, endpoint].map(quoted).join(', ');
    await connection.run(`delete from shipments where source = '${source}'`);
    await connection.run(
      `insert into shipments values ('${source}', ${seq}, ${rows}, ${texts}, ${isOpen})`,
    );
  };

  /** The files of one shipment at a time: each takes memory of the engine's. */
  const inTurn = <T>(action: () => Promise<T>): Promise<T> => {
    const result = turn.then(action);
    turn = result.catch(() => {});
    return result;
  };

  /** Writes the rows at the front of a table to a file that is whole once it has its name. */
  const makeFile = async (
    connection: DuckDBConnection,
    source: Source,
    seq: number,
    front: Front,
    mark: string | null,
  ): Promise<ShipmentFile> => {
    const path = fileOf({ source, seq });
    const unfinished = join(folder, `unfinished-${randomUUID()}.parquet`);
    const { rowsChanged } = await connection.run(
      `copy (
        select *, '${node}' as _node, ${seq}::ubigint as _seq from (${shippedRows(source, sets, front)})
      ) to ${quoted(unfinished)} (format parquet, compression zstd, row_group_size_bytes '8MB'${mark === null ? '' : `, kv_metadata {made_anew: '${mark}'}`})`,
    );
    // Rows up to the last one: as many are the same ones, wherever they stand by now.
    if (rowsChanged !== front.rows) {
      await rm(unfinished, { force: true });
      throw new RowsMoved(`${rowsChanged} rows of ${source} were written, of ${front.rows}.`);
    }
    await synchronise(unfinished);
    await rename(unfinished, path);
    await synchronise(folder);
    return describe(path, await hashOf(path));
  };

  /** Reads the front of a table and makes its file as of one moment, while lines come in. With a mark it has other bytes than without. */
  const pack = (
    source: Source,
    seq: number,
    wanted: FrontWanted,
    signal: AbortSignal,
    mark: string | null = null,
  ) =>
    inTurn(() =>
      background.start(signal, (withConnection) =>
        withConnection((connection) =>
          whileRowsStand(async () => {
            await connection.run('begin transaction read only');
            try {
              const front = await frontOf(connection, source, wanted);
              return front && { front, file: await makeFile(connection, source, seq, front, mark) };
            } finally {
              await connection.run('rollback');
            }
          }),
        ),
      ),
    );

  const packAgain = async (
    shipment: Shipment,
    signal: AbortSignal,
    mark: string | null,
  ): Promise<ShipmentFile> => {
    const { source, seq, rows } = shipment;
    const packed = await pack(source, seq, { rows }, signal, mark);
    const kept = await readOpen(source);
    if (!packed || !kept || !isSame(packed.front, kept)) throw mismatch(shipment);
    return packed.file;
  };

  const names = await readdir(folder);
  const used = (await openShipments(ask)).map(({ source, seq }) => `${source}-${seq}.parquet`);
  for (const name of names) if (!used.includes(name)) await rm(join(folder, name), { force: true });

  return {
    node,
    last: async (source) => (await read(source))?.seq ?? 0,
    open: readOpen,
    async cut(source, endpoint, signal) {
      const last = await read(source);
      if (last?.isOpen) throw new Error(`BUG: ${source} has an open shipment`);
      const seq = (last?.seq ?? 0) + 1;
      const among = amongs.get(source) ?? FIRST_AMONG;
      const packed = await pack(source, seq, { among }, signal);
      if (!packed) return null;
      const { front, file } = packed;
      amongs.set(source, nextAmong(among, front));
      const { rows, day, firstId, lastId } = front;
      const shipment: Kept = {
        node,
        source,
        seq,
        rows,
        day,
        firstId,
        lastId,
        endpoint,
        sha256: file.sha256,
      };
      await writer.exclusive(({ transaction }) =>
        transaction((connection) => write(connection, shipment, true)),
      );
      return { shipment, hasMore: front.hasMore };
    },
    async file(shipment, signal) {
      const path = fileOf(shipment);
      const sha256 = await hashOf(path).catch(() => null);
      return sha256 === shipment.sha256
        ? describe(path, sha256)
        : packAgain(shipment, signal, null);
    },
    renew: (shipment, signal) => packAgain(shipment, signal, randomUUID()),
    async mark({ source }, { sha256 }) {
      const kept = await readOpen(source);
      if (!kept) throw new Error(`BUG: ${source} has no open shipment`);
      await writer.exclusive(({ transaction }) =>
        transaction((connection) => write(connection, { ...kept, sha256 }, true)),
      );
    },
    async settle(shipment) {
      const { source, rows } = shipment;
      const kept = await readOpen(source);
      if (kept?.seq !== shipment.seq)
        throw new Error(`BUG: shipment ${shipment.seq} of ${source} is not open`);
      await writer.exclusive(({ transaction }) =>
        transaction(async (connection) => {
          const front = await frontOf(connection, source, { rows });
          if (!front || !isSame(front, kept)) throw mismatch(shipment);
          const { rowsChanged } = await connection.run(
            `delete from ${source} where rowid <= ${front.lastRow}`,
          );
          if (rowsChanged !== rows) throw mismatch(shipment);
          await removeTextFilters(connection, source);
          await write(connection, kept, false);
          await incrementCounters(connection, [{ source, forwarded: rows }]);
        }),
      );
      await rm(fileOf(shipment), { force: true });
    },
    async waiting(source) {
      const [row] = await ask(
        `select count(*) as rows, (select epoch_ms(ingested_at) from ${source} where rowid = (select min(rowid) from ${source})) as oldest from ${source}`,
      );
      return {
        rows: Number(row?.rows),
        oldestMs: row?.oldest === null ? null : Number(row?.oldest),
      };
    },
  };
}

/** The rows of a front, with the columns of their members, which they are not settled for. */
function shippedRows(
  source: Source,
  sets: OutboxOptions['sets'],
  { lastRow }: Pick<Front, 'lastRow'>,
): string {
  const set = sets.get(source);
  if (!set) throw new Error(`BUG: the members of ${source} are not known`);
  const request = source === 'edge_logs' ? REQUEST : {};
  const columns = [...COLUMNS, ...Object.keys(request)];
  const read = [
    ...COLUMNS,
    ...Object.entries(request).map(([name, value]) => `${value} as ${name}`),
  ];
  const members = set.members.map((member, i) => `m${i} as "${columnOf(member)}"`);
  return `select ${columns.join(', ')}, '${set.name}' as member_set, state::ubigint as member_state, ${members.join(', ')}
    from (${memberRows(shipped(set), { from: `${source} where rowid <= ${lastRow}`, columns: read })})`;
}

function isSame({ rows, firstId, lastId }: Front, kept: Kept): boolean {
  return rows === kept.rows && firstId === kept.firstId && lastId === kept.lastId;
}

function mismatch({ source, seq }: Shipment): ShipmentMismatch {
  return new ShipmentMismatch(
    `The oldest rows of ${source} are not those of its open shipment ${seq}. Nothing was removed, and nothing of this source is sent any more.`,
  );
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** Has the disk keep a file or the names in a folder. */
async function synchronise(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
