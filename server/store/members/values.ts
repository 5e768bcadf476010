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
import { filledFrom, IS_HELD, type MemberSet, settledFrom, shapeOf } from './members.ts';

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
  const { records, members, held } = set;
  const names = columns.map((column) => column.replace(/^.* as /, '')).join(', ');
  const shape = shapeOf([...members, ...held.map(({ member }) => member)]);
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
  const valueIn = (member: Path, arrays: boolean) => {
    const [record, name] = [member.slice(0, -1), member.at(-1) ?? ''];
    const place = arrays ? `r${placeOf(record)}` : objectAt('read', record);
    return valueAt(place, name, recordAt(shape, record));
  };
  const values = members.map(
    (member, i) =>
      `case when ${isArray('metadata')} then ${valueIn(member, true)} else ${valueIn(member, false)} end as m${i}`,
  );
  const areHeld = (arrays: boolean) => {
    const tests = held.map(
      ({ member }, i) => `${valueIn(member, arrays)} is not distinct from to_json(held${i})`,
    );
    return tests.length === 0 ? '' : ` + (${tests.join(' and ')})::bigint * ${IS_HELD}`;
  };
  const state = `case
    when ${areObjects('metadata', records)} then ${plain} + objects${areHeld(false)}
    when ${areSinglesOf('metadata', records, 'lengths', 'bit_count(singles)')} then ${plain} + singles${areHeld(true)}
    else ${base}
  end as state`;
  const beside = held.map(({ column }, i) => `${column} as held${i}`);
  let rows = `select ${[...columns, ...beside].join(', ')}, ${read} as read from ${from}`;
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
