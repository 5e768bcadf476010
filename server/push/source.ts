import { isSource, SOURCES, type Source } from '../../ingest/index.ts';
import { bracketed, searchOf } from '../endpoints/parameters.ts';
import { AppError } from '../errors.ts';

/** The sources as Logflare calls them, so that what ships to Logflare need not be told other names. */
export const LOGFLARE_NAMES: Readonly<Record<Source, string>> = {
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
  const source = isSource(name) ? name : SOURCES.find((one) => LOGFLARE_NAMES[one] === name);
  if (source) return source;
  const allowed = SOURCES.map((one) => `${one} (${LOGFLARE_NAMES[one]})`).join(', ');
  throw new AppError('SOURCE_UNKNOWN', {
    detail: `Expected one of ${allowed}, got ${shown([name])}.`,
  });
}

function shown(names: readonly string[]): string {
  return names.map((name) => JSON.stringify(name.slice(0, 100))).join(', ') || 'none';
}
