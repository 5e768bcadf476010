import { lookup } from '../lookup.ts';
import { AGGREGATES } from './aggregates.ts';
import { ARRAYS } from './arrays.ts';
import type { SqlFunction } from './call.ts';
import { CHOICES } from './choices.ts';
import { JSON_VALUES } from './json.ts';
import { NUMBERS } from './numbers.ts';
import { TEXTS } from './texts.ts';
import { TIMES } from './times.ts';

export { type Call, guarded, made } from './call.ts';

/**
 * Every function that the SQL of a caller may name, by the name that the parser gives it. Total ones only: none fails
 * on a value, and none gives a text that is much longer than those it is given.
 */
const FUNCTIONS = lookup<SqlFunction>({
  ...TEXTS,
  ...NUMBERS,
  ...TIMES,
  ...CHOICES,
  ...JSON_VALUES,
  ...ARRAYS,
  ...AGGREGATES,
});

/** The function of this name; undefined when callers may not name it. */
export function functionOf(name: string): SqlFunction | undefined {
  return FUNCTIONS[name];
}
