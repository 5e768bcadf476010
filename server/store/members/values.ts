import {
  areObjects,
  isArray,
  objectAt,
  type Path,
  readObjects,
  recordAt,
  singleRecords,
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
 * need is made by a SELECT within, as the engine makes it anew for each of them.
 */
export function memberRows(set: MemberSet, { from, columns }: Rows, more = 0n): string {
  const { records, members, held } = set;
  const names = columns.map((column) => column.replace(/^.* as /, '')).join(', ');
  const all = [...members, ...held.map(({ member }) => member)];
  const shape = shapeOf(all);
  const arrays = singleRecords('metadata', 'arrays', shape, records, all);
  const bits = (isThere: (path: Path) => string) =>
    records.map((path, i) => `(${isThere(path)})::bigint * ${1n << BigInt(i)}`).join(' + ');
  const base = settledFrom(set) | more;
  const plain = filledFrom(set) | base;
  const valueIn = (member: Path) => {
    const [record, name] = [member.slice(0, -1), member.at(-1) ?? ''];
    return valueAt(objectAt('read', record), name, recordAt(shape, record));
  };
  const values = members.map(
    (member, i) =>
      `case when ${isArray('metadata')} then ${arrays.valueAt(member)} else ${valueIn(member)} end as m${i}`,
  );
  const areHeld = (at: (member: Path) => string) => {
    const tests = held.map(
      ({ member }, i) => `${at(member)} is not distinct from to_json(held${i})`,
    );
    return tests.length === 0 ? '' : ` + (${tests.join(' and ')})::bigint * ${IS_HELD}`;
  };
  const state = `case
    when ${areObjects('metadata', records)} then ${plain} + objects${areHeld(valueIn)}
    when ${isArray('metadata')} and ${arrays.areSingles('bit_count(singles)')} then ${plain} + singles${areHeld(arrays.valueAt)}
    else ${base}
  end as state`;
  const beside = held.map(({ column }, i) => `${column} as held${i}`);
  return `select ${names}, ${[state, ...values].join(', ')}
    from (
      select
        *,
        ${bits((path) => `${objectAt('read', path)} is not null`)} as objects,
        ${bits(arrays.isThere)} as singles
      from (
        select
          ${[...columns, ...beside].join(', ')},
          {o: ${readObjects('metadata', shape, () => 'JSON')}} as read,
          case when ${isArray('metadata')} then ${arrays.read} end as arrays
        from ${from}
      )
    )`;
}
