import { type Remote, withService } from './service-client.ts';
import { printable } from './table.ts';

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

/** Prints entries as they are stored, one a line, until it is interrupted or the service ends. */
export async function tail(source: string, options: TailOptions): Promise<0> {
  const search = new URLSearchParams();
  if (options.project !== undefined) search.set('project', options.project);
  if (options.search !== undefined) search.set('search', options.search);
  if (options.query !== undefined) search.set('q', options.query);
  const left = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => left.abort());
  // A reader that has enough, as `head`.
  process.stdout.on('error', () => left.abort());
  return withService<0>(options, 'ingests', async ({ ask }) => {
    const { signal } = left;
    const answer = await ask(`/api/tail/${source}?${search}`, { signal }).catch((error) => {
      if (!signal.aborted) throw error;
    });
    const reader = answer?.body?.getReader();
    // The signal of a request ends nothing any more once Node.js has collected the request, which a long answer outlives.
    const leave = () => void reader?.cancel().catch(() => {});
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    let text = '';
    const decoder = new TextDecoder();
    while (reader && !signal.aborted) {
      const { value, done } = await reader.read().catch((error) => {
        if (signal.aborted) return { value: undefined, done: true };
        throw new Error(
          'The live tail was cut: the service has ended, or the ClickHouse that it forwards to does not answer.',
          {
            cause: error,
          },
        );
      });
      if (done) break;
      text += decoder.decode(value, { stream: true });
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) print(event, options.json === true);
    }
    return 0;
  });
}

function print(event: string, json: boolean) {
  const data = /^data: ([^\n]*)$/m.exec(event)?.[1];
  if (data === undefined) return;
  if (event.includes('event: skipped\n'))
    return console.error(`… ${(JSON.parse(data) as { entries: number }).entries} more`);
  for (const entry of JSON.parse(data) as Entry[]) {
    const { timestamp, source, project, event_message: message } = entry;
    const parts = [timestamp, source, project ?? '-', message].filter((part) => part !== undefined);
    console.log(json ? JSON.stringify(entry) : printable(parts.join(' ')));
  }
}
