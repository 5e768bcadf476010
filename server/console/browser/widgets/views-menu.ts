import { html } from 'htm/preact';
import { type ComponentChildren, h } from 'preact';
import { useSavedViews } from '../data/saved-views.ts';
import { hashOf, readView, type View } from '../data/view.ts';
import { Menu } from './menu.ts';
import { notify } from './toasts.ts';

interface ViewsMenuProps {
  readonly view: View;
  readonly show: (view: View) => void;
}

/** The views that were saved by name, in this browser. */
export function ViewsMenu({ view, show }: ViewsMenuProps): ComponentChildren {
  const { views, save, remove } = useSavedViews();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const field = (event.currentTarget as HTMLFormElement).elements.namedItem('name');
    const name = (field as HTMLInputElement).value.trim();
    if (name === '') return;
    save({ name, hash: hashOf(view) });
    (field as HTMLInputElement).value = '';
    notify(`Saved as “${name}”, in this browser.`);
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
      <form class="name" onSubmit=${submit}>
        <input name="name" aria-label="Name of this view" placeholder="Name of this view" maxlength="80" />
        <button>Save</button>
      </form>`,
  });
}
