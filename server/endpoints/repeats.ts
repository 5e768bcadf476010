import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { Access, Tokens } from '../auth/tokens.ts';
import { type Format, MEDIA_TYPES } from '../formats/index.ts';
import type { Cached } from './cache.ts';
import { visibleTo } from './freshness.ts';
import type { SavedQuery } from './query-file.ts';
import type { Endpoints } from './registry.ts';

/** What a request was answered from, and what has to be as it was for another one to be answered so. */
export interface Repeatable {
  readonly access: Access;
  readonly query: SavedQuery;
  readonly format: Format;
  /** Seconds that an answer lives. */
  readonly caching: number;
  /** The answer in the cache, with all that asking for it brings about; null when it is there no more. */
  readonly cached: () => Cached | null;
}

/**
 * Answers a request whose head is, byte for byte, that of one that was answered from the cache: dashboards ask the same again and
 * again. All that the middleware would find out about it is known then, but for what may have changed since, which is
 * looked at each time: the token, the endpoint's file, the cached answer.
 */
export interface Repeats {
  /** Answers the request if it can; false when it has to go its whole way. */
  answer(request: IncomingMessage, response: ServerResponse): boolean;
  /** To be called before anything about the answer itself is set: what is set by then belongs to each answer. */
  remember(request: IncomingMessage, response: ServerResponse, repeatable: Repeatable): void;
}

export interface RepeatsDeps {
  readonly tokens: Pick<Tokens, 'holds'>;
  readonly endpoints: Pick<Endpoints, 'find'>;
  /** Gives the request its id, and does what is done at the begin of each. */
  readonly begin: (request: IncomingMessage, response: ServerResponse) => void;
}

interface Remembered extends Repeatable {
  /** Names and values in turn. */
  readonly headers: readonly string[];
}

const MAX_HEADS = 1000;
/** What is remembered holds the parameters; the cache bounds them by their bytes, here their number does. */
const MAX_URL = 2048;
/** Requests with these depend on the answer, or have a body. */
const PARTICULAR = ['if-none-match', 'if-modified-since', 'content-length', 'transfer-encoding'];

/** Remembers the heads of the latest thousand requests, by digest. */
export function createRepeats({ tokens, endpoints, begin }: RepeatsDeps): Repeats {
  const heads = new LRUCache<string, Remembered>({ max: MAX_HEADS });

  return {
    answer(request, response) {
      if (request.method !== 'GET') return false;
      const known = heads.get(digestOf(request));
      if (!known || !tokens.holds(known.access)) return false;
      const { query, format, caching } = known;
      if (endpoints.find(query.name) !== query) return false;
      const cached = known.cached();
      if (!cached) return false;
      begin(request, response);
      const head = ['X-Request-Id', String(request.id), ...known.headers];
      const own = headOf(cached, caching, known.access);
      for (const name in own) head.push(name, own[name] ?? '');
      const { body } = cached;
      head.push('Content-Type', MEDIA_TYPES[format], 'Content-Length', String(body.length));
      response.writeHead(200, head);
      response.end(body);
      return true;
    },
    remember(request, response, repeatable) {
      const { method, headers, url = '' } = request;
      if (method !== 'GET' || url.length > MAX_URL) return;
      if (PARTICULAR.some((name) => headers[name] !== undefined)) return;
      const always = namesOf(response)
        .filter((name) => name !== 'X-Request-Id')
        .flatMap((name) => [name, String(response.getHeader(name))]);
      heads.set(digestOf(request), { ...repeatable, headers: always });
    },
  };
}

/** The headers of a cached answer that say how old it is and what its rows are. */
export function headOf(
  { age, headers, etag, hit }: Cached,
  caching: number,
  access: Access,
): Record<string, string> {
  const ttl = Math.max(0, caching - age);
  return {
    Age: String(age),
    'Cache-Control': `private, max-age=${ttl}`,
    'Cache-Status': hit ? `tailpond; hit; ttl=${ttl}` : `tailpond; fwd=miss; stored; ttl=${ttl}`,
    ETag: etag,
    ...visibleTo(access, headers),
  };
}

/** The names of the headers that are set, in the letter case in which they are sent. */
function namesOf(response: ServerResponse): string[] {
  // Node has this for all outgoing messages since 15.4, its types for those of a client only.
  return (response as ServerResponse & { getRawHeaderNames(): string[] }).getRawHeaderNames();
}

/** Of the whole head, which holds the token: what is looked up must not be guessed from how long that takes. */
function digestOf({ url, rawHeaders }: IncomingMessage): string {
  return hash('sha256', `${url}\n${rawHeaders.join('\n')}`, 'binary');
}
