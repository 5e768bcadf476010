import { html } from 'htm/preact';
import { h, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { RejectedLine } from '../data/answers.ts';
import { useAnswer } from '../data/loading.ts';
import { pathOf } from '../data/request.ts';
import { useSources } from '../data/sources.ts';
import type { Zone } from '../data/times.ts';
import type { LedgerView } from '../data/view.ts';
import { RejectedRow } from './rejected-row.ts';

interface RejectedLinesProps {
  /** Null for all. */
  readonly source: LedgerView['source'];
  readonly choose: (source: LedgerView['source']) => void;
  readonly turn: number;
  readonly reload: () => void;
  readonly zone: Zone;
}

const LIMIT = 200;

/** The newest rejected lines, to be read, corrected and tried again. */
export function RejectedLines({ source, choose, turn, reload, zone }: RejectedLinesProps): VNode {
  const path = pathOf('/api/rejected', { source, limit: LIMIT });
  const sources = useSources(source === null ? [] : [source]);
  const { answer, problem, loading } = useAnswer<RejectedLine[]>(path, turn);
  // They leave the list at once, not with the next answer.
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  const lines = (answer?.result ?? []).filter(({ id }) => !gone.has(id));
  const onRetried = (id: string) => {
    setGone((before) => new Set(before).add(id));
    reload();
  };
  return html`<section class="rejected" aria-busy=${String(loading)}>
    <div class="bar">
      <h2>Rejected lines</h2>
      <label class="field">
        <span>Source</span>
        <select
          id="search"
          value=${source ?? ''}
          onChange=${(event: Event) => {
            const { value } = event.currentTarget as HTMLSelectElement;
            choose(value === '' ? null : value);
          }}
        >
          <option value="">all</option>
          ${sources.map((name) => html`<option value=${name}>${name}</option>`)}
        </select>
      </label>
    </div>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${
      answer &&
      lines.length === 0 &&
      html`<div class="empty">
        <p>No rejected lines${source ? ` of ${source}` : ''}: every line that came became an entry.</p>
      </div>`
    }
    <ol class="rows" aria-label="Rejected lines">
      ${lines.map((line) => h(RejectedRow, { key: line.id, line, zone, onRetried }))}
    </ol>
    ${lines.length >= LIMIT && html`<p class="dim">These are the newest ${LIMIT}.</p>`}
  </section>`;
}
