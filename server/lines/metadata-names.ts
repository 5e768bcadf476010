import type { Source, SupabaseSource } from '../../ingest/index.ts';
import { FIELDS } from './fields.ts';

/** Roles of facts that the metadata of any line is looked into for. */
export type GradeRole = 'severity' | 'status';

/**
 * Names that are looked for in metadata of lines in Supabase's form, spelled as here, beside `severity`, `level` and `status`. To look for all names of
 * the table takes half as long as everything else that is done with such a line (docs/decisions/0029).
 */
const OF_SUPABASE: Readonly<
  Record<SupabaseSource, Partial<Readonly<Record<GradeRole, readonly string[]>>>>
> = {
  edge_logs: { status: ['response.status_code'] },
  postgres_logs: { severity: ['error_severity', 'parsed.error_severity'] },
  function_edge_logs: { status: ['response.status_code'] },
  function_logs: {},
  auth_logs: {},
  realtime_logs: {},
  storage_logs: { status: ['res.statusCode'] },
  postgrest_logs: {},
  pgbouncer_logs: {},
};

/** Tells whether a source is one of Supabase, whose lines have one form. */
export function isOfSupabase(source: Source): source is SupabaseSource {
  return Object.hasOwn(OF_SUPABASE, source);
}

/** Returns the names by which the metadata of a source tells a severity or a status, the preferred first. */
export function gradeNames(source: Source, role: GradeRole): readonly string[] {
  if (!isOfSupabase(source)) return FIELDS[role];
  const names = ['severity', 'level', 'status', ...(OF_SUPABASE[source][role] ?? [])];
  return FIELDS[role].filter((name) => names.includes(name));
}
