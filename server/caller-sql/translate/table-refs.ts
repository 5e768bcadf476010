import type { MemberColumns } from '../../records/shapes.ts';
import { Uncountable } from '../error.ts';
import { identifier, print, type Sql, sql } from '../sql-fragment.ts';
import type { Expression, TextIn } from '../typed-expression.ts';
import type { Context, Sought, View } from './context.ts';
import { readsOf } from './reads.ts';
import type { Reach, Records } from './records.ts';
import { type Column, type Relation, tableRelation } from './scope.ts';

/** A FROM clause, or a part of it. */
export interface From {
  readonly sql: Sql;
  readonly relations: readonly Relation[];
  /** The tables in it, whose JSON columns can be unnested where they stand. */
  readonly tables: readonly Table[];
  /** The view, where it is all that there is beside its own records. */
  readonly view: string | null;
  /** Whether it is a join, which stands in brackets where it is joined to something. */
  readonly composite: boolean;
}

/** A view, a table of the caller's own or a subquery. */
export interface Table {
  readonly relation: Relation;
  readonly columns: readonly Placed[];
  /** The records of each JSON column, once one is unnested. */
  readonly records: Map<string, Records>;
  readonly id: string;
  /** Whether an outer join may put NULLs in its place. */
  nullable: boolean;
  /** The columns of members, which `source` has beside the others, by the column that they are members of. */
  readonly members: ReadonlyMap<string, MemberColumns>;
  /** The view, of which rows may be passed over by the texts that are sought in it. */
  readonly view: View | null;
  sought: Sought | null;
}

/** A column, and what it is called in the engine. */
export type Placed = Column & { readonly sql: string };

export const NOTHING: From = {
  sql: '',
  relations: [],
  tables: [],
  view: null,
  composite: false,
};

/** A FROM clause of one table, whose rows `source` gives. */
export function tableFrom(
  context: Context,
  alias: string | null,
  source: Sql,
  columns: readonly Placed[],
  view: View | null,
): From {
  const id = `t${context.fresh()}`;
  const relation = tableRelation(alias?.toLowerCase() ?? null, id, columns);
  const members = view?.members ?? new Map();
  const made: Table = {
    relation,
    columns,
    records: new Map(),
    id,
    nullable: false,
    members,
    view,
    sought: null,
  };
  if (view) context.reads.push((written) => readsOf(view.name, made, written, context.texts));
  const { counting } = context;
  if (counting) {
    if (!view?.fetched || counting.times) throw new Uncountable();
    counting.times = `${id}.${identifier(view.fetched.times)}`;
  }
  const more = counting && view?.fetched ? [identifier(view.fetched.times)] : [];
  return {
    sql: { spell: () => print(block(made, source, context.reach, more)) },
    relations: [relation],
    tables: [made],
    view: view?.name ?? null,
    composite: false,
  };
}

/** A table with the records of its columns beside them. */
function block(
  { id, records, columns, members, sought }: Table,
  rows: Sql,
  reach: Reach,
  more: readonly string[],
): Sql {
  const condition = sought?.condition ?? null;
  const source = condition === null ? rows : sql`(select * from ${rows} where ${condition})`;
  let from = source;
  const kept = [...columns.map((column) => identifier(column.sql)), ...more];
  for (const [name, unnested] of records) {
    const column = columns.find((each) => each.name === name);
    from = unnested.rows({
      from,
      column: identifier(column?.sql ?? name),
      kept: [...kept],
      // What has been unnested before has handed on no others.
      members: from === source ? (members.get(name) ?? null) : null,
      reach,
    });
    kept.push(...unnested.names());
  }
  return sql`${from} as ${id}`;
}

/** Notes what stands in each row of a table that is read, by its WHERE. */
export function noteTexts(context: Context, tables: readonly Table[], { texts = [] }: Expression) {
  // Not those of an outer query, which keeps rows without them, too.
  const isOwn = ({ column }: TextIn) => tables.some(({ relation }) => relation === column.relation);
  context.texts.push(...texts.filter(isOwn));
  for (const { column, ...text } of texts) {
    const table = tables.find(({ relation }) => relation === column.relation);
    // Where members have columns, the JSON stands as it is stored, in rows with text filters.
    const stored = text.escaped ? table?.members : table?.view?.texts;
    // Rows that are fetched have no text filters.
    if (!table?.view || table.view.fetched || table.nullable || !stored?.has(column.name)) continue;
    if (!table.sought) {
      table.sought = { table: table.view.tables[0] ?? '', texts: [], condition: null };
      context.sought.push(table.sought);
    }
    table.sought.texts.push(text);
  }
}

/**
 * Whether conditions over a table, as they are written, are told by columns that are cheap to read: moments, numbers, the project, and
 * members that have columns.
 */
export function isNarrow(
  { id, columns, records, members }: Table,
  conditions: readonly Sql[],
): boolean {
  // What stands in quotes may be the caller's; that it is taken for a name makes no answer wrong.
  const text = conditions.map(print).join(' ');
  const names = (column: string) => text.includes(`${id}.${column}`);
  const isWide = ({ kind, name }: Placed) =>
    kind === 'json' || kind === 'array' || (kind === 'text' && name !== 'project');
  return (
    members.size > 0 &&
    !/\(select /i.test(text) &&
    !columns.some((column) => isWide(column) && names(identifier(column.sql))) &&
    [...records].every(([name, unnested]) => {
      const own = members.get(name);
      return own !== undefined && unnested.areColumns(own, names);
    })
  );
}

/** A name that no column of a view begins with, and each column's own. */
export function rowName(column: string, columns: readonly Column[]): string {
  return `record_${columns.findIndex(({ name }) => name === column)}`;
}

/** The columns as a checked query calls them. */
export function numbered(columns: readonly Column[]): Placed[] {
  return columns.map((column, i) => ({ ...column, sql: `c${i + 1}` }));
}
