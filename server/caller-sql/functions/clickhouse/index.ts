import type { Functions } from '../builder.ts';
import { CLICKHOUSE_AGGREGATES } from './aggregates.ts';
import { CLICKHOUSE_ARRAYS } from './arrays.ts';
import { CLICKHOUSE_CHOICES } from './choices.ts';
import { CLICKHOUSE_JSON } from './json.ts';
import { CLICKHOUSE_NUMBERS } from './numbers.ts';
import { CLICKHOUSE_TEXTS } from './texts.ts';
import { CLICKHOUSE_TIMES } from './times.ts';

export { orDefault } from './defaults.ts';

/** Functions by ClickHouse's names, in lower case, and those of the other dialects that mean something else there. */
export const CLICKHOUSE: Functions = {
  ...CLICKHOUSE_TEXTS,
  ...CLICKHOUSE_NUMBERS,
  ...CLICKHOUSE_JSON,
  ...CLICKHOUSE_ARRAYS,
  ...CLICKHOUSE_CHOICES,
  ...CLICKHOUSE_AGGREGATES,
  ...CLICKHOUSE_TIMES,
};
