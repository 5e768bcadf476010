import protobuf from 'protobufjs';
import { checkValues } from './limits.ts';
import { decodeMessage, type Fields, MESSAGES, type MessageName, tagAt } from './messages.ts';
import type { Part } from './parts.ts';

const LENGTH_DELIMITED = 2;
/** Fields that are passed over between two pauses: about a millisecond. */
const PAUSE_FIELDS = 10_000;

/**
 * Yields the parts of a request in protobuf. It decodes one message at a time, and counts its fields. Throws what is wrong with the
 * bytes, and `BODY_TOO_LARGE`.
 */
export function* protobufParts(bytes: Buffer): Generator<Part, void> {
  yield* each(
    bytes,
    'ExportLogsServiceRequest',
    'resourceLogs',
    function* (resourceLogs): Walk<void> {
      const resource = yield* last(resourceLogs, 'ResourceLogs', 'resource');
      yield { kind: 'resource', resource: resource && decoded('Resource', resource) };
      yield* each(resourceLogs, 'ResourceLogs', 'scopeLogs', function* (scopeLogs): Walk<void> {
        const scope = yield* last(scopeLogs, 'ScopeLogs', 'scope');
        yield { kind: 'scope', scope: scope && decoded('InstrumentationScope', scope) };
        yield* each(scopeLogs, 'ScopeLogs', 'logRecords', function* (record): Walk<void> {
          yield { kind: 'record', record: decoded('LogRecord', record) };
        });
      });
    },
  );
}

type Walk<T> = Generator<Part, T>;

/** Calls `take` for the bytes of each message that a field of a message holds. */
function* each(
  bytes: Uint8Array,
  message: MessageName,
  field: string,
  take: (bytes: Uint8Array) => Walk<void> | undefined,
): Walk<void> {
  const { [field]: wanted } = MESSAGES[message] as Fields;
  const reader = protobuf.Reader.create(bytes);
  for (let fields = 1; reader.pos < reader.len; fields++) {
    if (fields % PAUSE_FIELDS === 0) yield { kind: 'pause' };
    const tag = tagAt(reader);
    if (tag >>> 3 !== wanted?.[1] || (tag & 7) !== LENGTH_DELIMITED) reader.skipType(tag & 7);
    else {
      const walk = take(reader.bytes());
      if (walk) yield* walk;
    }
  }
}

/** Returns the last of the messages that a field holds, which counts. */
function* last(
  bytes: Uint8Array,
  message: MessageName,
  field: string,
): Walk<Uint8Array | undefined> {
  let found: Uint8Array | undefined;
  yield* each(bytes, message, field, (value) => {
    found = value;
    return undefined;
  });
  return found;
}

function decoded(name: MessageName, bytes: Uint8Array): object {
  let values = 0;
  return decodeMessage(name, bytes, () => checkValues(++values));
}
