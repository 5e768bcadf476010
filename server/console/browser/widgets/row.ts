import { html } from 'htm/preact';
import { Component, h, type VNode } from 'preact';
import type { Entry } from '../data/answers.ts';
import { severityOf } from '../data/severity.ts';
import { dateTime, type Zone } from '../data/times.ts';
import { Conditions } from './conditions.ts';
import { copy } from './copy.ts';
import { Tree } from './tree.ts';

export interface RowProps {
  readonly entry: Entry;
  readonly open: boolean;
  /** Whether Tab leads here: to one row of the list, from which j and k go on. */
  readonly first: boolean;
  readonly zone: Zone;
  readonly onToggle: (id: string) => void;
  /** Adds a condition to the search query. */
  readonly onCondition: (condition: string) => void;
}

/** An entry in a line, and all of it below when it is open. All of it is text of others: it is drawn as text only. */
export class Row extends Component<RowProps> {
  /** The other rows are as they were when one arrives or opens; with 2000 of them that counts. */
  override shouldComponentUpdate(next: RowProps): boolean {
    const now = this.props;
    return (
      next.entry !== now.entry ||
      next.open !== now.open ||
      next.first !== now.first ||
      next.zone !== now.zone
    );
  }

  override render({ entry, open, first, zone, onToggle, onCondition }: RowProps): VNode {
    const severity = severityOf(entry);
    const toggle = () => onToggle(entry.id);
    return html`<li class=${`row ${severity?.kind ?? ''}`}>
      <div
        class="line"
        role="button"
        tabindex=${first ? 0 : -1}
        aria-expanded=${String(open)}
        onClick=${() => String(getSelection()) === '' && toggle()}
        onKeyDown=${(event: KeyboardEvent) => {
          if (event.key === 'Enter' || event.key === ' ') toggle();
          else if (event.key === 'Escape' && open) toggle();
          else return;
          event.preventDefault();
        }}
      >
        <time dateTime=${entry.timestamp}>${dateTime(Date.parse(entry.timestamp), zone).slice(5)}</time>
        <span class="badge">${severity?.text}</span>
        <span class="project">${entry.project}</span>
        <span class="message">${entry.event_message?.slice(0, 1000)}</span>
      </div>
      ${open && details(entry, toggle, onCondition, zone)}
    </li>`;
  }
}

function details(
  entry: Entry,
  close: () => void,
  onCondition: RowProps['onCondition'],
  zone: Zone,
): VNode {
  return html`<div
    class="details"
    onKeyDown=${(event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      const line = (event.currentTarget as HTMLElement).previousElementSibling;
      close();
      (line as HTMLElement | null)?.focus();
    }}
  >
    <pre class="text">${entry.event_message}</pre>
    <dl>
      <dt>timestamp</dt><dd>${entry.timestamp}</dd>
      ${zone === 'local' && html`<dt>local time</dt><dd>${dateTime(Date.parse(entry.timestamp), zone)}</dd>`}
      ${(['project', 'severity', 'status'] as const).map(
        (name) =>
          html`<dt>${name}</dt>
            <dd>
              ${entry[name] ?? '–'}
              ${entry[name] !== null && h(Conditions, { path: [name], value: entry[name], onCondition })}
            </dd>`,
      )}
      <dt>id</dt><dd>${entry.id}</dd>
      <dt>stored</dt><dd>${entry.ingested_at}</dd>
    </dl>
    ${
      entry.metadata === null
        ? html`<p class="dim">This entry has no metadata.</p>`
        : html`<div class="tree">${h(Tree, { name: 'metadata', path: [], value: entry.metadata, open: 3, onCondition })}</div>`
    }
    <p class="actions">
      <button type="button" onClick=${() => copy(JSON.stringify(entry, null, 2), 'Entry')}>Copy JSON</button>
      <button type="button" onClick=${() => copy(entry.event_message ?? '', 'Message')}>Copy message</button>
    </p>
  </div>`;
}
