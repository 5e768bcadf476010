import type { CountedForm, UndatedForm } from '../types.ts';

/** Counts undated rows by the form of their moment, the first 20 forms of them. */
export interface FormCounts {
  add(form: UndatedForm, rows: number): void;
  /** Returns a function that forgets what is added from now on. */
  mark(): () => void;
  list(): CountedForm[];
}

const MOST_FORMS = 20;

export function countForms(): FormCounts {
  let counts = new Map<string, CountedForm>();
  return {
    add({ field, form }, rows) {
      const key = `${field}\0${form}`;
      const before = counts.get(key);
      if (before || counts.size < MOST_FORMS)
        counts.set(key, { field, form, rows: rows + (before?.rows ?? 0) });
    },
    mark() {
      const before = new Map(counts);
      return () => {
        counts = before;
      };
    },
    list: () => [...counts.values()],
  };
}
