import { Counter, Histogram, type Registry } from 'prom-client';
import type { Measure } from '../endpoints/handler.ts';
import type { Endpoints } from '../endpoints/registry.ts';
import { AppError, type ErrorCode } from '../errors.ts';
import type { PoolUse, Store } from '../store/index.ts';
import { lookedUp } from './at-scrape.ts';
import { DURATIONS } from './requests.ts';

type Pool = Pick<Store, 'stats'>;
type Pools = Pool & { readonly callerPool: Pool; readonly entryPool: Pool };

const POOL: readonly [string, string, keyof PoolUse][] = [
  ['running_queries', 'Queries that run.', 'running'],
  ['waiting_queries', 'Queries that wait for a connection.', 'waiting'],
  ['running_queries_limit', 'How many queries may run at a time.', 'maxRunning'],
  ['waiting_queries_limit', 'How many queries may wait.', 'maxWaiting'],
];

/** Counted as 0 from the beginning: a counter that appears as 1 has not increased for an alert. */
const WATCHED: readonly ErrorCode[] = ['INTERNAL', 'OVERLOADED', 'QUERY_TIMEOUT'];

/** Adds how long queries take and how they fail, and how busy their connections are. Gives what measures them. */
export function queryMetrics(
  registry: Registry,
  store: Pools,
  endpoints: Pick<Endpoints, 'all'>,
): Measure {
  const labels = ['endpoint', 'kind'] as const;
  const durations = new Histogram({
    name: 'tailpond_query_duration_seconds',
    help: 'How long queries of endpoints took, waiting included; not those that the cache answered.',
    labelNames: labels,
    buckets: DURATIONS,
    registers: [registry],
  });
  const errors = new Counter({
    name: 'tailpond_query_errors_total',
    help: 'Queries of endpoints that failed, by code of the error.',
    labelNames: [...labels, 'code'],
    registers: [registry],
  });
  for (const { name: endpoint, sandboxing } of endpoints.all)
    for (const kind of sandboxing ? ['saved', 'caller'] : ['saved'])
      for (const code of WATCHED) errors.inc({ endpoint, kind, code }, 0);
  for (const [name, help, field] of POOL)
    lookedUp(registry, {
      kind: 'gauge',
      name: `tailpond_pool_${name}`,
      help: `${help} Pool "saved" for endpoints, "entries" for questions about sources, "caller" for callers' SQL.`,
      labels: ['pool'],
      read: () => [
        [{ pool: 'saved' }, store.stats()[field]],
        [{ pool: 'entries' }, store.entryPool.stats()[field]],
        [{ pool: 'caller' }, store.callerPool.stats()[field]],
      ],
    });

  return async function measure({ endpoint, kind }, run) {
    const begin = performance.now();
    try {
      return await run();
    } catch (error) {
      errors.inc({ endpoint, kind, code: error instanceof AppError ? error.code : 'INTERNAL' });
      throw error;
    } finally {
      durations.observe({ endpoint, kind }, (performance.now() - begin) / 1000);
    }
  };
}
