import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../errors.ts';
import { engineErrorKind } from './errors.ts';
import type { Settling } from './members/settle.ts';
import { guardMemory } from './read/memory-guard.ts';
import type { QueryPool } from './read/pool.ts';

/** How often a saved query that lacks memory is asked again, and after what time. */
const TRIES = 3;
const TRY_MS = 50;
/** SQL of callers waits no longer than this for ingest to try again, which it may have no reason to: its longest pause is shorter. */
const HOLD_MS = 10_000;
/** Statements of callers may go on for so long when a checkpoint needs their memory. */
const CALLERS_MS = 2000;

export interface MemoryTurnsOptions {
  /** The pool of SQL of callers. */
  readonly callers: QueryPool;
  /** DuckDB's memory limit, bytes. */
  readonly memory: number;
  /** Asked when a statement of callers begins. */
  settling(): Pick<Settling, 'runs' | 'paused'>;
}

/** Who has the engine's memory where there is not enough for all: ingest, then saved queries, then settling, then SQL of callers. */
export interface MemoryTurns {
  /** Runs SQL of callers: once more, with all of the memory, where settling had a part of it meanwhile. */
  readonly callerQuery: QueryPool['query'];
  /** Runs a query that ends SQL of callers where it lacks memory. The engine has the memory back a moment later. */
  query<T>(query: () => Promise<T>): Promise<T>;
  /**
   * Writes for ingest, which tries again by itself, from what the database says then. Where memory is wanting SQL of callers ends,
   * and none begins before the next try: its pauses grow, and one query after the other would take the memory at each of them.
   */
  write(action: () => Promise<void>): Promise<void>;
  /** Lets SQL of callers that runs come to its end, or ends it, and lets none begin until `action` is over. */
  withoutCallers(action: () => Promise<void>): Promise<void>;
}

export function createMemoryTurns({ callers, memory, settling }: MemoryTurnsOptions): MemoryTurns {
  const endCallers = (most?: number) => callers.endRunning(new AppError('QUERY_TOO_LARGE'), most);
  const guardedQuery = guardMemory(callers, {
    memory,
    resident: () => process.memoryUsage.rss(),
    end: () => endCallers(1),
  });
  let holding: NodeJS.Timeout | undefined;
  const resume = () => {
    clearTimeout(holding);
    holding = undefined;
    callers.resume();
  };

  const query = async <T>(action: () => Promise<T>, tries = TRIES): Promise<T> => {
    try {
      return await action();
    } catch (error) {
      if (!isOutOfMemory(error) || tries === 0) throw error;
      await endCallers();
      await delay(TRY_MS);
      return query(action, tries - 1);
    }
  };

  return {
    async callerQuery(...question) {
      const { runs, paused } = settling();
      const before = runs();
      try {
        return await guardedQuery(...question);
      } catch (error) {
        const isShared = before % 2 === 1 || runs() !== before;
        if (!isShared || !isForMemory(error)) throw error;
        return paused(() => guardedQuery(...question));
      }
    },
    query: (action) => query(action),
    async write(action) {
      try {
        await action();
      } catch (error) {
        // Queries that are held have no part in what is wanting now.
        if (!isOutOfMemory(error) || holding) {
          resume();
          throw error;
        }
        holding = setTimeout(resume, HOLD_MS).unref();
        callers.hold();
        await endCallers();
        throw error;
      }
      resume();
    },
    async withoutCallers(action) {
      callers.hold();
      try {
        await Promise.race([callers.drained(), delay(CALLERS_MS, undefined, { ref: false })]);
        await endCallers();
        await action();
      } finally {
        if (!holding) callers.resume();
      }
    },
  };
}

function isOutOfMemory(error: unknown): boolean {
  return engineErrorKind(error) === 'memory';
}

/** Whether a query of callers has ended for want of memory, or was ended. */
function isForMemory(error: unknown): boolean {
  return isOutOfMemory(error) || (error instanceof AppError && error.code === 'QUERY_TOO_LARGE');
}
