import { type RequestHandler, Router } from 'express';
import type { Ingest } from '../../ingest/index.ts';
import { AppError } from '../errors.ts';
import type { Store } from '../store/index.ts';

/** Readiness, without a token: `/readyz`, also as `/health` and `/healthz`. */
export function health(store: Pick<Store, 'probe'>, ingest: Pick<Ingest, 'status'>): Router {
  const ready: RequestHandler = async (_request, response) => {
    await checkReady(store, ingest);
    response.set('Cache-Control', 'no-store').json({ status: 'ready' });
  };
  const router = Router();
  router.get(['/readyz', '/health', '/healthz'], ready);
  return router;
}

/** How Node and the engine say that there is no space. */
const FULL = /\bENOSPC\b|\bEDQUOT\b|No space left on device/i;

/** Throws `UNHEALTHY`, and why, unless lines can be stored and the store answers. */
export async function checkReady(
  store: Pick<Store, 'probe'>,
  ingest: Pick<Ingest, 'status'>,
): Promise<void> {
  const { trouble, noRoom } = ingest.status();
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
