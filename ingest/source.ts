/** The nine log sources. A source is also the name of its drop folder, its table and its view. */
export const SOURCES = [
  'edge_logs',
  'postgres_logs',
  'function_edge_logs',
  'function_logs',
  'auth_logs',
  'realtime_logs',
  'storage_logs',
  'postgrest_logs',
  'pgbouncer_logs',
] as const;

export type Source = (typeof SOURCES)[number];

/** Whether `name` is the name of a source. */
export function isSource(name: string): name is Source {
  return (SOURCES as readonly string[]).includes(name);
}
