import { join } from 'node:path';
import { ROOT } from '../../server/config/package-root.ts';
import type { SpawnOptions } from '../support/helpers.ts';

/** Starts the service so that SIGUSR2 makes it do one of the things of inject.cjs. */
export function injected(
  fault: 'rejection' | 'exception' | 'heap' | 'read-database',
): SpawnOptions {
  // So that the heap is soon used up.
  const heap = fault === 'heap' ? ' --max-old-space-size=256' : '';
  return {
    env: {
      NODE_OPTIONS: `--require ${join(ROOT, 'test/faults/inject.cjs')}${heap}`,
      TAILPOND_TEST_INJECT: fault,
    },
  };
}
