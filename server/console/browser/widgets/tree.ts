import { html } from 'htm/preact';
import { h, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { MOST_NAMES } from '../../../search/fields.ts';
import type { Json } from '../data/answers.ts';
import { Conditions } from './conditions.ts';

interface TreeProps {
  readonly name: string;
  readonly value: Json;
  /** How many levels are open at first. */
  readonly open: number;
  /** The names that lead to it, through the first of each array; null where no field of a search query does. */
  readonly path: readonly string[] | null;
}

/** A value as a tree that opens level by level. A closed level is not drawn, so a large value costs little. */
export function Tree({ name, path, value, open }: TreeProps): VNode {
  const [isOpen, setOpen] = useState(open > 0);
  if (typeof value !== 'object' || value === null) return leaf(name, path, value);
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
            html`<li key=${key}>${h(Tree, {
              name: key,
              path: pathOf(path, value, key),
              value: member,
              open: open - 1,
            })}</li>`,
        )}
      </ul>`
    }
  </details>`;
}

/** The names that lead to a member of a value; of an array a field means the first, if that is a record. */
function pathOf(path: TreeProps['path'], value: object, key: string): TreeProps['path'] {
  if (path === null) return null;
  if (Array.isArray(value)) return key === '0' && typeof value[0] === 'object' ? path : null;
  return path.length < MOST_NAMES ? [...path, key] : null;
}

function leaf(
  name: string,
  path: TreeProps['path'],
  value: null | boolean | number | string,
): VNode {
  const kind = value === null ? 'null' : typeof value;
  return html`<div class="leaf">
    <span class="key">${name}</span>
    <span class=${`value ${kind}`}>${typeof value === 'string' ? JSON.stringify(value) : String(value)}</span>
    ${
      value !== null &&
      path !== null &&
      path.length > 0 &&
      h(Conditions, { path, value, isMember: true })
    }
  </div>`;
}
