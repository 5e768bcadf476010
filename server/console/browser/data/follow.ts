import type { Entry } from './answers.ts';
import { readEvents } from './events.ts';
import { isUnreachable, messageOf, Problem, send } from './request.ts';

export interface Follower {
  readonly onOpen: () => void;
  /** Entries, oldest first. */
  readonly onEntries: (entries: readonly Entry[]) => void;
  /** So many entries were too many to be sent. */
  readonly onSkipped: (entries: number) => void;
  /** The stream broke; it is tried again unless the service refused it. Null when the service is gone. */
  readonly onBroken: (message: string | null) => void;
}

/** The service sends a sign of life every 15 seconds: after three of them a connection is taken for dead. */
const SILENCE_MS = 50_000;
const RETRY_MS = 2000;

/** Follows a tail until the signal ends it; a broken stream goes on where it was. */
export async function follow(path: string, signal: AbortSignal, follower: Follower): Promise<void> {
  let last: string | null = null;
  while (!signal.aborted) {
    try {
      for await (const event of eventsOf(path, last, signal, follower.onOpen)) {
        last = event.id ?? last;
        if (event.name === 'entries') follower.onEntries(JSON.parse(event.data));
        if (event.name === 'skipped') follower.onSkipped(JSON.parse(event.data).entries);
      }
      follower.onBroken('The service ended the stream.');
    } catch (error) {
      if (signal.aborted) return;
      follower.onBroken(isUnreachable(error) ? null : messageOf(error));
      if (error instanceof Problem && error.status >= 400 && error.status < 500) return;
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

async function* eventsOf(
  path: string,
  last: string | null,
  signal: AbortSignal,
  onOpen: () => void,
) {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  try {
    const response = await send(path, {
      signal: AbortSignal.any([signal, silence.signal]),
      headers: { Accept: 'text/event-stream', ...(last ? { 'Last-Event-ID': last } : {}) },
    });
    onOpen();
    if (!response.body) return;
    for await (const event of readEvents(response.body)) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
      if (event) yield event;
    }
  } finally {
    clearTimeout(timer);
  }
}
