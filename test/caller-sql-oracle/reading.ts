import type { Row } from './dataset.ts';
import type { Json } from './shape.ts';

/** What names stand for in one row of a FROM clause: `t` the entry, others the records that were unnested. */
export type Scope = Readonly<Record<string, Json>>;

/** Names and the paths whose records they stand for, in the order of the clause. */
export type Joins = Readonly<Record<string, string>>;

/**
 * The rows of an entry joined with its records: a record once, an array once for each of its elements, nothing drops the
 * row; of the `left` ones, nothing keeps it with null.
 */
export function from(rows: readonly Row[], joins: Joins = {}, left: Joins = {}): Scope[] {
  let scopes: Scope[] = rows.map((t) => ({ t: t as unknown as Json }));
  for (const [name, path] of Object.entries(joins))
    scopes = scopes.flatMap((scope) =>
      unnest(at(scope, path)).map((v) => ({ ...scope, [name]: v })),
    );
  for (const [name, path] of Object.entries(left))
    scopes = scopes.flatMap((scope) => {
      const values = unnest(at(scope, path));
      return (values.length > 0 ? values : [null]).map((v) => ({ ...scope, [name]: v }));
    });
  return scopes;
}

function unnest(value: Json): readonly Json[] {
  if (value === null) return [];
  return Array.isArray(value) ? value : [value];
}

/** The value at a path such as `request.path` of a scope, or in any JSON; null where there is none. */
export function at(value: Json | Scope, path: string): Json {
  let found: Json = value as Json;
  for (const name of path.split('.')) {
    if (typeof found !== 'object' || found === null || Array.isArray(found)) return null;
    found = found[name] ?? null;
  }
  return found;
}

/** A value as text. */
export function text(value: Json): string | null {
  if (value === null || typeof value === 'string') return value;
  return typeof value === 'object' ? JSON.stringify(value) : `${value}`;
}

/** A value as a number; null when it is not one. */
export function number(value: Json): number | null {
  if (typeof value === 'number') return value;
  const is =
    typeof value === 'string' && /^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$/.test(value);
  return is ? Number(value) : null;
}

/** A value as a whole number; null when it is not one. */
export function integer(value: Json): number | null {
  if (typeof value === 'string') return /^\s*[-+]?\d+\s*$/.test(value) ? Number(value) : null;
  return typeof value === 'number' ? Math.sign(value) * Math.round(Math.abs(value)) : null;
}

/** JSON that stands in a text; null when the text is not JSON. */
export function parse(value: string): Json {
  try {
    return JSON.parse(value) as Json;
  } catch {
    return null;
  }
}

/** What `json_value` finds: a scalar as text. */
export function jsonValue(value: string, path: string): string | null {
  const found = at(parse(value), path);
  return typeof found === 'object' ? null : text(found);
}
