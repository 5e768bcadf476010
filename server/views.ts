import type { Kind, View } from './sql/index.ts';
import type { Readers } from './store/index.ts';

/** The syntax tree of a statement, as far as it matters here. */
interface Tree {
  readonly error: boolean;
  readonly statements: readonly { readonly node: SelectNode }[];
}

interface SelectNode {
  readonly cte_map: { readonly map: readonly Definition[] };
}

interface Definition {
  readonly key: string;
  readonly value: { readonly query: { readonly node: SelectNode } };
}

/** The engine's types, by what they are to SQL of a caller; a column of another type is not to be had there. */
const KINDS: readonly (readonly [RegExp, Kind])[] = [
  [/^JSON$/, 'json'],
  [/^VARCHAR$/, 'text'],
  [/^TIMESTAMP$/, 'timestamp'],
  [/^BOOLEAN$/, 'bool'],
  [/^DATE$/, 'date'],
  [/^TIME$/, 'time'],
  [/^U?(?:TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)$|^FLOAT$|^DOUBLE$|^DECIMAL/, 'number'],
];

const MAX_ROWS = { maxRows: 1 };

/**
 * What SQL of a caller may name at an endpoint: the common table expressions of its saved query, by their names in lower case.
 * Throws what the engine finds wrong with the query.
 */
export async function viewsOf(
  sql: string,
  readers: Pick<Readers, 'query' | 'describe'>,
): Promise<ReadonlyMap<string, View>> {
  const text = async (statement: string, value: string) => {
    const { rows } = await readers.query(statement, { value }, MAX_ROWS);
    return String(rows[0]?.[0] ?? '');
  };
  const tree = readTree(await text('select json_serialize_sql($value::varchar)', sql));
  const definitions = tree.statements[0]?.node.cte_map.map ?? [];
  const views = new Map<string, View>();
  for (const [index, { key, value }] of definitions.entries()) {
    const { node } = value.query;
    const earlier = definitions.slice(0, index).filter((each) => names(node, each.key));
    const alone = { ...node, cte_map: { map: [...earlier, ...node.cte_map.map] } };
    const statement = JSON.stringify({ error: false, statements: [{ node: alone }] });
    const body = await text('select json_deserialize_sql($value::json)', statement);
    const { columns, types } = await readers.describe(body);
    views.set(key.toLowerCase(), {
      name: key,
      sql: body,
      columns: columns.flatMap((name, i) => {
        const kind = KINDS.find(([pattern]) => pattern.test(types[i] ?? ''))?.[1];
        return kind ? [{ name, kind }] : [];
      }),
    });
  }
  return views;
}

/** Without the places in the text, which are 64-bit numbers. */
function readTree(json: string): Tree {
  return JSON.parse(json, (key, value) => (key === 'query_location' ? 0 : value));
}

/** Whether a tree has a table of this name, without a schema, anywhere. One that names others does so through them. */
function names(tree: unknown, table: string): boolean {
  if (Array.isArray(tree)) return tree.some((child) => names(child, table));
  if (typeof tree !== 'object' || tree === null) return false;
  const { type, table_name: name, schema_name: schema } = tree as Record<string, unknown>;
  if (type === 'BASE_TABLE' && name === table && schema === '') return true;
  return Object.values(tree).some((child) => names(child, table));
}
