import type { Source } from '../../../ingest/index.ts';
import { FIELDS, type GradeRole, gradeNames, isOfSupabase } from '../../lines/index.ts';
import { quoted } from '../engine.ts';
import { OTEL_NUMBER, severityNumber, severityText, statusText } from './grades.ts';

/** Severity and status of a row, as expressions over the list `found` of values in its metadata. */
export interface Grades {
  /** Gives the list `found` of a column `metadata`. */
  readonly metadata_found: string;
  readonly severity_found: string;
  readonly status_found: string;
}

/** Columns of a row, as expressions over the list `found` of values in its metadata. */
export interface Found extends Grades {
  /** Gives the project that its metadata names. */
  readonly project_found: string;
  /** The columns that `edge_logs` has beside the others, each behind a comma; empty without them. */
  readonly request_columns: string;
}

/** Returns the paths of `a`, or of `a.b`, which leads through a record: an object or the first of an array of them. */
function pathsOf(name: string): string[] {
  const [record, ...below] = name.split('.');
  if (below.length === 0) return [`."${record}"`];
  const path = below.map((each) => `."${each}"`).join('');
  return [`."${record}"${path}`, `."${record}"[0]${path}`];
}

/** The columns of a request, which `edge_logs` alone has. */
export const REQUEST_COLUMNS = ['path', 'host', 'url_base', 'url_query'] as const;
/** The URL of a row of `edge_logs`. */
export const URL_OF_ROW = `url_base || coalesce(url_query, '')`;

/** Returns these columns, of members of the request. A URL is in two: its part before the query is the same in many rows (docs/decisions/0034). */
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

/**
 * Columns of lines that are stored as they came; of several sources, null, those that all of them have. The reader reads each line of a source
 * that is not of Supabase, so nothing is looked for in its metadata.
 */
export function metadataFound(source: Source | null): Found {
  const members = createMembers();
  const hasRequest = source === null || source === 'edge_logs';
  const isScanned = source === null || isOfSupabase(source);
  const found = {
    // An empty text, an object and a list pass the turn on.
    project_found: firstOf(
      (isScanned ? FIELDS.project : [])
        .flatMap(members.values)
        .map((value) => `case when ${value}[1] not in ('{', '[') then nullif(${value}, '') end`),
    ),
    ...(source !== null && isScanned ? gradesFound(source, members) : NO_GRADES),
    request_columns: hasRequest
      ? requestColumns((name) => firstOf(members.values(`request.${name}`)))
      : '',
  };
  return { ...found, metadata_found: members.list() };
}

/** Severity and status of rows that an earlier version stored without them. */
export function metadataGrades(source: Source): Grades {
  const members = createMembers();
  return { ...gradesFound(source, members), metadata_found: members.list() };
}

const NO_GRADES = { severity_found: 'null', status_found: 'null' };

function gradesFound(source: Source, { values }: Members) {
  const meant = (role: GradeRole, expression: (value: string) => string, isNumber: boolean) => {
    const names = gradeNames(source, role).filter((name) => OTEL_NUMBER.test(name) === isNumber);
    const found = names.flatMap(values);
    // In a source of Supabase, a value that cannot be read passes the turn on. Other sources have too many names for that.
    return isOfSupabase(source) ? found.map(expression) : [expression(firstOf(found))];
  };
  return {
    severity_found: firstOf([
      ...meant('severity', severityText, false),
      ...meant('severity', severityNumber, true),
    ]),
    status_found: firstOf(meant('status', statusText, false)),
  };
}

function firstOf(values: readonly string[]): string {
  return values.length === 0 ? 'null' : `coalesce(null, ${values.join(', ')})`;
}

type Members = ReturnType<typeof createMembers>;

/** Collects the members that are looked for in metadata. */
function createMembers() {
  const paths: string[] = [];
  return {
    /** Returns the values of a member, the preferred first. */
    values: (name: string) => pathsOf(name).map((path) => `found[${paths.push(path)}]`),
    /** Returns the list `found`, of all of them. */
    list() {
      if (paths.length === 0) return 'null::varchar[]';
      const from = (root: string) =>
        `json_extract_string(metadata, [${paths.map((path) => quoted(root + path)).join(', ')}])`;
      // The first element of an array counts. One list with both would take twice the time.
      return `case when starts_with(metadata, '[') then ${from('$[0]')} else ${from('$')} end`;
    },
  };
}
