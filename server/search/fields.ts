/** How grave an entry is, the gravest last. */
export const SEVERITIES = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

/** Columns of every source by the names that they go by in a search query. */
export const COLUMNS: ReadonlyMap<string, string> = new Map([
  ['id', 'id'],
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

/** As deep as a member may stand: each name doubles the forms that it may have. */
export const MOST_NAMES = 6;
