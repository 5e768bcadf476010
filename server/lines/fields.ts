/**
 * The table of fields: the names by which loggers call the facts of an entry. Everything that looks for such a fact takes it from here: lines,
 * OTLP, `level:` in searches, the console and the documentation.
 */

/** A fact of an entry that has a column, or a name of its own in searches. */
export type Role =
  | 'id'
  | 'project'
  | 'time'
  | 'message'
  | 'severity'
  | 'status'
  | 'trace'
  | 'request';

/**
 * Names of each role, the preferred first. They are compared without letter case and without `_ - . @` and blanks, so that `log.level`,
 * `logLevel`, `log_level` and `level` in an object `log` are one name.
 */
export const FIELDS: Readonly<Record<Role, readonly string[]>> = {
  id: ['id'],
  project: ['project', 'project_ref'],
  time: [
    'timestamp',
    'time',
    'ts',
    '@t',
    'eventTime',
    '__REALTIME_TIMESTAMP',
    'datetime',
    'date_time',
    'asctime',
    'instant',
    'record.time',
    '_meta.date',
    't',
    'time_iso8601',
    'time_local',
    'msec',
    'event_timestamp',
    'log_time',
    'logged_at',
    'timeUnixNano',
    'requestReceivedTimestamp',
    'TimeGenerated',
    'requestTime',
    'lastTimestamp',
    'StartUTC',
    'when',
    'date',
  ],
  message: [
    'event_message',
    'message',
    'msg',
    'log',
    '@m',
    'RenderedMessage',
    'short_message',
    'fields.message',
    'record.message',
    '0',
    'textPayload',
    'jsonPayload.message',
    'body',
    'body.stringValue',
    'text',
    'event',
    'MessageTemplate',
    '@mt',
    'full_message',
    'resultDescription',
    'protoPayload.status.message',
    'error.message',
    'err.message',
    'error',
    'err',
    'exception',
    'request',
  ],
  severity: [
    'severity',
    'severity_text',
    'severityText',
    'level',
    'levelname',
    'level_name',
    'lvl',
    'log.level',
    '@l',
    'record.level',
    'context.logLevel',
    '_meta.logLevelName',
    'error_severity',
    'parsed.error_severity',
    'syslog.severity',
    'severity_number',
    'severityNumber',
    'PRIORITY',
    's',
    'at',
  ],
  status: [
    'response.status_code',
    'res.statusCode',
    'response.status',
    'res.status',
    'http.response.status_code',
    'http.status_code',
    'attributes.http.response.status_code',
    'attributes.http.status_code',
    'httpRequest.status',
    'status_code',
    'statusCode',
    'http_status',
    'DownstreamStatus',
    'OriginStatus',
    'EdgeResponseStatus',
    'elb_status_code',
    'sc-status',
    'response_code',
    'responseStatus.code',
    'status',
  ],
  trace: ['trace_id', 'trace.id', 'span.trace_id', 'dd.trace_id', 'x_trace_id'],
  request: ['request_id', 'req.id', 'x_request_id', 'correlation_id', 'http.request.id'],
};

/** Returns a name without the differences that do not count. */
export function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[_\-.@\s]/g, '');
}

/** A name of the table. */
export interface Field {
  readonly role: Role;
  /** As the table has it. */
  readonly name: string;
  /** The smaller, the more it is preferred to other names of its role. */
  readonly rank: number;
}

/** Finds names in the table. */
export interface FieldTable {
  /** Returns the field of a name, or of names that lead to it through objects, joined by dots; null if the table does not have it. */
  find(name: string): Field | null;
  /** Tells whether names of the table begin with this one, so that its object is to be looked into. */
  leads(name: string): boolean;
}

/** So many names are remembered; a program may write a new one in each line, and a long one. */
const [MOST_NAMES, MOST_NAME_CHARS] = [10_000, 200];

/** Names that an operator adds to the table. */
export type OwnFields = Partial<Record<Role, readonly string[]>>;

/** All roles, as a setting names them. */
export const ROLES = Object.keys(FIELDS) as readonly Role[];

/** Roles whose facts are looked for in metadata, too. */
const IN_METADATA: readonly Role[] = ['severity', 'status', 'trace', 'request'];

/** Tells whether lines in normal form have to be looked into: an operator named facts that may stand in their metadata. */
export function namesMetadata(own: OwnFields): boolean {
  return own.project !== undefined || IN_METADATA.some((role) => own[role]);
}

/** Makes the table of `FIELDS`, with names of an operator before those of each role. */
export function createFieldTable(own: OwnFields = {}): FieldTable {
  const named = new Map(ROLES.map((role) => [role, ownNames(role, own[role] ?? [])]));
  const fields = new Map<string, Field>();
  const add = (role: Role, rank: number, name: string) => {
    const plain = plainName(name);
    if (!fields.has(plain)) fields.set(plain, { role, name, rank });
  };
  // First, because a name of the operator may have another role in the table.
  for (const [role, names] of named)
    for (const [rank, name] of names.entries()) add(role, rank, name);
  for (const [role, names] of named)
    for (const [rank, name] of FIELDS[role].entries()) add(role, names.length + rank, name);
  const beginnings = new Set<string>();
  for (const name of [...Object.values(FIELDS), ...named.values()].flat()) {
    const segments = name.split('.').map(plainName);
    for (let n = 1; n < segments.length; n++) beginnings.add(segments.slice(0, n).join(''));
  }
  const known = new Map<string, { field: Field | null; leads: boolean }>();
  const lookUp = (name: string) => {
    let found = known.get(name);
    if (!found) {
      const plain = plainName(name);
      found = { field: fields.get(plain) ?? null, leads: beginnings.has(plain) };
      if (known.size >= MOST_NAMES) known.clear();
      if (name.length <= MOST_NAME_CHARS) known.set(apart(name), found);
    }
    return found;
  };
  return { find: (name) => lookUp(name).field, leads: (name) => lookUp(name).leads };
}

/** Returns an operator's names of a role, and those by which OpenTelemetry has the same. */
function ownNames(role: Role, names: readonly string[]): readonly string[] {
  if (names.length === 0) return names;
  // `project` comes first: a token of one project puts it before what a line says.
  if (role === 'project') return ['project', ...names];
  const attributes = names.map((name) => `attributes.${name}`);
  return IN_METADATA.includes(role) ? [...names, ...attributes] : names;
}

/** Returns a name without the line that it is a part of: V8 keeps the whole text as long as a part of it is kept. */
function apart(name: string): string {
  return JSON.parse(JSON.stringify(name)) as string;
}
