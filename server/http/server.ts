import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { isIPv6, type Socket } from 'node:net';
import { AppError } from '../errors.ts';
import type { Waits } from '../waits.ts';
import { SECURITY_HEADERS } from './browser-headers.ts';
import { sendProblem } from './problem.ts';

/** How often Node looks for those that are late; with its default of 30 s they would be closed up to half a minute later. */
const CHECK_MS = 1000;
/** Without a request in this time a connection is closed. */
const KEEP_ALIVE_MS = 5000;

/** 64 KiB of SQL, each byte of it escaped, and the parameters beside it. */
const MAX_URL_BYTES = 200 * 1024;
const MAX_HEAD_BYTES = 296 * 1024;
const MAX_HEADERS = 100;

/** Connections beyond the limit that are told 503, not just closed, and how long one may take to ask. */
const REFUSED_MORE = 64;
const REFUSED_MS = 1000;

/**
 * An HTTP server that bounds what clients may take: connections, time, headers, URLs. Requests within the bounds are
 * answered by `answer`; the rest gets a problem, or Node's bare 400, 408 and 431 where there is no request yet.
 */
export function createHttpServer(
  maxConnections: number,
  waits: Pick<Waits, 'requestHead' | 'requestBody' | 'pushBody' | 'answerRead'>,
  answer: RequestListener,
): Server {
  const server = createServer(
    {
      headersTimeout: waits.requestHead,
      requestTimeout: waits.pushBody,
      connectionsCheckingInterval: CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEAD_BYTES,
    },
    (request, response) => {
      const error = refused.has(request.socket)
        ? new AppError('CONNECTIONS_EXHAUSTED')
        : headFault(request);
      if (error) return refuse(response, error);
      dropIfUnread(response, waits.answerRead);
      dropIfLate(request, waits.requestBody);
      answer(request, response);
    },
  );
  // Node passes over those beyond in silence; one more, so that they are seen.
  server.maxHeadersCount = MAX_HEADERS + 1;
  server.maxConnections = maxConnections + REFUSED_MORE;

  const refused = new WeakSet<Socket>();
  let open = 0;
  server.on('connection', (socket) => {
    open++;
    socket.once('close', () => open--);
    if (open <= maxConnections) return;
    refused.add(socket);
    setTimeout(() => socket.destroy(), REFUSED_MS).unref();
  });
  return server;
}

const late = new WeakMap<IncomingMessage, NodeJS.Timeout>();

/** Lets the body of a request come in slowly, for `waits.pushBody`: it brings lines, from a client that may push some. */
export function allowLongBody(request: IncomingMessage): void {
  clearTimeout(late.get(request));
}

/** Node has one time for all requests, so that of those whose body nobody wants is kept here. */
function dropIfLate(request: IncomingMessage, bodyMs: number) {
  const { headers } = request;
  if (headers['transfer-encoding'] === undefined && !Number(headers['content-length'])) return;
  const timer = setTimeout(() => {
    if (!request.complete) request.socket.destroy();
  }, bodyMs).unref();
  late.set(request, timer);
  request.once('close', () => clearTimeout(timer));
}

function headFault({ url = '', rawHeaders }: IncomingMessage): AppError | null {
  if (url.length > MAX_URL_BYTES)
    return new AppError('URL_TOO_LONG', {
      detail: `Expected a URL of at most ${MAX_URL_BYTES} bytes, got ${url.length}.`,
    });
  if (rawHeaders.length > 2 * MAX_HEADERS)
    return new AppError('HEADERS_TOO_MANY', {
      detail: `Expected at most ${MAX_HEADERS} headers, got more.`,
    });
  // A proxy may have read the other one of two.
  const hosts = rawHeaders.filter(
    (name, i) => i % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host',
  ).length;
  if (hosts > 1)
    return new AppError('HEADER_INVALID', {
      faults: [{ parameter: 'Host', detail: `Expected one Host, got ${hosts}.` }],
    });
  return null;
}

function refuse(response: ServerResponse, error: AppError) {
  const id = randomUUID();
  response.setHeader('X-Request-Id', id);
  for (let i = 0; i < SECURITY_HEADERS.length; i += 2)
    response.setHeader(SECURITY_HEADERS[i] ?? '', SECURITY_HEADERS[i + 1] ?? '');
  response.setHeader('Connection', 'close');
  sendProblem(response, error, id);
}

/** From the moment the answer is complete: before it, a connection is silent for as long as the query runs. */
function dropIfUnread(response: ServerResponse, readMs: number) {
  response.once('prefinish', () => {
    const { socket } = response;
    // Most answers are with the system as a whole by now.
    if (!socket || socket.writableLength === 0) return;
    socket.setTimeout(readMs);
    // Before Node's own listener, which sets the time of keep-alive.
    response.prependOnceListener('finish', () => socket.setTimeout(0));
  });
}

/**
 * Has a server listen where the settings say. Throws a sentence on what has to be done when it cannot; not a ConfigError, since
 * a port may become free and an address come up: trying again helps.
 */
export async function listen(
  server: Server,
  { port, host }: { readonly port: number; readonly host: string },
): Promise<void> {
  try {
    await new Promise<void>((listening, failed) => {
      server.once('error', failed).listen(port, host, listening);
    });
  } catch (error) {
    throw new Error(reason((error as NodeJS.ErrnoException).code, port, host), { cause: error });
  }
}

function reason(code: string | undefined, port: number, host: string): string {
  const place = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
  switch (code) {
    case 'EADDRINUSE':
      return `Another program listens on ${place} already (EADDRINUSE). Stop it, which ss -ltnp names, or set TAILPOND_PORT or TAILPOND_HOST.`;
    case 'EACCES':
      return `This user may not listen on ${place} (EACCES). Set TAILPOND_PORT to 1024 or above, or permit the user to take lower ones.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `This machine has no address ${host} (${code}). Set TAILPOND_HOST to one of its own, or to 0.0.0.0 for all of them.`;
    default:
      return `The service cannot listen on ${place} (${code}): see TAILPOND_PORT and TAILPOND_HOST.`;
  }
}
