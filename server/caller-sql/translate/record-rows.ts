import { type MemberColumns, pathKey } from '../../records/shapes.ts';
import { identifier, join, type Sql, sql } from '../sql-fragment.ts';
import {
  FAILS,
  isCounted,
  openReading,
  type Reading,
  type RecordReading,
  type Source,
} from './record-reading.ts';
import { byColumns, haveColumns } from './rows-by-columns.ts';
import { byElements } from './rows-by-elements.ts';
import { bySingles } from './rows-by-singles.ts';

/**
 * The rows of a relation, each with what a query reads of the records of one JSON column. All fields are taken out by one pass over the
 * column, `from_json` with the structure that is asked for; one UNNEST gives the rows (docs/decisions/0010). There are two structures: of
 * records that are objects, and of records that are the only elements of arrays. Other values go a slower way, element by element. Where
 * members of the column have columns of their own, the rows that these were filled for are read by them (docs/decisions/0019).
 */
export interface RecordRows {
  /** The rows of `source`: the columns `kept`, and `names`. */
  rows(source: Source): Sql;
  /** The columns that hold what is read of the records, in the order of `rows`. */
  names(): string[];
  /** Whether the query is told by the columns of members, and reads less of the JSON than all that it names. */
  haveColumns(members: MemberColumns): boolean;
}

/** Writes the rows of what is read. */
export function recordRows(read: Reading): RecordRows {
  const reading = openReading(read);
  return { rows, names: reading.names, haveColumns: (members) => haveColumns(reading, members) };

  function rows(source: Source): Sql {
    const { members, reach } = source;
    const others = reach === 'all' || isCounted(reading) ? byElements : bySingles;
    if (!members || !haveColumns(reading, members)) return others(reading, source, null);
    const state = `v.${identifier(members.state)}`;
    const { filledFrom, heldFrom, held } = members;
    const isHeld = reading.fields().some(({ path }) => held.has(pathKey(path)));
    const from = isHeld ? heldFrom : filledFrom;
    const byOwn = byColumns(reading, source, members, `${state} >= ${from}`);
    if (reach === 'columns')
      return sql`(${byOwn} union all select * from ${none(reading, source, `${state} < ${from}`)})`;
    const filled = `${state} >= ${filledFrom} and ${state} < ${heldFrom}`;
    const withoutHeld = isHeld
      ? [byColumns(reading, source, { ...members, held: new Map() }, filled)]
      : [];
    const rest = sql`select * from ${others(reading, source, `${state} < ${filledFrom}`)}`;
    return sql`(${join([byOwn, ...withoutHeld, rest], ' union all ')})`;
  }
}

/**
 * Returns no rows; fails with BEYOND_REACH where there is one for which `condition` holds. Each value that a query may compare fails by itself:
 * the engine drops rows by what is cheapest to compare, and would else drop this one for a NULL.
 */
function none(
  { names, forms, extras }: RecordReading,
  { from, kept }: Source,
  condition: string,
): Sql {
  const fails = `case when ${condition} then ${FAILS} end`;
  const types = [...forms().map(({ type }) => type), ...extras.map(() => 'JSON')];
  const list = [
    ...kept.map((name) => `v.${name}`),
    ...names().map((name, i) => `(${fails})::${types[i]} as ${name}`),
  ];
  return sql`(select ${list.join(', ')} from ${from} as v where ${condition} and ${fails})`;
}
