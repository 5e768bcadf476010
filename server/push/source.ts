import { allSources, isSource, type Source, type SupabaseSource } from '../../ingest/index.ts';
import { projectName } from '../config/parse.ts';
import { bracketed, searchOf } from '../endpoints/parameters.ts';
import { AppError } from '../errors.ts';

/** The sources as Logflare calls them, so that what ships to Logflare need not be told other names. */
export const LOGFLARE_NAMES: Readonly<Record<SupabaseSource, string>> = {
  edge_logs: 'cloudflare.logs.prod',
  postgres_logs: 'postgres.logs',
  function_edge_logs: 'deno-relay-logs',
  function_logs: 'deno-subhosting-events',
  auth_logs: 'gotrue.logs.prod',
  realtime_logs: 'realtime.logs.prod',
  storage_logs: 'storage.logs.prod.2',
  postgrest_logs: 'postgREST.logs.prod',
  pgbouncer_logs: 'pgbouncer.logs.prod',
};

/** What Logflare calls a source; it knows an operator's own by no other name. */
export function logflareName(source: Source): string {
  return (LOGFLARE_NAMES as Readonly<Record<Source, string>>)[source] ?? source;
}

/** Logflare's two parameters; `source` holds a token there, and one of the names here. */
const PARAMETERS = ['source_name', 'source'];

/**
 * The source that lines are pushed to: of the path, or of one parameter. Throws `PARAMETER_INVALID` when it is named not
 * once, and `SOURCE_UNKNOWN`.
 */
export function sourceOf(url: string, inPath: string | undefined): Source {
  const search = searchOf(url);
  for (const parameter of PARAMETERS) {
    const detail = bracketed(search, parameter);
    if (detail) throw new AppError('PARAMETER_INVALID', { faults: [{ parameter, detail }] });
  }
  const given = PARAMETERS.flatMap((name) => search.getAll(name)).filter((name) => name !== '');
  if (inPath !== undefined) given.push(inPath);
  const [name, ...others] = given;
  if (name === undefined || others.length > 0) {
    const detail = `Expected the source once, as /api/logs/<source> or /api/logs?source_name=<source>, got ${shown(given)}.`;
    throw new AppError('PARAMETER_INVALID', { faults: [{ parameter: 'source_name', detail }] });
  }
  const source = isSource(name) ? name : allSources().find((one) => logflareName(one) === name);
  if (source) return source;
  const allowed = allSources().map((one) =>
    logflareName(one) === one ? one : `${one} (${logflareName(one)})`,
  );
  throw new AppError('SOURCE_UNKNOWN', {
    detail: `Expected one of ${allowed.join(', ')}, got ${shown([name])}.`,
  });
}

/**
 * The project of pushed lines that name none; null without one. Throws `PARAMETER_INVALID`, and `PROJECT_FORBIDDEN` for another one than
 * `pin`, the one that the token is for.
 */
export function projectOf(url: string, pin: string | null): string | null {
  const search = searchOf(url);
  const given = search.getAll('project');
  const [project = ''] = given;
  const detail =
    bracketed(search, 'project') ??
    (given.length > 1 || (given.length === 1 && projectName(project) === null)
      ? `Expected "project" once, as 1 to 128 characters without blanks, commas, = and *, got ${shown(given)}.`
      : null);
  if (detail)
    throw new AppError('PARAMETER_INVALID', { faults: [{ parameter: 'project', detail }] });
  if (pin !== null && given.length > 0 && project !== pin) {
    const other = 'Expected "project" to be the one that this token is for, got another.';
    throw new AppError('PROJECT_FORBIDDEN', {
      faults: [{ parameter: 'project', detail: other }],
    });
  }
  return project || null;
}

function shown(names: readonly string[]): string {
  return names.map((name) => JSON.stringify(name.slice(0, 100))).join(', ') || 'none';
}
