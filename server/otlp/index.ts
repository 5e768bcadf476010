import type { Request, Response } from 'express';
import { isSource, type Source } from '../../ingest/index.ts';
import { accessOf } from '../auth/middleware.ts';
import type { ServiceMeans } from '../config/settings.ts';
import { AppError } from '../errors.ts';
import { POST, type Route } from '../http/route.ts';
import type { Door, PushedBody, PushedLines } from '../push/index.ts';
import { jsonParts } from './json-parts.ts';
import { lineOf, RecordInvalid, type Shared, sharedOf, withScope } from './lines.ts';
import { encodeMessage } from './messages.ts';
import type { Part } from './parts.ts';
import { protobufParts } from './protobuf-parts.ts';

export interface OtlpDeps {
  readonly door: Door;
  /** Bytes of the longest line that is stored. */
  readonly maxLine: number;
  readonly serviceMeans: ServiceMeans;
}

/** The source of records whose service does not name one. */
const SOURCE: Source = 'app_logs';

/** Where OTLP's exporters send logs to. */
export function otlpRoutes(deps: OtlpDeps): Route[] {
  return [
    {
      path: '/v1/logs',
      methods: POST,
      scope: 'ingest',
      summary: 'Takes log records of OpenTelemetry (OTLP), in JSON or in protobuf',
      body: 'LogRecords',
      answer: 'LogRecordsTaken',
      async handler(request: Request, response: Response) {
        const type = typeOf(request);
        const { project: pin } = accessOf(response);
        try {
          const taken = await deps.door.receive(request, pin, (body) => take(body, type, deps));
          send(response, 200, type, 'ExportLogsServiceResponse', taken);
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
          // What exporters read in the place of our own form of errors.
          if (error.status === 503) response.set('Retry-After', '1');
          send(response, error.status, type, 'Status', { message: error.detail || error.title });
        }
      },
    },
  ];
}

type BodyType = 'application/json' | 'application/x-protobuf';

/** Throws `TYPE_UNKNOWN`. */
function typeOf(request: Request): BodyType {
  const given = request.headers['content-type'] ?? '';
  const [type = ''] = given.toLowerCase().split(';');
  const known = (['application/json', 'application/x-protobuf'] as const).find(
    (each) => each === type.trim(),
  );
  if (known) return known;
  throw new AppError('TYPE_UNKNOWN', {
    detail: `Expected the Content-Type application/x-protobuf or application/json, got ${JSON.stringify(given.slice(0, 100))}.`,
  });
}

/** Returns the answer of OTLP: empty, or how many records will not become rows. Throws `REQUEST_INVALID`. */
async function take(
  body: PushedBody,
  type: BodyType,
  deps: OtlpDeps,
): Promise<Record<string, unknown>> {
  const bytes = await body.whole();
  const writer = createWriter(body, deps);
  try {
    for (const part of type === 'application/json' ? jsonParts(bytes) : protobufParts(bytes)) {
      await body.turn(writer.take(part));
    }
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    const reason = cause instanceof RecordInvalid ? cause.message : 'got something else';
    throw new AppError('REQUEST_INVALID', {
      detail: `Expected an ExportLogsServiceRequest of OTLP as ${type}; ${reason}.`,
      cause,
    });
  }
  const { faults } = writer;
  const rejected = [...faults.values()].reduce((sum, count) => sum + count, 0);
  if (rejected === 0) return {};
  return {
    partialSuccess: {
      rejectedLogRecords: String(rejected),
      errorMessage: `Kept as rejected lines: ${[...faults.keys()].join(', ')}.`,
    },
  };
}

/** Makes a line of each record, and counts the lines that will be rejected by what is wrong with them. */
function createWriter(body: PushedBody, { maxLine, serviceMeans }: OtlpDeps) {
  const faults = new Map<string, number>();
  let resource: Shared = sharedOf(undefined);
  let scope = resource;
  let lines: PushedLines | undefined;

  const open = (service: string | null): PushedLines => {
    const name = (service ?? '').toLowerCase().replaceAll(/[^a-z0-9_]/g, '_');
    return body.linesOf(serviceMeans === 'source' && isSource(name) ? name : SOURCE);
  };

  return {
    faults: faults as ReadonlyMap<string, number>,
    /** Returns the lines that were written to, if any. */
    take(part: Part): PushedLines | undefined {
      if (part.kind === 'pause') return lines;
      body.count(1);
      if (part.kind === 'resource') {
        resource = sharedOf(part.resource);
        lines = undefined;
      } else if (part.kind === 'scope') scope = withScope(resource, part.scope);
      else {
        lines ??= open(resource.service);
        const project = serviceMeans === 'project' ? resource.service : null;
        const line = Buffer.from(`${lineOf(part.record, scope, project)}\n`);
        const fault = faultOf(line, maxLine);
        if (fault !== null) faults.set(fault, (faults.get(fault) ?? 0) + 1);
        lines.write(line);
      }
      return lines;
    },
  };
}

/** Why a line will be rejected; null for a line that becomes a row. */
function faultOf(line: Buffer, maxLine: number): string | null {
  return line.length - 1 > maxLine ? `longer than ${maxLine} bytes` : null;
}

function send(
  response: Response,
  status: number,
  type: BodyType,
  name: 'ExportLogsServiceResponse' | 'Status',
  message: Record<string, unknown>,
) {
  const body = type === 'application/json' ? JSON.stringify(message) : encodeMessage(name, message);
  // As a Buffer, to which Express adds no charset.
  response.status(status).set('Content-Type', type).send(Buffer.from(body));
}
