import {
  areObjects,
  areSinglesOf,
  isArray,
  listAt,
  objectAt,
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
 * need is made by a SELECT within, as the engine makes it anew in each branch of a CASE.
 */
export function memberRows(set: MemberSet, { from, columns }: Rows, more = 0n): string {
  const { records, members } = set;
  const names = columns.map((column) => column.replace(/^.* as /, '')).join(', ');
  const shape = shapeOf(members);
  const read = readShapes('metadata', shape, () => 'JSON');
  const bits = (isThere: (path: readonly string[]) => string) =>
    records.map((path, i) => `(${isThere(path)})::bigint * ${1n << BigInt(i)}`).join(' + ');
  const base = settledFrom(set) | more;
  const plain = filledFrom(set) | base;
  const values = members.map((member, i) => {
    const name = member.at(-1) ?? '';
    const record = member.slice(0, -1);
    const siblings = recordAt(shape, record);
    const value = (place: string) => valueAt(place, name, siblings);
    const [object, single] = [objectAt('read', record), `${listAt('read', record)}[1]`];
    return `case when ${isArray('metadata')} then ${value(single)} else ${value(object)} end as m${i}`;
  });
  const state = `case
    when ${areObjects('metadata', records)} then ${plain} + objects
    when ${areSinglesOf('metadata', records, 'lengths', 'bit_count(singles)')} then ${plain} + singles
    else ${base}
  end as state`;
  return `select ${names}, ${[state, ...values].join(', ')}
    from (
      select
        ${names},
        read,
        [${records.map((path) => `len(${listAt('read', path)})`).join(', ')}] as lengths,
        ${bits((path) => `${objectAt('read', path)} is not null`)} as objects,
        ${bits((path) => `${listAt('read', path)}[1] is not null`)} as singles
      from (select ${columns.join(', ')}, ${read} as read from ${from})
    )`;
}
