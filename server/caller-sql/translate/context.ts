import type { Bounds } from '../../records/bounds.ts';
import type { MemberColumns } from '../../records/shapes.ts';
import { reject } from '../error.ts';
import type { Dialect } from '../parse/lexer.ts';
import type { ParserInput } from '../parse/parser-input.ts';
import type { TreeNode } from '../parse/tree.ts';
import type { Pattern } from '../regular-expressions.ts';
import type { Sql } from '../sql-fragment.ts';
import type { ColumnOf, Expression, TextIn } from '../typed-expression.ts';
import type { Reads } from './reads.ts';
import type { Reach } from './record-reading.ts';
import type { Column, Scope } from './scope.ts';

/** What a caller may name in FROM: one of the endpoint's common table expressions. */
export interface View {
  readonly name: string;
  readonly columns: readonly Column[];
  /** Its statement, with the endpoint's parameters as `$name`. */
  readonly sql: string;
  /** The tables of the store that it reads. */
  readonly tables: readonly string[];
  /** The columns of members, which its statement gives beside `columns`, by the JSON column that they are members of. */
  readonly members?: ReadonlyMap<string, MemberColumns>;
  /** The members that the records of a JSON column are known to have, by `pathKey`. */
  readonly known?: ReadonlyMap<string, ReadonlySet<string>>;
  /** The columns that hold texts as they are stored, where its rows are those of a table with text filters. */
  readonly texts?: ReadonlySet<string>;
  /** Where it is the rows of several views together: those, which are named by a column of it. */
  readonly arms?: Arms;
  /** Where its rows are fetched before they are asked, and each is one of a source: how the view makes it of that one. */
  readonly fetched?: FetchedView;
}

/** The views whose rows a view has together. */
export interface Arms {
  /** The column that tells which one a row is of. */
  readonly column: string;
  readonly each: readonly Arm[];
}

export interface Arm {
  /** What that column has. */
  readonly value: string;
  /** The view that its rows are of, by its name in lower case. */
  readonly view: string;
  readonly sql: string;
  /** The same with the columns of `members`, of the JSON that the view's map is. */
  readonly wide: string;
  readonly members: MemberColumns | null;
}

export interface FetchedView {
  /** The source's column that each of the view's is, by its name. */
  readonly columns: ReadonlyMap<string, string>;
  /** The source's columns that tell whether a row is one of the view's. */
  readonly filter: ReadonlySet<string>;
  /** The SELECT, with the endpoint's parameters, of the moments that its filter compares timestamps with; null where it does more with them. */
  readonly moments: string | null;
  /** The column that its statement gives beside the others, of how many rows a row stands for. */
  readonly times: string;
}

/** Texts that all rows of a table's which a query reads have in them. */
export interface Sought {
  readonly table: string;
  readonly texts: Omit<TextIn, 'column'>[];
  /** The condition on its rows, once it is known. */
  condition: string | null;
}

/** A SELECT or a set operation, checked: rows with the columns c1, c2, …, not sorted yet. */
export interface Query {
  readonly columns: readonly Column[];
  /** Gives the columns, and those that `keys` name beside them. */
  readonly rows: Sql;
  readonly keys: readonly Key[];
  readonly limit: number | null;
  readonly offset: number | null;
  /** The view whose newest rows are asked for, when that is the question. */
  readonly newestOf: NewestOf | null;
  /** The tables that whoever joins it joins: its own, where the planner may take it apart; else it is one. */
  readonly tables: number;
}

export interface NewestOf {
  readonly view: string;
  /** Whether the table's columns tell which rows they are, without its texts and JSON. Asked once the statement is written. */
  readonly isNarrow: () => boolean;
}

export interface Key {
  readonly sql: Sql;
  readonly descending: boolean;
  readonly nulls: 'first' | 'last';
}

/** What all parts of one translation share. */
export interface Context {
  readonly dialect: Dialect;
  readonly input: ParserInput;
  readonly views: ReadonlyMap<string, View>;
  /** The kinds of the endpoint's parameters. */
  readonly parameters: ReadonlyMap<string, 'text' | 'timestamp'>;
  readonly reach: Reach;
  /** The regular expressions that the statement has. */
  readonly patterns: Pattern[];
  /** The views that it reads, by their names in lower case. */
  readonly read: Set<string>;
  /** The texts that are sought in tables with text filters. */
  readonly sought: Sought[];
  /** What stands in columns of each row that passes the WHERE beside it, and what members are. */
  readonly texts: TextIn[];
  readonly bounds: Bounds<ColumnOf>[];
  /** For each view in a FROM clause, what the statement as it is written reads of it. */
  readonly reads: ((written: string) => readonly Reads[])[];
  /** Where a row may stand for several: how many, once FROM is read. Null where each row is one. */
  readonly counting: { times: Sql | null } | null;
  /** A number that no other name of this translation has. */
  fresh(): number;
  /** Counts something that the engine's planner suffers from. Throws SqlRefused beyond the limit. */
  count(what: keyof typeof LIMITS, at: number | null): void;
  /** Remembers a check that needs the whole statement to be written. */
  later(check: () => void): void;
  /** Where a node stands in the caller's text, about; null before the first that says so. */
  at(node: TreeNode): number | null;
  name(text: string): string;
  expression(node: TreeNode, scope: Scope): Expression;
  query(node: TreeNode, outer: Scope, depth: number): Query;
}

/**
 * Measured: 200 joins, or lists nested 900 deep, hold the planner for seconds without an interrupt, with gigabytes; and 300 top counts
 * took 3 GB for one vector of rows, between two interrupts.
 */
export const LIMITS = {
  tables: 64,
  'unnested values': 64,
  'parts of an expression': 4000,
  subqueries: 40,
  'aggregates of values in order': 16,
} as const;

/** The shared part of a translation; `expression` and `query` call each other through it. */
export function createContext(
  checks: (() => void)[],
  base: Omit<Context, 'fresh' | 'count' | 'later' | 'at' | 'name' | 'expression' | 'query'>,
  parts: {
    expression: (context: Context, node: TreeNode, scope: Scope) => Expression;
    query: (context: Context, node: TreeNode, outer: Scope, depth: number) => Query;
  },
): Context {
  let names = 0;
  const counts = new Map<string, number>();
  let last: number | null = null;
  const context: Context = {
    ...base,
    fresh: () => ++names,
    count(what, at) {
      const count = (counts.get(what) ?? 0) + 1;
      counts.set(what, count);
      if (count > LIMITS[what]) reject(at, `A query may have ${LIMITS[what]} ${what} at most`);
    },
    later: (check) => checks.push(check),
    at({ query_location: at }) {
      // Some nodes have no place: then that of the last one that had is near.
      if (at !== undefined) last = base.input.origin(at);
      return last;
    },
    name: (text) => base.input.meaning(text),
    expression: (node, scope) => parts.expression(context, node, scope),
    query: (node, outer, depth) => parts.query(context, node, outer, depth),
  };
  return context;
}
