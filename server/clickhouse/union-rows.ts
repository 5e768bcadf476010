import type { Source } from '../../ingest/index.ts';
import { columnOf, filledFrom, type MemberSet, shipped } from '../store/index.ts';
import { attributeOfColumn, attributeOfMetadata } from './attributes.ts';
import { named, quoted } from './expressions.ts';

/** A view of all sources in ClickHouse. */
export interface UnionView {
  /** The SELECT of one source's rows, `{log_source:Identifier}` of its table; it ends with conditions that AND joins. */
  readonly sql: string;
  /** What stands for a source in it. */
  readonly source: string;
  /** Its column of a map, which is `metadata` there. */
  readonly map: string;
}

/** The rows of all sources, with a column for each of these names in the map, by what `columnOfName` calls it. */
export function unionRows(
  { sql, source: word, map }: UnionView,
  sets: ReadonlyMap<Source, MemberSet>,
  names: readonly string[],
  columnOfName: (name: string) => string,
): string {
  const arm = (source: Source, value: (name: string) => string, condition: string) => {
    const list = names.map((name) => `${value(name)} as ${named(columnOfName(name))}`);
    const columns = list.length === 0 ? `'' as ${named(map)}` : list.join(', ');
    return sql
      .replace(new RegExp(`\\bmetadata as ${map}\\b`), () => columns)
      .replaceAll(new RegExp(`\\b${word}\\b`, 'g'), source)
      .concat(condition);
  };
  const arms = [...sets].flatMap(([source, set]) => {
    const members = new Map(set.members.map((path) => [path.join('.'), columnOf(path)]));
    const isHeld = names.some((name) => members.has(name));
    if (!isHeld) return [arm(source, attributeOfMetadata, '')];
    const isFilled = `(entry.member_set = ${quoted(set.name)} and entry.member_state >= ${filledFrom(shipped(set))})`;
    const filled = (name: string) => {
      const column = members.get(name);
      return column === undefined ? attributeOfMetadata(name) : attributeOfColumn(column);
    };
    // Apart, so that metadata is read of no row whose columns hold all that is asked.
    return [
      arm(source, filled, ` and ${isFilled}`),
      arm(source, attributeOfMetadata, ` and not ${isFilled}`),
    ];
  });
  return arms.join(' union all ');
}
