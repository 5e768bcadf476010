import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Ingest } from '../../ingest/index.ts';
import type { Forwarder } from '../clickhouse/index.ts';
import { ROOT } from '../config/package-root.ts';
import type { Cache, CacheStats } from '../endpoints/cache.ts';
import type { Measure } from '../endpoints/handler.ts';
import type { Endpoints } from '../endpoints/registry.ts';
import { READ, type Route } from '../http/route.ts';
import { engineVersion, type Store } from '../store/index.ts';
import { lookedUp } from './at-scrape.ts';
import { forwardingMetrics } from './forwarding.ts';
import { ingestMetrics } from './ingest.ts';
import { keepLedger } from './ledger.ts';
import { queryMetrics } from './queries.ts';
import { type MeasureRequest, requestMetrics } from './requests.ts';
import { storeMetrics } from './store.ts';

export type { MeasureRequest } from './requests.ts';

export interface MetricsDeps {
  readonly store: Pick<
    Store,
    'ledger' | 'disk' | 'probe' | 'settling' | 'stats' | 'callerPool' | 'entryPool'
  >;
  readonly ingest: Pick<Ingest, 'status'>;
  readonly forwarder: Pick<Forwarder, 'status'> | null;
  readonly cache: Pick<Cache, 'stats'>;
  readonly endpoints: Pick<Endpoints, 'all'>;
}

export interface Metrics {
  readonly measureRequest: MeasureRequest;
  /** Measures a query. */
  readonly measure: Measure;
  /** Where Prometheus scrapes. */
  readonly routes: readonly Route[];
}

/**
 * The metrics of one app. What they count is bounded by the code and by the files of the endpoints: no path, project,
 * parameter or token of a request becomes a label.
 */
export function createMetrics({
  store,
  ingest,
  forwarder,
  cache,
  endpoints,
}: MetricsDeps): Metrics {
  const registry = new Registry();
  const ledger = keepLedger(() => store.ledger());
  // They are read in this order: before the pools have the query of the ledger itself.
  const measure = queryMetrics(registry, store, endpoints);
  ingestMetrics(registry, ingest, ledger);
  storeMetrics(registry, { store, ingest, forwarder }, ledger);
  if (forwarder) forwardingMetrics(registry, forwarder, ledger);
  cacheMetrics(registry, cache);
  const measureRequest = requestMetrics(registry);
  const lookAtProcess = processMetrics(registry);

  return {
    measureRequest,
    measure,
    routes: [
      {
        path: '/metrics',
        methods: READ,
        scope: 'metrics',
        summary: 'Figures for Prometheus, in its text format',
        answer: 'text/plain',
        async handler(_request, response) {
          await lookAtProcess();
          const text = await registry.metrics();
          response.set('Cache-Control', 'no-store').type(registry.contentType).send(text);
        },
      },
    ],
  };
}

const NUMBERS: readonly ['counter' | 'gauge', string, string, keyof CacheStats][] = [
  ['counter', 'hits_total', 'Answers that were in the cache.', 'hits'],
  ['counter', 'misses_total', 'Answers that were not in the cache, or too old.', 'misses'],
  ['gauge', 'entries', 'Answers in the cache.', 'entries'],
  ['gauge', 'bytes', 'Bytes of the answers in the cache, with their keys.', 'bytes'],
];

/** Adds how full the cache of answers is, and how often it has one. */
function cacheMetrics(registry: Registry, cache: Pick<Cache, 'stats'>): void {
  for (const [kind, name, help, field] of NUMBERS)
    lookedUp(registry, {
      kind,
      name: `tailpond_cache_${name}`,
      help,
      labels: [],
      read: () => [[{}, cache.stats()[field]]],
    });
}

/** Before its first ticks, which come every 10 ms, the event loop's monitor tells of a delay of 292 years. */
const FIRST_MS = 50;

/**
 * Adds what this is, and gives what adds the usual metrics of a process and of Node, under the names they have everywhere.
 * These begin with the first scrape: who is not scraped does not measure the event loop a hundred times a second. They
 * keep no process from its end.
 */
function processMetrics(registry: Registry): () => Promise<void> {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  lookedUp(registry, {
    kind: 'gauge',
    name: 'tailpond_build_info',
    help: 'Always 1; its labels are the versions of tailpond, Node.js and DuckDB.',
    labels: ['version', 'node', 'duckdb'],
    read: () => [[{ version, node: process.version, duckdb: engineVersion() }, 1]],
  });
  let begun: Promise<void> | null = null;
  return () => {
    if (!begun) {
      collectDefaultMetrics({ register: registry });
      begun = delay(FIRST_MS);
    }
    return begun;
  };
}
