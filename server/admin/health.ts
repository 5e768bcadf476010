import type { RequestHandler } from 'express';
import type { Ingest } from '../../ingest/index.ts';
import type { Forwarder } from '../clickhouse/index.ts';
import { AppError } from '../errors.ts';
import { READ, type Route } from '../http/route.ts';
import type { Store } from '../store/index.ts';

/** Whether the process runs, for supervisors; also while the store is being opened and during a stop. */
export const LIVE = '/livez';

/** The parts that readiness depends on. `tailpond check` asks the running service, so that both say the same. */
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

/** Throws `UNHEALTHY` with every fault, unless lines can be stored, the store answers, and all sources are forwarded. */
export async function checkReady(parts: Parts): Promise<void> {
  const faults = [
    ...faultsOfIngest(parts),
    ...(await faultsOfStore(parts)),
    ...faultsOfForwarding(parts),
  ];
  if (faults.length === 0) return;
  const cause = faults.find((fault) => fault.cause !== undefined)?.cause;
  throw new AppError('UNHEALTHY', { detail: faults.map(({ detail }) => detail).join(' '), cause });
}

/** A condition that is not met: to be shown, and what is only logged. */
interface Fault {
  readonly detail: string;
  readonly cause?: unknown;
}

function faultsOfIngest({ ingest }: Parts): Fault[] {
  const { lastError: trouble, noRoom } = ingest.status();
  if (noRoom) return [{ detail: noRoom }];
  if (!trouble) return [];
  const lines = FULL.test(trouble) ? 'The disk is full: lines' : 'Lines';
  return [{ detail: `${lines} cannot be stored at present; the log says why.` }];
}

async function faultsOfStore({ store }: Parts): Promise<Fault[]> {
  return store.probe().then(
    () => [],
    (cause: unknown) => [{ detail: 'The store does not answer.', cause }],
  );
}

function faultsOfForwarding({ forwarder }: Parts): Fault[] {
  return (forwarder?.status() ?? [])
    .filter(({ stopped }) => stopped)
    .map(({ source }) => ({
      detail: `Rows of ${source} are not forwarded any more; the log says why.`,
    }));
}

/** The process runs its event loop; that is all it says. */
export const alive: RequestHandler = (_request, response) => {
  response.set('Cache-Control', 'no-store').json({ status: 'alive' });
};
