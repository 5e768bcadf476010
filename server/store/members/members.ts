import { createHash } from 'node:crypto';
import { allSources, type Source } from '../../../ingest/index.ts';
import type { Path, Shape } from '../../records/shapes.ts';

/**
 * The members of metadata that have columns of their own: what Studio's pages and reports, and the console, ask for most. Members of high
 * cardinality that are seldom asked for, such as addresses of clients, are left in the JSON, as each would take a twentieth of the store.
 * The records on the way to a member are known, too, so that a question for `request.sb` passes over rows that have none.
 */
const MEMBERS: Readonly<Record<Source, readonly string[]>> = {
  edge_logs: [
    'request.method',
    'request.path',
    'request.headers.user_agent',
    'request.headers.x_client_info',
    'request.cf.country',
    'request.sb.auth_user',
    'request.sb.apikey.apikey.prefix',
    'request.sb.jwt.apikey.payload.role',
    'request.sb.jwt.authorization.payload.role',
    'response.status_code',
    'response.origin_time',
    'response.headers.cf_cache_status',
  ],
  postgres_logs: [
    'parsed.error_severity',
    'parsed.sql_state_code',
    'parsed.application_name',
    'parsed.user_name',
  ],
  function_edge_logs: [
    'function_id',
    'execution_time_ms',
    'request.method',
    'request.pathname',
    'response.status_code',
    'response.headers.x_sb_edge_region',
  ],
  function_logs: ['event_type', 'function_id', 'level'],
  auth_logs: ['level', 'status', 'path', 'method', 'msg', 'error', 'error_code', 'duration'],
  realtime_logs: ['level'],
  storage_logs: ['level', 'responseTime', 'req.method', 'res.statusCode'],
  postgrest_logs: ['level'],
  pgbouncer_logs: ['level'],
};

/** Members whose texts a column of the line holds already in nearly every row: the query of a URL, from its question mark on. */
const HELD: Readonly<Record<Source, readonly Held[]>> = {
  edge_logs: [{ member: ['request', 'search'], column: 'url_query' }],
};

/** A member, and the column that a line gives which has the same text. */
export interface Held {
  readonly member: Path;
  readonly column: string;
}

/** What the loggers of applications write most. */
const OF_APPLICATIONS = ['level', 'severity', 'status', 'method', 'path'];

/** The members of a source that have columns without a setting. */
export function builtInMembers(source: Source): readonly string[] {
  return MEMBERS[source] ?? OF_APPLICATIONS;
}

/** The members that the records of a source are known to have, whatever settings say; none of other sources than the built-in ones. */
export function knownMembers(source: Source): readonly Path[] {
  return [
    ...(MEMBERS[source] ?? []).map(pathOf),
    ...(HELD[source] ?? []).map(({ member }) => member),
  ];
}

/**
 * The built-in members and further ones, each once. Throws when a member stands within another one, or differs from another in letter
 * case alone: a structure holds neither.
 */
export function withMembers(
  more: Readonly<Record<Source, readonly string[]>>,
): Record<Source, string[]> {
  const lists = allSources().map((source): [Source, string[]] => {
    const list = [...new Set([...builtInMembers(source), ...(more[source] ?? [])])];
    const names = list.map(pathOf);
    const records = recordsOf([...names, ...heldBeside(source, list).map(({ member }) => member)]);
    const keys = [...names, ...records].map((path) => path.join('.').toLowerCase());
    const twin = keys.find((key, i) => keys.indexOf(key) !== i);
    if (twin !== undefined)
      throw new Error(
        `TAILPOND_COLUMNS: ${source} cannot have a column of "${twin}" and of something within it, or of the same name in other letter case`,
      );
    if (records.length > WAITING_BIT)
      throw new Error(
        `TAILPOND_COLUMNS: the members of ${source} stand in ${records.length} records; ${WAITING_BIT} are allowed`,
      );
    return [source, list];
  });
  return Object.fromEntries(lists) as Record<Source, string[]>;
}

/** The members of a source that have columns, and what `member_state` holds of a row. */
export interface MemberSet {
  readonly source: Source;
  /** Tells which members these are, to whoever has the columns of several stores. */
  readonly name: string;
  readonly members: readonly Path[];
  /** Further members, which columns of the line hold where the state says so. */
  readonly held: readonly Held[];
  /** The records that lead to them, those farther out first; the first is metadata's own. Each has a bit of `member_state`, from 0. */
  readonly records: readonly Path[];
  /** Goes up when the set changes. */
  readonly generation: number;
}

/** `member_state`: the generation from here on, an even one where members are held by columns of the line, … */
const GENERATION_BIT = 40n;
/** … whether these are in this row, … */
export const IS_HELD = 1n << GENERATION_BIT;
/** … whether the columns are filled, which they cannot be where a record is several, … */
const FILLED_BIT = 39n;
/** … whether the row stands in order with those around it (`settle.ts`), … */
export const SORTED_BIT = 38n;
/** … and whether its run is still to be settled, its columns being filled already; below, a bit for each record that is there. */
const WAITING_BIT = 37n;

/** The number that is added to the state of rows whose run is not full yet. */
export const WAITING = 1n << WAITING_BIT;

/** Holds for rows that stand in order. */
export const IS_SORTED = `member_state & ${1n << SORTED_BIT} <> 0`;

/** Holds for rows that are to be settled. */
export function isUnsettled(set: MemberSet): string {
  return `(${isUnread(set)} or member_state & ${WAITING} <> 0)`;
}

/** Holds for rows whose members were not looked at. */
export function isUnread(set: MemberSet): string {
  return `member_state < ${settledFrom(set)}`;
}

/** The least `member_state` of rows that were looked at for the set. */
export function settledFrom({ generation }: MemberSet): bigint {
  return BigInt(generation) << GENERATION_BIT;
}

/** The least `member_state` of rows whose columns are filled. */
export function filledFrom(set: MemberSet): bigint {
  return settledFrom(set) | (1n << FILLED_BIT);
}

/** The least `member_state` of rows whose columns are filled, those of the line among them. */
export function heldFrom(set: MemberSet): bigint {
  return filledFrom(set) | IS_HELD;
}

/** The set of a source with these members, as `generation` of it. */
export function memberSet(
  source: Source,
  members: readonly string[],
  generation: number,
): MemberSet {
  const paths = members.map(pathOf);
  const held = heldBeside(source, members);
  const records = recordsOf([...paths, ...held.map(({ member }) => member)]);
  const name = createHash('sha256').update(members.join(' ')).digest('hex').slice(0, 16);
  return { source, name, members: paths, held, records, generation };
}

/** What columns of a source's lines hold besides the members that have columns of their own, and what stands within one another. */
export function heldBeside(source: Source, members: readonly string[]): readonly Held[] {
  const within = (inner: string, outer: string) => `${inner}.`.startsWith(`${outer}.`);
  const taken = members.map((member) => member.toLowerCase());
  return (HELD[source] ?? []).filter(({ member }) => {
    const name = member.join('.').toLowerCase();
    return !taken.some((other) => within(name, other) || within(other, name));
  });
}

/** The set for rows that leave the store: what it holds of a row is the same in every store. */
export function shipped(set: MemberSet): MemberSet {
  return { ...set, held: [], generation: 0 };
}

export function columnOf(member: Path): string {
  return `metadata.${member.join('.')}`;
}

/** A member as it is written in settings and in the store. */
export function pathOf(member: string): Path {
  return member.split('.');
}

/** The records on the way to `members`, metadata's own first. */
export function recordsOf(members: readonly Path[]): Path[] {
  const records = new Map<string, Path>([['', []]]);
  for (const member of members)
    for (let length = 1; length < member.length; length++)
      records.set(member.slice(0, length).join('.'), member.slice(0, length));
  return [...records.values()];
}

export function shapeOf(members: readonly Path[]): Shape<null> {
  const shape: Shape<null> = new Map();
  for (const member of members) {
    let record = shape;
    for (const name of member.slice(0, -1)) {
      const below = record.get(name) ?? new Map<string, Shape<null> | null>();
      if (below === null) throw new Error(`BUG: ${member.join('.')} stands in a value`);
      record.set(name, below);
      record = below;
    }
    record.set(member.at(-1) ?? '', null);
  }
  return shape;
}
