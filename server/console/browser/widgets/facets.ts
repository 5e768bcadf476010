import { html } from 'htm/preact';
import { h, type VNode } from 'preact';
import type { FacetFields } from '../data/facet-fields.ts';
import { pathOf as namesOf } from '../data/fields.ts';
import { useAnswer } from '../data/loading.ts';
import { count } from '../data/quantities.ts';
import { pathOf } from '../data/request.ts';
import { isValue } from '../data/search-query.ts';
import { TextForm } from './text-form.ts';
import { notify } from './toasts.ts';

/** A value of a field, and how many entries have it. */
interface FacetValue {
  readonly value: string;
  readonly entries: number;
}

interface FacetsProps {
  readonly fields: FacetFields;
  /** The path of the question, and its parameters but the field. */
  readonly base: string;
  readonly filters: Readonly<Record<string, string | null>>;
  readonly turn: number;
  /** Adds a condition to the search query. */
  readonly onCondition: (condition: string) => void;
}

/** Fields with their most frequent values; a click adds one to the search. */
export function Facets({ fields, onCondition, ...question }: FacetsProps): VNode {
  const add = (field: string) => {
    const isField = namesOf(field) !== null;
    if (isField) fields.add(field);
    else
      notify(`“${field}” is not the name of a field. Names are such as status or request.method.`);
    return isField;
  };
  return html`<aside class="facets" aria-label="Values of fields">
    ${fields.fields.map((field) => {
      const isOpen = fields.isOpen(field);
      return html`<section key=${field}>
        <h2>
          <button
            type="button"
            class="quiet main"
            aria-expanded=${String(isOpen)}
            onClick=${() => fields.toggle(field)}
          ><span>${isOpen ? '▾' : '▸'} ${field}</span></button>
          ${
            fields.isAdded(field) &&
            html`<button
              type="button"
              class="quiet"
              aria-label=${`Remove the field ${field}`}
              onClick=${() => fields.remove(field)}
            >×</button>`
          }
        </h2>
        ${isOpen && h(Values, { field, onCondition, ...question })}
      </section>`;
    })}
    ${h(TextForm, { label: 'Another field', placeholder: 'another field', button: 'Add', onText: add })}
  </aside>`;
}

const MOST = 10;

function Values({
  field,
  base,
  filters,
  turn,
  onCondition,
}: Omit<FacetsProps, 'fields'> & { readonly field: string }): VNode {
  const path = pathOf(base, { ...filters, field, limit: MOST });
  const { answer, problem, isOld } = useAnswer<FacetValue[]>(path, turn);
  if (problem) return html`<p class="problem">${problem}</p>`;
  if (!answer) return html`<p class="dim">Loading…</p>`;
  const values = answer.result;
  if (values.length === 0) return html`<p class="dim">No entry has it.</p>`;
  const most = values[0]?.entries ?? 1;
  return html`<ul class=${isOld ? 'values old' : 'values'}>
    ${values.map(({ value, entries }) => {
      const condition = isValue(field, value);
      return html`<li key=${value} style=${{ '--share': `${(100 * entries) / most}%` }}>
        <button
          type="button"
          class="quiet main"
          title=${value}
          aria-label=${`Only ${condition.slice(0, 80)}, ${count(entries)}`}
          onClick=${() => onCondition(condition)}
        ><span>${value}</span> <b>${count(entries)}</b></button>
        <button
          type="button"
          class="quiet"
          title="Only entries without this value"
          aria-label=${`Not ${condition.slice(0, 80)}`}
          onClick=${() => onCondition(`-${condition}`)}
        >−</button>
      </li>`;
    })}
  </ul>`;
}
