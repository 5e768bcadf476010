import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { allSources, type Source, type SupabaseSource } from '../../ingest/index.ts';
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

/** Names of sources that the stack of Supabase's command line ships to; what comes there is the logs of any container. */
const OTHER_NAMES: Readonly<Record<string, Source>> = {
  'docker.logs.local': 'app_logs',
  'native.logs.local': 'app_logs',
};

/** Stands before the name of a source in what its UUID is made of. */
const NAMESPACE = 'tailpond source ';

/** The UUID of a source, which is the same in every installation: Logflare knows a source by one, too. */
export function sourceUuid(source: Source): string {
  const digits = createHash('sha256')
    .update(NAMESPACE + source)
    .digest('hex');
  // Version 8 of RFC 9562: made of what its maker likes.
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-8${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
}

/** What Logflare calls a source; it knows an operator's own by no other name. */
export function logflareName(source: Source): string {
  return (LOGFLARE_NAMES as Readonly<Record<Source, string>>)[source] ?? source;
}

/** Logflare's parameters, and the members of an object, that name a source. */
export const PARAMETERS = ['source_name', 'source', 'collection_name', 'collection'];

/** The name of a source that a request's URL or headers have; null when it has none. Throws `PARAMETER_INVALID` for several. */
export function namedSource(
  { url, headers }: Pick<IncomingMessage, 'url' | 'headers'>,
  inPath: string | undefined,
): string | null {
  const search = searchOf(url ?? '');
  for (const parameter of PARAMETERS) {
    const detail = bracketed(search, parameter);
    if (detail) throw new AppError('PARAMETER_INVALID', { faults: [{ parameter, detail }] });
  }
  const given = PARAMETERS.flatMap((name) => search.getAll(name)).filter((name) => name !== '');
  if (inPath !== undefined) given.push(inPath);
  const [name = null, ...others] = given;
  if (others.length > 0) throw notOnce(given);
  const header = headers['x-source'] ?? headers['x-collection'];
  return name ?? (typeof header === 'string' ? header : null);
}

/** The name of a source among the texts of an object's members, as some clients of Logflare send it; null without one. */
export function sourceIn(texts: ReadonlyMap<string, string>): string | null {
  for (const parameter of PARAMETERS) {
    const name = texts.get(parameter);
    if (name) return name;
  }
  return null;
}

/** The source of a name: its own, Logflare's, or its UUID. Throws `PARAMETER_INVALID` without one, and `SOURCE_UNKNOWN`. */
export function sourceOf(name: string | null): Source {
  if (name === null) throw notOnce([]);
  const source =
    allSources().find((one) => [one, logflareName(one)].includes(name)) ??
    allSources().find((one) => sourceUuid(one) === name.toLowerCase()) ??
    (Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : undefined);
  if (source) return source;
  const allowed = allSources().map((one) =>
    logflareName(one) === one ? one : `${one} (${logflareName(one)})`,
  );
  throw new AppError('SOURCE_UNKNOWN', {
    detail: `Expected one of ${allowed.join(', ')}, got ${shown([name])}.`,
  });
}

function notOnce(given: readonly string[]): AppError {
  const detail = `Expected the source once, as /api/logs/<source> or /api/logs?source_name=<source>, got ${shown(given)}.`;
  return new AppError('PARAMETER_INVALID', { faults: [{ parameter: 'source_name', detail }] });
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
