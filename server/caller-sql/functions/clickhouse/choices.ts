import { reject } from '../../error.ts';
import { join, sql } from '../../sql-fragment.ts';
import { alike, as, type Expression } from '../../typed-expression.ts';
import { expr, type Functions, type SqlFunction, takes } from '../builder.ts';
import { CHOICES, extreme } from '../conditional.ts';
import { alias } from './defaults.ts';

/** The first that is not NULL, which is NULL only where the last one may be. */
function choice(name: string): SqlFunction {
  const inner = alias(CHOICES, name);
  return {
    ...inner,
    build: (args, info) => ({
      ...inner.build(args, info),
      nullable: args.at(-1)?.nullable ?? false,
    }),
  };
}

function maybe(inner: SqlFunction): SqlFunction {
  return { ...inner, build: (args, info) => ({ ...inner.build(args, info), nullable: true }) };
}

const multiIf: SqlFunction = {
  least: 3,
  most: 401,
  build(args, { at }) {
    if (args.length % 2 === 0)
      reject(at, 'MULTIIF takes conditions with values, and one value more');
    const results = args.filter((_, i) => i % 2 === 1 || i === args.length - 1);
    const { kind, element, values } = alike(results, at);
    const branches = values
      .slice(0, -1)
      .map((value, i) => sql`when ${as(args[2 * i] as Expression, 'bool', at)} then ${value}`);
    return expr(
      kind,
      sql`case ${join(branches, ' ')} else ${values.at(-1) ?? 'null'} end`,
      args,
      element ? { element } : {},
    );
  },
};

const isNull = (wanted: boolean) =>
  takes({
    least: 1,
    most: 1,
    build: ([value]) => expr('bool', sql`(${value.sql} is ${wanted ? '' : 'not '}null)`, [value]),
  });

/** Choices between values, likewise. */
export const CLICKHOUSE_CHOICES: Functions = {
  multiif: multiIf,
  assumenotnull: takes({ least: 1, most: 1, build: ([value]) => ({ ...value, nullable: false }) }),
  ch_isnull: isNull(true),
  ch_isnotnull: isNull(false),
  coalesce: choice('coalesce'),
  ifnull: choice('ifnull'),
  greatest: extreme('greatest', true),
  least: extreme('least', true),
  nullif: maybe(alias(CHOICES, 'nullif')),
};
