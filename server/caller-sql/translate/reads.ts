import { allOf, type Bounds, boundsOn, type MemberBound } from '../../records/bounds.ts';
import type { MemberColumns, Shape } from '../../records/shapes.ts';
import { identifier } from '../sql-fragment.ts';
import type { ColumnOf, Kind, TextIn } from '../typed-expression.ts';
import type { Records } from './records.ts';

/** What a statement reads of the rows of a view: what it does not read may be left out where they are fetched from elsewhere. */
export interface Reads {
  /** The view, by its name in lower case. */
  readonly view: string;
  /** Its columns, by their names in lower case. */
  readonly columns: ReadonlySet<string>;
  /** The members that are read of those JSON columns that are not read whole. */
  readonly members: ReadonlyMap<string, Shape<null>>;
  /** JSON columns of these, all of whose members are read from columns of theirs, of rows that have these. */
  readonly inColumns: ReadonlySet<string>;
  /** How those moments are read that are read in no other way. */
  readonly moments: ReadonlyMap<string, MomentReads>;
  /** What stands in columns of each row that is read by its WHERE, in whatever letter case. */
  readonly texts: readonly { readonly column: string; readonly text: string }[];
  /** What members are of each such row; `of`: their JSON column. Undefined where nothing is known. */
  readonly bounds: Bounds<string> | undefined;
}

/** A moment that is cut to a unit, or compared: the statement tells two apart only where these do. */
export interface MomentReads {
  /** The finest; null where it is only compared. */
  readonly unit: Unit | null;
  /** What it is compared with: constants in the engine's words. */
  readonly constants: readonly string[];
}

/** The finest first. */
const UNITS = ['second', 'minute', 'hour', 'day'] as const;
export type Unit = (typeof UNITS)[number];
const LONGER = ['week', 'month', 'quarter', 'year', 'isoyear'];

/** A view in a FROM clause, as the statement that is written names it. */
interface ReadTable {
  readonly id: string;
  readonly columns: readonly { readonly name: string; readonly sql: string; readonly kind: Kind }[];
  /** The reads of JSON columns whose records are unnested. */
  readonly records: ReadonlyMap<string, Pick<Records, 'shape' | 'areColumns'>>;
  readonly members: ReadonlyMap<string, MemberColumns>;
  readonly relation: object;
  readonly nullable: boolean;
}

/** Facts about rows that pass the WHERE beside them: what stands in columns, and what members are. */
interface WhereFacts {
  readonly texts: readonly TextIn[];
  readonly bounds: readonly Bounds<ColumnOf>[];
}

/** What the statement as it is `written` reads of a table. A name in a text of the caller's counts as read, which does no harm. */
export function readsOf(
  view: string,
  { id, columns, records, members: ofColumns, relation, nullable }: ReadTable,
  written: string,
  { texts, bounds }: WhereFacts,
): Reads {
  const read = new Set<string>();
  const members = new Map<string, Shape<null>>();
  const inColumns = new Set<string>();
  const moments = new Map<string, MomentReads>();
  for (const { name, sql, kind } of columns) {
    const place = `${id}.${identifier(sql)}`;
    const isNamed = written.includes(place);
    const unnested = records.get(name);
    const shape = unnested?.shape();
    const own = ofColumns.get(name);
    const key = name.toLowerCase();
    if (isNamed || shape !== undefined) read.add(key);
    if (!isNamed && shape) {
      members.set(key, shape);
      if (own && unnested?.areColumns(own, () => true)) inColumns.add(key);
    }
    const moment = kind === 'timestamp' && isNamed ? momentReads(place, written) : null;
    if (moment) moments.set(key, moment);
  }
  return {
    view: view.toLowerCase(),
    columns: read,
    members,
    inColumns,
    moments,
    texts: nullable
      ? []
      : texts.flatMap(({ column, text }) =>
          column.relation === relation ? [{ column: column.name, text }] : [],
        ),
    bounds: nullable ? undefined : boundsOf(relation, bounds),
  };
}

function boundsOf(relation: object, bounds: WhereFacts['bounds']): Bounds<string> | undefined {
  const own = ({ of }: MemberBound<ColumnOf>) =>
    of.relation === relation ? of.name.toLowerCase() : undefined;
  return allOf(bounds.map((each) => boundsOn(each, own)));
}

/** How a moment is read; null where that is any other way than by its unit and by what it is compared with. */
function momentReads(place: string, written: string): MomentReads | null {
  const name = place.replace('.', '\\.');
  const units = new Set<Unit>();
  const constants = new Set<string>();
  const rest = written
    .replaceAll(
      new RegExp(`date_trunc\\('(\\w+)', ${name}(?: \\+ interval 1 day)?\\)`, 'g'),
      (whole, unit: string) => {
        const own = LONGER.includes(unit) ? 'day' : UNITS.find((each) => each === unit);
        if (own) units.add(own);
        return own ? '' : whole;
      },
    )
    .replaceAll(
      new RegExp(
        `\\(${name} (?:=|<>|<|>|<=|>=) (try_cast\\(try_cast\\('[^']*' as timestamptz\\) as timestamp\\))\\)`,
        'g',
      ),
      (_, constant: string) => {
        constants.add(constant);
        return '';
      },
    );
  if (rest.includes(place)) return null;
  return { unit: UNITS.find((unit) => units.has(unit)) ?? null, constants: [...constants] };
}
