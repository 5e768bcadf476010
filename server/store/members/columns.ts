import type { DuckDBConnection } from '@duckdb/node-api';
import { allSources, type Source } from '../../../ingest/index.ts';
import { quoted } from '../engine.ts';
import { builtInMembers, columnOf, heldBeside, type MemberSet, memberSet } from './members.ts';

/** Columns of every source that a store of an earlier version lacks. Settling fills them, too. */
const GRADES = { severity: 'varchar', status: 'smallint' };

/**
 * Gives each source's table the columns of its members. A set that is another than last time gets the next generation, for which
 * settling fills the columns anew. Columns of members that are no longer asked for stay, as they cost next to nothing. Without `wanted`
 * the sets stay as they are.
 */
export async function addMemberColumns(
  connection: DuckDBConnection,
  wanted: Readonly<Record<Source, readonly string[]>> | null,
): Promise<ReadonlyMap<Source, MemberSet>> {
  const rows = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjects();
  const tables = await rows(
    `select table_name from duckdb_tables() where table_name = 'member_sets'`,
  );
  // A schema of before, where rows are not settled.
  if (tables.length === 0) return new Map();
  const known = await rows('select source, generation, members from member_sets');
  const columns = await rows('select table_name, column_name from duckdb_columns()');
  const has = new Set(
    columns.map(({ table_name: table, column_name: name }) => `${table} ${name}`.toLowerCase()),
  );
  const statements: string[] = [];
  const sets = allSources().map((source): MemberSet => {
    const last = known.find((row) => row.source === source);
    const list =
      wanted?.[source] ?? (last ? wordsOf(String(last.members)) : builtInMembers(source));
    const held = heldBeside(source, list);
    const written = [
      ...list,
      ...held.map(({ member, column }) => `${member.join('.')}=${column}`),
    ].join(' ');
    const lacking = Object.entries(GRADES).filter(([name]) => !has.has(`${source} ${name}`));
    for (const [name, type] of lacking)
      statements.push(`alter table ${source} add column ${name} ${type}`);
    // A migration that has rows settled again adds one.
    const isEven = Number(last?.generation) % 2 === 0;
    const isSame =
      last?.members === written && lacking.length === 0 && (isEven || held.length === 0);
    const generation = isSame ? Number(last?.generation) : next(Number(last?.generation ?? 0));
    const set = memberSet(source, list, generation);
    for (const name of set.members.map(columnOf))
      if (!has.has(`${source} ${name}`.toLowerCase()))
        statements.push(`alter table ${source} add column "${name}" json`);
    if (!isSame)
      statements.push(
        `delete from member_sets where source = '${source}'`,
        `insert into member_sets values ('${source}', ${generation}, ${quoted(written)})`,
      );
    return set;
  });
  if (statements.length > 0) {
    await connection.run('begin');
    for (const statement of statements) await connection.run(statement);
    await connection.run('commit');
    // A schema change in the write-ahead log is what replay fails at.
    await connection.run('checkpoint');
  }
  return new Map(sets.map((set) => [set.source, set]));
}

/** The least even number behind: the odd one between is of rows whose members columns of the line hold. */
function next(generation: number): number {
  return (Math.floor(generation / 2) + 1) * 2;
}

/** The members of a set as it is written down, but for those that columns of the line hold. */
function wordsOf(text: string): string[] {
  return text.split(' ').filter((word) => word !== '' && !word.includes('='));
}
