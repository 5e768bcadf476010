import type { Source, SupabaseSource } from '../../../ingest/index.ts';
import { quoted } from '../engine.ts';

/** What columns of a row hold, as expressions over the list `found` of what stands in its metadata. */
export interface Found {
  /** Gives the list `found` of a column `metadata`. */
  readonly metadata_found: string;
  /** Gives the values that name a project, in the order in which they count. */
  readonly project_found: string;
  /** What a logger calls how grave an entry is. */
  readonly word_found: string;
  /** A priority of syslog. */
  readonly priority: string;
  /** A severity number of OpenTelemetry. */
  readonly number: string;
  /** A status of HTTP. */
  readonly status_found: string;
  /** The columns that `edge_logs` has beside the others, each behind a comma; empty without them. */
  readonly request_columns: string;
}

/** A member of metadata by the names that lead to it. */
function member(...names: readonly string[]): string[] {
  return [names.map((name) => `."${name}"`).join('')];
}

/** A member of a record, which is an object or the first of an array of them, as Logflare's clients write it. */
function ofRecord(record: string, name: string): string[] {
  return [`."${record}"."${name}"`, `."${record}"[0]."${name}"`];
}

const PROJECT = [...member('project'), ...member('project_ref')];
/** The columns of a request, which `edge_logs` alone has. */
export const REQUEST_COLUMNS = ['path', 'host', 'url_base', 'url_query'] as const;
/** The URL of a row of `edge_logs`. */
export const URL_OF_ROW = `url_base || coalesce(url_query, '')`;

/**
 * What these columns hold, of members of the request. A URL is in two: what stands before its query is the same in many rows
 * (docs/decisions/0034).
 */
function requestColumns(member: (name: string) => string): string {
  const [path, host, url] = ['path', 'host', 'url'].map(member);
  // Without a CASE: the engine makes what stands in one anew each time.
  const base = `split_part(${url}, '?', 1)`;
  const columns: Record<(typeof REQUEST_COLUMNS)[number], string | undefined> = {
    path,
    host,
    url_base: base,
    url_query: `nullif(substr(${url}, length(${base}) + 1), '')`,
  };
  return REQUEST_COLUMNS.map((name) => `, ${columns[name]} as ${name}`).join('');
}

/** Where lines of a source may say how grave they are; of words and statuses the first that is there counts. */
interface Grades {
  readonly word: readonly string[];
  readonly priority: readonly string[];
  readonly number: readonly string[];
  readonly status: readonly string[];
}

/** What the loggers of applications write. */
const OF_APPLICATIONS: Grades = {
  word: [
    ...member('severity_text'),
    ...member('severityText'),
    ...member('severity'),
    ...member('level'),
    ...member('levelname'),
    ...member('lvl'),
    ...member('log.level'),
    ...member('log', 'level'),
    ...member('@l'),
    ...member('error_severity'),
    ...ofRecord('parsed', 'error_severity'),
  ],
  priority: member('PRIORITY'),
  number: [...member('severityNumber'), ...member('severity_number')],
  status: [
    ...ofRecord('response', 'status_code'),
    ...ofRecord('res', 'statusCode'),
    ...member('http', 'response', 'status_code'),
    ...member('http', 'status_code'),
    ...member('http.response.status_code'),
    ...member('http.status_code'),
    ...member('attributes', 'http.response.status_code'),
    ...member('attributes', 'http.status_code'),
    ...member('status_code'),
    ...member('statusCode'),
    ...member('status'),
  ],
};

/**
 * What Supabase's services write, beside `severity`, `level` and `status`. To look for all that applications write takes half as long as
 * all else that is done with a line (docs/decisions/0029).
 */
const OF_SUPABASE: Readonly<Record<SupabaseSource, Partial<Grades>>> = {
  edge_logs: { status: ofRecord('response', 'status_code') },
  postgres_logs: {
    word: [...ofRecord('parsed', 'error_severity'), ...member('error_severity')],
  },
  function_edge_logs: { status: ofRecord('response', 'status_code') },
  function_logs: {},
  auth_logs: {},
  realtime_logs: {},
  storage_logs: { status: ofRecord('res', 'statusCode') },
  postgrest_logs: {},
  pgbouncer_logs: {},
};

function gradesOf(source: Source): Grades {
  const own = (OF_SUPABASE as Readonly<Record<Source, Partial<Grades>>>)[source];
  if (!own) return OF_APPLICATIONS;
  return {
    word: [...(own.word ?? []), ...member('severity'), ...member('level')],
    priority: [],
    number: [],
    status: [...(own.status ?? []), ...member('status')],
  };
}

/** What lines of a source have; of several sources, null, what all of them are asked for at once. */
export function metadataFound(source: Source | null): Found {
  const all: string[] = [];
  const found = (paths: readonly string[]) => {
    const first = all.push(...paths) - paths.length + 1;
    return paths.length === 0 ? 'null' : paths.map((_, i) => `found[${first + i}]`).join(', ');
  };
  const grades = source === null ? null : gradesOf(source);
  const hasRequest = source === null || source === 'edge_logs';
  const words = {
    // An empty text, an object and a list pass the turn on.
    project_found: found(PROJECT)
      .split(', ')
      .map((value) => `case when ${value}[1] not in ('{', '[') then nullif(${value}, '') end`)
      .join(', '),
    word_found: `coalesce(null, ${found(grades?.word ?? [])})`,
    priority: found(grades?.priority ?? []),
    number: `coalesce(${found(grades?.number ?? [])})`,
    status_found: `coalesce(null, ${found(grades?.status ?? [])})`,
    request_columns: hasRequest
      ? requestColumns((name) => `coalesce(${found(ofRecord('request', name))})`)
      : '',
  };
  const from = (root: string) =>
    `json_extract_string(metadata, [${all.map((path) => quoted(root + path)).join(', ')}])`;
  // The first element of an array counts. One list with both would take twice the time.
  const metadata_found = `case when starts_with(metadata, '[') then ${from('$[0]')} else ${from('$')} end`;
  return { ...words, metadata_found };
}
