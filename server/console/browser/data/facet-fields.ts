import { useState } from 'preact/hooks';

const KEY = 'tailpond-facets';

/** The fields that are always offered. */
const OFFERED = ['project', 'severity', 'status', 'method', 'path'];

interface Kept {
  /** Whether the fields are shown at all. */
  readonly shown: boolean;
  /** The fields that were added to the offered ones. */
  readonly added: readonly string[];
  /** The fields whose values are counted. */
  readonly open: readonly string[];
}

/** Which fields are offered for counting their values, and which are open; kept by the browser. */
export function useFacetFields() {
  const [state, setState] = useState(kept);
  const keep = (next: Kept) => {
    localStorage.setItem(KEY, JSON.stringify(next));
    setState(next);
  };
  const { shown, added, open } = state;
  return {
    shown,
    fields: [...OFFERED, ...added],
    isOpen: (field: string) => open.includes(field),
    isAdded: (field: string) => added.includes(field),
    toggleShown: () => keep({ ...state, shown: !shown }),
    toggle: (field: string) =>
      keep({
        ...state,
        open: open.includes(field) ? open.filter((each) => each !== field) : [...open, field],
      }),
    /** Shows and opens a field, whether it was offered or not. */
    add: (field: string) =>
      keep({
        shown: true,
        added: OFFERED.includes(field) || added.includes(field) ? added : [...added, field],
        open: [...open.filter((each) => each !== field), field],
      }),
    remove: (field: string) => keep({ ...state, added: added.filter((each) => each !== field) }),
  };
}

export type FacetFields = ReturnType<typeof useFacetFields>;

function kept(): Kept {
  const first: Kept = { shown: false, added: [], open: ['status', 'project'] };
  try {
    const given: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    const { shown, added, open } = given as Partial<Record<keyof Kept, unknown>>;
    return {
      shown: shown === true,
      added: Array.isArray(added) ? added.map(String) : first.added,
      open: Array.isArray(open) ? open.map(String) : first.open,
    };
  } catch {
    return first;
  }
}
