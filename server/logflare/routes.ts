import { type RequestHandler, Router } from 'express';
import { SOURCES, type Source } from '../../ingest/index.ts';
import { requires } from '../auth/middleware.ts';
import { AppError } from '../errors.ts';
import { LOGFLARE_NAMES } from '../push/source.ts';
import type { Limits } from '../store/index.ts';

const DAY_MS = 24 * 3_600_000;

/**
 * What Supabase Studio asks Logflare for beside the endpoints, as Logflare answers it, a bare array: its log drains, which it
 * calls backends and of which there are none here, and the sources.
 */
export function logflare(limits: Pick<Limits, 'keepMs'>): Router {
  const router = Router();
  router.all('/backends', requires('query'), list([]));
  router.all('/sources', requires('query'), list(SOURCES.map(inItsFields)));
  return router;

  function inItsFields(source: Source, index: number) {
    const days = limits.keepMs[source] / DAY_MS;
    return {
      id: index + 1,
      name: LOGFLARE_NAMES[source],
      // Logflare's is a UUID; what names a source here is its name.
      token: source,
      retention_days: Number.isFinite(days) ? days : null,
      backends: [],
    };
  }
}

/** The query string is Logflare's filter, `metadata[type]=log-drain`; there is nothing to be filtered. */
function list(entries: readonly unknown[]): RequestHandler {
  return function answerList(request, response) {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      throw new AppError('METHOD_NOT_ALLOWED', {
        detail:
          'Expected GET or HEAD: there are no log drains here, and the sources are what they are.',
      });
    response.set('Cache-Control', 'private, no-cache').json(entries);
  };
}
