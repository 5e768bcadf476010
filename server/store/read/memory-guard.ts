import { setTimeout as delay } from 'node:timers/promises';
import type { QueryPool } from './pool.ts';

/** How often the memory is looked at while queries run: the engine takes some 150 MB a second where it takes them outside its limit. */
const LOOK_MS = 50;
/** What queries may take beside the engine's own memory: many of its aggregates keep their states outside of it. */
const BESIDE_BYTES = 256 * 1024 * 1024;

/** For so long what a query held may take to go back to the system, before the next one is ended. */
const RETURN_MS = 500;

export interface MemoryGuardOptions {
  /** DuckDB's memory limit, bytes. */
  readonly memory: number;
  /** Bytes of the process that are resident. */
  resident(): number;
  /** Ends the query that has run longest, since too much was taken. */
  end(): Promise<void>;
}

/**
 * Returns a query like `pool`'s that bounds the memory which the queries of the pool take together: from when the first begins, the process
 * may grow by the engine's memory and a quarter of a gigabyte.
 */
export function guardMemory(
  pool: Pick<QueryPool, 'query'>,
  { memory, resident, end }: MemoryGuardOptions,
): QueryPool['query'] {
  let running = 0;
  let before = 0;
  let timer: NodeJS.Timeout | undefined;
  let isEnding = false;
  const look = async () => {
    if (isEnding || resident() - before <= memory + BESIDE_BYTES) return;
    isEnding = true;
    await end();
    await delay(RETURN_MS, undefined, { ref: false });
    isEnding = false;
  };
  return async (sql, values, options) => {
    if (running++ === 0) {
      before = resident();
      timer = setInterval(() => void look(), LOOK_MS).unref();
    }
    try {
      return await pool.query(sql, values, options);
    } finally {
      if (--running === 0) clearInterval(timer);
    }
  };
}
