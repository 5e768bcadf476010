import type { RequestHandler } from 'express';
import { allSources, type Source } from '../../ingest/index.ts';
import { AppError } from '../errors.ts';
import { READ, type Route } from '../http/route.ts';
import { logflareName, sourceUuid } from '../push/source.ts';
import type { Limits } from '../store/index.ts';

const NO_DRAINS =
  'There are no log drains here, so this one was not made: let the shipper send a second copy, read /api/export, or forward to ClickHouse.';
const NO_SOURCES = 'Expected GET or HEAD: the sources are those of TAILPOND_SOURCES.';
const DAY_MS = 24 * 3_600_000;

/**
 * What Supabase Studio asks Logflare for beside the endpoints, as Logflare answers it, a bare array: the sources, and its log drains,
 * which it calls backends. There are no log drains here.
 */
export function logflareRoutes(limits: Pick<Limits, 'keepMs'>): Route[] {
  return [
    {
      path: '/api/backends',
      methods: null,
      scope: 'query',
      summary: 'The log drains of Logflare: an empty list',
      answer: 'Backends',
      handler: [refuseDrain, list([])],
    },
    {
      path: '/api/backends/:id',
      aliases: ['/api/backends/:id/test'],
      methods: null,
      scope: 'query',
      summary: 'A log drain of Logflare: there is none',
      answer: 'text/plain',
      handler: [refuseDrain, unknownDrain],
    },
    {
      path: '/api/sources',
      methods: READ,
      otherwise: NO_SOURCES,
      scope: 'query',
      summary: 'The sources, as Logflare lists them',
      answer: 'LogflareSources',
      handler: list(allSources().map(inItsFields)),
    },
  ];

  function inItsFields(source: Source, index: number) {
    const days = (limits.keepMs[source] ?? Infinity) / DAY_MS;
    return {
      id: index + 1,
      name: logflareName(source),
      // What names a source is its name. Logflare's token is a UUID, which a push may use as well.
      token: source,
      uuid: sourceUuid(source),
      retention_days: Number.isFinite(days) ? days : null,
      backends: [],
    };
  }
}

/**
 * Answers what would make, change or test a log drain. Studio takes any JSON for a drain that was made, whatever the status, and shows that
 * one failed only where the answer is not JSON.
 */
const refuseDrain: RequestHandler = (request, response, next) => {
  if (READ.some((method) => method === request.method)) return next();
  response.status(405).set({ Allow: READ.join(', '), 'Cache-Control': 'no-store' });
  response.type('text').send(`${NO_DRAINS}\n`);
};

const unknownDrain: RequestHandler = () => {
  throw new AppError('PATH_UNKNOWN', { detail: 'There are no log drains here.' });
};

/** The query string is Logflare's filter, `metadata[type]=log-drain`; there is nothing to be filtered. */
function list(entries: readonly unknown[]): RequestHandler {
  return function answerList(_request, response) {
    response.set('Cache-Control', 'private, no-cache').json(entries);
  };
}
