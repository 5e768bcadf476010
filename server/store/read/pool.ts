import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api';
import { type Deadline, deadlineIn, waitFor, within } from '../../deadline.ts';
import { AppError } from '../../errors.ts';
import type { Engine } from '../engine.ts';
import { asEngineError, RowsEndedEarly } from '../errors.ts';
import { type Plain, plain, typeName, type ValueKind, valueKind } from '../plain-values.ts';
import { type Described, describe } from './describe.ts';
import { withLiterals } from './literals.ts';
import { createTurns, type TurnsOptions } from './turns.ts';

/** A column of an answer; `type` as SQL calls it. */
export interface RowColumn {
  readonly name: string;
  readonly kind: ValueKind;
  readonly type: string;
}

/** The rows of an answer: values in column order. */
export interface Rows {
  readonly columns: readonly RowColumn[];
  readonly rows: readonly (readonly Plain[])[];
  /** Whether there were more, beyond `maxRows`. */
  readonly truncated: boolean;
}

export interface QueryOptions {
  /** Rows beyond this many are not read. */
  readonly maxRows: number;
  /** Ends the query and its wait for a connection. All statements of a request have the same one. */
  readonly deadline: Deadline;
  /** Whom the query is for. One owner cannot have all connections of a pool, or all places to wait; who has none comes first. */
  readonly owner?: string;
  /**
   * Bytes that the rows may have together, as the statement's last column counts them, which is not a part of the rows then.
   * Beyond it `RESULT_TOO_LARGE`.
   */
  readonly maxBytes?: number;
}

/** How busy the connections of a pool are. */
export interface PoolStats {
  readonly running: number;
  readonly waiting: number;
  readonly maxRunning: number;
  readonly maxWaiting: number;
}

export interface QueryPool {
  /**
   * Runs one SELECT. Every value is given to it as text, or as NULL; the SQL casts it. Throws `OVERLOADED` when too many
   * queries wait, `QUERY_TIMEOUT`, or DuckDB's own error, whose message may quote data and is not for clients.
   */
  query(
    sql: string,
    values: Readonly<Record<string, string | null>>,
    options: QueryOptions,
  ): Promise<Rows>;
  /** What a statement takes and gives, without running it. Throws what is wrong with it. */
  describe(sql: string): Promise<Described>;
  /** Asks the database for one row, on a connection that no query has. Throws what it answers, or `QUERY_TIMEOUT`. */
  probe(): Promise<void>;
  /** Whether a query runs: then a thread of libuv's pool is taken, and the process cannot exit by itself. */
  busy(): boolean;
  /** Comes when every query that runs now has ended. */
  drained(): Promise<unknown>;
  /** How many queries run and wait. */
  stats(): PoolStats;
  /** Ends the queries that run, or as many of those that run longest, with this reason, and waits for their ends. Others wait on, and run. */
  endRunning(reason: Error, most?: number): Promise<void>;
  /** Lets no query begin until `resume`: queries wait for a connection, within their time. */
  hold(): void;
  resume(): void;
  /** Ends every query that runs or waits, with this reason, and takes no more. */
  stop(reason: Error): void;
  /** Ends every query, waits for their ends, and closes. */
  close(): Promise<void>;
}

/** As long as a health check waits at most. */
const PROBE_MS = 4000;
/** One `interrupt()` that meets the query at its start or end is lost, so it is repeated. */
const INTERRUPT_MS = 20;

/** So many queries run at a time as there are connections; the pools together have fewer than libuv has threads, which queries block. */
export interface QueryPoolOptions extends TurnsOptions {
  /** How long a query may go on after it was interrupted at its deadline. */
  readonly graceMs: number;
  readonly onStuck: (error: Error) => void;
}

/** Opens a small pool of connections that only read. */
export async function openQueryPool(engine: Engine, options: QueryPoolOptions): Promise<QueryPool> {
  const { running: connections, waiting: queue, graceMs, onStuck } = options;
  const idle: DuckDBConnection[] = [];
  for (let i = 0; i < connections; i++) idle.push(await engine.connect());
  // Long queries may hold all the others, and the database is in good health then.
  const prober = await engine.connect();
  const all = [...idle, prober];
  const stopping = new AbortController();
  const running = new Set<Promise<unknown>>();
  /** Queries that have a connection, the oldest first. */
  const endings = new Map<AbortController, Promise<unknown>>();
  const turns = createTurns(options);

  const lease = async (signal: AbortSignal, owner?: string): Promise<DuckDBConnection> => {
    await turns.enter(signal, owner);
    const connection = idle.pop();
    if (!connection) throw new Error('BUG: no connection is idle');
    return connection;
  };

  const release = (connection: DuckDBConnection, owner?: string) => {
    idle.push(connection);
    turns.leave(owner);
  };

  /** Reports a query that goes on long after its deadline, although it was interrupted. Returns what ends the watch. */
  const watch = (deadline: Deadline, ends: AbortSignal) => {
    let timer: NodeJS.Timeout | undefined;
    const begin = () => {
      timer = setTimeout(
        () => {
          // Begun only now: after a pause of the whole process both would be over at once.
          timer = setTimeout(
            () => onStuck(new Error(`a query goes on ${graceMs} ms after it was interrupted`)),
            graceMs,
          );
        },
        Math.max(0, deadline.remainingMs()),
      );
    };
    ends.addEventListener('abort', begin, { once: true });
    return () => {
      ends.removeEventListener('abort', begin);
      clearTimeout(timer);
    };
  };

  // One at a time, whoever asks: on one connection they would wait for each other in threads of libuv's.
  let probing: Promise<unknown> | null = null;

  return {
    query(sql, values, { maxRows, deadline, maxBytes, owner }) {
      return within(deadline, async (over) => {
        const ending = new AbortController();
        const ends = AbortSignal.any([over, stopping.signal, ending.signal]);
        const { spent } = deadline;
        const connection = await spent.on('wait', () => lease(ends, owner));
        const unwatch = watch(deadline, ends);
        try {
          const rows = interruptible(connection, ends, () =>
            run(connection, sql, values, { maxRows, maxBytes, spent }).catch((error) => {
              throw asEngineError(error);
            }),
          );
          running.add(rows);
          endings.set(ending, rows);
          return await rows.finally(() => {
            running.delete(rows);
            endings.delete(ending);
          });
        } finally {
          unwatch();
          release(connection, owner);
        }
      });
    },
    async probe() {
      await waitFor(deadlineIn(PROBE_MS), () => {
        probing ??= prober.run('select 1').finally(() => {
          probing = null;
        });
        return probing;
      });
    },
    describe(sql) {
      const described = describe(engine, stopping.signal, sql).catch((error) => {
        throw asEngineError(error);
      });
      running.add(described);
      return described.finally(() => running.delete(described));
    },
    busy: () => idle.length < connections || probing !== null,
    drained: () => Promise.allSettled(running),
    stats: () => ({
      ...turns.counts(),
      maxRunning: connections,
      maxWaiting: queue,
    }),
    async endRunning(reason, most = Number.POSITIVE_INFINITY) {
      const oldest = [...endings].slice(0, most);
      for (const [ending] of oldest) ending.abort(reason);
      await Promise.allSettled(oldest.map(([, rows]) => rows));
    },
    hold() {
      if (!stopping.signal.aborted) turns.hold();
    },
    resume: turns.resume,
    stop: (reason) => stopping.abort(reason),
    async close() {
      stopping.abort(new AppError('DRAINING'));
      turns.resume();
      // A query whose connection is closed under it locks itself out for ever, with its thread, in the engine's own code.
      const never = new AbortController().signal;
      await Promise.all(Array.from({ length: connections }, () => lease(never)));
      // An engine that is closed under a statement that is prepared takes the process along.
      await Promise.allSettled(running);
      await probing?.catch(() => {});
      for (const connection of all) connection.closeSync();
    },
  };
}

async function run(
  connection: DuckDBConnection,
  sql: string,
  values: Readonly<Record<string, string | null>>,
  reading: Reading,
): Promise<Rows> {
  // Prepared for this request alone: a bound statement that two requests share gives one the other's rows.
  const statement = await reading.spent.on('plan', () =>
    connection.prepare(withLiterals(sql, values)),
  );
  return reading.spent.on('read', () => read(connection, statement, values, reading));
}

interface Reading extends Pick<Deadline, 'spent'> {
  readonly maxRows: number;
  readonly maxBytes: number | undefined;
}

async function read(
  connection: DuckDBConnection,
  statement: DuckDBPreparedStatement,
  values: Readonly<Record<string, string | null>>,
  { maxRows, maxBytes }: Reading,
): Promise<Rows> {
  let ended = false;
  try {
    bind(statement, values);
    const result = await statement.stream();
    const all = result.columnNames().map((name, i) => ({
      name,
      kind: valueKind(result.columnType(i)),
      type: typeName(result.columnType(i)),
    }));
    const columns = maxBytes === undefined ? all : all.slice(0, -1);
    const rows: Plain[][] = [];
    let bytes = 0;
    for (
      let chunk = await result.fetchChunk();
      chunk && chunk.rowCount > 0;
      chunk = await result.fetchChunk()
    ) {
      if (maxBytes !== undefined) {
        // Before the values become ours: one could be larger than the memory that we have.
        for (const size of chunk.getColumnValues(columns.length)) bytes += Number(size);
        if (bytes > maxBytes) throw new AppError('RESULT_TOO_LARGE');
      }
      for (const row of chunk.getRows()) {
        if (rows.length === maxRows) return { columns, rows, truncated: true };
        rows.push(row.slice(0, columns.length).map(plain));
      }
    }
    // The engine's fetch does not throw what ended the rows early, a time limit or want of memory: the result then streams no more.
    if (!result.isStreaming) throw new RowsEndedEarly();
    ended = true;
    return { columns, rows, truncated: false };
  } finally {
    statement.destroySync();
    // Rows that nobody fetched are still made, by threads that hold the connection: closed under them, it waits for itself.
    if (!ended) await connection.run('select 1').catch(() => {});
  }
}

/** Binds every parameter of a statement, as text or as NULL. */
export function bind(
  statement: DuckDBPreparedStatement,
  values: Readonly<Record<string, string | null>>,
) {
  for (let index = 1; index <= statement.parameterCount; index++) {
    const name = statement.parameterName(index);
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined) throw new Error(`BUG: no value for $${name}`);
    if (value === null) statement.bindNull(index);
    else statement.bindVarchar(index, value);
  }
}

/** Runs `action`, and interrupts what runs on the connection when the signal aborts; then throws the signal's reason. */
export async function interruptible<T>(
  connection: DuckDBConnection,
  signal: AbortSignal,
  action: () => Promise<T>,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const interrupt = () => {
    connection.interrupt();
    timer = setInterval(() => connection.interrupt(), INTERRUPT_MS);
  };
  signal.addEventListener('abort', interrupt, { once: true });
  try {
    signal.throwIfAborted();
    return await action();
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', interrupt);
    clearInterval(timer);
  }
}
