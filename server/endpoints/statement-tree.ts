import { isSource, type Source } from '../../ingest/index.ts';

/** The syntax tree of a statement, as far as it matters here. */
export interface Tree {
  readonly error: boolean;
  readonly statements: readonly { readonly node: SelectNode }[];
}

export interface SelectNode {
  readonly type?: string;
  readonly cte_map: { readonly map: readonly Definition[] };
  readonly select_list?: readonly SelectItem[];
  readonly from_table?: Readonly<Record<string, unknown>>;
  readonly [clause: string]: unknown;
}

export interface SelectItem {
  readonly class?: string;
  readonly alias?: string;
  readonly column_names?: readonly string[];
}

export interface Definition {
  readonly key: string;
  readonly value: { readonly query: { readonly node: SelectNode } };
}

export interface Condition extends SelectItem {
  readonly type?: string;
  readonly children?: readonly Condition[];
  readonly left?: Condition;
  readonly right?: Condition;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
/** Begins the text that stands for a number which JavaScript's cannot hold; no text of SQL has a NUL. */
const NUMBER = '\0number:';

/** Reads a tree without the places in the text. Numbers keep all their digits. */
export function readTree(json: string): Tree {
  const exact = json.replace(TOKEN, (token) =>
    token.startsWith('"') || String(Number(token)) === token
      ? token
      : JSON.stringify(NUMBER + token),
  );
  return JSON.parse(exact, (key, value) => (key === 'query_location' ? 0 : value));
}

export function writeTree(tree: Tree): string {
  return JSON.stringify(tree).replace(TOKEN, (token) => {
    const value = token.startsWith('"') ? JSON.parse(token) : '';
    return value.startsWith(NUMBER) ? value.slice(NUMBER.length) : token;
  });
}

export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Returns the definitions that a tree names, and those that these name. */
export function neededBy(tree: unknown, definitions: readonly Definition[]): Definition[] {
  const named = new Set(namedBy(tree));
  const needed = definitions.toReversed().filter(({ key, value }) => {
    if (!named.has(key.toLowerCase())) return false;
    for (const name of namedBy(value)) named.add(name);
    return true;
  });
  return needed.toReversed();
}

/** What stands for a table anywhere in a tree, in lower case: `view` or `main.table`. */
export function namedBy(tree: unknown): string[] {
  if (Array.isArray(tree)) return tree.flatMap(namedBy);
  if (typeof tree !== 'object' || tree === null) return [];
  const { type, table_name: name, schema_name: schema } = tree as Record<string, unknown>;
  const below = Object.values(tree).flatMap(namedBy);
  return type === 'BASE_TABLE'
    ? [`${schema ? `${schema}.` : ''}${name}`.toLowerCase(), ...below]
    : below;
}

/** Returns a tree with other tables in place of those of sources; `views` are names that stand for no table, unless the schema is said. */
export function withTables<T>(
  tree: T,
  tableOf: (source: Source) => string,
  views: readonly string[],
): T {
  if (Array.isArray(tree)) return tree.map((each) => withTables(each, tableOf, views)) as T;
  if (typeof tree !== 'object' || tree === null) return tree;
  const below = Object.fromEntries(
    Object.entries(tree).map(([key, value]) => [key, withTables(value, tableOf, views)]),
  );
  const { type, table_name: table, schema_name: schema, alias } = below;
  const name = String(table ?? '').toLowerCase();
  const isTable = type === 'BASE_TABLE' && isSource(name) && (schema || !views.includes(name));
  return (
    isTable
      ? {
          ...below,
          schema_name: '',
          catalog_name: '',
          table_name: tableOf(name),
          alias: alias || name,
        }
      : below
  ) as T;
}

/** The SELECTs that a set operation puts together, in their order. */
export function selectsOf(node: SelectNode): SelectNode[] {
  const { left, right, children } = node as unknown as Readonly<Record<string, SelectNode>>;
  if (Array.isArray(children)) return children.flatMap(selectsOf);
  return left && right ? [...selectsOf(left), ...selectsOf(right)] : [node];
}

/** The text of a constant; null for anything else. */
export function textOf(item: SelectItem): string | null {
  const { value } = item as { readonly value?: { readonly value?: unknown } };
  return item.class === 'CONSTANT' && typeof value?.value === 'string' ? value.value : null;
}

/** The columns that a tree names, in lower case, without their tables. */
export function columnsIn(tree: unknown): string[] {
  if (Array.isArray(tree)) return tree.flatMap(columnsIn);
  if (typeof tree !== 'object' || tree === null) return [];
  const { class: kind, column_names: names } = tree as SelectItem;
  if (kind === 'COLUMN_REF') return [names?.at(-1)?.toLowerCase() ?? ''];
  return Object.values(tree).flatMap(columnsIn);
}

/** Clauses of an expression that gives the same for each row. */
const CONSTANT = new Set(['CAST', 'TYPE', 'CONSTANT', 'PARAMETER', 'OPERATOR_COALESCE']);

export function isConstant(tree: unknown): boolean {
  if (Array.isArray(tree)) return tree.every(isConstant);
  if (typeof tree !== 'object' || tree === null) return true;
  const { class: kind, type } = tree as Condition;
  const isKnown = kind === undefined || CONSTANT.has(kind) || CONSTANT.has(type ?? '');
  return isKnown && Object.values(tree).every(isConstant);
}

export function columnRef(name: string, alias = ''): SelectItem & { readonly type: string } {
  return { class: 'COLUMN_REF', type: 'COLUMN_REF', alias, column_names: [name] };
}

export function isEmpty(clause: unknown): boolean {
  return clause === undefined || clause === null || (Array.isArray(clause) && clause.length === 0);
}

/** The FROM clause of a SELECT without one. */
export const NOWHERE = { type: 'EMPTY', alias: '' };
