import { boundsOn } from '../../records/bounds.ts';
import { type MemberColumns, pathKey } from '../../records/shapes.ts';
import { attributeAt, attributeOfColumn } from '../attributes.ts';
import { Uncountable } from '../error.ts';
import { identifier, join, print, type Sql, sql } from '../sql-fragment.ts';
import { type ColumnOf, type Expression, within } from '../typed-expression.ts';
import type { Arm, Context, Sought, View } from './context.ts';
import { type Reads, readsOf } from './reads.ts';
import type { Reach } from './record-reading.ts';
import { type RecordNode, type Records, recordsOf } from './records.ts';
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
  /** The records of each JSON column, once one is unnested, or read by dotted names. */
  readonly records: Map<string, Records>;
  readonly id: string;
  /** Whether an outer join may put NULLs in its place. */
  nullable: boolean;
  /** The columns of members, which `source` has beside the others, by the column that they are members of. */
  readonly members: ReadonlyMap<string, MemberColumns>;
  /** The view, of which rows may be passed over by the texts that are sought in it. */
  readonly view: View | null;
  sought: Sought | null;
  /** The columns of attributes that are asked for of a view with arms, by their names. */
  readonly attributes: Map<string, string>;
  /** The arms of a view whose rows are read; null: all. */
  only: readonly string[] | null;
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
  const attributes = new Map<string, string>();
  const plain = tableRelation(alias?.toLowerCase() ?? null, id, columns);
  const relation = withMembers(plain, (value, name) => {
    if (value.kind === 'json')
      return (steps) => {
        const record = recordIn(made, name, (all) => all.first(steps));
        return record ? record.member(steps) : within(value, steps);
      };
    if (value.kind !== 'map' || !view?.arms) return null;
    return ([step]) => {
      const attribute = String(step);
      const column = attributes.get(attribute) ?? `a${attributes.size + 1}`;
      attributes.set(attribute, column);
      return { kind: 'text', sql: `${id}."${column}"` };
    };
  });
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
    attributes,
    only: null,
  };
  if (view?.arms) context.reads.push((written) => readsOfArms(made, written));
  else if (view) context.reads.push((written) => [readsOf(view.name, made, written, context)]);
  const { counting } = context;
  if (counting) {
    if (!view?.fetched || counting.times) throw new Uncountable();
    counting.times = `${id}.${identifier(view.fetched.times)}`;
  }
  const more = counting && view?.fetched ? [identifier(view.fetched.times)] : [];
  return {
    sql: {
      spell: () => {
        for (const arm of armsOf(made)) context.read.add(arm.view);
        return print(block(made, view?.arms ? united(made) : source, context.reach, more));
      },
    },
    relations: [relation],
    tables: [made],
    view: view?.name ?? null,
    composite: false,
  };
}

/** The arms of a view whose rows are read. */
function armsOf({ view, only }: Table): readonly Arm[] {
  const each = view?.arms?.each ?? [];
  return only === null ? each : each.filter(({ value }) => only.includes(value));
}

/** The columns that are read of each arm, whose columns are called as those of the view. */
function readsOfArms(table: Table, written: string): Reads[] {
  const { columns, attributes, view } = table;
  const named = columns.filter(({ name }) => name !== view?.arms?.column);
  const maps = named.filter(({ kind }) => kind === 'map' && attributes.size > 0);
  return armsOf(table).map((arm) => {
    const reads = readsOf(arm.view, { ...table, columns: named }, written, {
      texts: [],
      bounds: [],
    });
    return { ...reads, columns: new Set([...reads.columns, ...maps.map(({ name }) => name)]) };
  });
}

/** Notes which arms of a view have all the rows that pass the WHERE. */
export function noteArms(table: Table, { oneOf }: Expression): void {
  const { arms } = table.view ?? {};
  if (!arms || oneOf?.column.relation !== table.relation || oneOf.column.name !== arms.column)
    return;
  table.only = oneOf.values;
}

/** A relation of whose columns `membersOf` gives single members; null: they are taken out of the column's value. */
function withMembers(
  plain: Relation,
  membersOf: (value: Expression, name: string) => NonNullable<Expression['member']> | null,
): Relation {
  const relation: Relation = {
    ...plain,
    column(name) {
      const found = plain.column(name);
      if (!found) return null;
      const column = { relation, name: found.column?.name ?? name };
      const value = { ...found, column };
      const member = membersOf(value, column.name);
      return member ? { ...value, member } : value;
    },
  };
  return relation;
}

const NO_MEMBERS: ReadonlySet<string> = new Set();

/** The record of a table's column that `add` gives, of those that are read together. */
export function recordIn(
  { id, relation, columns, records, view }: Table,
  column: string,
  add: (records: Records) => RecordNode | null,
): RecordNode | null {
  const all =
    records.get(column) ??
    recordsOf(
      id,
      rowName(column, columns),
      { relation, name: column },
      view?.known?.get(column) ?? NO_MEMBERS,
    );
  const record = add(all);
  if (record) records.set(column, all);
  return record;
}

/** The column that a member has in the rows of an arm; undefined without one. */
function columnIn({ members }: Arm, name: string): string | undefined {
  return members?.columns.get(pathKey(name.split('.')));
}

/**
 * The rows of a view's arms. Where all that is asked for are members that have columns, rows are read by these, the others by the JSON: by
 * two statements rather than a condition, since the engine reads each column that a statement names.
 */
function united(table: Table): Sql {
  const { columns, attributes, view } = table;
  const map = identifier(columns.find(({ kind }) => kind === 'map')?.sql ?? '');
  const names = [...attributes.keys()];
  // The same of rows with and without filled columns, which hold nothing of names with dots in them.
  const isMember = (name: string) =>
    view?.arms?.each.some((arm) => columnIn(arm, name) !== undefined) ?? false;
  const kept = columns.map((column) => identifier(column.sql));
  const selected = (rows: Sql, read: (name: string) => Sql, where: Sql) => {
    const values = [...attributes].map(
      ([name, column]) => sql`${read(name)} as ${identifier(column)}`,
    );
    return sql`select ${join([...kept, ...values], ', ')} from ${rows} as v${where}`;
  };
  const arms = armsOf(table);
  const byColumns = (arm: Arm) =>
    names.length > 0 && names.every((name) => columnIn(arm, name) !== undefined);
  const filled = arms.filter(byColumns).map((arm) => {
    const { state = '', filledFrom = 0n } = arm.members ?? {};
    const read = (name: string) => attributeOfColumn(identifier(columnIn(arm, name) ?? ''));
    const where = ` where ${identifier(state)} >= ${filledFrom}`;
    return selected(`(${arm.wide})`, read, where);
  });
  const rows = arms.map((arm) => {
    const { state = '', filledFrom = 0n } = arm.members ?? {};
    const from = byColumns(arm) ? arm.wide : arm.sql;
    const where = byColumns(arm) ? ` where ${identifier(state)} < ${filledFrom}` : '';
    return `select ${kept.join(', ')} from (${from}) as v${where}`;
  });
  const [none] = view?.arms?.each ?? [];
  const others =
    rows.length > 0
      ? rows.join(' union all ')
      : `select ${kept.join(', ')} from (${none?.sql ?? ''}) as v where false`;
  const byJson = selected(`(${others})`, (name) => attributeAt(map, name, isMember(name)), '');
  return sql`(${join([...filled, byJson], ' union all ')})`;
}

/** A table with the records of its columns beside them. */
function block(
  { id, records, columns, members, sought, attributes }: Table,
  rows: Sql,
  reach: Reach,
  more: readonly string[],
): Sql {
  const condition = sought?.condition ?? null;
  const source = condition === null ? rows : sql`(select * from ${rows} where ${condition})`;
  let from = source;
  const kept = [
    ...columns.map((column) => identifier(column.sql)),
    ...[...attributes.values()].map(identifier),
    ...more,
  ];
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
export function noteRows(
  context: Context,
  tables: readonly Table[],
  { texts = [], bounds }: Expression,
) {
  // Not those of an outer query, which keeps rows without them, too.
  const isOwn = (column: ColumnOf) => tables.some(({ relation }) => relation === column.relation);
  context.texts.push(...texts.filter(({ column }) => isOwn(column)));
  const own = boundsOn(bounds, ({ of }) => (isOwn(of) ? of : undefined));
  if (own) context.bounds.push(own);
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

/** Texts that are as short as a number. */
const SHORT: readonly string[] = ['project', 'source', 'severity', 'level', 'severity_text'];

/**
 * Whether conditions over a table, as they are written, are told by columns that are cheap to read: moments, numbers, the project, and
 * members that have columns.
 */
export function isNarrow(table: Table, conditions: readonly Sql[]): boolean {
  const { id, columns, records, members, attributes, view } = table;
  // What stands in quotes may be the caller's; that it is taken for a name makes no answer wrong.
  const text = conditions.map(print).join(' ');
  const names = (column: string) => text.includes(`${id}.${column}`);
  const isWide = ({ kind, name }: Placed) =>
    kind === 'json' ||
    kind === 'map' ||
    kind === 'array' ||
    (kind === 'text' && !SHORT.includes(name));
  if (view?.arms) {
    const named = [...attributes].filter(([, column]) => names(identifier(column)));
    const isColumn = ([name]: readonly [string, string]) =>
      armsOf(table).every((arm) => columnIn(arm, name) !== undefined);
    return (
      !/\(select /i.test(text) &&
      !columns.some((column) => isWide(column) && names(identifier(column.sql))) &&
      named.every(isColumn)
    );
  }
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
function rowName(column: string, columns: readonly Column[]): string {
  return `record_${columns.findIndex(({ name }) => name === column)}`;
}

/** The columns as a checked query calls them. */
export function numbered(columns: readonly Column[]): Placed[] {
  return columns.map((column, i) => ({ ...column, sql: `c${i + 1}` }));
}
