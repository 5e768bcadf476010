import type { Request, RequestHandler, Response } from 'express';
import { AppError } from '../errors.ts';
import { headerValues } from './header-values.ts';
import type { Scope } from './token-file.ts';
import type { Access, Tokens } from './tokens.ts';

/** What an answer to the bearer of a token depends on beside the URL. */
export const VARY =
  'X-API-KEY, Authorization, SVC-ENDPOINT-REDACT-PII, LF-ENDPOINT-REDACT-PII, Accept';

const IN_URL = 'api_key';
/** What a token in the URL may be used for. */
const SCOPES_IN_URL: readonly Scope[] = ['ingest', 'query'];

/**
 * Lets a request pass that carries a token as `X-API-KEY`, as `Authorization: Bearer`, or, where `inUrl`, as the parameter `api_key`; of
 * several each must hold the same. Throws `UNAUTHORIZED`, the same for a missing, wrong, expired and revoked one.
 */
export function accessToken(tokens: Tokens, inUrl: boolean): RequestHandler {
  return function checkAccessToken(request, response, next) {
    const [, query = ''] = /\?(.*)$/s.exec(request.url) ?? [];
    const ofUrl = new URLSearchParams(query).getAll(IN_URL);
    const given = [
      ...(inUrl ? ofUrl : []),
      ...headerValues(request, 'X-API-KEY'),
      ...headerValues(request, 'Authorization').map(
        (value) => /^bearer +(\S+)$/i.exec(value)?.[1] ?? '',
      ),
    ];
    const [access = null, ...rest] = given.map((token) => tokens.find(token));
    if (access === null || rest.some((other) => other !== access)) {
      response.vary(VARY).set('WWW-Authenticate', 'Bearer');
      throw new AppError(
        'UNAUTHORIZED',
        ofUrl.length > 0 && !inUrl
          ? {
              detail:
                'Expected the token in the header X-API-KEY, got it in the URL as api_key, which TAILPOND_API_KEY_IN_URL=on would allow.',
            }
          : {},
      );
    }
    response.locals.access = access;
    response.locals.tokenInUrl = inUrl && ofUrl.length > 0;
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
    if (response.locals.tokenInUrl && !SCOPES_IN_URL.includes(scope))
      throw new AppError('UNAUTHORIZED', {
        detail:
          'Expected the token in the header X-API-KEY: in the URL it is taken for pushes and queries alone.',
      });
    if (!accessOf(response).scopes.has(scope))
      throw new AppError('SCOPE_MISSING', {
        detail: `Expected a token with the scope "${scope}", got one without it.`,
      });
  };
}
