import type { Request, Response } from 'express';
import { type Ingest, isSource, type Source } from '../../ingest/index.ts';
import { accessOf } from '../auth/middleware.ts';
import type { ServiceMeans } from '../config/settings.ts';
import { AppError } from '../errors.ts';
import { POST, type Route } from '../http/route.ts';
import { allowLongBody } from '../http/server.ts';
import { createMemory, discardBody, readBody } from '../push/body.ts';
import type { PushFiles } from '../push/index.ts';
import { stamped } from '../push/stamp.ts';
import { linesOf, RecordInvalid, type ServiceLines } from './lines.ts';
import { decodeRequest, type ExportLogsServiceRequest, encodeMessage } from './messages.ts';

export interface OtlpDeps {
  readonly pushFiles: Pick<PushFiles, 'append'>;
  readonly ingest: Pick<Ingest, 'status'>;
  /** Bytes of the longest line that is stored. */
  readonly maxLine: number;
  readonly serviceMeans: ServiceMeans;
}

/** The source of records whose service does not name one. */
const SOURCE: Source = 'app_logs';
/** Bytes of bodies that are read at a time, and of what they are decoded to. */
const MEMORY_BYTES = 256e6;
/** A body is so many times as large once it is decoded. */
const DECODED = 4;
/** Years that a timestamp may be in end here. */
const HORIZON = '2201';

/** Where OTLP's exporters send logs to. */
export function otlpRoutes(deps: OtlpDeps): Route[] {
  const memory = createMemory(MEMORY_BYTES);
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
        try {
          const taken = await take(request, response, type, deps, memory);
          send(response, 200, type, 'ExportLogsServiceResponse', taken);
        } catch (error) {
          await discardBody(request);
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

/** Gives the answer of OTLP: empty, or how many records will not become rows. */
async function take(
  request: Request,
  response: Response,
  type: BodyType,
  { pushFiles, ingest, maxLine, serviceMeans }: OtlpDeps,
  memory: ReturnType<typeof createMemory>,
): Promise<Record<string, unknown>> {
  const { project: pin } = accessOf(response);
  const { noRoom } = ingest.status();
  if (noRoom) throw new AppError('STORAGE_UNAVAILABLE', { detail: noRoom });
  allowLongBody(request);
  const body = await readBody(request, memory);
  let decoded = 0;
  try {
    const bytes = Buffer.concat(body.blocks);
    memory.take(bytes.length * DECODED);
    decoded = bytes.length * DECODED;
    const services = read(bytes, type, serviceMeans);
    const lines = services.flatMap((each) => each.lines);
    for (const [source, blocks] of bySource(services, serviceMeans))
      await pushFiles.append(source, pin === null ? blocks : [stamped(blocks, pin)]);
    const faults = lines.flatMap((line) => faultOf(line, maxLine) ?? []);
    if (faults.length === 0) return {};
    return {
      partialSuccess: {
        rejectedLogRecords: String(faults.length),
        errorMessage: `Kept as rejected lines: ${[...new Set(faults)].join(', ')}.`,
      },
    };
  } finally {
    memory.give(decoded);
    body.release();
  }
}

/** Throws `REQUEST_INVALID`. */
function read(bytes: Buffer, type: BodyType, serviceMeans: ServiceMeans): ServiceLines[] {
  try {
    const request = type === 'application/json' ? parse(bytes) : decodeRequest(bytes);
    return linesOf(request, (service) => (serviceMeans === 'project' ? service : null));
  } catch (cause) {
    const reason = cause instanceof RecordInvalid ? cause.message : 'got something else';
    throw new AppError('REQUEST_INVALID', {
      detail: `Expected an ExportLogsServiceRequest of OTLP as ${type}; ${reason}.`,
      cause,
    });
  }
}

function parse(bytes: Buffer): ExportLogsServiceRequest {
  const value: unknown = JSON.parse(bytes.toString());
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RecordInvalid('got no object');
  return value;
}

function bySource(
  services: readonly ServiceLines[],
  serviceMeans: ServiceMeans,
): Map<Source, Buffer[]> {
  const blocks = new Map<Source, Buffer[]>();
  for (const { service, lines } of services) {
    if (lines.length === 0) continue;
    const name = (service ?? '').toLowerCase().replaceAll(/[^a-z0-9_]/g, '_');
    const source = serviceMeans === 'source' && isSource(name) ? name : SOURCE;
    const list = blocks.get(source) ?? [];
    list.push(Buffer.from(lines.join('')));
    blocks.set(source, list);
  }
  return blocks;
}

/** Why a line will be rejected; null for a line that becomes a row. */
function faultOf(line: string, maxLine: number): string | null {
  if (Buffer.byteLength(line) - 1 > maxLine) return `longer than ${maxLine} bytes`;
  const [, year = ''] = /^\{"timestamp":"(\d+)-/.exec(line) ?? [];
  return year !== '' && (year.length > 4 || year >= HORIZON) ? `of the year ${year}` : null;
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
