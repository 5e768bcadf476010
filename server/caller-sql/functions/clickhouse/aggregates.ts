import { reject } from '../../error.ts';
import { sql } from '../../sql-fragment.ts';
import { as, type Expression, nameOf } from '../../typed-expression.ts';
import { AGGREGATES, gathered, histogram } from '../aggregate.ts';
import { type Call, constant, expr, type Functions, type SqlFunction, takes } from '../builder.ts';
import { alias, withDefault } from './defaults.ts';

const quantile = (name: 'quantile_cont' | 'quantile_disc'): SqlFunction =>
  takes({
    least: 1,
    most: 2,
    aggregate: true,
    build([value, level], info) {
      const share = level ? levelOf(level, info) : 0.5;
      // The exact one takes the upper of two that it lies between.
      const wanted = name === 'quantile_disc' ? Math.min(1, share + 1e-9) : share;
      const number = sql`(${as(value, 'number', info.at)})::double`;
      return expr('number', gathered(name, number, String(wanted)), [value], {
        aggregate: true,
      });
    },
  });

const quantiles: SqlFunction = takes({
  least: 2,
  most: 20,
  aggregate: true,
  build([value, ...levels], info) {
    const shares = levels.map((level) => String(levelOf(level, info)));
    const number = sql`(${as(value, 'number', info.at)})::double`;
    return expr('array', gathered('quantile_cont', number, `[${shares.join(', ')}]`), [value], {
      aggregate: true,
      element: 'number',
    });
  },
});

function levelOf(level: Expression, { at, name }: Call): number {
  const share = Number(level.literal);
  return level.kind === 'number' && share >= 0 && share <= 1
    ? share
    : reject(at, `${name.toUpperCase()} takes a number from 0 to 1 in its first brackets`);
}

const counted = alias(AGGREGATES, 'count');
const distinct: SqlFunction = {
  ...counted,
  build: (args, info) => counted.build(args, { ...info, distinct: true }),
};

/** `groupArray(most)(x)`, written with `most` behind. */
function grouped(isDistinct: boolean): SqlFunction {
  const list = alias(AGGREGATES, 'array_agg_present');
  return {
    ...list,
    build(args, info) {
      const value = list.build(args, { ...info, distinct: info.distinct || isDistinct });
      return { ...value, sql: sql`coalesce(${value.sql}, [])` };
    },
  };
}

/** The distinct elements of all arrays. */
const groupedElements = takes({
  least: 1,
  most: 1,
  aggregate: true,
  build([value], { at }) {
    if (value.kind !== 'array') return reject(at, `Expected an array, got ${nameOf(value.kind)}`);
    const all = sql`coalesce(list_distinct(flatten(list(${value.sql}))), [])`;
    return expr('array', all, [value], {
      aggregate: true,
      element: value.element ?? 'null',
      maxExpansion: 32,
    });
  },
});

const topValues = takes({
  least: 1,
  most: 2,
  aggregate: true,
  build([value, count], info) {
    const most = count ? constant(count, 1, 1000, info) : 10;
    const item = as(value, value.kind === 'null' ? 'text' : value.kind, info.at);
    const pairs = sql`list_transform(map_entries(${histogram(item, info)}), lambda e: {n: e.value, v: e.key})`;
    const values = sql`list_transform(list_slice(list_reverse_sort(${pairs}), 1, ${String(most)}), lambda e: e.v)`;
    return expr('array', sql`coalesce(${values}, [])`, [value], {
      aggregate: true,
      element: value.kind,
      maxExpansion: 32,
    });
  },
});

/** Aggregates, likewise. */
export const CLICKHOUSE_AGGREGATES: Functions = {
  sum: withDefault(alias(AGGREGATES, 'sum')),
  min: withDefault(alias(AGGREGATES, 'min')),
  max: withDefault(alias(AGGREGATES, 'max')),
  any_value: withDefault(alias(AGGREGATES, 'any_value')),
  any: withDefault(alias(AGGREGATES, 'any_value')),
  anylast: withDefault(alias(AGGREGATES, 'any_value')),
  countdistinct: distinct,
  uniq: distinct,
  uniqexact: distinct,
  uniqcombined: distinct,
  uniqcombined64: distinct,
  uniqhll12: distinct,
  argmin: withDefault(alias(AGGREGATES, 'arg_min')),
  argmax: withDefault(alias(AGGREGATES, 'arg_max')),
  stddevpop: alias(AGGREGATES, 'stddev_pop'),
  stddevsamp: alias(AGGREGATES, 'stddev_samp'),
  varpop: alias(AGGREGATES, 'var_pop'),
  varsamp: alias(AGGREGATES, 'var_samp'),
  quantile: quantile('quantile_cont'),
  quantiletdigest: quantile('quantile_cont'),
  quantiletiming: quantile('quantile_cont'),
  quantileexactlow: quantile('quantile_disc'),
  quantileexact: quantile('quantile_disc'),
  quantileexactinclusive: quantile('quantile_cont'),
  quantiledeterministic: quantile('quantile_cont'),
  quantiles,
  quantilestdigest: quantiles,
  grouparray: grouped(false),
  groupuniqarray: grouped(true),
  groupuniqarrayarray: groupedElements,
  topk: topValues,
};
