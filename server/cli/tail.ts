import { setTimeout as delay } from 'node:timers/promises';
import { Refused, type Remote, withService } from './service-client.ts';
import { print, printable } from './terminal.ts';

export interface TailOptions extends Remote {
  readonly project?: string;
  readonly search?: string;
  readonly query?: string;
  readonly json?: boolean;
}

interface Entry {
  readonly timestamp: string;
  /** Where several sources are followed. */
  readonly source?: string;
  readonly project: string | null;
  readonly event_message: string;
}

/** The service sends a sign of life every 15 s: after three of them a connection is taken for dead. */
const SILENCE_MS = 50_000;
const RETRY_MS = 2000;
/** How long an interrupted tail may take to end. */
const END_MS = 2000;

/**
 * Prints entries as they are stored, one a line, until it is interrupted. A stream that is cut goes on after the last entry that came, as
 * soon as there is a service again. Throws when the first attempt fails, and when a service refuses the request.
 */
export async function tail(source: string, options: TailOptions): Promise<0> {
  const search = new URLSearchParams();
  if (options.project !== undefined) search.set('project', options.project);
  if (options.search !== undefined) search.set('search', options.search);
  if (options.query !== undefined) search.set('q', options.query);
  const left = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => left.abort());
  // Ends the command whatever hangs; a service that it has started ends with it.
  left.signal.addEventListener('abort', () => setTimeout(() => process.exit(0), END_MS).unref());
  // A reader that has enough, as `head`.
  process.stdout.on('error', () => left.abort());
  return withService<0>(options, 'ingests', async ({ ask }) => {
    const { signal } = left;
    let [last, isCut] = ['', false];
    while (!signal.aborted) {
      const headers: Record<string, string> = last === '' ? {} : { 'Last-Event-ID': last };
      try {
        const answer = await ask(`/api/tail/${source}?${search}`, { signal, headers });
        const type = answer.headers.get('Content-Type') ?? 'no type';
        if (!type.startsWith('text/event-stream')) throw new NoEvents(answer.url, type);
        if (isCut) console.error('The live tail goes on.');
        isCut = false;
        for await (const event of eventsOf(answer, signal)) {
          printEntries(event, options.json === true);
          last = /^id: (.*)$/m.exec(event)?.[1] ?? last;
        }
      } catch (error) {
        if (signal.aborted) break;
        const isRefused = error instanceof Refused && error.status < 500 && error.status !== 429;
        if (last === '' || isRefused || error instanceof NoEvents) throw error;
      }
      if (signal.aborted) break;
      if (!isCut)
        console.error(
          'The live tail was cut: the service has ended, or the ClickHouse that it forwards to does not answer. It is tried again every 2 seconds.',
        );
      isCut = true;
      await delay(RETRY_MS, undefined, { signal }).catch(() => {});
    }
    return 0;
  });
}

/** Another program answers at the address. */
class NoEvents extends Error {
  constructor(url: string, type: string) {
    super(`${url} gives no events but ${type}: it is not tailpond.`);
  }
}

/** Yields the events of a stream as they come, without the empty line at their end, until it ends or the signal ends it. */
async function* eventsOf({ body }: Response, signal: AbortSignal): AsyncGenerator<string> {
  const reader = body?.getReader();
  // The signal of a request ends nothing any more once Node.js has collected the request, which a long answer outlives.
  const leave = () => void reader?.cancel().catch(() => {});
  if (signal.aborted) leave();
  signal.addEventListener('abort', leave);
  const silence = setTimeout(leave, SILENCE_MS);
  let text = '';
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { value, done = true } = (await reader?.read()) ?? {};
      if (done) return;
      silence.refresh();
      text += decoder.decode(value, { stream: true });
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      yield* events;
    }
  } finally {
    clearTimeout(silence);
    signal.removeEventListener('abort', leave);
    leave();
  }
}

function printEntries(event: string, json: boolean) {
  const data = /^data: ([^\n]*)$/m.exec(event)?.[1];
  if (data === undefined) return;
  if (event.includes('event: skipped\n'))
    return console.error(`… ${(JSON.parse(data) as { entries: number }).entries} more`);
  for (const entry of JSON.parse(data) as Entry[]) {
    const { timestamp, source, project, event_message: message } = entry;
    const parts = [timestamp, source, project ?? '-', message].filter((part) => part !== undefined);
    print(json ? JSON.stringify(entry) : printable(parts.join(' ')));
  }
}
