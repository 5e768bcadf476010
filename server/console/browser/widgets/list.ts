import { html } from 'htm/preact';
import { h, type VNode } from 'preact';
import { useCallback, useState } from 'preact/hooks';
import type { Entry } from '../data/answers.ts';
import type { Zone } from '../data/times.ts';
import { Row } from './row.ts';

interface ListProps {
  readonly label: string;
  readonly entries: readonly Entry[];
  readonly zone: Zone;
  /** Called before a row opens. */
  readonly onOpen: () => void;
  /** Adds a condition to the search query. */
  readonly onCondition: (condition: string) => void;
}

/** The entries, a row each, of which any number is open. */
export function List({ label, entries, zone, onOpen, onCondition }: ListProps): VNode {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = useCallback(
    (id: string) =>
      setOpen((before) => {
        const after = new Set(before);
        if (!after.delete(id)) {
          after.add(id);
          onOpen();
        }
        return after;
      }),
    [onOpen],
  );
  return html`<ol class="rows" aria-label=${label}>
    ${entries.map((entry, i) =>
      h(Row, {
        key: entry.id,
        entry,
        open: open.has(entry.id),
        first: i === 0,
        zone,
        onToggle: toggle,
        onCondition,
      }),
    )}
  </ol>`;
}
