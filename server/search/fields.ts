/** How grave an entry is, the gravest last. */
export const SEVERITIES = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

/** Columns of every source by the names that they go by in a search query. */
export const COLUMNS: ReadonlyMap<string, string> = new Map([
  ['id', 'id'],
  ['source', 'source'],
  ['timestamp', 'timestamp'],
  ['project', 'project'],
  ['status', 'status'],
  ['level', 'severity'],
  ['severity', 'severity'],
  ['message', 'event_message'],
  ['msg', 'event_message'],
  ['event_message', 'event_message'],
]);

/** Columns that `edge_logs` has beside these. */
export const REQUEST_COLUMNS: readonly string[] = ['path', 'url', 'host'];

/** Names of members that stand for others in `edge_logs`. */
export const OF_REQUESTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['method', ['request', 'method']],
]);

/** What a field means in a source: a column, or the names that lead to a member of metadata. */
export function placeOf(
  path: readonly string[],
  source: string,
): { readonly column: string } | { readonly member: readonly string[] } {
  const [given = '', ...below] = path;
  const name = given.toLowerCase();
  if (below.length > 0) return { member: given === 'metadata' ? below : path };
  const isOfRequests = source === 'edge_logs';
  const column = isOfRequests && REQUEST_COLUMNS.includes(name) ? name : COLUMNS.get(name);
  if (column !== undefined) return { column };
  return { member: (isOfRequests && OF_REQUESTS.get(name)) || path };
}

/**
 * The paths of a member whose names may have dots, beside the path itself: `a.b.c` may be the member `a.b` of the metadata with a member `c`.
 * One run of names is joined in each.
 */
export function joinedPaths(path: readonly string[]): string[][] {
  return path.flatMap((_, from) =>
    path.slice(from + 1).map((_, i) => {
      const until = from + i + 2;
      return [...path.slice(0, from), path.slice(from, until).join('.'), ...path.slice(until)];
    }),
  );
}

/** Returns the path under which the last name has dashes, by which a member is found, too, as in SQL of callers; null where it is the same. */
export function dashedPath(path: readonly string[]): readonly string[] | null {
  const name = path.at(-1) ?? '';
  return name.includes('_') ? [...path.slice(0, -1), name.replaceAll('_', '-')] : null;
}

/** Texts one of which stands in any metadata that has a member of a joined path: the parts beside a dot that JSON spells in one way. */
export function joints(path: readonly string[]): string[] {
  return path
    .slice(1)
    .map((name, i) => `${/[\w-]*$/.exec(path[i] ?? '')?.[0]}.${/^[\w-]*/.exec(name)?.[0]}`);
}

/** As deep as a member may stand: each name doubles the forms that it may have. */
export const MOST_NAMES = 6;
