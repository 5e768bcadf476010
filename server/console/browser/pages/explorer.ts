import { html } from 'htm/preact';
import { h, type VNode } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Bucket, Entry } from '../data/answers.ts';
import { rangeAround } from '../data/around.ts';
import { useEntries } from '../data/entries.ts';
import { type FacetFields, useFacetFields } from '../data/facet-fields.ts';
import { useAnswer } from '../data/loading.ts';
import { boundsOf, fixedRange } from '../data/range.ts';
import { messageOf, pathOf } from '../data/request.ts';
import { phraseQuery, withCondition, withLevels } from '../data/search-query.ts';
import { useTail } from '../data/tail.ts';
import type { Zone } from '../data/times.ts';
import { type LogsView, levelsOf, listOf, type View } from '../data/view.ts';
import { ColumnsMenu } from '../widgets/columns-menu.ts';
import { Empty } from '../widgets/empty.ts';
import { Actions, type EntryActions } from '../widgets/entry-actions.ts';
import { Facets } from '../widgets/facets.ts';
import { Filters } from '../widgets/filters.ts';
import { Histogram } from '../widgets/histogram.ts';
import { useKeys } from '../widgets/keys.ts';
import { Levels } from '../widgets/levels.ts';
import { List } from '../widgets/list.ts';
import { Status } from '../widgets/status.ts';
import { notify } from '../widgets/toasts.ts';

export interface PageProps<V extends View> {
  readonly view: V;
  readonly show: (view: View, how?: 'replace') => void;
  readonly zone: Zone;
  readonly isDark: boolean;
}

/** How often the histogram follows a live tail. */
const FOLLOW_MS = 10_000;

/**
 * The entries of one source or more: chosen by range, project, severity and a search query, counted over time and by the values of fields,
 * listed, and followed.
 */
export function Explorer({ view, show, zone, isDark }: PageProps<LogsView>): VNode {
  const { source, project, range, live, entry: marked } = view;
  const { now, turn, reload } = useNow(view);
  const [paused, setPaused] = useState(false);
  const bounds = boundsOf(range, now);
  const times = {
    from: new Date(bounds.from).toISOString(),
    to: 'to' in range ? new Date(bounds.to).toISOString() : null,
  };
  const levels = levelsOf(view.level);
  const columns = useMemo(() => listOf(view.columns), [view.columns]);
  const filters = { project, q: withLevels(view.q, levels) };
  const tailPath = live ? pathOf(`/api/tail/${source}`, filters) : null;
  const tail = useTail(tailPath, paused);
  const entries = useEntries({ source, entry: marked, ...times, ...filters }, turn, tail);
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
  const fields = useFacetFields();

  const latest = useRef(view);
  latest.current = view;
  const change = useCallback(
    (part: Partial<LogsView>, how?: 'replace') => {
      const next = { ...latest.current, entry: '', ...part };
      // A range that is followed has no end.
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
    // What came meanwhile is in the store, and not in the page that was asked for before.
    if (live) reload();
    change({ live: !live, ...(live || 'last' in range ? {} : { range: { last: '15m' } }) });
  };
  useEffect(() => {
    if (marked === '') list.current?.scrollTo({ top: 0 });
  }, [entries.path, marked]);
  const actions = useActions(latest, change, fields);
  const pause = useCallback(() => setPaused(true), []);
  const { older } = entries;
  const wantsOlder = older.more && !older.isFull && !older.problem;
  const load = useRef(older.load);
  load.current = older.load;
  const onEnd = useCallback(() => {
    if (wantsOlder) void load.current();
  }, [wantsOlder, entries.entries.length]);
  useKeys({ l: toggleLive, r: reload });
  usePauseOnScroll(live, setPaused);

  const busy = entries.loading || histogram.loading;
  return html`<${Actions.Provider} value=${actions}><div class="explorer">
    <h1 class="unseen">Logs</h1>
    ${h(Filters, { view, now, zone, show, change, toggleLive, reload, path: tailPath ?? entries.path, times })}
    <div class="tools">
      <button
        type="button"
        aria-pressed=${String(fields.shown)}
        title="The most frequent values of fields"
        onClick=${fields.toggleShown}
      >Fields</button>
      ${h(ColumnsMenu, { columns, onColumn: actions.onColumn })}
      ${h(Levels, {
        levels,
        buckets: histogram.answer?.result ?? [],
        onLevels: (chosen) => change({ level: chosen.join(',') }),
      })}
    </div>
    ${h(Histogram, {
      loaded: histogram,
      ...shown,
      zone,
      isDark,
      onRange: (from, to) => change({ range: fixedRange(from, to) }),
    })}
    ${h(Status, { entries, newest: histogram.answer ?? entries.answer, tail: live ? tail : null, paused, resume, pause })}
    <div class=${busy ? 'progress busy' : 'progress'}></div>
    <div class="body">
      ${
        fields.shown &&
        h(Facets, {
          fields,
          base: `/api/facets/${source}`,
          filters: { ...times, ...filters },
          turn,
          onCondition: actions.onCondition,
        })
      }
      <div
        class=${entries.isOld ? 'list old' : 'list'}
        ref=${list}
        aria-busy=${String(entries.loading)}
      >
        ${
          entries.entries.length > 0
            ? h(List, {
                key: `${source} ${marked}`,
                label: `Entries of ${source === '*' ? 'all sources' : source}`,
                entries: entries.entries,
                source,
                zone,
                columns,
                marked,
                onOpen: pause,
                onEnd,
              })
            : h(Empty, { view, entries, show: change })
        }
        ${more(older)}
      </div>
    </div>
  </div><//>`;
}

/** Returns the text below the last entry that is listed. */
function more({ more, isFull, busy, problem, load }: ReturnType<typeof useEntries>['older']) {
  if (!more && !problem) return null;
  return html`<p class="more">
    ${problem}
    ${isFull && 'So many are listed; narrow the range, or export, to see others.'}
    ${busy && html`<span class="dim">Loading older entries…</span>`}
    ${!busy && !isFull && html`<button type="button" onClick=${load}>Older entries</button>`}
  </p>`;
}

/** What the values of an entry and of facets do. */
function useActions(
  latest: { readonly current: LogsView },
  change: (part: Partial<LogsView>) => void,
  { add }: FacetFields,
): EntryActions {
  const onFacet = useRef(add);
  onFacet.current = add;
  return useMemo(
    () => ({
      onCondition: (condition) => change({ q: withCondition(latest.current.q, condition) }),
      onColumn: (field) => {
        const columns = listOf(latest.current.columns);
        const next = columns.includes(field)
          ? columns.filter((each) => each !== field)
          : [...columns, field];
        change({ columns: next.join(','), entry: latest.current.entry });
      },
      onFacet: (field) => onFacet.current(field),
      onEverywhere: (text) => change({ source: '*', q: phraseQuery(text), level: '', live: false }),
      onAround: (entry: Entry) => {
        const source = latest.current.source;
        rangeAround(entry, source).then(
          (range) => change({ range, entry: entry.id, q: '', level: '', project: '', live: false }),
          (error) => notify(messageOf(error)),
        );
      },
    }),
    [change, latest],
  );
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
