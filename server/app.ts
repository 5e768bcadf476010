import { randomUUID } from 'node:crypto';
import { type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import cors from 'cors';
import express, { type Express, type Request, type Response } from 'express';
import type { Logger } from 'pino';
import { pinoHttp } from 'pino-http';
import type { Ingest, Source } from '../ingest/index.ts';
import { alive, LIVE } from './admin/health.ts';
import { adminRoutes } from './admin/index.ts';
import { accessToken, VARY } from './auth/middleware.ts';
import { rateLimit } from './auth/rate-limit.ts';
import type { Tokens } from './auth/tokens.ts';
import type { Answers, Forwarder } from './clickhouse/index.ts';
import type { ServiceMeans } from './config/settings.ts';
import { consolePages } from './console/index.ts';
import type { Cache } from './endpoints/cache.ts';
import { endpointRoutes } from './endpoints/index.ts';
import type { Endpoints } from './endpoints/registry.ts';
import { AppError } from './errors.ts';
import { exploreRoutes } from './explore/index.ts';
import { SECURITY_HEADERS } from './http/browser-headers.ts';
import { problem } from './http/problem.ts';
import { mount, type Route } from './http/route.ts';
import type { SourceFormats } from './lines/index.ts';
import { logflareRoutes } from './logflare/index.ts';
import { createMetrics } from './metrics/index.ts';
import { apiPages, withDocument } from './openapi/index.ts';
import { otlpRoutes } from './otlp/index.ts';
import { createDoor, PUSH_PREFIXES, type PushFiles, pushRoutes } from './push/index.ts';
import type { Limits, Store } from './store/index.ts';
import type { Waits } from './waits.ts';

export interface AppDeps {
  /** Bytes of the longest line that is stored. */
  readonly maxLine: number;
  /** The form of the lines of each source. */
  readonly formats: Readonly<Record<Source, SourceFormats>>;
  /** What the name of a service of OpenTelemetry stands for. */
  readonly serviceMeans: ServiceMeans;
  readonly tokens: Tokens;
  /** Requests a minute and token; null for any number. */
  readonly rateLimit: number | null;
  /** Whether a token may be in the URL. */
  readonly apiKeyInUrl: boolean;
  /** The origin that browsers may call from; null for none. */
  readonly corsOrigin: string | null;
  readonly store: Store;
  /** Bounds each question as a whole. */
  readonly queryTimeoutMs: number;
  readonly ingest: Pick<Ingest, 'status'>;
  /** Where pushed lines go. */
  readonly pushFiles: PushFiles;
  /** The most lines that one push may hold. */
  readonly maxPushLines: number;
  /** What forwards rows; null: they stay. */
  readonly forwarder: Pick<Forwarder, 'status'> | null;
  /** What asks where rows are forwarded to; null: they stay. */
  readonly answers: Answers | null;
  /** What retention goes by. */
  readonly limits: Limits;
  readonly endpoints: Endpoints;
  readonly cache: Cache;
  readonly logger: Logger;
  readonly waits: Pick<Waits, 'answerRead' | 'heartbeat'>;
  /** Whether the service is stopping: then requests get 503. */
  readonly isDraining: () => boolean;
}

/** What needs a token. */
const GUARDED = ['/api', '/v1', '/metrics', '/logs', '/endpoints'];

/** The HTTP side. */
export interface App {
  /** Middleware in the order a request meets it. */
  readonly express: Express;
  /** Every path that is served, but those of pages. */
  readonly routes: readonly Route[];
}

export function createApp(deps: AppDeps): App {
  const { logger } = deps;
  const metrics = createMetrics(deps);
  const app = baseApp(logger, (request, response) => {
    metrics.measureRequest(request, response);
    if (deps.isDraining() && request.path !== LIVE) throw new AppError('DRAINING');
  });
  // A token stands in a header, which no page of another origin can have sent without knowing it.
  for (const prefix of PUSH_PREFIXES)
    app.use(
      prefix,
      cors({
        origin: deps.corsOrigin ?? '*',
        methods: ['POST'],
        allowedHeaders: ['Authorization', 'Content-Type', 'X-API-KEY'],
        maxAge: 86_400,
      }),
    );
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
  app.use(GUARDED, accessToken(deps.tokens, deps.apiKeyInUrl));
  if (deps.rateLimit !== null) app.use(GUARDED, rateLimit(deps.rateLimit));
  const door = createDoor({ ...deps, maxLines: deps.maxPushLines });
  const routes = withDocument(
    [
      ...endpointRoutes({ ...deps, measure: metrics.measure }),
      ...pushRoutes({ ...deps, door }),
      ...otlpRoutes({ ...deps, door }),
      ...exploreRoutes(deps),
      ...logflareRoutes(deps.limits),
      ...adminRoutes(deps),
      ...metrics.routes,
    ],
    deps.endpoints,
  );
  for (const { path, scope } of routes)
    if (scope === null && path.startsWith('/api/')) throw new Error(`BUG: ${path} has no scope`);
  mount(app, routes);
  app.use(consolePages());
  app.use(apiPages());
  app.use(() => {
    throw new AppError('PATH_UNKNOWN');
  });
  app.use(problem(logger));
  return { express: app, routes };
}

/** What answers while the store is being opened. */
export function createStartingApp(logger: Logger): Express {
  const app = baseApp(logger);
  app.get(LIVE, alive);
  app.use(() => {
    throw new AppError('STARTING');
  });
  app.use(problem(logger));
  return app;
}

/** The headers of any answer: name, value, name, value, … */
function commonHeaders(response: Response): string[] {
  const headers = ['X-Request-Id', String(response.req.id), ...SECURITY_HEADERS];
  if (!response.locals.access) return headers;
  const others = response.getHeader('Vary');
  headers.push('Vary', others ? `${others}, ${VARY}` : VARY);
  return headers;
}

const { writeHead } = ServerResponse.prototype;

/** Returns an app that gives each request an id, calls `first` with it, and adds the headers that all answers have. */
function baseApp(logger: Logger, first?: (request: Request, response: Response) => void): Express {
  const app = express();
  app.disable('x-powered-by');
  // Here, since an answer that gives all of its own headers as a list spares a tenth of its time by not setting them one by one.
  app.response.writeHead = function (this: Response, status: number, own?: unknown) {
    const common = commonHeaders(this);
    if (Array.isArray(own)) return writeHead.call(this, status, common.concat(own));
    for (let i = 0; i < common.length; i += 2) {
      const [name = '', value = ''] = common.slice(i, i + 2);
      if (name === 'Vary' || !this.hasHeader(name)) this.setHeader(name, value);
    }
    return writeHead.call(this, status, own as OutgoingHttpHeaders);
  } as typeof app.response.writeHead;
  app.use((request, response, next) => {
    request.id = randomUUID();
    first?.(request, response);
    next();
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
