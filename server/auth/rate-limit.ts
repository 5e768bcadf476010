import type { RequestHandler } from 'express';
import { rateLimit as limiter } from 'express-rate-limit';
import { AppError } from '../errors.ts';
import { accessOf } from './middleware.ts';

const MINUTE_MS = 60_000;

/**
 * Lets `perMinute` requests a minute pass for each token, and says in the RateLimit headers
 * (draft-ietf-httpapi-ratelimit-headers-08) how many are left. Throws `RATE_LIMITED`, with `Retry-After` in seconds.
 */
export function rateLimit(perMinute: number): RequestHandler {
  return limiter({
    windowMs: MINUTE_MS,
    limit: perMinute,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    keyGenerator: (_request, response) => accessOf(response).id ?? '',
    handler: (_request, _response, next) => next(new AppError('RATE_LIMITED')),
  });
}
