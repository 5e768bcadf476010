/** A log source. Its name is also that of its drop folder, its table and its view. */
export type Source = string;

/** The sources that Supabase's stack writes. */
export const SUPABASE_SOURCES = [
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

export type SupabaseSource = (typeof SUPABASE_SOURCES)[number];

/** The sources that there are without a setting: those of Supabase, and one for the logs of any application. */
export const BUILT_IN_SOURCES: readonly Source[] = [...SUPABASE_SOURCES, 'app_logs'];

let all = BUILT_IN_SOURCES;

/** All sources of this process, the built-in ones first. */
export function allSources(): readonly Source[] {
  return all;
}

/** Adds an operator's sources to the built-in ones. For the start of a process, before any of it asks which there are. */
export function defineSources(own: readonly Source[]): void {
  all = [...new Set([...BUILT_IN_SOURCES, ...own])];
}

/** Whether `name` is the name of a source. */
export function isSource(name: string): name is Source {
  return all.includes(name);
}
