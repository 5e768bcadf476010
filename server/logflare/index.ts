import type { RequestHandler } from 'express';
import { allSources, type Source } from '../../ingest/index.ts';
import { READ, type Route } from '../http/route.ts';
import { logflareName } from '../push/source.ts';
import type { Limits } from '../store/index.ts';

const OTHERWISE =
  'Expected GET or HEAD: there are no log drains here, and the sources cannot be changed.';
const DAY_MS = 24 * 3_600_000;

/**
 * What Supabase Studio asks Logflare for beside the endpoints, as Logflare answers it, a bare array: the sources, and its log drains,
 * which it calls backends. There are no log drains here.
 */
export function logflareRoutes(limits: Pick<Limits, 'keepMs'>): Route[] {
  return [
    {
      path: '/api/backends',
      methods: READ,
      otherwise: OTHERWISE,
      scope: 'query',
      summary: 'The log drains of Logflare: an empty list',
      answer: 'Backends',
      handler: list([]),
    },
    {
      path: '/api/sources',
      methods: READ,
      otherwise: OTHERWISE,
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
      // Logflare's is a UUID; what names a source here is its name.
      token: source,
      retention_days: Number.isFinite(days) ? days : null,
      backends: [],
    };
  }
}

/** The query string is Logflare's filter, `metadata[type]=log-drain`; there is nothing to be filtered. */
function list(entries: readonly unknown[]): RequestHandler {
  return function answerList(_request, response) {
    response.set('Cache-Control', 'private, no-cache').json(entries);
  };
}
