import type { Kind, View } from '../caller-sql/index.ts';
import type { Readers } from '../store/index.ts';

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

/** What a saved query is made of. */
export interface Parts {
  /** Its common table expressions, by their names in lower case: what SQL of a caller may name at its endpoint. */
  readonly views: ReadonlyMap<string, View>;
  /** The tables of the store that it reads, without those of views that it does not use. */
  readonly tables: readonly string[];
}

/** The parts of a saved query. Throws what the engine finds wrong with it. */
export async function partsOf(
  sql: string,
  readers: Pick<Readers, 'query' | 'describe'>,
): Promise<Parts> {
  const text = async (statement: string, value: string) => {
    const { rows } = await readers.query(statement, { value }, MAX_ROWS);
    return String(rows[0]?.[0] ?? '');
  };
  const tree = readTree(await text('select json_serialize_sql($value::varchar)', sql));
  const statement = tree.statements[0]?.node;
  const definitions = statement?.cte_map.map ?? [];
  const views = new Map<string, View>();
  const tables = (part: unknown) => [
    ...new Set(
      namedBy(part).flatMap((name) => views.get(name)?.tables ?? [name.replace(/^main\./, '')]),
    ),
  ];
  for (const [index, { key, value }] of definitions.entries()) {
    const { node } = value.query;
    const earlier = neededBy(node, definitions.slice(0, index));
    const alone = { ...node, cte_map: { map: [...earlier, ...node.cte_map.map] } };
    const body = await text(
      'select json_deserialize_sql($value::json)',
      JSON.stringify({ error: false, statements: [{ node: alone }] }),
    );
    const { columns, types } = await readers.describe(body);
    views.set(key.toLowerCase(), {
      name: key,
      sql: body,
      columns: columns.flatMap((name, i) => {
        const kind = KINDS.find(([pattern]) => pattern.test(types[i] ?? ''))?.[1];
        return kind ? [{ name, kind }] : [];
      }),
      tables: tables(node),
    });
  }
  return { views, tables: tables({ ...statement, cte_map: { map: [] } }) };
}

/** Without the places in the text, which are 64-bit numbers. */
function readTree(json: string): Tree {
  return JSON.parse(json, (key, value) => (key === 'query_location' ? 0 : value));
}

/** Returns the definitions that a tree names, and those that these name. */
function neededBy(tree: unknown, definitions: readonly Definition[]): Definition[] {
  const named = new Set(namedBy(tree));
  const needed = definitions.toReversed().filter(({ key, value }) => {
    if (!named.has(key.toLowerCase())) return false;
    for (const name of namedBy(value)) named.add(name);
    return true;
  });
  return needed.toReversed();
}

/** What stands for a table anywhere in a tree, in lower case: `view` or `main.table`. */
function namedBy(tree: unknown): string[] {
  if (Array.isArray(tree)) return tree.flatMap(namedBy);
  if (typeof tree !== 'object' || tree === null) return [];
  const { type, table_name: name, schema_name: schema } = tree as Record<string, unknown>;
  const below = Object.values(tree).flatMap(namedBy);
  return type === 'BASE_TABLE'
    ? [`${schema ? `${schema}.` : ''}${name}`.toLowerCase(), ...below]
    : below;
}
