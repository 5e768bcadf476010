import protobuf from 'protobufjs';

/** A value of an attribute or a body, as OTLP's JSON has it; a whole number may be text. */
export interface AnyValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string | number;
  readonly doubleValue?: number | string;
  readonly arrayValue?: { readonly values?: readonly AnyValue[] };
  readonly kvlistValue?: { readonly values?: readonly KeyValue[] };
  /** Base64. */
  readonly bytesValue?: string;
}

export interface KeyValue {
  readonly key?: string;
  readonly value?: AnyValue;
}

export interface LogRecord {
  /** Nanoseconds since the epoch; 0: unknown. */
  readonly timeUnixNano?: string | number;
  readonly observedTimeUnixNano?: string | number;
  /** In JSON also the name of the number, such as `SEVERITY_NUMBER_ERROR`. */
  readonly severityNumber?: number | string;
  readonly severityText?: string;
  readonly body?: AnyValue;
  readonly attributes?: readonly KeyValue[];
  readonly droppedAttributesCount?: number;
  readonly flags?: number;
  /** In hex. */
  readonly traceId?: string;
  readonly spanId?: string;
  readonly eventName?: string;
}

/**
 * `[type, number]` of each field; a list in a list: it is repeated. `text` is bytes on the way, so that some that are not UTF-8 make U+FFFD of
 * themselves and do not lose the whole request; `hex` is bytes, too.
 */
export type Fields = Readonly<
  Record<string, readonly [string, number] | readonly [[string], number]>
>;

/** The messages of OTLP that have a part in logs. Fields that nothing is made of are left out, and passed over. */
export const MESSAGES = {
  ExportLogsServiceRequest: { resourceLogs: [['ResourceLogs'], 1] },
  ResourceLogs: { resource: ['Resource', 1], scopeLogs: [['ScopeLogs'], 2] },
  Resource: { attributes: [['KeyValue'], 1] },
  ScopeLogs: { scope: ['InstrumentationScope', 1], logRecords: [['LogRecord'], 2] },
  InstrumentationScope: {
    name: ['text', 1],
    version: ['text', 2],
    attributes: [['KeyValue'], 3],
  },
  LogRecord: {
    timeUnixNano: ['fixed64', 1],
    severityNumber: ['int32', 2],
    severityText: ['text', 3],
    body: ['AnyValue', 5],
    attributes: [['KeyValue'], 6],
    droppedAttributesCount: ['uint32', 7],
    flags: ['fixed32', 8],
    traceId: ['hex', 9],
    spanId: ['hex', 10],
    observedTimeUnixNano: ['fixed64', 11],
    eventName: ['text', 12],
  },
  AnyValue: {
    stringValue: ['text', 1],
    boolValue: ['bool', 2],
    intValue: ['int64', 3],
    doubleValue: ['double', 4],
    arrayValue: ['ArrayValue', 5],
    kvlistValue: ['KeyValueList', 6],
    bytesValue: ['bytes', 7],
  },
  ArrayValue: { values: [['AnyValue'], 1] },
  KeyValueList: { values: [['KeyValue'], 1] },
  KeyValue: { key: ['text', 1], value: ['AnyValue', 2] },
} as const satisfies Readonly<Record<string, Fields>>;

export type MessageName = keyof typeof MESSAGES;

type ScalarType =
  | 'text'
  | 'hex'
  | 'bytes'
  | 'fixed64'
  | 'fixed32'
  | 'double'
  | 'int32'
  | 'uint32'
  | 'int64'
  | 'bool';

const [VARINT, FIXED64, LENGTH_DELIMITED, FIXED32] = [0, 1, 2, 5];

/** How the value of a scalar type is on the wire, and how it is read as OTLP's JSON has it: whole numbers of 64 bits as text. */
const SCALARS: Readonly<
  Record<ScalarType, readonly [number, (reader: protobuf.Reader) => unknown]>
> = {
  text: [LENGTH_DELIMITED, (reader) => encoded(reader, 'utf8')],
  hex: [LENGTH_DELIMITED, (reader) => encoded(reader, 'hex')],
  bytes: [LENGTH_DELIMITED, (reader) => encoded(reader, 'base64')],
  fixed64: [FIXED64, (reader) => String(reader.fixed64())],
  fixed32: [FIXED32, (reader) => reader.fixed32()],
  double: [FIXED64, (reader) => reader.double()],
  int32: [VARINT, (reader) => reader.int32()],
  uint32: [VARINT, (reader) => reader.uint32()],
  int64: [VARINT, (reader) => String(reader.int64())],
  bool: [VARINT, (reader) => reader.bool()],
};

function encoded(reader: protobuf.Reader, encoding: BufferEncoding): string {
  const { buffer, byteOffset, length } = reader.bytes();
  return Buffer.from(buffer, byteOffset, length).toString(encoding);
}

interface Field {
  readonly name: string;
  readonly isList: boolean;
  readonly wire: number;
  /** Reads a scalar; null: the value is a message of this type. */
  readonly read: ((reader: protobuf.Reader) => unknown) | null;
  readonly type: string;
}

/** The fields of each message by their numbers. */
const BY_NUMBER: ReadonlyMap<string, ReadonlyMap<number, Field>> = new Map(
  Object.entries(MESSAGES).map(([message, fields]) => [
    message,
    new Map(
      Object.entries(fields as Fields).map(([name, [given, number]]) => {
        const [type, isList] = typeof given === 'string' ? [given, false] : [given[0], true];
        const [wire, read] = SCALARS[type as ScalarType] ?? [LENGTH_DELIMITED, null];
        return [number, { name, isList, wire, read, type }];
      }),
    ),
  ]),
);

/**
 * Returns a message as OTLP's JSON has it. `count` is called before each of its fields is read, at any depth, so that it can throw before a
 * message becomes too many objects. Throws what is wrong with the bytes.
 */
export function decodeMessage(name: MessageName, bytes: Uint8Array, count: () => void): object {
  const reader = protobuf.Reader.create(bytes);
  return decoded(name, reader, reader.len, count, 0);
}

/** Messages within each other. Each level of an OTLP value takes three. */
const MAX_DEPTH = 1000;

function decoded(
  type: string,
  reader: protobuf.Reader,
  end: number,
  count: () => void,
  depth: number,
): object {
  if (depth > MAX_DEPTH) throw new Error('too many messages within each other');
  const fields = BY_NUMBER.get(type);
  const message: Record<string, unknown> = {};
  while (reader.pos < end) {
    count();
    const tag = tagAt(reader);
    const field = fields?.get(tag >>> 3);
    if (field?.wire !== (tag & 7)) {
      reader.skipType(tag & 7);
      continue;
    }
    const value = field.read?.(reader) ?? within(field.type, reader, count, depth);
    if (!field.isList) message[field.name] = value;
    else if (message[field.name]) (message[field.name] as unknown[]).push(value);
    else message[field.name] = [value];
  }
  if (reader.pos > end) throw new Error('a field is longer than its message');
  return message;
}

/** Reads the number of a field and how its value is on the wire. Throws for the number 0, which no field has. */
export function tagAt(reader: protobuf.Reader): number {
  const tag = reader.uint32();
  if (tag >>> 3 === 0) throw new Error('a field has the number 0');
  return tag;
}

function within(type: string, reader: protobuf.Reader, count: () => void, depth: number): object {
  const length = reader.uint32();
  if (reader.pos + length > reader.len) throw new Error('a message is cut off');
  return decoded(type, reader, reader.pos + length, count, depth + 1);
}

/** The answers, for the encoder. */
const root = protobuf.Root.fromJSON({
  nested: {
    ExportLogsServiceResponse: {
      fields: { partialSuccess: { type: 'ExportLogsPartialSuccess', id: 1 } },
    },
    ExportLogsPartialSuccess: {
      fields: {
        rejectedLogRecords: { type: 'int64', id: 1 },
        errorMessage: { type: 'string', id: 2 },
      },
    },
    Status: { fields: { code: { type: 'int32', id: 1 }, message: { type: 'string', id: 2 } } },
  },
});

/** A message in protobuf, of its JSON. */
export function encodeMessage(
  name: 'ExportLogsServiceResponse' | 'Status',
  message: Readonly<Record<string, unknown>>,
): Buffer {
  const type = root.lookupType(name);
  return Buffer.from(type.encode(type.fromObject(message)).finish());
}
