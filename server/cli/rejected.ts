import { type Reached, type Remote, withService } from './service-client.ts';
import { counted, table } from './table.ts';
import { print, write } from './terminal.ts';

export interface RejectedOptions extends Remote {
  readonly source?: string;
  readonly limit?: number;
  readonly line?: string;
  readonly all?: boolean;
  readonly json?: boolean;
}

interface Line {
  readonly id: string;
  readonly source: string;
  readonly reason: string;
  readonly rejected_at: string;
  readonly line: string;
  readonly whole: boolean;
}

/** What one answer has at most. */
const MOST = 1000;

/** Prints the latest rejected lines. */
export async function listRejected(options: RejectedOptions): Promise<0> {
  return withService<0>(options, 'answers', async ({ ask }) => {
    const lines = await latest(ask, options.source, options.limit ?? 100);
    if (options.json) print(JSON.stringify(lines));
    else if (lines.length > 0)
      console.log(
        table(lines.map(({ id, source, reason, line }) => ({ id, source, reason, line }))),
      );
    if (!options.json) console.error(counted(lines.length, 'rejected line'));
    return 0;
  });
}

/** Writes all bytes that were kept of a line to standard output; a terminal gets them escaped. */
export async function showRejected(id: string, options: Remote): Promise<0> {
  return withService<0>(options, 'answers', async ({ ask }) => {
    const answer = await ask(`/api/rejected/${encodeURIComponent(id)}`);
    await write(Buffer.from(await answer.arrayBuffer()));
    if (answer.headers.get('tailpond-truncated') === 'true')
      console.error('Only the beginning of this line was kept.');
    return 0;
  });
}

/** Sends one line in again, or all that were kept whole. */
export async function retryRejected(id: string | undefined, options: RejectedOptions): Promise<0> {
  if ((id === undefined) === (options.all !== true))
    throw new Error('Expected the id of one rejected line, or --all.');
  if (options.all && options.line !== undefined)
    throw new Error('Expected --line with the id of one rejected line, not with --all.');
  return withService<0>(options, 'ingests', async ({ ask }) => {
    const ids = id === undefined ? await wholeOnes(ask, options.source) : [id];
    for (const each of ids)
      await ask('/api/rejected/retry', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({
          id: each,
          ...(options.line === undefined ? {} : { line: options.line }),
        }),
      });
    if (options.json) console.log(JSON.stringify({ retried: ids.length }));
    else
      console.log(
        `${counted(ids.length, 'line')} sent in again; what is rejected anew is listed again.`,
      );
    return 0;
  });
}

async function wholeOnes(ask: Reached['ask'], source: string | undefined): Promise<string[]> {
  const lines = await latest(ask, source, MOST);
  return lines.filter(({ whole }) => whole).map(({ id }) => id);
}

async function latest(
  ask: Reached['ask'],
  source: string | undefined,
  limit: number,
): Promise<Line[]> {
  const search = new URLSearchParams({ limit: String(limit), ...(source ? { source } : {}) });
  const answer = await ask(`/api/rejected?${search}`);
  return ((await answer.json()) as { result: Line[] }).result;
}
