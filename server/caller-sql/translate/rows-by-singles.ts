import {
  areSingleOrObjects,
  listAt,
  objectAt,
  readShapes,
  recordAt,
  valueAt,
} from '../../records/shapes.ts';
import { join, type Sql, sql } from '../sql-fragment.ts';
import {
  asValue,
  byShape,
  extracted,
  FAILS,
  type RecordReading,
  type Source,
} from './record-reading.ts';

/**
 * The rows where `condition` holds, each with the one record that it has. Fails with BEYOND_REACH where it has more, whatever is
 * compared first.
 */
export function bySingles(
  { row, records, extras, names, inForms, tree, underDashes }: RecordReading,
  { from, column, kept }: Source,
  condition: string | null,
): Sql {
  const [value, read] = [`v.${column}`, `v.${row}_s`];
  const where = condition === null ? '' : ` where ${condition}`;
  const list = kept.map((name) => `v.${name}`).join(', ');
  const paths = records.map(({ path }) => path);
  const dashes = underDashes(value);
  const isKnown = `${dashes ? `not coalesce(${dashes}, false) and ` : ''}${areSingleOrObjects(value, paths)}`;
  const orFail = (then: Sql) => sql`case when ${isKnown} then ${then} else ${FAILS} end`;
  const made = sql`(select ${list}, ${orFail(readShapes(value, tree(), () => 'JSON'))} as ${row}_s from ${from} as v${where})`;
  const fields = inForms(({ path }) => {
    const [record, name] = [path.slice(0, -1), path.at(-1) ?? ''];
    const at = (place: string) => valueAt(place, name, recordAt(tree(), record));
    return asValue(byShape(value, at(`${listAt(read, record)}[1]`), at(objectAt(read, record))));
  });
  const others = extras.map(({ record, steps }) => {
    const extract = (arrays: boolean) =>
      extracted('json_extract', value, { path: record.path, arrays }, steps);
    return byShape(value, extract(true), extract(false));
  });
  const columnNames = names();
  const columns = [
    ...fields.map((field, i) => sql`${field} as ${columnNames[i] ?? ''}`),
    ...others.map((other, i) => sql`${orFail(other)} as ${columnNames[fields.length + i] ?? ''}`),
  ];
  const needed = records.filter(({ left }) => !left).map(({ path }) => path);
  const all = (of: (path: readonly string[]) => string) =>
    needed.map((path) => `${of(path)} is not null`).join(' and ');
  const present =
    needed.length === 0
      ? orFail('true')
      : byShape(
          value,
          all((path) => `${listAt(read, path)}[1]`),
          all((path) => objectAt(read, path)),
        );
  return sql`(select ${join([list, ...columns], ', ')} from ${made} as v where ${present})`;
}
