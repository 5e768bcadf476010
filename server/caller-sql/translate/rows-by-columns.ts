import { hasColumn, type MemberColumns, pathKey } from '../../records/shapes.ts';
import type { Extract } from '../json-paths.ts';
import { identifier, join, type Sql, sql } from '../sql-fragment.ts';
import {
  asValue,
  byShape,
  extracted,
  mayHaveDashes,
  type RecordReading,
  type Source,
} from './record-reading.ts';

/**
 * So many members without columns are read sooner one by one than by one pass over the JSON. Measured with lines of a kilobyte: two take 0.45
 * of it, three 0.7, five 0.8, eight 1.2.
 */
const FEW = 5;

/** Whether the query is told by the columns of members, and reads less of the JSON than all that it names. */
export function haveColumns(
  { records, extras, fields }: RecordReading,
  members: MemberColumns,
): boolean {
  const { bits } = members;
  if (!records.every(({ path, isFirst }) => isFirst || bits.has(pathKey(path)))) return false;
  // Where columns were filled a record under a key with dashes was not looked for.
  if (records.some(mayHaveDashes)) return false;
  const own = fields().filter(({ path }) => hasColumn(members, path)).length;
  return own > 0 || fields().length + extras.length <= FEW;
}

/** Returns the rows where `condition` holds, which the columns were filled for: those have one record where the query unnests one, or none. */
export function byColumns(
  reading: RecordReading,
  { from, column, kept }: Source,
  members: MemberColumns,
  condition: string,
): Sql {
  const { row, records, extras, names, inForms, byKeys } = reading;
  const { state, bits, columns, held } = members;
  const isKnown = (path: readonly string[]) => bits.has(pathKey(path));
  const value = `v.${column}`;
  const ofShape = (read: (arrays: boolean) => Sql) => byShape(value, read(true), read(false));
  const notNull: Sql[] = [];
  const fields = inForms(({ name, path, asJson }) => {
    const own = columns.get(pathKey(path));
    if (own !== undefined) return asValue(`v.${identifier(own)}`);
    const ofLine = held.get(pathKey(path));
    if (ofLine !== undefined) {
      const text = `v.${identifier(ofLine)}`;
      return { json: `to_json(${text})`, text };
    }
    const extract = (as: Extract, each: readonly string[]) =>
      ofShape((arrays) => {
        const at = { path: each.slice(0, -1), arrays, isKnown, dashes: false };
        return extracted(as, value, at, each.slice(-1));
      });
    const given = `${row}_${name}`;
    const json = byKeys(path, (each) => {
      const found = each === path ? `v.${given}` : extract('json_extract', each);
      return sql`nullif(${found}, 'null'::json)`;
    });
    if (asJson) notNull.push(sql`${json} as ${given}`);
    return {
      json: extract('json_extract', path),
      text: byKeys(path, (each) => extract('json_extract_string', each)),
    };
  });
  const others = extras.map(({ record, steps }) =>
    ofShape((arrays) =>
      extracted('json_extract', value, { path: record.path, arrays, isKnown }, steps),
    ),
  );
  const columnNames = names();
  const list = [
    ...kept.map((name) => `v.${name}`),
    ...[...fields, ...others].map((each, i) => sql`${each} as ${columnNames[i] ?? ''}`),
  ];
  const needed = records
    .filter(({ left }) => !left)
    .map(({ path }) => bits.get(pathKey(path)) ?? 0);
  const mask = needed.reduce((sum, bit) => sum | (1n << BigInt(bit)), 0n);
  const place = `v.${identifier(state)}`;
  const present = mask === 0n ? '' : ` and ${place} & ${mask} = ${mask}`;
  const rows = sql`select ${join(list, ', ')} from ${from} as v where ${condition}${present}`;
  // The engine writes nullif(a, b) as a condition with `a` twice, and would take a value out of the JSON each time.
  return notNull.length === 0
    ? rows
    : sql`select v.* replace (${join(notNull, ', ')}) from (${rows}) as v`;
}
