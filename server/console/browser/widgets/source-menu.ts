import { html } from 'htm/preact';
import { h, type VNode } from 'preact';
import { useSources } from '../data/sources.ts';
import { listOf } from '../data/view.ts';
import { Menu } from './menu.ts';

interface SourceMenuProps {
  /** One, several with commas between them, or `*`. */
  readonly source: string;
  readonly onSource: (source: string) => void;
}

/** The choice of one source, of several, or of all. */
export function SourceMenu({ source, onSource }: SourceMenuProps): VNode {
  const isAll = source === '*';
  const chosen = isAll ? [] : listOf(source);
  const sources = useSources(chosen);
  const toggle = (name: string) => {
    const next = sources.filter((each) => chosen.includes(each) !== (each === name));
    if (next.length > 0) onSource(next.join(','));
  };
  return html`<div class="field source" role="group" aria-label="Source">
    <span>Source</span>
    ${h(Menu, {
      name: 'sources',
      label: isAll ? 'all sources' : chosen.length === 1 ? source : `${chosen.length} sources`,
      children: (close) => html`<ul class="choices">
        <li>
          <button
            type="button"
            aria-pressed=${String(isAll)}
            onClick=${() => {
              close();
              onSource('*');
            }}
          >all sources</button>
        </li>
        ${sources.map(
          (name) => html`<li key=${name}>
            <input
              type="checkbox"
              aria-label=${`With ${name}`}
              checked=${chosen.includes(name)}
              onChange=${() => toggle(name)}
            />
            <button
              type="button"
              onClick=${() => {
                close();
                onSource(name);
              }}
            >${name}</button>
          </li>`,
        )}
      </ul>`,
    })}
  </div>`;
}
