import type { Ingest, Source } from '../../ingest/index.ts';
import type { Access } from '../auth/tokens.ts';
import { type Deadline, waitFor } from '../deadline.ts';
import { isoUtc, type Store } from '../store/index.ts';

export interface FreshnessDeps {
  readonly store: Pick<Store, 'span'>;
  readonly ingest: Pick<Ingest, 'status'>;
}

/** These headers would tell the bearer of a pinned token when something of other projects came. */
const OF_ALL_PROJECTS = ['Tailpond-Ingest-Lag', 'Tailpond-Ingested-At'];

/** The headers of an answer as the bearer of a token may see them. */
export function visibleTo(
  { project }: Access,
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (project === null) return headers;
  const seen = Object.entries(headers).filter(([name]) => !OF_ALL_PROJECTS.includes(name));
  return Object.fromEntries(seen);
}

/**
 * Headers that say how far the rows of an answer reach, so that "nothing happened" differs from "not there yet":
 * `Tailpond-Ingested-At`, when the last entry of these sources was stored, none when there is none; `Tailpond-Ingest-Lag`, the
 * seconds that bytes of their files have waited unread, 0 when none do.
 */
export async function freshness(
  sources: readonly Source[],
  { store, ingest }: FreshnessDeps,
  deadline: Deadline,
): Promise<Record<string, string>> {
  const spans = await waitFor(deadline, () =>
    Promise.all(sources.map((source) => store.span(source))),
  );
  const ingestedMs = Math.max(...spans.map((span) => span?.ingestedMs ?? 0), 0);
  const lagMs = ingest
    .status()
    .sources.filter(({ source }) => sources.includes(source))
    .map((status) => status.lagMs);
  return {
    'Tailpond-Ingest-Lag': (Math.max(...lagMs, 0) / 1000).toFixed(3),
    ...(ingestedMs > 0 ? { 'Tailpond-Ingested-At': isoUtc(BigInt(ingestedMs) * 1000n) } : {}),
  };
}
