import {
  areObjects,
  areSinglesOf,
  identifier,
  isArray,
  objectAt,
  type Path,
  pathKey,
  readShapes,
  recordAt,
  valueAt,
} from '../../records/shapes.ts';
import { filledFrom, type MemberSet, settledFrom, shapeOf } from './members.ts';

/** Rows of a table, `metadata` among their columns: `edge_logs where rowid < 5`, and each as `rowid as place`. */
interface Rows {
  readonly from: string;
  readonly columns: readonly string[];
}

/**
 * The rows with `member_state`, as `state`, and their members, as `m0` and so on. `more` is added to each state. What several expressions
 * need is made by a SELECT within, as the engine makes it anew for each of them: of arrays, the record that is in one, with all within it.
 */
export function memberRows(set: MemberSet, { from, columns }: Rows, more = 0n): string {
  const { records, members } = set;
  const names = columns.map((column) => column.replace(/^.* as /, '')).join(', ');
  const shape = shapeOf(members);
  const read = readShapes('metadata', shape, () => 'JSON');
  const places = new Map(records.map((path, i) => [pathKey(path), i]));
  const placeOf = (path: Path) => places.get(pathKey(path)) ?? 0;
  const listOf = (path: Path) => {
    const name = path.at(-1);
    return name === undefined ? 'read.a' : `r${placeOf(path.slice(0, -1))}.${identifier(name)}`;
  };
  const bits = (isThere: (path: Path, i: number) => string) =>
    records.map((path, i) => `(${isThere(path, i)})::bigint * ${1n << BigInt(i)}`).join(' + ');
  const base = settledFrom(set) | more;
  const plain = filledFrom(set) | base;
  const values = members.map((member, i) => {
    const name = member.at(-1) ?? '';
    const record = member.slice(0, -1);
    const siblings = recordAt(shape, record);
    const value = (place: string) => valueAt(place, name, siblings);
    const [object, single] = [objectAt('read', record), `r${placeOf(record)}`];
    return `case when ${isArray('metadata')} then ${value(single)} else ${value(object)} end as m${i}`;
  });
  const state = `case
    when ${areObjects('metadata', records)} then ${plain} + objects
    when ${areSinglesOf('metadata', records, 'lengths', 'bit_count(singles)')} then ${plain} + singles
    else ${base}
  end as state`;
  let rows = `select ${columns.join(', ')}, ${read} as read from ${from}`;
  for (let depth = 0; depth <= Math.max(...records.map(({ length }) => length)); depth++) {
    const lists = records.filter(({ length }) => length === depth);
    const made = lists.map(
      (path) =>
        `len(${listOf(path)}) as n${placeOf(path)}, ${listOf(path)}[1] as r${placeOf(path)}`,
    );
    rows = `select *, ${made.join(', ')} from (${rows})`;
  }
  return `select ${names}, ${[state, ...values].join(', ')}
    from (
      select
        *,
        [${records.map((_, i) => `n${i}`).join(', ')}] as lengths,
        ${bits((path) => `${objectAt('read', path)} is not null`)} as objects,
        ${bits((_, i) => `r${i} is not null`)} as singles
      from (${rows})
    )`;
}
