import { rmSync } from 'node:fs';
import type { DuckDBConnection } from '@duckdb/node-api';
import { SOURCES, type Source } from '../../../ingest/index.ts';
import { openEngine } from '../engine.ts';
import { PIECE_BYTES } from '../write/rejected.ts';

/** What a check found in a store; `faults`, in words, say how it is not whole. */
export interface Inspection {
  readonly schema: number;
  readonly sources: readonly {
    readonly source: Source;
    readonly rows: number;
    readonly rejected: number;
  }[];
  readonly faults: readonly string[];
}

/** The version of the schema from which on long rejected lines stand in pieces. */
const PIECES_SINCE = 3;
/** … and searches pass over blocks of rows by their filters. */
const FILTERS_SINCE = 6;

/** Lines whose pieces are not what was kept of them, and pieces without a line. */
const TORN = `
  select count(*) as n
  from rejected
  full join (
    select source, file, "offset", rejected_at, count(*) as pieces
    from rejected_rest
    group by all
  ) using (source, file, "offset", rejected_at)
  where length is null or coalesce(pieces, 0) <> greatest(coalesce(kept, 0) - 1, 0) // ${PIECE_BYTES}`;

/** Rows of a block that has no filter: a search passes over them. */
function withoutFilter(source: Source): string {
  return `select count(*) as n
    from ${source}
    where text_block is not null
      and text_block not in (select block from text_filters where source = '${source}')`;
}

/**
 * Reads every row of every table, and holds rows and rejected lines against the ledger, as of one moment. What cannot
 * be read is a fault. The connection is the caller's alone.
 */
export async function inspect(connection: DuckDBConnection): Promise<Inspection> {
  const faults: string[] = [];
  const rows = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjects();
  const one = async (sql: string) => (await rows(sql))[0] ?? {};
  /** How many rows there are; `hash` makes the engine decompress each value. */
  const readAll = async (table: string) => {
    try {
      return Number((await one(`select count(*) as n, bit_xor(hash(t)) as all from ${table} t`)).n);
    } catch (error) {
      faults.push(`${table} cannot be read: ${(error as Error).message.split('\n')[0]}`);
      return 0;
    }
  };

  await connection.run('begin transaction read only');
  try {
    const version = await one('select max(version) as version from schema_version');
    const ledger = new Map((await rows('select * from ledger')).map((row) => [row.source, row]));
    const rejected = new Map(
      (await rows('select source, count(*) as n from rejected group by source')).map((row) => [
        row.source,
        Number(row.n),
      ]),
    );
    await readAll('rejected');
    if (Number(version.version) >= PIECES_SINCE) {
      await readAll('rejected_rest');
      const torn = await one(TORN).catch((error: Error) => {
        faults.push(`rejected lines cannot be read whole: ${error.message.split('\n')[0]}`);
        return { n: 0 };
      });
      if (Number(torn.n) > 0) faults.push(`${torn.n} rejected lines are not whole`);
    }
    await readAll('files');
    const hasFilters = Number(version.version) >= FILTERS_SINCE;
    if (hasFilters) await readAll('text_filters');
    const tables = (await rows('select table_name from duckdb_tables()')).map(
      (row) => row.table_name,
    );
    const sources = [];
    for (const source of SOURCES) {
      const entry = ledger.get(source);
      // A store of an older version has neither for a source that came later.
      if (!entry && !tables.includes(source)) continue;
      const found = { source, rows: await readAll(source), rejected: rejected.get(source) ?? 0 };
      sources.push(found);
      const hidden = hasFilters ? Number((await one(withoutFilter(source))).n) : 0;
      if (hidden > 0) faults.push(`${source} has ${hidden} rows that no search would find`);
      if (!entry) {
        faults.push(`${source} is missing in the ledger`);
        continue;
      }
      const kept = Number(entry.rows) - Number(entry.removed ?? 0);
      const keptRejected = Number(entry.rejected) - Number(entry.removed_rejected ?? 0);
      if (found.rows !== kept)
        faults.push(`${source} has ${found.rows} rows, and ${kept} by the ledger`);
      if (found.rejected !== keptRejected)
        faults.push(
          `${source} has ${found.rejected} rejected lines, and ${keptRejected} by the ledger`,
        );
    }
    return { schema: Number(version.version), sources, faults };
  } finally {
    await connection.run('rollback');
  }
}

/**
 * Inspects a database file that no process has open, read-only; `scratch` is a folder that is made for it and removed.
 * Throws StoreBroken or StoreInUse when it cannot be opened.
 */
export async function inspectFile(
  database: string,
  { memory, scratch }: { readonly memory: number; readonly scratch: string },
): Promise<Inspection> {
  try {
    const engine = await openEngine({
      database,
      staging: scratch,
      temporary: scratch,
      memory,
      readOnly: true,
    });
    try {
      const connection = await engine.connect();
      const found = await inspect(connection);
      connection.closeSync();
      return found;
    } finally {
      engine.close();
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
