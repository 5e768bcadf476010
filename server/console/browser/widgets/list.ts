import { html } from 'htm/preact';
import { h, type VNode } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Entry } from '../data/answers.ts';
import { entryKey } from '../data/entry-key.ts';
import type { Zone } from '../data/times.ts';
import { Row } from './row.ts';
import { useVirtual } from './virtual.ts';

interface ListProps {
  readonly label: string;
  readonly entries: readonly Entry[];
  /** The source of those that do not name theirs. */
  readonly source: string;
  readonly zone: Zone;
  /** The fields that have a column of their own. */
  readonly columns: readonly string[];
  /** The id of the entry that is to be seen at first; empty for the newest. */
  readonly marked: string;
  /** Called before a row opens. */
  readonly onOpen: () => void;
  /** Called when the end of the list is near. */
  readonly onEnd: () => void;
}

/** A row that is closed has this height, in pixels, until it is measured. */
const ROW_PX = 27;
/** Rows that are drawn beyond those that are seen; the keys go to the next one. */
const BEYOND = 15;
/** So many rows before the end more are loaded. */
const NEAR_END = 60;

/** The entries, a row each, of which any number is open. Only those that are seen are drawn. */
export function List(props: ListProps): VNode {
  const { label, entries, source, zone, columns, marked, onOpen, onEnd } = props;
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const place = useRef<HTMLOListElement>(null);
  const scrollMargin = useScrollMargin(place);
  const virtual = useVirtual({
    count: entries.length,
    getScrollElement: () => scrollerOf(place.current),
    estimateSize: () => ROW_PX,
    getItemKey: (index) => (entries[index] ? entryKey(entries[index]) : index),
    overscan: BEYOND,
    scrollMargin,
  });
  const toggle = useCallback(
    (key: string) =>
      setOpen((before) => {
        const after = new Set(before);
        if (!after.delete(key)) {
          after.add(key);
          onOpen();
        }
        return after;
      }),
    [onOpen],
  );
  const items = virtual.getVirtualItems();
  const [first, last] = [items[0], items.at(-1)];
  const isNearEnd = (last?.index ?? 0) >= entries.length - NEAR_END;
  useEffect(() => {
    if (isNearEnd) onEnd();
  }, [isNearEnd, onEnd]);
  const markedAt = marked === '' ? -1 : entries.findIndex(({ id }) => id === marked);
  useLayoutEffect(() => {
    if (markedAt >= 0) virtual.scrollToIndex(markedAt, { align: 'center' });
  }, [virtual, markedAt]);
  const hasSource = entries[0]?.source !== undefined;
  const line = lineOf(hasSource, columns.length);
  return html`${columns.length > 0 && h(Heads, { hasSource, columns, line })}<ol
    class="rows"
    aria-label=${label}
    ref=${place}
    style=${{
      '--columns': line,
      paddingTop: `${(first?.start ?? scrollMargin) - scrollMargin}px`,
      paddingBottom: `${virtual.getTotalSize() + scrollMargin - (last?.end ?? 0)}px`,
    }}
  >
    ${items.map(({ index }) => {
      const entry = entries[index];
      return (
        entry &&
        h(Row, {
          key: entryKey(entry),
          entry,
          source: entry.source ?? source,
          index,
          count: entries.length,
          open: open.has(entryKey(entry)),
          marked: entry.id === marked,
          first: index === first?.index,
          zone,
          columns,
          onToggle: toggle,
          measure: virtual.measureElement as (element: Element | null) => void,
        })
      );
    })}
  </ol>`;
}

interface HeadsProps {
  readonly hasSource: boolean;
  readonly columns: readonly string[];
  readonly line: string;
}

/** The names of the columns; a row tells them to nobody who does not see them, so these need not. */
function Heads({ hasSource, columns, line }: HeadsProps): VNode {
  const names = ['time', '', ...(hasSource ? ['source'] : []), 'project', ...columns, 'message'];
  return html`<div class="heads" aria-hidden="true" style=${{ '--columns': line }}>
    ${names.map((name) => html`<span title=${name}>${name}</span>`)}
  </div>`;
}

/** What scrolls: the list, or all of the page where the screen is small. */
function scrollerOf(element: HTMLElement | null): HTMLElement | null {
  const list = element?.closest<HTMLElement>('.list') ?? null;
  if (list && getComputedStyle(list).overflowY !== 'visible') return list;
  return list?.closest('main') ?? null;
}

/** How far below the top of what scrolls the rows begin. */
function useScrollMargin(place: { readonly current: HTMLElement | null }): number {
  const [margin, setMargin] = useState(0);
  useLayoutEffect(() => {
    const scroller = scrollerOf(place.current);
    if (!scroller || !place.current) return;
    const top = place.current.getBoundingClientRect().top;
    const below = top - scroller.getBoundingClientRect().top + scroller.scrollTop;
    setMargin(Math.round(below));
  });
  return margin;
}

/** The widths of the columns of a row. */
function lineOf(hasSource: boolean, columns: number): string {
  return [
    '142px 52px',
    ...(hasSource ? ['minmax(60px, 120px)'] : []),
    'minmax(60px, 110px)',
    ...Array.from({ length: columns }, () => 'minmax(60px, 160px)'),
    'minmax(200px, 1fr)',
  ].join(' ');
}
