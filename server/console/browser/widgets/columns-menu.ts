import { html } from 'htm/preact';
import { type ComponentChildren, h } from 'preact';
import { pathOf } from '../data/fields.ts';
import { Menu } from './menu.ts';
import { TextForm } from './text-form.ts';
import { notify } from './toasts.ts';

interface ColumnsMenuProps {
  readonly columns: readonly string[];
  /** Gives a field a column, or takes it away. */
  readonly onColumn: (field: string) => void;
}

/** Which fields have a column of their own in the list. */
export function ColumnsMenu({ columns, onColumn }: ColumnsMenuProps): ComponentChildren {
  const add = (field: string) => {
    const isField = pathOf(field) !== null && !field.includes(',');
    if (!isField)
      notify(`“${field}” is not the name of a field. Names are such as status or request.method.`);
    else if (!columns.includes(field)) onColumn(field);
    return isField;
  };
  return h(Menu, {
    name: 'columns',
    label: columns.length === 0 ? 'Columns' : `Columns (${columns.length})`,
    children: () => html`<ul class="choices">
        ${columns.length === 0 && html`<li class="dim">Fields of your choice, beside the message.</li>`}
        ${columns.map(
          (field) => html`<li key=${field}>
            <span>${field}</span>
            <button
              type="button"
              class="quiet"
              aria-label=${`Remove the column ${field}`}
              onClick=${() => onColumn(field)}
            >×</button>
          </li>`,
        )}
      </ul>
      ${h(TextForm, { label: 'Field of a new column', placeholder: 'request.method', button: 'Add', onText: add })}`,
  });
}
