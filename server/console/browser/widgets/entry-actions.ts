import { createContext } from 'preact';
import type { Entry } from '../data/answers.ts';

/** What can be done with the values of an entry. */
export interface EntryActions {
  /** Adds a condition to the search query. */
  readonly onCondition: (condition: string) => void;
  /** Gives a field a column of its own, or takes it away. */
  readonly onColumn: (field: string) => void;
  /** Counts the values of a field. */
  readonly onFacet: (field: string) => void;
  /** Looks for a text in all sources. */
  readonly onEverywhere: (text: string) => void;
  /** Shows what came around an entry. */
  readonly onAround: (entry: Entry) => void;
}

const nothing = () => {};

export const Actions = createContext<EntryActions>({
  onCondition: nothing,
  onColumn: nothing,
  onFacet: nothing,
  onEverywhere: nothing,
  onAround: nothing,
});
