import { setTimeout as delay } from 'node:timers/promises';
import type { Response } from 'express';
import { AppError } from '../errors.ts';
import { writerOf } from '../formats/index.ts';
import { microsOf, type Rows, type Store } from '../store/index.ts';
import { BYTES, COLUMNS, MAX_BYTES } from './entries.ts';
import type { Filter } from './filter.ts';

/** How often it is looked whether something was stored. */
const LOOK_MS = 250;
/** Entries of one look that are sent; of more, the newest. */
const MOST = 500;
const HEARTBEAT_MS = 15_000;
/** A client that has not taken this much is told to come again. */
const BEHIND_BYTES = 8 * 1024 * 1024;
/** A client that was away for longer gets no more than this, microseconds. */
const BACK_US = 3_600_000_000n;
/** Clients at a time; each asks the store as long as lines come in. */
const CLIENTS = 32;

export interface Tail {
  /**
   * Sends entries as they are stored, as server-sent events, until the client leaves: `entries`, a list of them, oldest
   * first; `skipped`, how many more there were. The id of an event is when the newest of its entries was stored, in
   * microseconds since the epoch; `after` is that of the last one that the client had. Throws `OVERLOADED`.
   */
  send(question: TailQuestion, response: Response, signal: AbortSignal): Promise<void>;
}

export interface TailQuestion {
  readonly filter: Filter;
  readonly redact: ((text: string) => string) | undefined;
  readonly after: bigint | null;
  /** Whether other projects are to be kept from the client: then it is not told when something was stored that it does not get. */
  readonly pinned: boolean;
}

/** `isDraining`: whether the service stops, and the streams with it. */
export function createTail(
  store: Pick<Store, 'query' | 'callerPool' | 'commits'>,
  isDraining: () => boolean,
): Tail {
  let clients = 0;
  return {
    async send(question, response, signal) {
      if (clients >= CLIENTS)
        throw new AppError('OVERLOADED', { detail: `${CLIENTS} clients follow the logs already.` });
      clients++;
      try {
        await follow(question, response, store, signal, isDraining);
      } finally {
        clients--;
      }
    },
  };
}

async function follow(
  { filter, redact, after, pinned }: TailQuestion,
  response: Response,
  store: Pick<Store, 'query' | 'callerPool' | 'commits'>,
  signal: AbortSignal,
  isDraining: () => boolean,
) {
  const last = await lastStored(filter, store, signal);
  let seen =
    after === null || after > last ? last : last - after > BACK_US ? last - BACK_US : after;
  let commits = -1;
  let sentAt = performance.now();
  const send = (text: string) => {
    response.write(text);
    sentAt = performance.now();
  };
  response.set({
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'private, no-store',
    // Proxies would else keep events back.
    'X-Accel-Buffering': 'no',
  });
  response.flushHeaders();
  send(`retry: 2000\n${pinned ? '' : `id: ${seen}\n`}\n`);
  while (!signal.aborted && !isDraining()) {
    const { visible, storedUs } = store.commits();
    if (visible !== commits) {
      commits = visible;
      const until = storedUs || (await lastStored(filter, store, signal));
      // The clock was set back: what was stored before has later moments.
      if (until < seen) seen = until - 1n;
      if (until > seen) {
        const text = await eventsOf(filter, redact, { seen, until }, store, signal);
        seen = until;
        if (text) send(text);
      }
    }
    if (performance.now() - sentAt > HEARTBEAT_MS) send(': still here\n\n');
    if (response.writableLength > BEHIND_BYTES) break;
    await delay(LOOK_MS, undefined, { signal }).catch(() => {});
  }
  response.end();
}

async function eventsOf(
  { source, where, values }: Filter,
  redact: TailQuestion['redact'],
  { seen, until }: { seen: bigint; until: bigint },
  store: Pick<Store, 'callerPool'>,
  signal: AbortSignal,
): Promise<string> {
  const from = `from ${source}
    where ${where} and ingested_at > make_timestamp($seen::bigint) and ingested_at <= make_timestamp($until::bigint)`;
  const bounds = { ...values, seen: String(seen), until: String(until) };
  const newest = await store.callerPool
    .query(
      `select ${COLUMNS}, ${BYTES} ${from} order by ingested_at desc, timestamp desc limit ${MOST + 1}`,
      bounds,
      { maxRows: MOST, maxBytes: MAX_BYTES, signal },
    )
    .catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'RESULT_TOO_LARGE') return null;
      throw error;
    });
  if (newest && !newest.truncated)
    return event('entries', lastOf(newest, until), listOf(newest, redact));
  const sql = `select count(*), epoch_us(max(ingested_at)) ${from}`;
  const { rows } = await store.callerPool.query(sql, bounds, { maxRows: 1, signal });
  const [count, last] = rows[0] ?? [];
  const skipped = Number(count) - (newest?.rows.length ?? 0);
  const id = BigInt((last ?? until) as bigint);
  return (
    event('skipped', id, JSON.stringify({ entries: skipped })) +
    (newest ? event('entries', id, listOf(newest, redact)) : '')
  );
}

/** When the newest of the entries was stored, which come newest first: of others a client need not be told. */
function lastOf({ columns, rows }: Rows, otherwise: bigint): bigint {
  const stored = rows[0]?.[columns.findIndex(({ name }) => name === 'ingested_at')];
  return stored === undefined ? otherwise : microsOf(String(stored));
}

function event(name: string, id: bigint, data: string): string {
  return data === '[]' ? '' : `event: ${name}\nid: ${id}\ndata: ${data}\n\n`;
}

/** Oldest first. JSON has no line breaks, which would end an event. */
function listOf({ columns, rows }: Rows, redact: TailQuestion['redact']): string {
  const lines = writerOf('ndjson', columns, { redact, asStored: true }).rows(rows.toReversed());
  return `[${lines.trimEnd().replaceAll('\n', ',')}]`;
}

async function lastStored(
  { source }: Filter,
  store: Pick<Store, 'query'>,
  signal: AbortSignal,
): Promise<bigint> {
  const { rows } = await store.query(
    `select coalesce(epoch_us(max(ingested_at)), 0) from ${source}`,
    {},
    { maxRows: 1, signal },
  );
  return BigInt(rows[0]?.[0] as bigint);
}
