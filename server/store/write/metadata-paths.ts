import { type Source, SUPABASE_SOURCES } from '../../../ingest/index.ts';
import { FIELDS, type GradeRole, gradeNames, isOfSupabase } from '../../lines/index.ts';
import { quoted } from '../engine.ts';
import { OTEL_NUMBER, severityNumber, severityText, statusText } from './grades.ts';

/** Severity and status of a row, as expressions over `found` and `listed`, what stands in its metadata. */
export interface Grades {
  /** Gives `found` of `root`. */
  readonly metadata_found: string;
  /** Gives `listed` of `root` and `found`. */
  readonly metadata_listed: string;
  readonly severity_found: string;
  readonly status_found: string;
}

/** Columns of a row, as expressions over `found` and `listed`. */
export interface Found extends Grades {
  /** Gives the project that its metadata names. */
  readonly project_found: string;
  /** The columns that `edge_logs` has beside the others, each behind a comma; empty without them. */
  readonly request_columns: string;
}

/** Gives the object that metadata is, or the first of an array of them. */
export const ROOT = `case when starts_with(metadata, '[') then metadata->'$[0]' else metadata end`;

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
  const isScanned = source === null || isOfSupabase(source);
  const found = {
    // An empty text, an object and a list pass the turn on.
    project_found: firstOf(
      (isScanned ? FIELDS.project : [])
        .flatMap(members.values)
        .map((value) => `case when ${value}[1] not in ('{', '[') then nullif(${value}, '') end`),
    ),
    request_columns:
      source === null || source === 'edge_logs'
        ? requestColumns((name) => firstOf(members.values(`request.${name}`)))
        : '',
  };
  if (source !== null)
    return {
      ...found,
      ...(isScanned ? gradesFound(source, members) : NO_GRADES),
      ...members.columns(),
    };
  // Each of the sources has its own.
  for (const each of SUPABASE_SOURCES) gradesFound(each, members);
  return { ...found, ...NO_GRADES, ...members.columns() };
}

/** Severity and status of rows that an earlier version stored without them. */
export function metadataGrades(source: Source): Grades {
  const members = createMembers();
  return { ...gradesFound(source, members), ...members.columns() };
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

/** The members of an object that are looked for: null is a value, an object has further members. */
interface Shape {
  [name: string]: Shape | null;
}

/** Collects the members that are looked for in metadata. */
function createMembers() {
  const shape: Shape = {};
  return {
    /** Returns the values of `a` or `a.b`, the preferred first. The first record of an array counts. */
    values(name: string): string[] {
      const [first = '', ...below] = name.split('.');
      add(shape, [first, ...below]);
      const direct = member('found', first, ...below);
      return below.length === 0
        ? [direct]
        : [direct, member(`${member('listed', first)}[1]`, ...below)];
    },
    /** A list of paths would take half as long again as shapes do. */
    columns() {
      const records = Object.entries(shape).filter(([, below]) => below !== null);
      const isEmpty = Object.keys(shape).length === 0;
      return {
        metadata_found: isEmpty ? 'null' : `json_transform(root, ${jsonShape(shape)})`,
        metadata_listed: records.length === 0 ? 'null' : listed(records),
      };
    },
  };
}

/** Most metadata has records as objects, and is read once. */
function listed(records: readonly [string, Shape | null][]): string {
  const missing = records
    .flatMap(([name, below]) => leaves(`found."${name}"`, below))
    .map((leaf) => `${leaf} is null`);
  const lists = Object.fromEntries(records.map(([name, below]) => [name, [below]]));
  return `case when (${missing.join(' or ')}) and contains(root, ':[{') then json_transform(root, ${jsonShape(lists)}) end`;
}

function leaves(of: string, shape: Shape | null): string[] {
  if (shape === null) return [of];
  return Object.entries(shape).flatMap(([name, below]) => leaves(`${of}."${name}"`, below));
}

function add(shape: Shape, [name = '', ...below]: readonly string[]): void {
  const inner = below.length === 0 ? null : (shape[name] ?? {});
  shape[name] = inner;
  if (inner) add(inner, below);
}

/** Returns what `json_transform` takes: a text stands for a value as text. */
function jsonShape(shape: object): string {
  return quoted(JSON.stringify(shape, (_name, value) => value ?? 'VARCHAR'));
}

function member(of: string, ...names: readonly string[]): string {
  return [of, ...names.map((name) => `"${name}"`)].join('.');
}
