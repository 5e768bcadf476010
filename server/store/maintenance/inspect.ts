import { rmSync } from 'node:fs';
import type { DuckDBConnection } from '@duckdb/node-api';
import { allSources, type Source } from '../../../ingest/index.ts';
import { openEngine } from '../engine.ts';
import { goneRows } from '../read/time-span.ts';
import { MOST_PARTS } from '../text-filter/words.ts';
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
/** … searches pass over blocks of rows by their filters, … */
const FILTERS_SINCE = 6;
/** … and the newest of these are in a table of their own. */
const RECENT_SINCE = 10;

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
function withoutFilter(source: Source, tables: readonly string[]): string {
  const blocks = tables.map((table) => `select block from ${table} where source = '${source}'`);
  return `select count(*) as n
    from ${source}
    where text_block is not null
      and text_block not in (select block + part from (${blocks.join(' union all ')}), range(${MOST_PARTS}) as parts(part))`;
}

/**
 * Reads every row of every table, and holds the rows and rejected lines of each source against the ledger, as of one moment. What
 * cannot be read is a fault. The connection is the caller's alone.
 */
export async function inspect(connection: DuckDBConnection): Promise<Inspection> {
  const faults: string[] = [];
  const rows = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjects();
  const one = async (sql: string) => (await rows(sql))[0] ?? {};
  const count = async (sql: string) => Number((await one(sql)).n);
  /** `hash` makes the engine decompress each value. */
  const readAll = (table: string) =>
    count(`select count(*) as n, bit_xor(hash(t)) as all from ${table} t`);
  /** Reads at one moment; null after a fault. A transaction in which a read has failed reads nothing more, so each has its own. */
  const atOnce = async <T>(what: string, read: () => Promise<T>): Promise<T | null> => {
    await connection.run('begin transaction read only');
    try {
      return await read();
    } catch (error) {
      faults.push(`${what} cannot be read: ${(error as Error).message.split('\n')[0]}`);
      return null;
    } finally {
      await connection.run('rollback');
    }
  };

  const schema = Number((await one('select max(version) as version from schema_version')).version);
  const tables = (await rows('select table_name as name from duckdb_tables()')).map(
    ({ name }) => name,
  );
  const entries = (await rows('select source from ledger')).map(({ source }) => String(source));
  await atOnce('rejected', () => readAll('rejected'));
  if (schema >= PIECES_SINCE) {
    await atOnce('rejected_rest', () => readAll('rejected_rest'));
    const torn = await atOnce('what is kept of rejected lines', () => count(TORN));
    if (torn) faults.push(`${torn} rejected lines are not whole`);
  }
  await atOnce('files', () => readAll('files'));
  const filters = [
    ...(schema >= FILTERS_SINCE ? ['text_filters'] : []),
    ...(schema >= RECENT_SINCE ? ['recent_text_filters'] : []),
  ];
  for (const table of filters) await atOnce(table, () => readAll(table));

  const sources = [];
  // Sources that the settings do not name any more have rows, too.
  for (const source of new Set([...allSources(), ...entries])) {
    // A store of an older version has neither for a source that came later.
    if (!tables.includes(source) && !entries.includes(source)) continue;
    const found = await atOnce(source, async () => ({
      ledger: (await rows(`select * from ledger where source = '${source}'`))[0],
      rejected: await count(`select count(*) as n from rejected where source = '${source}'`),
      hidden: filters.length > 0 ? await count(withoutFilter(source, filters)) : 0,
      rows: await readAll(source),
    }));
    sources.push({ source, rows: found?.rows ?? 0, rejected: found?.rejected ?? 0 });
    if (!found) continue;
    const { ledger, hidden } = found;
    if (hidden > 0) faults.push(`${source} has ${hidden} rows that no search would find`);
    if (!ledger) {
      faults.push(`${source} is missing in the ledger`);
      continue;
    }
    const kept = Number(ledger.rows) - goneRows(ledger);
    const keptRejected = Number(ledger.rejected) - Number(ledger.removed_rejected ?? 0);
    if (found.rows !== kept)
      faults.push(`${source} has ${found.rows} rows, and ${kept} by the ledger`);
    if (found.rejected !== keptRejected)
      faults.push(
        `${source} has ${found.rejected} rejected lines, and ${keptRejected} by the ledger`,
      );
  }
  return { schema, sources, faults };
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
      folders: [scratch],
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
