import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Entry } from '../data/answers.ts';
import type { useEntries } from '../data/entries.ts';
import { fixedRange, quickName } from '../data/range.ts';
import { ask, messageOf, pathOf } from '../data/request.ts';
import { withLevels } from '../data/search-query.ts';
import { type LogsView, levelsOf } from '../data/view.ts';
import { freshness } from './status.ts';

interface EmptyProps {
  readonly view: LogsView;
  readonly entries: ReturnType<typeof useEntries>;
  readonly show: (part: Partial<LogsView>) => void;
}

const AROUND_MS = 1_800_000;

/** What can be done where no entry is listed. */
export function Empty({ view, entries, show }: EmptyProps): VNode {
  const [told, setTold] = useState('');
  const { answer, problem } = entries;
  if (problem) return html`<div class="empty"><p>Nothing can be shown: ${problem}</p></div>`;
  if (!answer) return html`<div class="empty"><p class="dim">Loading…</p></div>`;
  const { source, project, range } = view;
  const q = withLevels(view.q, levelsOf(view.level));
  const findNewest = async () => {
    try {
      const path = pathOf(`/api/entries/${source}`, { project, q, limit: 1 });
      const [newest] = (await ask<Entry[]>(path)).result;
      if (!newest) return setTold('There are no entries at any time.');
      const at = Date.parse(newest.timestamp);
      show({ range: fixedRange(at - AROUND_MS, at + 1000) });
    } catch (error) {
      setTold(messageOf(error));
    }
  };
  return html`<div class="empty">
    <h2>
      No entries of ${source === '*' ? 'any source' : source.replaceAll(',', ', ')} in ${'last' in range ? `the ${quickName(range.last).toLowerCase()}` : 'this range'}
    </h2>
    <p class="dim">
      ${project && html`In the project “${project}”. `}${q && html`That meet “${q}”. `}
      Here: ${freshness(answer)}.
    </p>
    ${answer.hint && html`<p class="hint">${answer.hint}</p>`}
    <p class="actions">
      <button type="button" class="primary" onClick=${findNewest}>Go to the newest</button>
      <button type="button" onClick=${() => show({ range: { last: '24h' } })}>Last 24 hours</button>
      <button type="button" onClick=${() => show({ range: { last: '30d' } })}>Last 30 days</button>
      ${
        (project || q) &&
        html`<button type="button" onClick=${() => show({ project: '', q: '', level: '' })}>
          Clear the filters
        </button>`
      }
    </p>
    <p role="status">${told}</p>
  </div>`;
}
