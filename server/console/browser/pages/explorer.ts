import { html } from 'htm/preact';
import { h, type VNode } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Bucket } from '../data/answers.ts';
import { useEntries } from '../data/entries.ts';
import { useAnswer } from '../data/loading.ts';
import { boundsOf, fixedRange } from '../data/range.ts';
import { pathOf } from '../data/request.ts';
import { withCondition, withLevels } from '../data/search-query.ts';
import { useTail } from '../data/tail.ts';
import type { Zone } from '../data/times.ts';
import { type LogsView, levelsOf, type View } from '../data/view.ts';
import { Empty } from '../widgets/empty.ts';
import { Filters } from '../widgets/filters.ts';
import { Histogram } from '../widgets/histogram.ts';
import { useKeys } from '../widgets/keys.ts';
import { Levels } from '../widgets/levels.ts';
import { List } from '../widgets/list.ts';
import { Status } from '../widgets/status.ts';

export interface PageProps<V extends View> {
  readonly view: V;
  readonly show: (view: View, how?: 'replace') => void;
  readonly zone: Zone;
  readonly isDark: boolean;
}

/** How often the histogram follows a live tail. */
const FOLLOW_MS = 10_000;

/** The entries of a source: chosen by range, project, severity and a search query, counted over time, listed, and followed. */
export function Explorer({ view, show, zone, isDark }: PageProps<LogsView>): VNode {
  const { source, project, range, live } = view;
  const { now, turn, reload } = useNow(view);
  const [paused, setPaused] = useState(false);
  const bounds = boundsOf(range, now);
  const times = {
    from: new Date(bounds.from).toISOString(),
    to: 'to' in range ? new Date(bounds.to).toISOString() : null,
  };
  const levels = levelsOf(view.level);
  const filters = { project, q: withLevels(view.q, levels) };
  const tailPath = live ? pathOf(`/api/tail/${source}`, filters) : null;
  const tail = useTail(tailPath, paused);
  const entries = useEntries({ source, ...times, ...filters }, turn, tail);
  const counted = useFollowing(live && !paused, now);
  const shown = boundsOf(range, counted);
  const histogram = useAnswer<Bucket[]>(
    pathOf(`/api/histogram/${source}`, {
      from: new Date(shown.from).toISOString(),
      to: new Date(shown.to).toISOString(),
      ...filters,
      by: 'severity',
      buckets: Math.min(120, Math.floor(innerWidth / 9)),
    }),
    turn,
  );

  const latest = useRef(view);
  latest.current = view;
  const change = useCallback(
    (part: Partial<LogsView>, how?: 'replace') => {
      const next = { ...latest.current, ...part };
      // What is followed has no end.
      show({ ...next, live: next.live && 'last' in next.range }, how);
    },
    [show],
  );
  const list = useRef<HTMLDivElement>(null);
  const resume = () => {
    setPaused(false);
    for (const element of [list.current, list.current?.closest('main')])
      element?.scrollTo({ top: 0 });
  };
  const toggleLive = () => {
    setPaused(false);
    change({ live: !live, ...(live || 'last' in range ? {} : { range: { last: '15m' } }) });
  };
  const onCondition = useCallback(
    (condition: string) => change({ q: withCondition(latest.current.q, condition) }),
    [change],
  );
  const pause = useCallback(() => setPaused(true), []);
  useKeys({ l: toggleLive, r: reload });
  usePauseOnScroll(live, setPaused);

  return html`<div class="explorer">
    ${h(Filters, { view, now, zone, change, toggleLive, reload, path: tailPath ?? entries.path, times })}
    ${h(Levels, {
      levels,
      buckets: histogram.answer?.result ?? [],
      onLevels: (chosen) => change({ level: chosen.join(',') }),
    })}
    ${h(Histogram, {
      loaded: histogram,
      ...shown,
      zone,
      isDark,
      onRange: (from, to) => change({ range: fixedRange(from, to) }),
    })}
    ${h(Status, { entries, tail: live ? tail : null, paused, resume, pause })}
    <div class="list" ref=${list} aria-busy=${String(entries.loading)}>
      ${
        entries.entries.length > 0
          ? h(List, {
              label: `Entries of ${source}`,
              entries: entries.entries,
              zone,
              onOpen: pause,
              onCondition,
            })
          : h(Empty, { view, entries, show: change })
      }
      ${
        entries.older.more &&
        html`<p class="more">
          <button type="button" disabled=${entries.older.busy} onClick=${entries.older.load}>
            ${entries.older.busy ? 'Loading…' : 'Older entries'}
          </button>
          ${entries.older.problem}
        </p>`
      }
    </div>
  </div>`;
}

/** What `now` is to the view: the moment when it was opened, changed or loaded again. */
function useNow(view: LogsView) {
  const [turn, setTurn] = useState(0);
  // Each of these begins anew.
  const now = useMemo(
    () => Date.now(),
    [view.source, view.project, view.q, view.level, view.range, turn],
  );
  return { now, turn, reload: () => setTurn((before) => before + 1) };
}

/** A `now` that goes on by itself while something is followed. */
function useFollowing(following: boolean, now: number): number {
  const [current, setCurrent] = useState(now);
  useEffect(() => {
    setCurrent(now);
    if (!following) return;
    const timer = setInterval(() => setCurrent(Date.now()), FOLLOW_MS);
    return () => clearInterval(timer);
  }, [following, now]);
  return Math.max(current, now);
}

/** Who scrolls down wants to read: nothing may move then. Who scrolls back to the top goes on. */
function usePauseOnScroll(live: boolean, setPaused: (paused: boolean) => void) {
  useEffect(() => {
    if (!live) return;
    // Captured, as it does not bubble: the list scrolls, or all of the page where the screen is small.
    const scrolled = ({ target }: Event) => {
      if (target instanceof HTMLElement && target.matches('.list, main'))
        setPaused(target.scrollTop > 4);
    };
    document.addEventListener('scroll', scrolled, { capture: true, passive: true });
    return () => document.removeEventListener('scroll', scrolled, { capture: true });
  }, [live, setPaused]);
}
