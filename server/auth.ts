import { hash, timingSafeEqual } from 'node:crypto';
import type { RequestHandler } from 'express';
import { AppError } from './errors.ts';

/**
 * Lets a request pass that carries the token as `X-API-KEY`, or as `Authorization: Bearer`. Of several headers each
 * must hold it. Throws `UNAUTHORIZED`, the same for a missing and a wrong one.
 */
export function accessToken(token: string): RequestHandler {
  const expected = digest(token);
  return function checkAccessToken(request, response, next) {
    const { 'x-api-key': keys = [], authorization = [] } = request.headersDistinct;
    const given = [
      ...keys,
      ...authorization.map((value) => /^bearer +(\S+)$/i.exec(value)?.[1] ?? ''),
    ];
    if (given.length === 0 || !given.every((value) => timingSafeEqual(digest(value), expected))) {
      response.set('WWW-Authenticate', 'Bearer');
      throw new AppError('UNAUTHORIZED');
    }
    next();
  };
}

/** Hashed, because `timingSafeEqual` wants equal lengths and a length must not leak. */
function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
