import { PARSE } from '../../server/endpoints/caller-sql.ts';
import type { TestStore } from './helpers.ts';

/** Returns the parser that `translate` needs: the engine of a store. */
export function parserOf(store: Pick<TestStore, 'query'>): (text: string) => Promise<string> {
  return async (text) => {
    const { rows } = await store.query(PARSE, { text }, { maxRows: 1 });
    return String(rows[0]?.[0]);
  };
}
