import { html } from 'htm/preact';
import { h, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Json } from '../data/answers.ts';

interface TreeProps {
  readonly name: string;
  readonly value: Json;
  /** How many levels are open at first. */
  readonly open: number;
  /** Looks for the text of a value. */
  readonly onSearch: (text: string) => void;
}

/** A value as a tree that opens level by level. A closed level is not drawn, so a large value costs little. */
export function Tree({ name, value, open, onSearch }: TreeProps): VNode {
  const [isOpen, setOpen] = useState(open > 0);
  if (typeof value !== 'object' || value === null) return leaf(name, value, onSearch);
  const members = Object.entries(value) as [string, Json][];
  const kind = Array.isArray(value) ? `[${members.length}]` : `{${members.length}}`;
  return html`<details
    open=${isOpen}
    onToggle=${(event: Event) => setOpen((event.currentTarget as HTMLDetailsElement).open)}
  >
    <summary><span class="key">${name}</span> <span class="dim">${kind}</span></summary>
    ${
      isOpen &&
      html`<ul>
        ${members.map(
          ([key, member]) =>
            html`<li key=${key}>${h(Tree, { name: key, value: member, open: open - 1, onSearch })}</li>`,
        )}
      </ul>`
    }
  </details>`;
}

function leaf(
  name: string,
  value: null | boolean | number | string,
  onSearch: TreeProps['onSearch'],
): VNode {
  const text = String(value);
  const kind = value === null ? 'null' : typeof value;
  return html`<div class="leaf">
    <span class="key">${name}</span>
    <span class=${`value ${kind}`}>${typeof value === 'string' ? JSON.stringify(value) : text}</span>
    ${
      text !== '' &&
      html`<button
        type="button"
        class="find"
        title="Search for this value"
        aria-label=${`Search for ${text.slice(0, 80)}`}
        onClick=${() => onSearch(text)}
      >search</button>`
    }
  </div>`;
}
