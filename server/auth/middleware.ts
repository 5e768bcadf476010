import type { Request, RequestHandler, Response } from 'express';
import { AppError } from '../errors.ts';
import { headerValues } from './header-values.ts';
import type { Scope } from './token-file.ts';
import type { Access, Tokens } from './tokens.ts';

/** What an answer to the bearer of a token depends on beside the URL. */
export const VARY =
  'X-API-KEY, Authorization, SVC-ENDPOINT-REDACT-PII, LF-ENDPOINT-REDACT-PII, Accept';

/**
 * Lets a request pass that carries a token as `X-API-KEY`, or as `Authorization: Bearer`; of several headers each must hold the same. Throws
 * `UNAUTHORIZED`, the same for a missing, wrong, expired and revoked one.
 */
export function accessToken(tokens: Tokens): RequestHandler {
  return function checkAccessToken(request, response, next) {
    const given = [
      ...headerValues(request, 'X-API-KEY'),
      ...headerValues(request, 'Authorization').map(
        (value) => /^bearer +(\S+)$/i.exec(value)?.[1] ?? '',
      ),
    ];
    const [access = null, ...rest] = given.map((token) => tokens.find(token));
    if (access === null || rest.some((other) => other !== access)) {
      response.vary(VARY).set('WWW-Authenticate', 'Bearer');
      throw new AppError('UNAUTHORIZED');
    }
    response.locals.access = access;
    next();
  };
}

/** What the token of this request allows. */
export function accessOf(response: Response): Access {
  const { access } = response.locals;
  if (!access) throw new Error('BUG: a request was not checked for its token');
  return access;
}

/** How soon an answer that goes on for long ends after its token was revoked, or has expired. */
const LOOK_MS = 250;

/** Returns a signal that comes when the token of a request is revoked or expires, as long as its answer goes on. */
export function revoked(tokens: Pick<Tokens, 'holds'>, response: Response): AbortSignal {
  const controller = new AbortController();
  const access = accessOf(response);
  const timer = setInterval(() => {
    if (!tokens.holds(access)) controller.abort(new AppError('UNAUTHORIZED'));
  }, LOOK_MS).unref();
  response.once('close', () => clearInterval(timer));
  return controller.signal;
}

/** Lets a request pass whose token has the scope. Throws `SCOPE_MISSING`. */
export function requires(scope: Scope): (request: Request, response: Response) => void {
  return function checkScope(_request, response) {
    if (!accessOf(response).scopes.has(scope))
      throw new AppError('SCOPE_MISSING', {
        detail: `Expected a token with the scope "${scope}", got one without it.`,
      });
  };
}
