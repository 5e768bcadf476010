import type { Registry } from 'prom-client';
import type { Cache, CacheStats } from '../endpoints/cache.ts';
import { lookedUp } from './looked-up.ts';

const NUMBERS: readonly ['counter' | 'gauge', string, string, keyof CacheStats][] = [
  ['counter', 'hits_total', 'Answers that were in the cache.', 'hits'],
  ['counter', 'misses_total', 'Answers that were not in the cache, or too old.', 'misses'],
  ['gauge', 'entries', 'Answers in the cache.', 'entries'],
  ['gauge', 'bytes', 'Bytes of the answers in the cache, with their keys.', 'bytes'],
];

/** Adds how full the cache of answers is, and how often it has one. */
export function cacheMetrics(registry: Registry, cache: Pick<Cache, 'stats'>): void {
  for (const [kind, name, help, field] of NUMBERS)
    lookedUp(registry, {
      kind,
      name: `tailpond_cache_${name}`,
      help,
      labels: [],
      read: () => [[{}, cache.stats()[field]]],
    });
}
