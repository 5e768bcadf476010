import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { StoreBroken } from './errors.ts';

/**
 * Applies the numbered files of `schema` that the database lacks, each in a transaction of its own, and in a new database all in one.
 * Checkpoints after each transaction, because a schema change in the write-ahead log is what replay fails at. Throws StoreBroken when the
 * database was written by a newer version, naming both, or by another program; it is then left as it is.
 */
export async function migrate(connection: DuckDBConnection, schema: string): Promise<void> {
  const tables = await connection.runAndReadAll(
    `select coalesce(bool_or(table_name = 'schema_version'), true) from duckdb_tables() where not temporary`,
  );
  if (tables.getRows()[0]?.[0] === false)
    throw new StoreBroken(
      'The database holds tables, but none that says its schema version: it is not of tailpond. Nothing was changed. Move it away, or restore a backup (tailpond restore <file>)',
    );
  await connection.run(
    'create table if not exists schema_version (version integer not null, applied_at timestamp not null)',
  );
  const rows = await connection.runAndReadAll(
    'select coalesce(max(version), 0)::integer from schema_version',
  );
  const current = Number(rows.getRows()[0]?.[0]);
  const files = readdirSync(schema)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  const newest = files.length;
  if (current > newest) {
    throw new StoreBroken(
      `The database has schema version ${current}, this version of tailpond knows up to ${newest}: install the newer one again`,
    );
  }
  const missing = files.slice(current).map((name, i) => {
    const version = current + i + 1;
    if (Number.parseInt(name, 10) !== version)
      throw new Error(`BUG: ${name} is not schema version ${version}`);
    return { version, sql: readFileSync(join(schema, name), 'utf8') };
  });
  // A new database gets all of them at once: each checkpoint writes the catalog anew.
  const steps = current === 0 ? [missing] : missing.map((one) => [one]);
  for (const step of steps) {
    await connection.run('begin');
    for (const { version, sql } of step) {
      await connection.run(sql);
      await connection.run(`insert into schema_version values (${version}, now()::timestamp)`);
    }
    await connection.run('commit');
    await connection.run('checkpoint');
  }
}
