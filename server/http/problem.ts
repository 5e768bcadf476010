import type { ServerResponse } from 'node:http';
import type { ErrorRequestHandler } from 'express';
import type { Logger } from 'pino';
import { AppError } from '../errors.ts';

/**
 * How long `OVERLOADED` is held back: clients that ask again at once would else take the event loop from all others (500 of
 * them made `/livez` wait 270 ms). Spread, so that they do not come back in step.
 */
const HOLD_MS = { least: 500, more: 1000 };

/** Answers every error, as RFC 9457's problem+json; `error.message` beside it is what Supabase Studio shows. */
export function problem(logger: Logger): ErrorRequestHandler {
  return function answerProblem(error, request, response, _next) {
    const shown = toAppError(error);
    const log = logger.child({ requestId: request.id });
    // The engine's messages quote stored data: above debug only their kind is told.
    const kind = error instanceof Error ? error.name : typeof error;
    if (response.headersSent) {
      // Clients may leave at any time.
      if (!response.destroyed)
        log.warn({ kind, code: shown.code, path: request.path }, 'an answer was cut');
      log.debug({ err: error }, 'an answer was cut');
      // What was sent already cannot be taken back: the client must see that it is not whole.
      response.destroy();
      return;
    }
    if (shown.code === 'INTERNAL') log.error({ kind }, shown.title);
    if (shown.status >= 500) log.debug({ err: error, code: shown.code }, shown.title);
    const send = () => sendProblem(response, shown, String(request.id ?? ''));
    if (shown.code === 'OVERLOADED') setTimeout(send, HOLD_MS.least + Math.random() * HOLD_MS.more);
    else send();
  };
}

/** Writes one error as an answer. */
export function sendProblem(response: ServerResponse, error: AppError, requestId: string): void {
  const { code, status, title, detail, faults } = error;
  const body = Buffer.from(
    JSON.stringify({
      type: 'about:blank',
      title,
      status,
      detail,
      instance: requestId,
      code,
      errors: faults,
      error: { message: detail },
    }),
  );
  if (status === 503) response.setHeader('Retry-After', '1');
  if (code === 'METHOD_NOT_ALLOWED' && !response.hasHeader('Allow'))
    response.setHeader('Allow', error.allow.join(', '));
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Content-Type', 'application/problem+json; charset=utf-8');
  response.setHeader('Content-Length', body.length);
  response.statusCode = status;
  response.end(body);
}

/** Turns an error that is not meant for clients into one that says nothing: messages of the engine quote SQL, paths and rows. */
function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const status = (error as { status?: unknown } | null)?.status;
  if (error instanceof URIError || (typeof status === 'number' && status >= 400 && status < 500)) {
    return new AppError('REQUEST_INVALID', { cause: error });
  }
  return new AppError('INTERNAL', { cause: error });
}
