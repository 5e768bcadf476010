import type { RequestHandler } from 'express';
import type { Ingest } from '../../ingest/index.ts';
import { AppError } from '../errors.ts';
import { READ, type Route } from '../http/route.ts';
import type { Store } from '../store/index.ts';

/** Whether the process runs, for supervisors; also while the store is being opened and during a stop. */
export const LIVE = '/livez';

/** Readiness, without a token: `/readyz`, also as `/health` and `/healthz`; and `/livez`. */
export function healthRoutes(store: Pick<Store, 'probe'>, ingest: Pick<Ingest, 'status'>): Route[] {
  const ready: RequestHandler = async (_request, response) => {
    await checkReady(store, ingest);
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

/** Throws `UNHEALTHY`, and why, unless lines can be stored and the store answers. */
export async function checkReady(
  store: Pick<Store, 'probe'>,
  ingest: Pick<Ingest, 'status'>,
): Promise<void> {
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
}

/** The process runs its event loop; that is all it says. */
export const alive: RequestHandler = (_request, response) => {
  response.set('Cache-Control', 'no-store').json({ status: 'alive' });
};
