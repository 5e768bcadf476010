import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Entry } from './answers.ts';
import { entryKey } from './entry-key.ts';
import { useAnswer } from './loading.ts';
import { ask, messageOf, pathOf } from './request.ts';
import { TAIL_MAX, type Tail } from './tail.ts';
import { justAfter } from './times.ts';

export interface EntriesQuery {
  readonly source: string;
  readonly from: string;
  /** Null for no end: entries may be ahead of this machine's clock. */
  readonly to: string | null;
  readonly project: string;
  readonly q: string;
  /** The entry that is to be on the first page; empty for any. */
  readonly entry: string;
}

const FIRST_PAGE = 200;
/** The most that the service gives at once. */
export const NEXT_PAGE = 1000;
/** So many are listed; of more a narrower range, or an export, tells more. */
export const MOST_LISTED = 100_000;

/** The entries of a query, newest first: what a tail brought, the first page, and older ones when they are asked for. */
export function useEntries({ source, entry, ...query }: EntriesQuery, turn: number, tail: Tail) {
  const base = `/api/entries/${source}`;
  const path = pathOf(base, { ...query, limit: entry === '' ? FIRST_PAGE : NEXT_PAGE });
  // The page is read again once the tail is open, so that nothing is missed between the two.
  const first = useAnswer<Entry[]>(path, turn + tail.opened);
  const { older, ...rest } = useOlder(first.answer, (oldest) =>
    pathOf(base, { ...query, to: justAfter(oldest.timestamp), limit: NEXT_PAGE }),
  );
  const entries = useMemo(() => {
    const all = [...tail.entries, ...(first.answer?.result ?? []), ...older];
    const unique = [...new Map(all.map((entry) => [entryKey(entry), entry])).values()];
    return tail.state === 'off' ? unique : unique.slice(0, TAIL_MAX);
  }, [tail.entries, tail.state, first.answer, older]);
  return { ...first, path, entries, older: { ...rest, isFull: entries.length >= MOST_LISTED } };
}

function useOlder(
  first: { readonly result: Entry[]; readonly truncated: boolean } | null,
  pathBefore: (oldest: Entry) => string,
) {
  const none = {
    older: [] as Entry[],
    more: first?.truncated ?? false,
    busy: false,
    problem: null,
  };
  const [state, setState] = useState<{
    first: unknown;
    older: Entry[];
    more: boolean;
    busy: boolean;
    problem: string | null;
  }>({ first, ...none });
  // Older pages belong to the first page that they continue.
  const now = state.first === first ? state : none;
  const [stopping, setStopping] = useState<AbortController | null>(null);
  // Another first page ends what was asked for the last one.
  useEffect(() => () => stopping?.abort(), [first, stopping]);

  async function load() {
    const oldest = now.older.at(-1) ?? first?.result.at(-1);
    if (!oldest || now.busy) return;
    const given = new AbortController();
    setStopping(given);
    setState({ first, ...now, busy: true, problem: null });
    try {
      const { result, truncated } = await ask<Entry[]>(pathBefore(oldest), given.signal);
      const stuck = truncated && result.at(-1)?.timestamp === oldest.timestamp;
      setState({
        first,
        older: [...now.older, ...result],
        more: truncated,
        busy: false,
        problem: stuck ? `More than ${NEXT_PAGE} entries have one timestamp: export them.` : null,
      });
    } catch (error) {
      if (!given.signal.aborted)
        setState({ first, ...now, busy: false, problem: messageOf(error) });
    }
  }
  return { ...now, load };
}
