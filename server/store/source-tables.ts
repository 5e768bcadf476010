import { readFileSync } from 'node:fs';
import type { DuckDBConnection } from '@duckdb/node-api';
import { allSources, type Source } from '../../ingest/index.ts';

/** A source of the settings that cannot be one. */
export class SourceRefused extends Error {}

/** A source that the store has rows of, and that the settings do not name any more. */
export interface FormerSource {
  readonly source: Source;
  readonly rows: number;
}

/**
 * Gives each source that has none a table, made by the statements in `file`, and an entry in the ledger. Gives the former sources that have
 * rows: these stay. Throws SourceRefused for a name that SQL or the store itself uses.
 */
export async function addSourceTables(
  connection: DuckDBConnection,
  file: string,
): Promise<FormerSource[]> {
  const rows = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjects();
  const tables = new Set(
    (await rows('select table_name as name from duckdb_tables()')).map(({ name }) => String(name)),
  );
  const known = (await rows('select source from ledger')).map(({ source }) => String(source));
  const reserved = (
    await rows(
      "select keyword_name as name from duckdb_keywords() where keyword_category <> 'unreserved'",
    )
  ).map(({ name }) => String(name));
  const missing = allSources().filter((source) => !known.includes(source));
  for (const source of missing)
    if (tables.has(source) || reserved.includes(source))
      throw new SourceRefused(
        `TAILPOND_SOURCES: ${JSON.stringify(source)} is a name that ${tables.has(source) ? 'the store' : 'SQL'} uses; choose another, such as ${source}_logs`,
      );
  if (missing.length > 0) {
    const text = readFileSync(file, 'utf8');
    await connection.run('begin');
    for (const source of missing) await connection.run(text.replaceAll('{source}', source));
    await connection.run('commit');
    // A schema change in the write-ahead log is what replay fails at.
    await connection.run('checkpoint');
  }
  const former = known.filter((source) => !allSources().includes(source));
  const counts = await Promise.all(
    former.map(async (source) => {
      const [row] = await rows(`select count(*) as rows from "${source}"`);
      return { source, rows: Number(row?.rows) };
    }),
  );
  return counts.filter((each) => each.rows > 0);
}
