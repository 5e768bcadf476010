import type { RequestHandler } from 'express';
import type { Ingest } from '../../ingest/index.ts';
import type { Forwarder } from '../clickhouse/index.ts';
import { AppError } from '../errors.ts';
import { READ, type Route } from '../http/route.ts';
import type { Store } from '../store/index.ts';

/** Whether the process runs, for supervisors; also while the store is being opened and during a stop. */
export const LIVE = '/livez';

/** What readiness goes by. */
export interface Parts {
  readonly store: Pick<Store, 'probe'>;
  readonly ingest: Pick<Ingest, 'status'>;
  readonly forwarder: Pick<Forwarder, 'status'> | null;
}

/** Readiness, without a token: `/readyz`, also as `/health` and `/healthz`; and `/livez`. */
export function healthRoutes(parts: Parts): Route[] {
  const ready: RequestHandler = async (_request, response) => {
    await checkReady(parts);
    response.set('Cache-Control', 'no-store').json({ status: 'ready' });
  };
  const shared = { methods: READ, scope: null, answer: 'Health' } as const;
  return [
    {
      ...shared,
      path: '/readyz',
      aliases: ['/health', '/healthz'],
      summary: 'Whether the service answers and takes lines',
      handler: ready,
    },
    { ...shared, path: LIVE, summary: 'Whether the process runs', handler: alive },
  ];
}

/** How Node and the engine say that there is no space. */
const FULL = /\bENOSPC\b|\bEDQUOT\b|No space left on device/i;

/** Throws `UNHEALTHY`, and why, unless lines can be stored, the store answers, and no source has stopped being forwarded. */
export async function checkReady({ store, ingest, forwarder }: Parts): Promise<void> {
  const { lastError: trouble, noRoom } = ingest.status();
  if (noRoom) throw new AppError('UNHEALTHY', { detail: noRoom });
  if (trouble) {
    const why = FULL.test(trouble) ? 'The disk is full: lines' : 'Lines';
    throw new AppError('UNHEALTHY', {
      detail: `${why} cannot be stored at present; the log says why.`,
    });
  }
  await store.probe().catch((cause) => {
    throw new AppError('UNHEALTHY', { detail: 'The store does not answer.', cause });
  });
  for (const { source, stopped } of forwarder?.status() ?? [])
    if (stopped)
      throw new AppError('UNHEALTHY', {
        detail: `Rows of ${source} are not forwarded any more; the log says why.`,
      });
}

/** The process runs its event loop; that is all it says. */
export const alive: RequestHandler = (_request, response) => {
  response.set('Cache-Control', 'no-store').json({ status: 'alive' });
};
