import { dictionary } from '../dictionary.ts';
import type { Dialect } from '../parse/lexer.ts';
import { AGGREGATES } from './aggregate.ts';
import { ARRAYS } from './array.ts';
import type { SqlFunction } from './builder.ts';
import { CLICKHOUSE } from './clickhouse/index.ts';
import { CHOICES } from './conditional.ts';
import { TIMES } from './datetime.ts';
import { JSON_VALUES } from './json.ts';
import { NUMBERS } from './math.ts';
import { TEXTS } from './string.ts';

export { type Call, expr as made, guarded, type SqlFunction } from './builder.ts';

/**
 * Every function that the SQL of a caller may name, by the name that the parser gives it. Total ones only: none fails
 * on a value, and none gives a text that is much longer than those it is given.
 */
const FUNCTIONS = dictionary<SqlFunction>({
  ...TEXTS,
  ...NUMBERS,
  ...TIMES,
  ...CHOICES,
  ...JSON_VALUES,
  ...ARRAYS,
  ...AGGREGATES,
});

/** What ClickHouse means by some of these names, and its own. */
const OF_CLICKHOUSE = dictionary<SqlFunction>({ ...FUNCTIONS, ...CLICKHOUSE });

/** The function of this name; undefined when callers may not name it. */
export function functionOf(name: string, dialect: Dialect): SqlFunction | undefined {
  return (dialect === 'clickhouse' ? OF_CLICKHOUSE : FUNCTIONS)[name];
}
