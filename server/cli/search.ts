import { type Remote, withService } from './service-client.ts';
import { counted } from './table.ts';
import { print, printable } from './terminal.ts';

export interface SearchOptions extends Remote {
  readonly project?: string;
  /** ISO 8601, or how long ago: `1h`. */
  readonly since?: string;
  readonly limit: number;
  readonly json?: boolean;
}

interface Entry {
  readonly timestamp: string;
  /** Where several sources were asked. */
  readonly source?: string;
  readonly project: string | null;
  readonly severity: string | null;
  readonly status: number | null;
  readonly event_message: string;
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Prints the newest entries for which a search query holds, the newest last. */
export async function search(
  source: string,
  words: readonly string[],
  { project, since, limit, json, ...remote }: SearchOptions,
): Promise<0> {
  const asked = new URLSearchParams({ q: words.join(' '), limit: String(limit) });
  if (project !== undefined) asked.set('project', project);
  if (since !== undefined) asked.set('from', momentOf(since));
  return withService<0>(remote, 'answers', async ({ ask }) => {
    const answer = await ask(`/api/entries/${source}?${asked}`);
    const { result, hint } = (await answer.json()) as { result: Entry[]; hint?: string };
    for (const entry of result.reverse()) print(json ? JSON.stringify(entry) : lineOf(entry));
    const more = answer.headers.get('Tailpond-Truncated') === 'true' ? ', and there are more' : '';
    console.error(`${counted(result.length, 'row')}${more}`);
    if (hint !== undefined) console.error(printable(hint));
    return 0;
  });
}

function lineOf(entry: Entry): string {
  const { timestamp, source, project, severity, status, event_message: message } = entry;
  const parts = [timestamp, source, project ?? '-', status ?? severity ?? '-', message];
  return printable(parts.filter((part) => part !== undefined).join(' '));
}

function momentOf(since: string): string {
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(since) ?? [];
  if (count === undefined) return since;
  return new Date(Date.now() - Number(count) * (UNITS[unit] ?? 0)).toISOString();
}
