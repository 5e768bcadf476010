import { html } from 'htm/preact';
import { type ComponentChildren, h } from 'preact';
import { useSavedViews } from '../data/saved-views.ts';
import { hashOf, readView, type View } from '../data/view.ts';
import { Menu } from './menu.ts';
import { TextForm } from './text-form.ts';
import { notify } from './toasts.ts';

interface ViewsMenuProps {
  readonly view: View;
  readonly show: (view: View) => void;
}

/** The views that were saved by name, in this browser. */
export function ViewsMenu({ view, show }: ViewsMenuProps): ComponentChildren {
  const { views, save, remove } = useSavedViews();
  const keep = (name: string) => {
    save({ name, hash: hashOf(view) });
    notify(`Saved as “${name}”, in this browser.`);
    return true;
  };
  return h(Menu, {
    name: 'views',
    label: 'Views',
    children: (close) => html`<ul class="choices">
        ${views.length === 0 && html`<li class="dim">None is saved.</li>`}
        ${views.map(
          ({ name, hash }) => html`<li key=${name}>
            <button
              type="button"
              onClick=${() => {
                close();
                show(readView(hash));
              }}
            >${name}</button>
            <button
              type="button"
              class="quiet"
              aria-label=${`Remove the view ${name}`}
              onClick=${() => remove(name)}
            >×</button>
          </li>`,
        )}
      </ul>
      ${h(TextForm, { label: 'Name of this view', placeholder: 'Name of this view', button: 'Save', onText: keep })}`,
  });
}
