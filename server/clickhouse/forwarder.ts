import { setTimeout as delay } from 'node:timers/promises';
import { allSources, type IngestLog, type Source } from '../../ingest/index.ts';
import { type Outbox, ShipmentMismatch } from '../store/index.ts';
import type { Waits } from '../waits.ts';
import type { ClickHouse } from './clickhouse.ts';
import { ShipmentBroken, ship } from './ship.ts';

export interface ForwarderOptions {
  readonly waits: Pick<Waits, 'forwardCheck' | 'forwardRetry'>;
  readonly outbox: Outbox;
  readonly clickhouse: Pick<
    ClickHouse,
    'insert' | 'count' | 'look' | 'newest' | 'faults' | 'longestInsertMs'
  >;
  /** The server that rows are sent to. */
  readonly endpoint: string;
  /** The servers of other shards, to which it may have sent before. */
  readonly others: readonly string[];
  /** A source has a shipment as often, unless its rows fill one before. */
  readonly intervalMs: number;
  /** Another value whenever lines were stored. */
  storedUs(): bigint;
  readonly log: Pick<IngestLog, 'info' | 'warn' | 'error'>;
  /** Called where lines would be stored twice, so that the process must end. */
  onForeign(error: ForeignShipments): void;
}

/** How forwarding of a source goes. */
export interface Forwarding {
  readonly source: Source;
  /** Why nothing was sent the last time, which is tried again; null while all is well. */
  readonly trouble: string | null;
  /** Why nothing is sent any more; null while rows are sent. */
  readonly stopped: string | null;
}

export interface Forwarder {
  status(): readonly Forwarding[];
  /** Sends what is on its way, if that does not take long; what is in doubt then is asked for at the next start. */
  close(): Promise<void>;
}

/** The server has shipments of this store that it has not sent: it is a copy of one that has, or was restored from an old backup. */
export class ForeignShipments extends Error {}

const FIRST_PAUSE_MS = 250;
/** For how long a stop waits for shipments that are on their way. */
const FINISH_MS = 2000;

/** Sends the rows of every source, the oldest first, from now on, until closed. */
export function startForwarder(options: ForwarderOptions): Forwarder {
  const [finishing, stopping] = [new AbortController(), new AbortController()];
  const signals = { finish: finishing.signal, stop: stopping.signal };
  const lanes = allSources().map((source) => startLane(source, options, signals));
  return {
    status: () => lanes.map(({ status }) => status()),
    async close() {
      finishing.abort();
      const abort = () => stopping.abort(new Error('The service is stopping.'));
      const timer = setTimeout(abort, FINISH_MS);
      await Promise.all(lanes.map(({ ended }) => ended));
      clearTimeout(timer);
    },
  };
}

/** Sends the rows of one source until it is told to finish, or to stop in the midst of a shipment. */
function startLane(
  source: Source,
  options: ForwarderOptions,
  { finish, stop: signal }: { readonly finish: AbortSignal; readonly stop: AbortSignal },
) {
  const { outbox, clickhouse, endpoint, others, intervalMs, storedUs, log, onForeign, waits } =
    options;
  let trouble: string | null = null;
  let stopped: string | null = null;
  let pauseMs = FIRST_PAUSE_MS;
  let verifiedAt = Number.NEGATIVE_INFINITY;
  /** What `storedUs` was when the source had no rows; null while it may have some. */
  let emptyAt: bigint | null = null;

  const pause = async (error: unknown) => {
    if (trouble === null) {
      const waiting = await outbox.waiting(source).catch(() => null);
      log.warn(
        { err: error, source, endpoint, waitingRows: waiting?.rows },
        'rows are not forwarded; it is tried again',
      );
    }
    const message = error instanceof Error ? error.message : String(error);
    trouble = message.includes(endpoint) ? message : `${endpoint}: ${message}`;
    // Whoever is not there now will not be in a moment.
    finish.throwIfAborted();
    await delay(pauseMs, undefined, { signal: finish });
    pauseMs = Math.min(2 * pauseMs, waits.forwardRetry);
  };
  const isWell = () => {
    if (trouble !== null) log.info({ source }, 'rows are forwarded again');
    [trouble, pauseMs] = [null, FIRST_PAUSE_MS];
  };

  const verify = async () => {
    if (performance.now() - verifiedAt < waits.forwardCheck) return;
    const faults = await clickhouse.faults(source, endpoint, signal);
    if (faults.length > 0) throw new Error(`${endpoint}: ${faults.join('; ')}`);
    const own = await outbox.last(source);
    const newest = (at: string) => clickhouse.newest(outbox.node, source, at, signal);
    const found = [
      { at: endpoint, there: await newest(endpoint) },
      // A shard that is away keeps nobody from sending to another.
      ...(await Promise.all(
        others.map(async (at) => ({ at, there: await newest(at).catch(() => 0) })),
      )),
    ];
    const foreign = found.find(({ there }) => there > own);
    if (foreign)
      throw new ForeignShipments(
        `${foreign.at} has shipment ${foreign.there} of ${source} of node ${outbox.node}, and this store with that name has sent ${own}. It is a copy of the store that has sent more, or was restored from an old backup: its lines would be stored twice.`,
      );
    verifiedAt = performance.now();
  };

  /** Whether more is to be sent at once. */
  const sendNext = async (): Promise<boolean> => {
    await verify();
    const stored = storedUs();
    if (stored === emptyAt) return false;
    const open = await outbox.open(source);
    const next = open
      ? { shipment: open, hasMore: true }
      : await outbox.cut(source, endpoint, signal);
    emptyAt = next ? null : stored;
    if (!next) return false;
    await ship(next.shipment, {
      outbox,
      warehouse: clickhouse,
      signal,
      isNew: open === null,
      onDoubt: pause,
    });
    return next.hasMore;
  };

  const run = async () => {
    while (!finish.aborted) {
      const began = performance.now();
      try {
        const hasMore = await sendNext();
        isWell();
        if (!hasMore)
          await delay(intervalMs - (performance.now() - began), undefined, { signal: finish });
      } catch (error) {
        if (finish.aborted) return;
        if (error instanceof ForeignShipments) onForeign(error);
        const isFinal = [ShipmentBroken, ShipmentMismatch, ForeignShipments].some(
          (kind) => error instanceof kind,
        );
        if (isFinal) {
          stopped = (error as Error).message;
          log.error({ err: error, source }, 'rows of a source are not forwarded any more');
          return;
        }
        await pause(error).catch(() => {});
      }
    }
  };

  return { ended: run(), status: (): Forwarding => ({ source, trouble, stopped }) };
}
