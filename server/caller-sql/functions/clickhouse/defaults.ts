import { sql } from '../../sql-fragment.ts';
import type { Expression, Kind } from '../../typed-expression.ts';
import type { Functions, SqlFunction } from '../builder.ts';

/** A function of another dialect under ClickHouse's name. */
export function alias(functions: Functions, name: string): SqlFunction {
  const found = functions[name];
  if (!found) throw new Error(`BUG: there is no function ${name}`);
  return found;
}

/** The values that ClickHouse has where other engines have NULL. */
const NONE: Partial<Record<Kind, string>> = {
  text: "''",
  number: '0',
  timestamp: "timestamp '1970-01-01'",
  datetime: "timestamp '1970-01-01'",
  date: "date '1970-01-01'",
};

/** An aggregate that is not NULL of no rows, unless its value may be. */
export function withDefault(inner: SqlFunction): SqlFunction {
  return {
    ...inner,
    build(args, info) {
      const value = inner.build(args, info);
      const none = args[0]?.nullable ? undefined : NONE[value.kind];
      return none === undefined ? value : { ...value, sql: sql`coalesce(${value.sql}, ${none})` };
    },
  };
}

/** What ClickHouse gives where an array has no such element: nothing is NULL there that is not told to be. */
export function orDefault(value: Expression): Expression {
  const none = NONE[value.kind];
  return none === undefined ? value : { ...value, sql: sql`coalesce(${value.sql}, ${none})` };
}
