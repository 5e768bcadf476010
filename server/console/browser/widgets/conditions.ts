import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { conditionOf } from '../data/search-query.ts';

interface ConditionsProps {
  /** The field, or the names that lead to a member of metadata. */
  readonly path: readonly string[];
  readonly value: string | number | boolean;
  readonly isMember?: boolean;
  readonly onCondition: (condition: string) => void;
}

/** A longer value is not asked for. */
const LONGEST = 300;

/** Adds to the search query that a field has this value, or that it does not. */
export function Conditions({ path, value, isMember, onCondition }: ConditionsProps): VNode | null {
  if (value === '' || String(value).length > LONGEST) return null;
  const condition = conditionOf(path, value, isMember === true);
  const named = condition.slice(0, 80);
  return html`<span class="conditions">
    <button
      type="button"
      title="Only entries with this value"
      aria-label=${`Only ${named}`}
      onClick=${() => onCondition(condition)}
    >+</button>
    <button
      type="button"
      title="Only entries without this value"
      aria-label=${`Not ${named}`}
      onClick=${() => onCondition(`-${condition}`)}
    >−</button>
  </span>`;
}
