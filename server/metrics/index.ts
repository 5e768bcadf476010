import type { RequestHandler } from 'express';
import { Registry } from 'prom-client';
import type { Ingest } from '../../ingest/index.ts';
import type { Cache } from '../endpoints/cache.ts';
import type { Measure } from '../endpoints/handler.ts';
import type { Endpoints } from '../endpoints/registry.ts';
import { AppError } from '../errors.ts';
import type { Store } from '../store/index.ts';
import { cacheMetrics } from './cache.ts';
import { ingestMetrics } from './ingest.ts';
import { keepLedger } from './ledger.ts';
import { processMetrics } from './process.ts';
import { queryMetrics } from './queries.ts';
import { type MeasureRequest, requestMetrics } from './requests.ts';
import { storeMetrics } from './store.ts';

export type { MeasureRequest } from './requests.ts';

export interface MetricsDeps {
  readonly store: Pick<Store, 'ledger' | 'disk' | 'probe' | 'use' | 'sandbox'>;
  readonly ingest: Pick<Ingest, 'status'>;
  readonly cache: Pick<Cache, 'stats'>;
  readonly endpoints: Pick<Endpoints, 'all'>;
}

export interface Metrics {
  readonly measureRequest: MeasureRequest;
  /** Measures a query. */
  readonly measure: Measure;
  /** Answers a scrape, in Prometheus' text format. */
  readonly answer: RequestHandler;
}

/**
 * The metrics of one app. What they count is bounded by the code and by the files of the endpoints: no path, project,
 * parameter or token of a request becomes a label.
 */
export function createMetrics({ store, ingest, cache, endpoints }: MetricsDeps): Metrics {
  const registry = new Registry();
  const ledger = keepLedger(() => store.ledger());
  // They are read in this order: before the pools have the query of the ledger itself.
  const measure = queryMetrics(registry, store, endpoints);
  ingestMetrics(registry, ingest, ledger);
  storeMetrics(registry, store, ingest, ledger);
  cacheMetrics(registry, cache);
  const measureRequest = requestMetrics(registry);
  const lookAtProcess = processMetrics(registry);

  return {
    measureRequest,
    measure,
    answer: async (request, response) => {
      if (request.method !== 'GET' && request.method !== 'HEAD')
        throw new AppError('METHOD_NOT_ALLOWED');
      await lookAtProcess();
      const text = await registry.metrics();
      response.set('Cache-Control', 'no-store').type(registry.contentType).send(text);
    },
  };
}
