import type { DuckDBConnection } from '@duckdb/node-api';
import type { Engine } from '../engine.ts';
import { interruptible } from './pool.ts';

/** Long work beside ingest and queries, such as a backup. */
export interface BackgroundTasks {
  /** Starts work, which `signal` or a close interrupts wherever it runs `withConnection`; then throws the reason. */
  start<T>(signal: AbortSignal, work: (withConnection: WithConnection) => Promise<T>): Promise<T>;
  /** Whether any work goes on. */
  busy(): boolean;
  /** Comes when all work that goes on now has ended. */
  drained(): Promise<unknown>;
  /** Interrupts all work and waits until it has ended. */
  close(): Promise<void>;
}

/** Runs a part of the work on a connection of its own, which is closed behind it. */
export type WithConnection = <T>(action: (own: DuckDBConnection) => Promise<T>) => Promise<T>;

export function createBackgroundTasks(engine: Engine): BackgroundTasks {
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();

  return {
    start(signal, work) {
      const ends = AbortSignal.any([signal, closing.signal]);
      const result = work(async (action) => {
        const own = await engine.connect();
        try {
          return await interruptible(own, ends, () => action(own));
        } finally {
          own.closeSync();
        }
      });
      const ended: Promise<unknown> = result.catch(() => {}).then(() => running.delete(ended));
      running.add(ended);
      return result;
    },
    busy: () => running.size > 0,
    drained: () => Promise.all(running),
    async close() {
      closing.abort(new Error('The service is stopping.'));
      await Promise.all(running);
    },
  };
}
