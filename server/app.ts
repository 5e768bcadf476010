import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import cors from 'cors';
import express, { type Express, type Request, type Response } from 'express';
import helmet from 'helmet';
import type { Logger } from 'pino';
import { pinoHttp } from 'pino-http';
import type { Ingest } from '../ingest/index.ts';
import { books } from './admin/books.ts';
import { alive, health } from './admin/health.ts';
import { accessToken, requires } from './auth/middleware.ts';
import { rateLimit } from './auth/rate-limit.ts';
import type { Tokens } from './auth/tokens.ts';
import { consolePages } from './console/index.ts';
import type { Cache } from './endpoints/cache.ts';
import { endpoint } from './endpoints/handler.ts';
import type { Endpoints } from './endpoints/registry.ts';
import { createRepeats } from './endpoints/repeats.ts';
import { AppError } from './errors.ts';
import { explore } from './explore/index.ts';
import { problem } from './http/problem.ts';
import { logflare } from './logflare/routes.ts';
import { createMetrics } from './metrics/index.ts';
import { apiPages, openapi } from './openapi/index.ts';
import { type PushFiles, push } from './push/index.ts';
import type { Limits, Store } from './store/index.ts';

export interface AppDeps {
  readonly tokens: Tokens;
  /** Requests a minute and token; null for any number. */
  readonly rateLimit: number | null;
  /** The origin that browsers may call from; null for none. */
  readonly corsOrigin: string | null;
  readonly store: Store;
  readonly ingest: Pick<Ingest, 'status'>;
  /** Where pushed lines go. */
  readonly pushFiles: Pick<PushFiles, 'append'>;
  /** What retention goes by. */
  readonly limits: Limits;
  readonly endpoints: Endpoints;
  readonly cache: Cache;
  readonly logger: Logger;
  /** Whether the service is stopping: then requests get 503. */
  readonly isDraining: () => boolean;
}

const LIVE = '/livez';
const QUERY = '/api/endpoints/query/:endpoint';
/** What needs a token. */
const GUARDED = ['/api', '/metrics'];
const VARY = 'X-API-KEY, Authorization, SVC-ENDPOINT-REDACT-PII, LF-ENDPOINT-REDACT-PII, Accept';

/** The HTTP side. */
export interface App {
  /** Middleware in the order a request meets it. */
  readonly routes: Express;
  /** Answers a request by them, unless it is one that was answered just so before. */
  readonly answer: RequestListener;
}

export function createApp(deps: AppDeps): App {
  const { logger } = deps;
  const metrics = createMetrics(deps);
  const log = requestLog(logger);
  // What counts or judges each request leaves none to them.
  const eachMatters = deps.rateLimit !== null || deps.corsOrigin !== null;
  const begin = (request: IncomingMessage, response: ServerResponse) => {
    request.id = randomUUID();
    log?.(request, response);
    metrics.measureRequest(request, response, QUERY);
  };
  const repeats = eachMatters ? null : createRepeats({ ...deps, begin });
  const app = bare(logger, (request, response) => {
    metrics.measureRequest(request, response);
    if (deps.isDraining() && request.path !== LIVE) throw new AppError('DRAINING');
  });
  if (deps.corsOrigin) {
    const allowedHeaders = [
      'X-API-KEY',
      'Authorization',
      'Content-Type',
      'SVC-ENDPOINT-REDACT-PII',
      'LF-ENDPOINT-REDACT-PII',
    ];
    app.use('/api', cors({ origin: deps.corsOrigin, methods: ['GET', 'HEAD'], allowedHeaders }));
  }
  const checkToken = accessToken(deps.tokens);
  app.use(GUARDED, (request, response, next) => {
    const others = response.getHeader('Vary');
    response.setHeader('Vary', others ? `${others}, ${VARY}` : VARY);
    checkToken(request, response, next);
  });
  if (deps.rateLimit !== null) app.use(GUARDED, rateLimit(deps.rateLimit));
  app.all(QUERY, requires('query'), endpoint({ ...deps, repeats, measure: metrics.measure }));
  app.all(['/api/logs', '/api/logs/:source'], requires('ingest'), push(deps));
  app.use('/api', explore(deps));
  app.use('/api', logflare(deps.limits));
  app.use('/api', openapi(deps.endpoints));
  app.use('/api', books(deps));
  app.all('/metrics', requires('metrics'), metrics.answer);
  app.use(consolePages());
  app.use(apiPages());
  app.get(LIVE, alive);
  app.use(health(deps.store, deps.ingest));
  app.use(() => {
    throw new AppError('PATH_UNKNOWN');
  });
  app.use(problem(logger));
  return {
    routes: app,
    answer: (request, response) => {
      if (deps.isDraining() || !repeats?.answer(request, response)) app(request, response);
    },
  };
}

/** What answers while the store is being opened. */
export function createStartingApp(logger: Logger): Express {
  const app = bare(logger);
  app.get(LIVE, alive);
  app.use(() => {
    throw new AppError('STARTING');
  });
  app.use(problem(logger));
  return app;
}

/**
 * An app that names each request, calls `first` with it, and sets the headers that all answers have. That is one middleware and not
 * several, as each costs a cached answer a hundredth of its time.
 */
function bare(logger: Logger, first?: (request: Request, response: Response) => void): Express {
  const app = express();
  app.disable('x-powered-by');
  // No HSTS: the service speaks plain HTTP, TLS is the proxy's. The others that are off mean something for documents only.
  const secure = helmet({
    strictTransportSecurity: false,
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
  });
  app.use((request, response, next) => {
    request.id = randomUUID();
    response.setHeader('X-Request-Id', request.id);
    secure(request, response, (error) => {
      if (error) return next(error);
      first?.(request, response);
      next();
    });
  });
  const log = requestLog(logger);
  if (log) app.use(log);
  return app;
}

/** Requests are logged at debug level; above it, not even a logger of its own is made for each. */
function requestLog(logger: Logger) {
  if (!logger.isLevelEnabled('debug')) return null;
  return pinoHttp({
    logger,
    genReqId: (request) => request.id,
    // A path without its query string: values of parameters belong to the caller.
    serializers: {
      req: (request: { id: string; method: string; url: string }) => ({
        id: request.id,
        method: request.method,
        path: request.url.split('?')[0],
      }),
      res: (response: { statusCode: number }) => ({ status: response.statusCode }),
    },
    customSuccessMessage: () => 'answered',
    useLevel: 'debug',
  });
}
