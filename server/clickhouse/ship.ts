import { setTimeout as delay } from 'node:timers/promises';
import type { Outbox, Shipment, ShipmentFile } from '../store/index.ts';
import {
  firstStep,
  type Lack,
  type LastStep,
  nextStep,
  type Outcome,
  type Step,
} from './shipment.ts';

/** Where shipments go. Every method throws where the result of the request is not known. */
export interface Warehouse {
  /** For how long an INSERT can go on after the request for it was sent, ms. */
  readonly longestInsertMs: number;
  /**
   * Sends the file as one block; throws where the table is not as its rows need it. Whoever answers confirms it by 200: `count` tells whether
   * the rows are there.
   */
  insert(shipment: Shipment, file: ShipmentFile, signal: AbortSignal): Promise<void>;
  /** How many rows of the shipment are there. Throws where anything but the warehouse answers. */
  count(shipment: Shipment, file: ShipmentFile, signal: AbortSignal): Promise<number>;
  /** How the table can lack rows of the shipment that it confirmed. Throws as `count` does. */
  look(shipment: Shipment, file: ShipmentFile, signal: AbortSignal): Promise<Lack>;
}

/** Ordinary replication takes less. A replica that lacks the rows for so long after the INSERT is not a fault yet. */
const REPLICATED_MS = 500;

/** Part of a shipment is there: nothing that was sent can leave that. */
export class ShipmentBroken extends Error {}

export interface ShipOptions {
  readonly outbox: Pick<Outbox, 'file' | 'renew' | 'mark' | 'settle'>;
  readonly warehouse: Warehouse;
  /** Ends with the signal's reason; what has been committed tells how to go on. */
  readonly signal: AbortSignal;
  /** Whether it was cut by this process, which has not sent anything of it. */
  readonly isNew: boolean;
  /** Called with the reason of each doubt; waits before the warehouse is asked again. */
  onDoubt(error: unknown): Promise<void>;
}

/**
 * Brings a shipment to the warehouse, once, and removes its rows from the store. May be called again for the same shipment after anything,
 * as it stands in the store then. Throws ShipmentBroken, what the outbox throws, and the signal's reason.
 */
export async function ship(
  shipment: Shipment,
  { outbox, warehouse, signal, isNew, onDoubt }: ShipOptions,
): Promise<void> {
  let file = await outbox.file(shipment, signal);
  const own = (): Shipment => ({ ...shipment, sha256: file.sha256 });
  let isSame = shipment.sha256 === file.sha256;

  const unlessInDoubt = async (ask: () => Promise<Outcome>): Promise<Outcome> => {
    try {
      return await ask();
    } catch (error) {
      signal.throwIfAborted();
      await onDoubt(error);
      return 'unknown';
    }
  };
  const count = () =>
    unlessInDoubt(async () => ({ count: await warehouse.count(own(), file, signal) }));
  const outlast = async (): Promise<void> => {
    const waitMs = warehouse.longestInsertMs;
    const end = performance.now() + waitMs;
    await delay(Math.min(REPLICATED_MS, waitMs), undefined, { signal });
    while (performance.now() < end) {
      const found = await count();
      if (found === 'unknown') continue;
      if (typeof found === 'object' && 'count' in found && found.count > 0) return;
      await onDoubt(
        new Error(
          `${shipment.endpoint} has none of the ${shipment.rows} rows of shipment ${shipment.seq} of ${shipment.source}.`,
        ),
      );
    }
  };
  const take = async (step: Step): Promise<Outcome> => {
    switch (step.do) {
      case 'renew':
        file = await outbox.renew(shipment, signal);
        isSame = false;
        return 'done';
      case 'mark':
        await outbox.mark(shipment, file);
        isSame = true;
        return 'done';
      case 'send':
        return unlessInDoubt(async () => {
          await warehouse.insert(own(), file, signal);
          return 'done';
        });
      case 'count':
        return count();
      case 'look':
        return unlessInDoubt(() => warehouse.look(own(), file, signal));
      case 'outlast':
        await outlast();
        return 'done';
    }
  };

  let step: Step | LastStep = firstStep({ isNew, isSame });
  while (step.do !== 'settle' && step.do !== 'stop') {
    signal.throwIfAborted();
    step = nextStep(step, await take(step), { rows: shipment.rows, isSame });
  }
  if (step.do === 'settle') return outbox.settle(shipment);
  const { source, seq, node, endpoint } = shipment;
  throw new ShipmentBroken(
    `${endpoint} has a part of shipment ${seq} of ${source} of node ${node}. Nothing of this source is sent any more.`,
  );
}
