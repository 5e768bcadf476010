import { setTimeout as delay } from 'node:timers/promises';
import { allSources, type Ingest, type IngestLog, type Source } from '../ingest/index.ts';
import type { Store } from './store/index.ts';
import type { Waits } from './waits.ts';

export interface SettlingJobOptions {
  readonly store: Pick<
    Store,
    'settling' | 'commits' | 'quietMs' | 'stats' | 'callerPool' | 'entryPool'
  >;
  readonly ingest: Pick<Ingest, 'status'>;
  readonly log: Pick<IngestLog, 'info' | 'warn'>;
  readonly waits: Pick<Waits, 'settle' | 'settleIdle' | 'settleRetry'>;
}

/** Ingest goes first: rows are settled once nothing has been written for this long, … */
const QUIET_MS = 20;
const LOOK_MS = 10;
/** … and while no more than this is still to be stored: a backlog needs the memory. */
const BACKLOG_BYTES = 4 * 1024 * 1024;
/** … and after each run there is a rest of so many times what it took, … */
const REST = 2;
/** … or of so many while nothing is asked and nothing has been stored since the last look. */
const IDLE_REST = 0.6;
/** Rows that fill no run get their columns where there are so many, and all of them once nothing has been stored for a while. */
const LEAST_FILLED = 4096;

/** Settles stored rows in the background, from now on, until closed. */
export function startSettling({ store, ingest, log, waits }: SettlingJobOptions) {
  const stopping = new AbortController();
  const { signal } = stopping;
  let looked = -1n;
  let [looksAt, areAllFilled] = [0, true];
  let [stored, storedAt] = [-1n, 0];

  const hasBacklog = () =>
    ingest.status().sources.reduce((sum, { pendingBytes }) => sum + pendingBytes, 0) >
    BACKLOG_BYTES;

  const mayWrite = async () => {
    while (hasBacklog()) await delay(waits.settle, undefined, { signal });
    while (store.quietMs() < QUIET_MS) await delay(LOOK_MS, undefined, { signal });
  };

  const rest = async (workedMs: number) => {
    const { storedUs } = store.commits();
    if (storedUs !== stored) [stored, storedAt] = [storedUs, performance.now()];
    const pools = [store, store.entryPool, store.callerPool];
    const isAsked = pools.some((pool) => pool.stats().running > 0);
    const isIdle = !isAsked && performance.now() - storedAt > waits.settle;
    await delay((isIdle ? IDLE_REST : REST) * workedMs, undefined, { signal });
  };

  const fill = async (least: number) => {
    for (const source of allSources()) {
      for (let filled = 1; filled > 0; ) {
        await mayWrite();
        const began = performance.now();
        filled = await store.settling.fill(source, least);
        if (filled > 0) await rest(performance.now() - began);
      }
    }
  };

  const round = async (): Promise<void> => {
    if (store.commits().storedUs === looked) {
      if (areAllFilled || performance.now() - looksAt < waits.settleIdle) return;
      await fill(1);
      areAllFilled = true;
      return;
    }
    const rows = new Map<Source, number>();
    for (let found = true; found && !signal.aborted; ) {
      found = false;
      // Rows that are stored while it looks are looked at the next time.
      looked = store.commits().storedUs;
      [looksAt, areAllFilled] = [performance.now(), false];
      for (const source of allSources()) {
        await mayWrite();
        const began = performance.now();
        const settled = await store.settling.settle(source);
        if (!settled) continue;
        found = true;
        rows.set(source, (rows.get(source) ?? 0) + settled.rows);
        if (settled.rows === 0) await delay(waits.settle, undefined, { signal });
        else await rest(performance.now() - began);
      }
    }
    if (rows.size > 0) log.info({ settled: Object.fromEntries(rows) }, 'settled stored rows');
    await fill(LEAST_FILLED);
  };

  const run = async () => {
    for (let failed = false; ; ) {
      await delay(failed ? waits.settleRetry : waits.settle, undefined, { signal, ref: false });
      failed = await round().then(
        () => false,
        (error: unknown) => {
          // Harmless: a run is settled whole or not at all.
          if (!signal.aborted) log.warn({ err: error }, 'settling failed; it is tried again');
          looked = -1n;
          return true;
        },
      );
    }
  };
  const running = run().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });

  return {
    /** Interrupts the run at hand. */
    async close() {
      stopping.abort();
      store.settling.stop();
      await running;
    },
  };
}
