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
  readonly severityNumber?: number;
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

export interface ExportLogsServiceRequest {
  readonly resourceLogs?: readonly {
    readonly resource?: { readonly attributes?: readonly KeyValue[] };
    readonly scopeLogs?: readonly {
      readonly scope?: {
        readonly name?: string;
        readonly version?: string;
        readonly attributes?: readonly KeyValue[];
      };
      readonly logRecords?: readonly LogRecord[];
    }[];
  }[];
}

/**
 * `[type, number]` of each field; a list in a list: it is repeated. `text` is bytes on the way, so that some that are not UTF-8 make U+FFFD of
 * themselves and do not lose the whole request; `hex` is bytes, too.
 */
type Fields = Readonly<Record<string, readonly [string, number] | readonly [[string], number]>>;

/** The messages of OTLP that have a part in logs. Fields that nothing is made of are left out, and passed over. */
const MESSAGES: Readonly<Record<string, Fields>> = {
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
  ExportLogsServiceResponse: { partialSuccess: ['ExportLogsPartialSuccess', 1] },
  ExportLogsPartialSuccess: { rejectedLogRecords: ['int64', 1], errorMessage: ['string', 2] },
  Status: { code: ['int32', 1], message: ['string', 2] },
};

/** Types whose values are bytes in protobuf, and text in JSON, in this encoding. */
const ENCODINGS: Readonly<Record<string, BufferEncoding>> = {
  text: 'utf8',
  hex: 'hex',
  bytes: 'base64',
};

const root = protobuf.Root.fromJSON({
  nested: Object.fromEntries(
    Object.entries(MESSAGES).map(([name, fields]) => [
      name,
      {
        // A value that is set has to be told from one that is not.
        ...(name === 'AnyValue' ? { oneofs: { value: { oneof: Object.keys(fields) } } } : {}),
        fields: Object.fromEntries(
          Object.entries(fields).map(([field, [type, id]]) => [
            field,
            typeof type === 'string'
              ? { type: type in ENCODINGS ? 'bytes' : type, id }
              : { type: type[0], id, rule: 'repeated' },
          ]),
        ),
      },
    ]),
  ),
});

/** What a request holds, of what is asked for in protobuf, as OTLP's JSON has it. Throws what is wrong with the bytes. */
export function decodeRequest(bytes: Buffer): ExportLogsServiceRequest {
  const type = root.lookupType('ExportLogsServiceRequest');
  const message = type.toObject(type.decode(bytes), { longs: String });
  return asJson('ExportLogsServiceRequest', message) as ExportLogsServiceRequest;
}

/** A decoded message with text in place of its bytes. */
function asJson(name: string, message: Readonly<Record<string, unknown>>): object {
  const fields = MESSAGES[name] ?? {};
  const read = (type: string, value: unknown): unknown => {
    const encoding = ENCODINGS[type];
    if (encoding) return Buffer.from(value as Uint8Array).toString(encoding);
    return type in MESSAGES ? asJson(type, value as Record<string, unknown>) : value;
  };
  return Object.fromEntries(
    Object.entries(message).map(([field, value]) => {
      const [type = ''] = fields[field] ?? [];
      return [
        field,
        typeof type === 'string'
          ? read(type, value)
          : (value as unknown[]).map((each) => read(type[0], each)),
      ];
    }),
  );
}

/** A message in protobuf, of its JSON. */
export function encodeMessage(
  name: 'ExportLogsServiceResponse' | 'Status',
  message: Readonly<Record<string, unknown>>,
): Buffer {
  const type = root.lookupType(name);
  return Buffer.from(type.encode(type.fromObject(message)).finish());
}
