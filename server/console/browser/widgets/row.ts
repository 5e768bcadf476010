import { html } from 'htm/preact';
import { Component, h, type VNode } from 'preact';
import { useContext } from 'preact/hooks';
import type { Entry } from '../data/answers.ts';
import { entryKey } from '../data/entry-key.ts';
import { fieldText, restOf } from '../data/fields.ts';
import { severityOf } from '../data/severity.ts';
import { dateTime, type Zone } from '../data/times.ts';
import { Conditions } from './conditions.ts';
import { copy } from './copy.ts';
import { Actions } from './entry-actions.ts';
import { Tree } from './tree.ts';

export interface RowProps {
  readonly entry: Entry;
  /** Its source. */
  readonly source: string;
  /** Its place in the list, and how many there are. */
  readonly index: number;
  readonly count: number;
  readonly open: boolean;
  /** Whether it is the one that was asked for. */
  readonly marked: boolean;
  /** Whether Tab leads here: to one row of the list, from which j and k go on. */
  readonly first: boolean;
  readonly zone: Zone;
  /** The fields that have a column of their own. */
  readonly columns: readonly string[];
  readonly onToggle: (key: string) => void;
  /** Told of its element, whose height the list needs. */
  readonly measure: (element: Element | null) => void;
}

const SEEN = [
  ...(['entry', 'source', 'index', 'count', 'open', 'marked', 'first', 'zone', 'columns'] as const),
];

/** An entry in a line, and all of it below when it is open. All of it is text of others: it is drawn as text only. */
export class Row extends Component<RowProps> {
  /** The other rows are as they were when one arrives or opens. */
  override shouldComponentUpdate(next: RowProps): boolean {
    return SEEN.some((name) => next[name] !== this.props[name]);
  }

  override render(props: RowProps): VNode {
    const { entry, source, index, count, open, marked, first, zone, columns } = props;
    const { onToggle, measure } = props;
    const severity = severityOf(entry);
    const toggle = () => onToggle(entryKey(entry));
    return html`<li
      class=${`row ${severity?.kind ?? ''} ${marked ? 'marked' : ''}`}
      data-index=${index}
      aria-setsize=${count}
      aria-posinset=${index + 1}
      ref=${measure}
    >
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
        ${entry.source !== undefined && html`<span class="project">${source}</span>`}
        <span class="project">${entry.project}</span>
        ${columns.map(
          (field) =>
            html`<span class="cell" key=${field}>${fieldText(entry, source, field)?.slice(0, 200)}</span>`,
        )}
        <span class="message">${entry.event_message.slice(0, 1000)}${' '}<span class="rest">${restOf(entry)}</span></span>
      </div>
      ${open && h(Details, { entry, close: toggle, zone })}
    </li>`;
  }
}

interface DetailsProps {
  readonly entry: Entry;
  readonly close: () => void;
  readonly zone: Zone;
}

function Details({ entry, close, zone }: DetailsProps): VNode {
  const { onAround } = useContext(Actions);
  return html`<div
    class="details"
    onKeyDown=${(event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      const line = (event.currentTarget as HTMLElement).previousElementSibling;
      close();
      (line as HTMLElement | null)?.focus();
    }}
  >
    <div class="fields">
      <dl>
        <dt>timestamp</dt><dd>${entry.timestamp}</dd>
        ${zone === 'local' && html`<dt>local time</dt><dd>${dateTime(Date.parse(entry.timestamp), zone)}</dd>`}
        ${entry.source !== undefined && html`<dt>source</dt><dd>${entry.source}</dd>`}
        ${(['project', 'severity', 'status'] as const).map(
          (name) =>
            html`<dt>${name}</dt>
              <dd>
                ${entry[name] ?? '–'}
                ${entry[name] !== null && h(Conditions, { path: [name], value: entry[name] })}
              </dd>`,
        )}
        <dt>id</dt><dd>${entry.id}</dd>
        <dt>stored</dt><dd>${entry.ingested_at}</dd>
      </dl>
      ${
        entry.metadata === null
          ? html`<p class="dim">This entry has no metadata.</p>`
          : html`<div class="tree">${h(Tree, { name: 'metadata', path: [], value: entry.metadata, open: 3 })}</div>`
      }
    </div>
    <pre class="text">${entry.event_message}</pre>
    <p class="actions">
      <button
        type="button"
        title="All entries of a minute before it and after, without filters"
        onClick=${() => onAround(entry)}
      >Around this entry</button>
      <button type="button" onClick=${() => copy(JSON.stringify(entry, null, 2), 'Entry')}>Copy JSON</button>
      <button type="button" onClick=${() => copy(entry.event_message, 'Message')}>Copy message</button>
    </p>
  </div>`;
}
