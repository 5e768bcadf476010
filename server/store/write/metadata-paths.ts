import { quoted } from '../engine.ts';

/** What columns of a row hold, as expressions over the list `found` of what stands in its metadata. */
export interface Found {
  /** The list of paths for `json_extract_string`, which gives `found`. */
  readonly metadata_paths: string;
  /** Those of a project, in the order in which they count. */
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

/** A member of a record, whose levels are objects or arrays, of which the first element counts: as Logflare's clients write them. */
function inRecords(...names: readonly [string, ...string[]]): string[] {
  return names.reduce<string[]>(
    (paths, name) => paths.flatMap((path) => [`${path}.${name}`, `${path}[0].${name}`]),
    ['$'],
  );
}

/** A member of metadata that is one object, as loggers of applications write it. */
function inObject(...names: readonly string[]): string[] {
  return [`$.${names.map((name) => `"${name}"`).join('.')}`];
}

const PROJECT = [...inRecords('project'), ...inRecords('project_ref')];

/** The first that is there counts. */
const WORD = [
  ...inRecords('parsed', 'error_severity'),
  ...inObject('error_severity'),
  ...inObject('severity_text'),
  ...inObject('severityText'),
  ...inRecords('severity'),
  ...inRecords('level'),
  ...inObject('levelname'),
  ...inObject('lvl'),
  ...inObject('log.level'),
  ...inObject('log', 'level'),
  ...inObject('@l'),
];
const PRIORITY = inObject('PRIORITY');
const NUMBER = [...inObject('severityNumber'), ...inObject('severity_number')];
const STATUS = [
  ...inRecords('response', 'status_code'),
  ...inRecords('res', 'statusCode'),
  ...inObject('http', 'response', 'status_code'),
  ...inObject('http', 'status_code'),
  ...inObject('http.response.status_code'),
  ...inObject('http.status_code'),
  ...inObject('attributes', 'http.response.status_code'),
  ...inObject('attributes', 'http.status_code'),
  ...inRecords('status_code'),
  ...inObject('statusCode'),
  ...inRecords('status'),
];

/** The columns of a request. */
export const REQUEST_FIELDS = ['path', 'url', 'host'] as const;

export function metadataFound(hasRequest: boolean): Found {
  const all: string[] = [];
  const found = (paths: readonly string[]) => {
    const first = all.push(...paths) - paths.length + 1;
    return paths.map((_, i) => `found[${first + i}]`).join(', ');
  };
  const words = {
    project_found: found(PROJECT),
    word_found: found(WORD),
    priority: found(PRIORITY),
    number: `coalesce(${found(NUMBER)})`,
    status_found: found(STATUS),
    request_columns: (hasRequest ? REQUEST_FIELDS : [])
      .map((field) => `, coalesce(${found(inRecords('request', field))}) as ${field}`)
      .join(''),
  };
  return { ...words, metadata_paths: `[${all.map(quoted).join(', ')}]` };
}
