import { reject, shown } from '../error.ts';
import type { Step } from '../json-paths.ts';
import { identifier, join, literal, sql } from '../sql-fragment.ts';
import {
  type Expression,
  flags,
  jsonOf,
  type Kind,
  readFrom,
  within,
} from '../typed-expression.ts';
import type { RecordNode } from './records.ts';

export interface Column {
  readonly name: string;
  readonly kind: Kind;
  readonly element?: Kind;
  readonly maxExpansion?: number;
  /** Its bare name means a member of an unnested record first. */
  readonly isLate?: boolean;
}

/** A common table expression of the caller's own. */
export interface OwnTable {
  readonly id: string;
  readonly columns: readonly Column[];
  /** As `Query` has them. */
  readonly tables: number;
  uses: number;
}

export type OwnTables = ReadonlyMap<string, OwnTable>;

/** Something in a FROM clause. */
export interface Relation {
  /** The caller's name for it, in lower case; null without one. */
  readonly alias: string | null;
  readonly columns: readonly string[];
  /** Columns that only a name with the alias leads to, in lower case. */
  readonly hidden?: ReadonlySet<string>;
  /** Columns whose bare names mean a member of an unnested record first, in lower case. */
  readonly late?: ReadonlySet<string>;
  column(name: string): Expression | null;
  /** All of it as one value. */
  whole(): Expression;
  /** A member, where any may be asked for: of a record. */
  readonly member?: (steps: readonly Step[]) => Expression;
  /** Whether it is a record that is known to have such a member. */
  readonly knows?: (steps: readonly Step[]) => boolean;
}

/** What names mean at a place: the relations of its FROM clause, the caller's own tables, and what they mean farther out. */
export interface Scope {
  readonly relations: readonly Relation[];
  readonly tables: OwnTables;
  readonly joined: Joined;
  /** The SELECT that the place is in: scopes that have the same one differ in what names mean there. */
  readonly select: object;
  readonly outer: Scope | null;
  /** What a name of the result means that comes before those of columns, in ClickHouse's dialect; null where it is not a name of the result. */
  readonly alias?: (name: string) => Expression | null;
  /** Whether the SELECT has groups: by GROUP BY, or for the rows of another around it. */
  readonly grouped?: boolean;
  /** Whether the place takes no aggregates, so that a name means a column rather than one. */
  readonly noAggregates?: boolean;
  /** A row for each element of a list: the element, the same for all that `key` is the same for. */
  readonly arrayJoin?: (key: string, list: Expression) => Expression;
}

/** How many tables one SELECT joins, its subqueries' among them. */
export interface Joined {
  tables: number;
}

/** Measured: a join of 24 takes 350 MB beside the engine's memory. */
const MAX_JOINED = 12;

/** Counts tables that a SELECT joins. Throws SqlRefused beyond the limit: the planner holds all their ways to each other in memory. */
export function joins(tables: number, { joined }: Scope, at: number | null): void {
  joined.tables += tables;
  if (joined.tables > MAX_JOINED) reject(at, `A SELECT may join ${MAX_JOINED} tables at most`);
}

/** Where the statement begins. */
export const NOWHERE: Scope = {
  relations: [],
  tables: new Map(),
  joined: { tables: 0 },
  select: {},
  outer: null,
};

/** A relation with columns, which in the engine is called `id`. */
export function tableRelation(
  alias: string | null,
  id: string,
  columns: readonly (Column & { readonly sql: string })[],
): Relation {
  const relation: Relation = {
    alias,
    columns: columns.map(({ name }) => name),
    late: new Set(columns.flatMap(({ name, isLate }) => (isLate ? [name.toLowerCase()] : []))),
    column(name) {
      const found = columns.find((column) => column.name.toLowerCase() === name.toLowerCase());
      if (!found) return null;
      const column = { relation, name: found.name };
      return readFrom(found, `${id}.${identifier(found.sql)}`, { column });
    },
    whole() {
      const members = columns
        .filter(({ isLate }) => !isLate)
        .map((column) => {
          const value = relation.column(column.name) as Expression;
          return sql`${literal(column.name)}, ${value.kind === 'timestamp' ? sql`epoch_us(${value.sql})` : value.sql}`;
        });
      return jsonOf(sql`json_object(${join(members, ', ')})`);
    },
  };
  return relation;
}

/** A record that was unnested together with others of its column. */
export function recordRelation(alias: string | null, node: RecordNode): Relation {
  return {
    alias,
    columns: [],
    column: () => null,
    whole: () => node.member([]),
    member: (steps) => node.member(steps),
    knows: (steps) => node.knows(steps),
  };
}

/** An element that was unnested by itself. */
export function elementRelation(alias: string | null, element: Expression): Relation {
  const relation = { alias, columns: [], column: () => null, whole: () => element };
  return element.kind === 'json'
    ? {
        ...relation,
        member: (steps: readonly Step[]) => within(element, steps, true),
      }
    : relation;
}

/**
 * What a dotted name means: a relation, its column or member; a column of one relation; a field of whichever unnested record has it;
 * the same farther out. Throws SqlRefused when nothing is called so.
 */
export function resolve(names: readonly string[], scope: Scope, at: number | null): Expression {
  const [first = '', ...rest] = names;
  for (let level: Scope | null = scope; level; level = level.outer) {
    const alias = rest.length === 0 ? level.alias?.(first.toLowerCase()) : null;
    const isFit = alias && !(scope.noAggregates && (alias.aggregate || alias.window));
    if (alias && (isFit || !column(first, rest, level, at))) return alias;
    const own = named(first, rest, level, at) ?? column(first, rest, level, at);
    // Any record may have a field of any name: `t.id` is the id of a relation farther out, where one is called so.
    const isFarther = !own && rest.length > 0 && isNamed(first, level.outer);
    const found = own ?? (isFarther ? null : field(names, level));
    if (found) return placed(found, level.select === scope.select ? 'own' : 'outer');
  }
  for (let level: Scope | null = scope; level; level = level.outer) {
    const late = column(first, rest, level, at, true);
    if (late) return placed(late, level.select === scope.select ? 'own' : 'outer');
  }
  return reject(at, unknown(names, scope));
}

/** Whether a relation or a column is called so, here or farther out. */
function isNamed(name: string, scope: Scope | null): boolean {
  for (let level = scope; level; level = level.outer) {
    const isIt = ({ alias, column, late }: Relation) =>
      alias === name.toLowerCase() || (column(name) && !late?.has(name.toLowerCase()));
    if (level.relations.some(isIt)) return true;
  }
  return false;
}

/** The value, with where it was found. What it is made of stays as lazy as it is. */
function placed(value: Expression, where: 'own' | 'outer'): Expression {
  const descriptors = Object.getOwnPropertyDescriptors(value);
  const place = { [where]: { value: true, enumerable: true } };
  return Object.defineProperties({}, { ...descriptors, ...place }) as Expression;
}

function named(
  first: string,
  rest: readonly string[],
  { relations }: Scope,
  at: number | null,
): Expression | null {
  const relation = relations.find(({ alias }) => alias === first.toLowerCase());
  if (!relation) return null;
  const [name, ...more] = rest;
  if (name === undefined) return relation.whole();
  if (relation.member) return relation.member(rest);
  const value = relation.column(name);
  if (!value)
    return reject(
      at,
      `There is no column ${shown(name)} in ${shown(first)}${among(relation.columns)}`,
    );
  return deeper(value, more, at);
}

function column(
  first: string,
  rest: readonly string[],
  { relations }: Scope,
  at: number | null,
  isLate = false,
): Expression | null {
  const key = first.toLowerCase();
  const found = relations.flatMap(({ hidden, late, column: columnOf }) =>
    hidden?.has(key) || (late?.has(key) ?? false) !== isLate ? [] : (columnOf(first) ?? []),
  );
  if (found.length > 1)
    reject(
      at,
      `The column ${shown(first)} is ambiguous: say of which table, as in "table.${first}"`,
    );
  const [value] = found;
  return value ? deeper(value, rest, at) : null;
}

function deeper(value: Expression, steps: readonly string[], at: number | null): Expression {
  if (steps.length === 0) return value;
  if (value.kind !== 'json')
    return reject(at, `Cannot read field ${shown(steps[0] ?? '')}: its parent is not a record`);
  return within(value, steps);
}

/**
 * BigQuery knows from a schema which record has a field. Here that is known of some; of others the nearest record that holds one gives it.
 */
function field(names: readonly string[], { relations }: Scope): Expression | null {
  const all = relations.filter(({ member }) => member).toReversed();
  const known = all.filter(({ knows }) => knows?.(names));
  const records = known.length === 1 ? known : all;
  const values = records.flatMap(({ member }) => member?.(names) ?? []);
  const [only] = values;
  if (values.length <= 1) return only ?? null;
  return {
    kind: 'json',
    get sql() {
      return sql`coalesce(${join(
        values.map((value) => value.sql),
        ', ',
      )})`;
    },
    get text() {
      return sql`coalesce(${join(
        values.map((value) => value.text ?? value.sql),
        ', ',
      )})`;
    },
    ...flags(values),
  };
}

function unknown(names: readonly string[], { relations }: Scope): string {
  const name = names.join('.');
  const columns = [...new Set(relations.flatMap((relation) => relation.columns))];
  return `Field ${shown(name)} does not exist${among(columns)}`;
}

function among(columns: readonly string[]): string {
  return columns.length === 0 ? '' : `; there are ${columns.slice(0, 20).join(', ')}`;
}
