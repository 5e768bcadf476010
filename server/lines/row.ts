import { MAX_DEPTH, type UndatedForm } from '../../ingest/index.ts';
import { withoutColours } from './colours.ts';
import { keepsDigits } from './digits.ts';
import type { FieldTable, Role } from './fields.ts';
import { formOf } from './form.ts';
import { jsonOf, type Member } from './line.ts';
import { hasDoubledName, membersOf, objectOf } from './members.ts';
import { momentOf, type ZoneOffset } from './moments.ts';
import { type Severity, severityOf, severityOfStatus } from './severity.ts';
import { newRoles, OTHER_SPELLING, type Shape, type Shapes } from './shapes.ts';

/** The meaning of a line, whatever its format. */
export interface Row {
  /** JSON of a text; null if the line has none. */
  readonly id: string | null;
  readonly project: string | null;
  /** Microseconds since the epoch; null if the line names no moment that can be read. */
  readonly moment: number | null;
  /** The first field of an undated line that was looked at for its moment. */
  readonly unreadable: UndatedForm | null;
  /** JSON of the text. */
  readonly message: string;
  readonly severity: Severity | null;
  readonly status: number | null;
  /** JSON of an object or an array; null if nothing is left for it. */
  readonly metadata: string | null;
  /** The line, or an object in it, has two members of one name. */
  readonly isDoubled: boolean;
  /** The engine, which writes JSON anew, surely keeps all digits of the metadata. */
  readonly keepsDigits: boolean;
}

export interface Reading {
  readonly table: FieldTable;
  readonly shapes: Shapes;
  /** The zone of moments that name none. */
  readonly offsetOf: ZoneOffset;
  /** The time, ms: the year of moments without one is the last that is not ahead of it. */
  readonly now: () => number;
  /** The lines are of a source of Supabase, whose `event_message` stays a text also where it is an object. */
  readonly isSupabase: boolean;
}

/** A member that may be one of the facts of a row. */
interface Candidate {
  readonly role: Role;
  readonly rank: number;
  readonly name: string;
  readonly json: string;
  /** The member of the line that it is; null for a member of an object in it. */
  readonly own: Member | null;
}

/** Candidates in `metadata` come behind those beside it. */
const INSIDE = 1000;
/** Candidates beside a message that was unpacked come behind those in it: a program knows more than what wraps its lines. */
const AROUND = 2000;
const SUPABASE_MESSAGE = 'event_message';
/** Vector of Supabase leaves these beside the metadata. Logflare does not answer them. */
const SUPABASE_REST: ReadonlySet<string> = new Set(['appname', 'severity']);
/** Docker leaves the newline at the end of this field. */
const DOCKER_MESSAGE = 'log';
/** Objects are looked into so deep: `attributes.http.response.status_code`. */
const MOST_SEGMENTS = 4;
/** The names of members that become columns as they stand. */
const COLUMNS: ReadonlySet<string> = new Set([
  'id',
  'project',
  'timestamp',
  'event_message',
  'metadata',
]);
const TAKEN_OUT: ReadonlySet<Role> = new Set(['id', 'project', 'time', 'message']);

/**
 * Reads what the members of a line mean. A member is taken out of them only where it became a column of the row. `shape` is that of the
 * members.
 */
export function rowOf(members: readonly Member[], shape: Shape, reading: Reading): Row {
  return rowWithin(members, shape, reading, null);
}

/** `around`: the members beside a message that was unpacked; null before one is. `shape` is null then. */
function rowWithin(
  members: readonly Member[],
  shape: Shape | null,
  reading: Reading,
  around: ReadonlySet<Member> | null,
): Row {
  const isDoubled =
    shape?.isDoubled || members.some(({ json }) => isContainer(json) && hasDoubledName(json));
  const metadata = members.find(({ name, json }) => name === 'metadata' && isContainer(json));
  const candidates =
    (shape && !metadata && candidatesBy(shape, members)) ||
    candidatesOf(members, metadata ?? null, reading, around);
  const message =
    first(candidates.message, messageText) ??
    // An empty text counts where no other one follows.
    first(candidates.message, ({ json }) => scalarText(json));
  const isKept = reading.isSupabase && message?.candidate.name === SUPABASE_MESSAGE;
  if (!around && message && !metadata && !isKept) {
    const inner = insideOf(message.found);
    if (inner) {
      const others = members.filter((member) => member !== message.candidate.own);
      const row = rowWithin([...inner, ...others], null, reading, new Set(others));
      return { ...row, isDoubled: isDoubled || row.isDoubled || hasDoubledName(message.found) };
    }
  }
  const time = timeOf(candidates.time, reading);
  const id = first(candidates.id, nonEmptyText);
  const project = first(candidates.project, nonEmptyText);
  const status = first(candidates.status, ({ json }) => statusOf(json));
  const severity = first(candidates.severity, ({ name, json }) =>
    severityOf(scalarText(json) ?? nameIn(json) ?? '', /number$/i.test(name)),
  );
  // Serilog's compact form leaves out its usual level.
  const isSerilog = members.some(({ name }) => name === '@t');
  const used = [message?.candidate.own, id?.candidate.own, project?.candidate.own, ...time.used];
  const others = members.filter(
    (member) =>
      !used.includes(member) &&
      member !== metadata &&
      !isNothing(member) &&
      !(reading.isSupabase && metadata && SUPABASE_REST.has(member.name)),
  );
  // Questions find only the first of two members with one name.
  const left = shape && !shape.isDoubled ? others : withoutDoubles(others);
  const kept = metadata ? withMembers(metadata.json, around ? inOne(left, around) : left) : null;
  return {
    id: id ? jsonOf(id.found) : null,
    project: project ? jsonOf(project.found) : null,
    moment: time.moment,
    unreadable: time.unreadable,
    message: message ? jsonOf(message.found) : '""',
    severity:
      severity?.found ??
      (isSerilog ? 'info' : null) ??
      (status ? severityOfStatus(status.found) : null),
    status: status?.found ?? null,
    metadata: kept ?? (left.length > 0 ? objectOf(around ? inOne(left, around) : left) : null),
    isDoubled,
    keepsDigits: kept === null ? left.every(({ json }) => keepsDigits(json)) : keepsDigits(kept),
  };
}

const NO_CANDIDATES: readonly Candidate[] = [];

/** Returns the candidates of each role by the shape of a line; null where objects are to be looked into. */
function candidatesBy({ places, leading }: Shape, members: readonly Member[]) {
  for (const at of leading) if (isContainer(members[at]?.json ?? '')) return null;
  const of = (role: Role): readonly Candidate[] => {
    if (places[role].length === 0) return NO_CANDIDATES;
    const found: Candidate[] = [];
    for (const { at, rank } of places[role]) {
      const member = members[at];
      if (member && member.json !== 'null')
        found.push({ role, rank, name: member.name, json: member.json, own: member });
    }
    return found;
  };
  return {
    id: of('id'),
    project: of('project'),
    time: of('time'),
    message: of('message'),
    severity: of('severity'),
    status: of('status'),
  };
}

/** Returns the candidates of each role, the preferred first. */
function candidatesOf(
  members: readonly Member[],
  metadata: Member | null,
  { table }: Reading,
  around: ReadonlySet<Member> | null,
) {
  const all = newRoles<Candidate>();
  const add = (path: string, json: string, own: Member | null, depth: number, after: number) => {
    const field = table.find(path);
    // A moment or a message in metadata is of something else.
    const isOther =
      after === INSIDE && field?.role !== 'project' && field && TAKEN_OUT.has(field.role);
    if (field && json !== 'null' && !isOther)
      all[field.role].push({
        role: field.role,
        // The project that a push names counts more than the line's own.
        rank:
          field.rank +
          (field.role === 'project' && after === AROUND ? -AROUND : after) +
          (field.name === path ? 0 : OTHER_SPELLING),
        name: path,
        json,
        own: depth === 1 ? own : null,
      });
    // The first of an array of records counts, as Logflare's clients write them.
    const object = depth < MOST_SEGMENTS && table.leads(path) ? firstObject(json) : null;
    if (object)
      for (const inner of membersOf(object))
        add(`${path}.${inner.name}`, inner.json, own, depth + 1, after);
  };
  for (const member of members)
    if (member !== metadata)
      add(member.name, member.json, member, 1, around?.has(member) ? AROUND : 0);
  if (metadata) {
    const inside = firstObject(metadata.json);
    if (inside) for (const { name, json } of membersOf(inside)) add(name, json, null, 1, INSIDE);
  }
  for (const role of Object.values(all)) if (role.length > 1) role.sort((a, b) => a.rank - b.rank);
  return all;
}

/** Returns the first candidate that gives something, with it. */
function first<T>(
  candidates: readonly Candidate[],
  of: (candidate: Candidate) => T | null,
): { candidate: Candidate; found: T } | null {
  for (const candidate of candidates) {
    const found = of(candidate);
    if (found !== null) return { candidate, found };
  }
  return null;
}

const DATE = /^\d{2,4}[-/.]\d\d?[-/.]\d\d?\d?\d?$/;
const CLOCK = /^\d\d?:\d\d/;

interface Time {
  readonly moment: number | null;
  readonly used: readonly (Member | null)[];
  readonly unreadable: UndatedForm | null;
}

function timeOf(candidates: readonly Candidate[], { offsetOf, now }: Reading): Time {
  for (const { json, own } of candidates) {
    const text = timeText(json);
    const moment = text === null ? null : momentOf(text, offsetOf, now() * 1000);
    if (moment !== null) return { moment, used: [own], unreadable: null };
  }
  // A date and a time of day apart.
  const texts = candidates.map(({ json, own }) => ({ text: timeText(json), own }));
  const date = texts.find(({ text }) => text !== null && DATE.test(text));
  const clock = texts.find(({ text }) => text !== null && CLOCK.test(text));
  const moment = date && clock ? momentOf(`${date.text} ${clock.text}`, offsetOf) : null;
  if (date && clock && moment !== null)
    return { moment, used: [date.own, clock.own], unreadable: null };
  const met = candidates.find(({ json }) => json !== '""');
  return { moment: null, used: [], unreadable: met ? formOf(met.name, met.json) : null };
}

/** Returns the text of a moment, also where it is an object of parts; null if there is none. */
function timeText(json: string): string | null {
  if (!json.startsWith('{')) return scalarText(json);
  const parts = new Map(membersOf(json).map(({ name, json: part }) => [name, part]));
  const seconds = parts.get('seconds') ?? parts.get('epochSecond');
  if (seconds !== undefined) {
    const nanos = parts.get('nanos') ?? parts.get('nanoOfSecond') ?? '0';
    return `${scalarText(seconds)}.${(scalarText(nanos) ?? '').padStart(9, '0')}`;
  }
  const inner = parts.get('$date') ?? parts.get('$numberLong') ?? parts.get('timestamp');
  return inner === undefined ? null : timeText(inner);
}

/** Returns the text of a message without its colours; null for one that says nothing. */
function messageText({ name, json }: Candidate): string | null {
  const text = withoutColours(scalarText(json) ?? bytesText(json) ?? '');
  if (text.trim() === '') return null;
  return name === DOCKER_MESSAGE ? text.replace(/[\r\n]+$/, '') : text;
}

/** Returns a text, or a number or boolean as it was written; null for an empty text, objects and lists. */
function nonEmptyText({ json }: Candidate): string | null {
  return isScalar(json) ? scalarText(json) : null;
}

/** Returns the text of a list of bytes, as journald writes a message that is not plain UTF-8. */
function bytesText(json: string): string | null {
  if (!/^\[\s*\d{1,3}\s*(,\s*\d{1,3}\s*)+\]$/.test(json)) return null;
  const bytes = JSON.parse(json) as number[];
  return bytes.every((byte) => byte < 256) ? Buffer.from(bytes).toString() : null;
}

/** Returns the members of an object that stands in a message as text; null for any other text. */
function insideOf(text: string): Member[] | null {
  const start = text.trimStart();
  if (!start.startsWith('{') || depthOf(start) > MAX_DEPTH) return null;
  const whole = start.replaceAll(LONE_SURROGATE, keepPairs);
  try {
    JSON.parse(whole);
  } catch {
    return null;
  }
  return membersOf(whole);
}

/** An upper bound of how many objects and arrays stand within each other. */
function depthOf(text: string): number {
  let depth = 0;
  let most = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x7b || code === 0x5b) most = Math.max(most, ++depth);
    else if (code === 0x7d || code === 0x5d) depth--;
  }
  return most;
}

const LONE_SURROGATE =
  /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[dD][89a-fA-F][\da-fA-F]{2}|.)/gs;

function keepPairs(escaped: string): string {
  return escaped.length === 6 ? '\\ufffd' : escaped;
}

/** Returns the members of an unpacked message, and behind them those around it. */
function inOne(members: readonly Member[], around: ReadonlySet<Member>): Member[] {
  const inner = members.filter((member) => !around.has(member));
  const others = members.filter((member) => around.has(member));
  return [...inner, ...renamed(others, inner)];
}

/** Returns the metadata with further members in it. */
function withMembers(metadata: string, members: readonly Member[]): string {
  if (members.length === 0) return metadata;
  const inside = firstObject(metadata);
  if (!inside) return objectOf([{ name: 'metadata', json: metadata }, ...members]);
  const own = membersOf(inside);
  const object = objectOf([...own, ...renamed(members, own)]);
  return metadata.startsWith('[') ? metadata.replace(inside, () => object) : object;
}

/** Gives the second of two members with one name another name. */
function withoutDoubles(members: readonly Member[]): readonly Member[] {
  if (new Set(members.map(({ name }) => name)).size === members.length) return members;
  const named: Member[] = [];
  for (const member of members) named.push(...renamed([member], named));
  return named;
}

/** Gives members whose names are taken others, with underscores before them, and leaves those out that say the same. */
export function renamed(members: readonly Member[], others: readonly Member[]): readonly Member[] {
  if (others.length === 0) return members;
  const names = new Map(others.map(({ name, json }) => [name, json]));
  return members.flatMap(({ name, json }) => {
    if (names.get(name) === json) return [];
    let free = name;
    while (names.has(free)) free = `_${free}`;
    return [{ name: free, json }];
  });
}

/** Returns an object, or the first of a list; null for another value. */
function firstObject(json: string): string | null {
  if (json.startsWith('{')) return json;
  if (!json.startsWith('[')) return null;
  const [member] = membersOf(`{"first":${json.slice(1)}`);
  return member?.json.startsWith('{') ? member.json : null;
}

function statusOf(json: string): number | null {
  const [, status] = /^"?([1-5]\d\d)(?:\.0+)?(?: [^"]*)?"?$/.exec(json) ?? [];
  return status === undefined ? null : Number(status);
}

/** Returns the name in an object such as `{"name":"INFO","no":20}`. */
function nameIn(json: string): string | null {
  if (!json.startsWith('{')) return null;
  const name = membersOf(json).find((member) => /^(name|text|value|level)$/i.test(member.name));
  return name ? scalarText(name.json) : null;
}

/** Returns the text of a JSON text, or a number or boolean as it was written; null for null, objects and lists. */
function scalarText(json: string): string | null {
  if (json.startsWith('"')) return json.includes('\\') ? JSON.parse(json) : json.slice(1, -1);
  return isScalar(json) ? json : null;
}

function isScalar(json: string): boolean {
  return json !== 'null' && json !== '""' && !isContainer(json);
}

function isContainer(json: string): boolean {
  return json.startsWith('{') || json.startsWith('[');
}

/** Tells whether a member is one of the form of Supabase that says nothing: `"metadata":null`. */
function isNothing({ name, json }: Member): boolean {
  return json === 'null' && COLUMNS.has(name);
}
