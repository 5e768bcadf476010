import { createFieldTable } from '../lines/index.ts';
import type { AnyValue, KeyValue, LogRecord } from './messages.ts';
import type { Resource, Scope } from './parts.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
type Members = Readonly<Record<string, Json | undefined>>;

/** Values that stand deeper within each other are refused: they are turned into JSON by recursion. */
const MAX_DEPTH = 100;

/** Names of the texts that can be a message. */
const TABLE = createFieldTable();
/** Attributes of OpenTelemetry's conventions that say the same as a message. */
const MESSAGES: readonly string[] = ['exception.message', 'exception.type'];
/** The numbers with which OpenTelemetry's severities begin; there are three more of each, such as `ERROR2`. */
const SEVERITIES = { TRACE: 1, DEBUG: 5, INFO: 9, WARN: 13, ERROR: 17, FATAL: 21 };
const SEVERITY = /^SEVERITY_NUMBER_(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)([234]?)$/;

/** A record that cannot be made a line. */
export class RecordInvalid extends Error {}

/** A resource or a scope as the lines of its records have it. */
export interface Shared {
  /** The resource's `service.name`; null without one. */
  readonly service: string | null;
  /** The texts of members of the metadata. */
  readonly texts: readonly string[];
}

/** Returns what the records of a resource share. Throws RecordInvalid. */
export function sharedOf(resource: Resource | undefined): Shared {
  const attributes = record(objectOf(resource ?? {}).attributes);
  const name = attributes?.['service.name'];
  const service = typeof name === 'string' && name !== '' ? name : null;
  return { service, texts: attributes ? [`"resource":${JSON.stringify(attributes)}`] : [] };
}

/** Returns the same with a scope. Throws RecordInvalid. */
export function withScope(shared: Shared, scope: Scope | undefined): Shared {
  const { name, version, attributes } = objectOf(scope ?? {});
  const own: Members = {
    name: name || undefined,
    version: version || undefined,
    attributes: record(attributes),
  };
  if (isEmpty(own)) return shared;
  return { ...shared, texts: [...shared.texts, `"scope":${JSON.stringify(own)}`] };
}

/**
 * Returns the line of a record, without a newline. Its metadata has what OTLP calls `attributes`, `resource`, `scope`, `severity_text`,
 * `severity_number`, `trace_id`, `span_id` and `event_name`, without what a record does not have. Throws RecordInvalid.
 */
export function lineOf(given: LogRecord, { texts }: Shared, project: string | null): string {
  const log = objectOf(given);
  const attributes = record(log.attributes);
  const { message, rest } = saidIn(log.body);
  const entry: Members = {
    timestamp: momentOf(log.timeUnixNano) ?? momentOf(log.observedTimeUnixNano),
    project: project ?? undefined,
    event_message: message || log.eventName || messageIn(attributes),
  };
  const own = JSON.stringify({
    severity_text: log.severityText || undefined,
    severity_number: severityOf(log.severityNumber) || undefined,
    trace_id: log.traceId || undefined,
    span_id: log.spanId || undefined,
    event_name: log.eventName || undefined,
    flags: log.flags || undefined,
    dropped_attributes_count: log.droppedAttributesCount || undefined,
    attributes,
    body: rest,
  });
  // The shared texts are written once a resource, however many records it has.
  const metadata = [own.slice(1, -1), ...texts].filter((text) => text !== '').join(',');
  return `${JSON.stringify(entry).slice(0, -1)},"metadata":{${metadata}}}`;
}

/** Returns the message of a body, and what of it the message does not say. */
function saidIn(body: AnyValue | null | undefined): { message: string; rest?: Json } {
  if (isAbsent(body) || Object.keys(objectOf(body)).length === 0) return { message: '' };
  const said = toJson(body);
  if (typeof said === 'string') return { message: said };
  for (const name of ['message', 'msg']) {
    const { [name]: message, ...rest } = body.kvlistValue ? (said as Record<string, Json>) : {};
    if (typeof message !== 'string' || message === '') continue;
    return Object.keys(rest).length > 0 ? { message, rest } : { message };
  }
  return { message: JSON.stringify(said), rest: said };
}

/** Returns the text of the attribute that is most like a message, or of all attributes. */
function messageIn(attributes: Readonly<Record<string, Json>> | undefined): string {
  if (!attributes) return '';
  const rankOf = (name: string): number => {
    const field = TABLE.find(name);
    if (field?.role === 'message') return field.rank;
    const rank = MESSAGES.indexOf(name);
    return rank < 0 ? Number.POSITIVE_INFINITY : 1000 + rank;
  };
  const [best] = Object.entries(attributes)
    .map(([name, text]) => ({ text, rank: rankOf(name) }))
    .filter(({ text, rank }) => typeof text === 'string' && text !== '' && Number.isFinite(rank))
    .sort((a, b) => a.rank - b.rank);
  return (best?.text as string | undefined) ?? JSON.stringify(attributes);
}

/** Returns the number of a severity, which the JSON of protobuf may have as text. */
function severityOf(given: number | string | undefined): number | undefined {
  if (typeof given !== 'string') return given;
  const [, name, more] = SEVERITY.exec(given) ?? [];
  if (name === undefined) return Number(given) || undefined;
  return SEVERITIES[name as keyof typeof SEVERITIES] + (more ? Number(more) - 1 : 0);
}

/** Undefined where nothing is in it. */
function record(
  list: readonly KeyValue[] | undefined,
  depth = 0,
): Readonly<Record<string, Json>> | undefined {
  const members = listOf(list);
  if (members.length === 0) return undefined;
  // Not assigned one by one: `__proto__` would be lost.
  return Object.fromEntries(
    members.map(({ key, value }) => [key ?? '', isAbsent(value) ? null : toJson(value, depth)]),
  );
}

function toJson(value: AnyValue, depth = 0): Json {
  if (depth > MAX_DEPTH)
    throw new RecordInvalid(`expected values of at most ${MAX_DEPTH} levels, got more`);
  const { stringValue, boolValue, intValue, doubleValue, bytesValue } = objectOf(value);
  if (value.arrayValue)
    return listOf(value.arrayValue.values).map((each) => toJson(each, depth + 1));
  if (value.kvlistValue) return record(value.kvlistValue.values, depth + 1) ?? {};
  if (intValue !== undefined && intValue !== null) return wholeNumber(intValue);
  return stringValue ?? boolValue ?? doubleOf(doubleValue) ?? bytesValue ?? null;
}

function isAbsent<T>(value: T | null | undefined): value is null | undefined {
  return value === undefined || value === null;
}

/** Throws RecordInvalid for what is not a list of objects. */
function listOf<T extends object>(list: readonly T[] | null | undefined): readonly T[] {
  if (isAbsent(list)) return [];
  if (!Array.isArray(list)) throw new RecordInvalid('got no list where one is expected');
  return list.map(objectOf);
}

function objectOf<T extends object>(value: T): T {
  if (typeof value !== 'object' || isAbsent(value) || Array.isArray(value))
    throw new RecordInvalid(`got ${JSON.stringify(value)} where an object is expected`);
  return value;
}

/** As text where a number would not be exact. */
function wholeNumber(value: string | number): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

function doubleOf(value: string | number | undefined): number | string | undefined {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}

/** A moment in microseconds, as text; undefined for none. */
function momentOf(nanos: string | number | undefined): string | undefined {
  if (nanos === undefined || nanos === null || !/^\d{1,20}$/.test(String(nanos))) return undefined;
  const micros = BigInt(nanos) / 1000n;
  if (micros === 0n) return undefined;
  const second = new Date(Number(micros / 1_000_000n) * 1000).toISOString().slice(0, 19);
  return `${second}.${String(micros % 1_000_000n).padStart(6, '0')}Z`;
}

function isEmpty(members: Members): boolean {
  return Object.values(members).every((member) => member === undefined);
}
