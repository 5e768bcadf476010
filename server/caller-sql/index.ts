import { reject, shown } from './error.ts';
import { type Dialect, tokenize } from './parse/lexer.ts';
import { parserInput } from './parse/parser-input.ts';
import { nodeOf, nodesOf, type TreeNode } from './parse/tree.ts';
import type { Pattern } from './regular-expressions.ts';
import { identifier, join, print, sql } from './sql-fragment.ts';
import { createContext, type Sought, type View } from './translate/context.ts';
import { query } from './translate/query.ts';
import type { Reads } from './translate/reads.ts';
import type { Reach } from './translate/record-reading.ts';
import { type Column, NOWHERE } from './translate/scope.ts';
import { limited, ordered } from './translate/subselect.ts';
import { translateExpression } from './translate/translate-expression.ts';
import { shownOf, sizeOf } from './typed-expression.ts';

export { SqlRefused, Uncountable } from './error.ts';
export { attributeColumn, forClickHouse } from './for-clickhouse.ts';
export { DIALECTS, type Dialect } from './parse/lexer.ts';
export { matchesBytes } from './regular-expressions.ts';
export type { Arm, Arms, FetchedView, View } from './translate/context.ts';
export type { MomentReads, Reads, Unit } from './translate/reads.ts';
export { BEYOND_REACH, type Reach } from './translate/record-reading.ts';
export type { Kind } from './typed-expression.ts';

/** What a caller's SQL is checked against. */
export interface TranslationScope {
  readonly dialect: Dialect;
  readonly views: ReadonlyMap<string, View>;
  readonly parameters: ReadonlyMap<string, 'text' | 'timestamp'>;
  /** Rows of the answer, at most. */
  readonly maxRows: number;
  /** By default all. */
  readonly reach?: Reach;
  /** Whether a row of a view may stand for several, as many as `times` of it says. By default each is one. */
  readonly counting?: boolean;
  /** Gives the condition on rows of a table in which texts may stand; null where it leaves out next to none. */
  readonly mayHave?: (table: string, texts: Sought['texts']) => Promise<string | null>;
}

/** The caller's question in the engine's words. */
export interface Translation {
  /** The regular expressions in it, with their places; the engine judges them when it runs the statement. */
  readonly patterns: readonly Pattern[];
  /** Gives the result's columns, and as the last one how many bytes the row has, about. Takes the endpoint's parameters. */
  readonly sql: string;
  /**
   * When the newest rows of a view are asked for: the view, how many rows are wanted, and the statement that gives how many there are
   * (`found`) and the moment of the last one (`oldest`). `narrow`: that one reads no texts and no JSON, where members have columns.
   */
  readonly newest: {
    readonly view: string;
    readonly rows: number;
    readonly sql: string;
    readonly narrow: boolean;
  } | null;
  /** The names of the result's columns. */
  readonly columns: readonly string[];
  /** How many rows are asked for, with the one that tells whether there are more, and how many before are not. */
  readonly limit: number;
  readonly offset: number | null;
  /** The places of columns that are maps, from 0. */
  readonly maps: readonly number[];
  /** The views that it reads, by their names in lower case. */
  readonly views: ReadonlySet<string>;
  /** What it reads of their rows, wherever it names one. */
  readonly reads: readonly Reads[];
}

/** Characters of a caller's SQL, at most. */
export const MAX_SQL = 64 * 1024;

/**
 * Checks SQL of a caller and writes it anew for the engine: what is run was put together here, of parts that are known. `parse` gives
 * the engine's syntax tree of a text, as JSON. Throws SqlRefused, and Uncountable where rows may stand for several and the statement does
 * not take those.
 */
export async function translate(
  text: string,
  scope: TranslationScope,
  parse: (text: string) => Promise<string>,
): Promise<Translation> {
  if (text.length > MAX_SQL)
    reject(null, `SQL may have ${MAX_SQL} characters, this has ${text.length}`);
  const input = parserInput(tokenize(text, scope.dialect), scope.dialect, text);
  const tree = treeOf(await parse(input.text));
  if (tree.error) return reject(...faultOf(tree, input));
  const [statement, ...others] = nodesOf(tree.statements);
  if (!statement || others.length > 0) return reject(null, 'Only one statement is allowed');
  const checks: (() => void)[] = [];
  const context = createContext(
    checks,
    {
      dialect: scope.dialect,
      input,
      views: scope.views,
      parameters: scope.parameters,
      reach: scope.reach ?? 'all',
      patterns: [],
      read: new Set(),
      sought: [],
      texts: [],
      bounds: [],
      reads: [],
      counting: scope.counting ? { times: null } : null,
    },
    { expression: translateExpression, query },
  );
  const checked = query(context, nodeOf(statement.node), NOWHERE, 0);
  for (const sought of context.sought)
    sought.condition = (await scope.mayHave?.(sought.table, sought.texts)) ?? null;

  // One more row than may be answered tells that there are more.
  const asked = Math.min(checked.limit ?? Infinity, scope.maxRows + 1);
  const end = sql`${ordered(checked.keys)}${limited(asked, checked.offset)}`;
  // The oldest timestamp does not depend on the order of rows that have one timestamp.
  const newestFirst = sql`${ordered(checked.keys.slice(0, 1))}${limited(asked, null)}`;
  const columns = distinctNames(checked.columns);
  const values = columns.map((column, i) => ({
    kind: column.kind,
    sql: `q.c${i + 1}`,
    ...(column.element ? { element: column.element } : {}),
  }));
  const shownValues = values.map((value) => shownOf(value, null, scope.dialect));
  const sizes = values
    .map((value, i) => sizeOf(shownValues[i] ?? '', value.kind))
    .filter((size) => size !== null);
  const list = [
    ...columns.map(({ name }, i) => sql`${shownValues[i] ?? ''} as ${identifier(name)}`),
    sql`(${join([String(columns.length * 8), ...sizes], ' + ')})::bigint as ${identifier(' bytes')}`,
  ];
  const written = print(sql`select ${join(list, ', ')} from (${checked.rows}) as q${end}`);
  for (const check of checks) check();
  const [key] = checked.keys;
  return {
    sql: written,
    patterns: context.patterns,
    columns: columns.map(({ name }) => name),
    limit: asked,
    offset: checked.offset,
    maps: columns.flatMap(({ kind }, i) => (kind === 'map' ? [i] : [])),
    views: context.read,
    reads: context.reads.flatMap((read) => read(written)),
    newest:
      checked.newestOf !== null && key && !checked.offset
        ? {
            view: checked.newestOf.view,
            narrow: checked.newestOf.isNarrow(),
            rows: asked,
            sql: print(
              sql`select count(*) as found, min(moment) as oldest from (select ${key.sql} as moment from (${checked.rows}) as q${newestFirst}) as o`,
            ),
          }
        : null,
  };
}

/** The engine writes a number that is too large in a form that is not JSON. */
function treeOf(json: string): TreeNode {
  try {
    return nodeOf(JSON.parse(json));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return reject(null, 'A number in the statement is too large');
  }
}

function faultOf(
  tree: Readonly<Record<string, unknown>>,
  { origin, text }: ReturnType<typeof parserInput>,
): [number | null, string] {
  if (tree.error_type === 'not implemented') return [null, 'Only SELECT is allowed'];
  if (tree.error_type !== 'parser') return [null, 'The statement cannot be read'];
  const position = tree.position === undefined ? null : Number(tree.position);
  if (/depth|nest/i.test(String(tree.error_message)))
    return [null, 'The statement is nested too deep'];
  if (position === null || position >= text.trimEnd().length)
    return [origin(text.length), 'Syntax error: the statement ends too early'];
  const at = origin(position);
  return [at, 'Syntax error here'];
}

/** An object has each member once. */
function distinctNames(columns: readonly Column[]): readonly Column[] {
  const names = new Set<string>();
  for (const { name } of columns) {
    if (names.has(name))
      reject(
        null,
        `Two columns of the result are called ${shown(name)}: give one of them another name, with AS`,
      );
    names.add(name);
  }
  return columns;
}
