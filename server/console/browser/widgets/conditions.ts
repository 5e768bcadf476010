import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useContext } from 'preact/hooks';
import { fieldOf, isValue } from '../data/search-query.ts';
import { Actions } from './entry-actions.ts';

interface ConditionsProps {
  /** The field, or the names that lead to a member of metadata. */
  readonly path: readonly string[];
  readonly value: string | number | boolean;
  readonly isMember?: boolean;
}

/** A longer value is not asked for. */
const LONGEST = 300;
/** What leads through all sources: the name of a field, or the look of its value. */
const ID_NAME =
  /(?:trace|span|request|req|correlation|session|execution|transaction)[._-]?id$|^cf[._-]ray$/i;
const ID_VALUE = /^(?:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|[\da-f]{16,32})$/i;

/** What can be asked by a value: entries with it, without it, its field's other values, and the same in all sources. */
export function Conditions({ path, value, isMember = false }: ConditionsProps): VNode | null {
  const { onCondition, onColumn, onFacet, onEverywhere } = useContext(Actions);
  if (value === '' || String(value).length > LONGEST) return null;
  const field = fieldOf(path, isMember);
  if (field === null) return null;
  const condition = isValue(field, value);
  const named = condition.slice(0, 80);
  const button = (sign: string, title: string, label: string, onClick: () => void) => html`<button
    type="button"
    title=${title}
    aria-label=${label}
    onClick=${onClick}
  >${sign}</button>`;
  const isId = ID_NAME.test(path.at(-1) ?? '') || ID_VALUE.test(String(value));
  return html`<span class="conditions">
    ${button('+', 'Only entries with this value', `Only ${named}`, () => onCondition(condition))}
    ${button('−', 'Only entries without this value', `Not ${named}`, () => onCondition(`-${condition}`))}
    ${button('#', 'Count the values of this field', `Count the values of ${field}`, () => onFacet(field))}
    ${button('▥', 'Show this field as a column, or no longer', `Column ${field}`, () => onColumn(field))}
    ${isId && html`<button type="button" class="everywhere" onClick=${() => onEverywhere(String(value))}>In all sources</button>`}
  </span>`;
}
