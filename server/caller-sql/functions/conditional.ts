import { join, sql } from '../sql-fragment.ts';
import { alike, as, comparable } from '../typed-expression.ts';
import type { Functions } from './builder.ts';
import { type Build, expr, type SqlFunction, takes } from './builder.ts';

const NULLABLE = 'coalesce';

const chosen: Build = (args, { at }) => {
  const { kind, element, values } = alike(args, at);
  return expr(kind, sql`${NULLABLE}(${join(values, ', ')})`, args, element ? { element } : {});
};

/** BigQuery gives NULL when one of the values is; the engine passes over it, as ClickHouse does. */
export function extreme(name: 'greatest' | 'least', passesOverNulls = false): SqlFunction {
  return {
    least: 1,
    most: 20,
    build(args, { at }) {
      const fields =
        args.every(({ kind }) => kind === 'json' || kind === 'number') &&
        args.some(({ kind }) => kind === 'number');
      const { kind, values } = fields
        ? { kind: 'number' as const, values: args.map((arg) => as(arg, 'number', at)) }
        : alike(args, at);
      const most = sql`${name}(${join(values, ', ')})`;
      if (passesOverNulls) return expr(kind, most, args);
      const nulls = join(
        values.map((value) => sql`${value} is null`),
        ' or ',
      );
      return expr(kind, sql`case when ${nulls} then null else ${most} end`, args);
    },
  };
}

const nullIf = takes({
  least: 2,
  most: 2,
  build(args, { at }) {
    const [value, other] = args;
    const [left, right] = comparable(value, other, at);
    return expr(
      value.kind,
      sql`case when ${left} = ${right} then null else ${value.sql} end`,
      args,
      value.element ? { element: value.element } : {},
    );
  },
});

/** Choices between values. */
export const CHOICES: Functions = {
  greatest: extreme('greatest'),
  least: extreme('least'),
  nullif: nullIf,
  coalesce: { least: 1, most: 100, build: chosen },
  ifnull: { least: 2, most: 2, build: chosen },
};
