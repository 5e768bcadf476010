import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { collectDefaultMetrics, type Registry } from 'prom-client';
import { ROOT } from '../config/package-root.ts';
import { engineVersion } from '../store/index.ts';
import { lookedUp } from './looked-up.ts';

/** Before its first ticks, which come every 10 ms, the event loop's monitor tells of a delay of 292 years. */
const FIRST_MS = 50;

/**
 * Adds what this is, and gives what adds the usual metrics of a process and of Node, under the names they have everywhere.
 * These begin with the first scrape: who is not scraped does not measure the event loop a hundred times a second. They
 * keep no process from its end.
 */
export function processMetrics(registry: Registry): () => Promise<void> {
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
