import { setTimeout as delay } from 'node:timers/promises';
import type { Response } from 'express';
import type { Deadline } from '../deadline.ts';
import { AppError } from '../errors.ts';
import { writerOf } from '../formats/index.ts';
import type { Rows } from '../store/index.ts';
import type { Waits } from '../waits.ts';
import type { Came, EntryEngine, Filter } from './engine.ts';
import { follow as followAll } from './several.ts';

/** A client that has not taken this much is told to come again. */
const BEHIND_BYTES = 8 * 1024 * 1024;
/** Clients at a time; each asks the engine as long as lines come in. */
const CLIENTS = 32;

export interface Tail {
  /**
   * Sends entries as they are stored, as server-sent events, until the client leaves: `entries`, a list of them, oldest
   * first; `skipped`, how many more there were. The id of an event is where the stream stands, in words of the engine; `after` is
   * that of the last one that the client had, or empty. `deadline` bounds the beginning, and each look by itself. Throws `OVERLOADED`.
   */
  send(question: TailQuestion, response: Response, deadline: Deadline): Promise<void>;
}

export interface TailQuestion {
  /** A source each. */
  readonly filters: readonly Filter[];
  readonly redact: ((text: string) => string) | undefined;
  readonly after: string;
  /** Whether other projects are to be kept from the client: then it is not told when something was stored that it does not get. */
  readonly pinned: boolean;
}

export interface TailOptions {
  readonly engine: Pick<EntryEngine, 'follow'>;
  readonly waits: Pick<Waits, 'heartbeat'>;
  /** Whether the service stops, and the streams with it. */
  readonly isDraining: () => boolean;
}

export function createTail(options: TailOptions): Tail {
  let clients = 0;
  return {
    async send(question, response, deadline) {
      if (clients >= CLIENTS)
        throw new AppError('OVERLOADED', { detail: `${CLIENTS} clients follow the logs already.` });
      clients++;
      try {
        await follow(question, response, deadline, options);
      } finally {
        clients--;
      }
    },
  };
}

async function follow(
  { filters, redact, after, pinned }: TailQuestion,
  response: Response,
  deadline: Deadline,
  { engine, waits, isDraining }: TailOptions,
) {
  const { signal } = deadline;
  const follower = await followAll(filters, { from: after, pinned, deadline }, engine);
  // Before the answer begins: an engine that does not answer is an error, not a stream that breaks at once.
  let came = await follower.look();
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
  send(`retry: 2000\nid: ${follower.id}\n\n`);
  while (!signal.aborted && !isDraining()) {
    if (came) send(eventsOf(came, redact));
    if (performance.now() - sentAt > waits.heartbeat) send(': still here\n\n');
    if (response.writableLength > BEHIND_BYTES) break;
    await delay(follower.everyMs, undefined, { signal }).catch(() => {});
    if (signal.aborted || isDraining()) break;
    came = await follower.look();
  }
  response.end();
}

function eventsOf({ entries, skipped, id }: Came, redact: TailQuestion['redact']): string {
  return (
    (skipped > 0 ? event('skipped', id, JSON.stringify({ entries: skipped })) : '') +
    (entries ? event('entries', id, listOf(entries, redact)) : '')
  );
}

function event(name: string, id: string, data: string): string {
  return data === '[]' ? '' : `event: ${name}\nid: ${id}\ndata: ${data}\n\n`;
}

/** Oldest first. JSON has no line breaks, which would end an event. */
function listOf({ columns, rows }: Rows, redact: TailQuestion['redact']): string {
  const lines = writerOf('ndjson', columns, { redact, asStored: true }).rows(rows.toReversed());
  return `[${lines.trimEnd().replaceAll('\n', ',')}]`;
}
