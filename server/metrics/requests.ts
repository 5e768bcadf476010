import type { Request, Response } from 'express';
import { Histogram, type Registry } from 'prom-client';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'OPTIONS']);

/** Measures a request from now to the end of its answer. */
export type MeasureRequest = (request: Request, response: Response) => void;

/** Adds how many requests there were and how long they took; gives what measures them. */
export function requestMetrics(registry: Registry): MeasureRequest {
  const durations = new Histogram({
    name: 'tailpond_http_request_duration_seconds',
    help: 'How long requests took, from their head to the end of their answer; status "aborted" where the client left first.',
    labelNames: ['method', 'route', 'status'],
    buckets: DURATIONS,
    registers: [registry],
  });
  return function measureRequest(request, response) {
    const begin = performance.now();
    response.on('close', () => {
      const { method = '' } = request;
      durations.observe(
        {
          method: METHODS.has(method) ? method : 'other',
          route: routeOf(request),
          status: response.writableFinished ? response.statusCode : 'aborted',
        },
        (performance.now() - begin) / 1000,
      );
    });
  };
}

/**
 * The path of the route as the code has it, `/api/endpoints/query/:endpoint`; `none` where a request reached none. Of
 * the path that was asked it is taken whether that is below `/api`, and no more: `baseUrl` would be in its letter case.
 */
function routeOf({ route, originalUrl }: Request): string {
  const path: unknown = Array.isArray(route?.path) ? route.path[0] : route?.path;
  if (typeof path !== 'string') return 'none';
  return BELOW_API.test(originalUrl) && !path.startsWith('/api') ? `/api${path}` : path;
}

const BELOW_API = /^\/api(?:[/?]|$)/i;

/** Bounds of the histograms, s: from a cached answer (under 1 ms) to the usual limit of a query (30 s). */
export const DURATIONS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];
