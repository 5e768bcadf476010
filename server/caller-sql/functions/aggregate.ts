import { reject } from '../error.ts';
import { literal, type Sql, sql } from '../sql-fragment.ts';
import { as, isMoment, type Kind, MAX_EXPANSION, shownOf, sortKeys } from '../typed-expression.ts';
import type { Functions } from './builder.ts';
import {
  type Call,
  constant,
  constantText,
  expansionOf,
  expr,
  type SqlFunction,
  takes,
} from './builder.ts';

function aggregate(
  kind: Kind,
  take: Kind,
  form: (value: Sql) => Sql,
  rest: { readonly countable?: true } = {},
): SqlFunction {
  return takes({
    least: 1,
    most: 1,
    aggregate: true,
    ...rest,
    build([value], { at, distinct }) {
      return expr(kind, form(sql`${distinct ? 'distinct ' : ''}${as(value, take, at)}`), [value], {
        aggregate: true,
      });
    },
  });
}

/** How many rows there are for which a condition holds. */
function rowsWhere(condition: Sql, times: Sql | null): Sql {
  if (times === null) return sql`count(case when ${condition} then 1 end)`;
  return sql`coalesce(sum(case when ${condition} then ${times} end), 0)::bigint`;
}

/** No rows give 0; the engine's own function gives NULL. */
const countIf = takes({
  least: 1,
  most: 1,
  aggregate: true,
  countable: true,
  build([value], { at, distinct, times }) {
    const condition = as(value, 'bool', at);
    const count = distinct
      ? sql`count(distinct case when ${condition} then 1 end)`
      : rowsWhere(condition, times);
    return expr('number', count, [value], { aggregate: true });
  },
});

/** `over`: the sum where a row stands for several, of the value and of how many they are. */
function summed(name: string, over: (value: Sql, times: Sql) => Sql): SqlFunction {
  return takes({
    least: 1,
    most: 1,
    aggregate: true,
    countable: true,
    build([value], { at, distinct, times }) {
      const number = as(value, 'number', at);
      const sum =
        times === null || distinct
          ? sql`${name}(${distinct ? 'distinct ' : ''}${number})`
          : over(number, times);
      return expr('number', sum, [value], { aggregate: true });
    },
  });
}

const sum = summed('sum', (value, times) => sql`sum(${value} * ${times})`);
const average = summed(
  'avg',
  (value, times) =>
    sql`(sum((${value})::double * ${times}) / sum(case when ${value} is not null then ${times} end))`,
);

const every = (name: string) =>
  aggregate('bool', 'bool', (value) => sql`${name}(${value})`, { countable: true });

/** Takes numbers whose squares are finite; with others the engine's function fails. */
const spread = (name: string) =>
  aggregate(
    'number',
    'number',
    (value) => sql`${name}(case when abs((${value})::double) < 1e150 then (${value})::double end)`,
  );

const counted = takes({
  least: 1,
  most: 1,
  aggregate: true,
  countable: true,
  build([value], { at, distinct, times }) {
    const counted = value.kind === 'json' ? as(value, 'text', at) : value.sql;
    const count =
      times === null || distinct
        ? sql`count(${distinct ? 'distinct ' : ''}${counted})`
        : rowsWhere(sql`${counted} is not null`, times);
    return expr('number', count, [value], { aggregate: true });
  },
});

/**
 * The least or greatest: of fields the number, where there are numbers, else the text. Texts go through `arg_max`, whose texts count to the
 * engine's memory: those of `max` are lost to the process when a statement with very many groups is ended.
 */
function outermost(name: 'min' | 'max'): SqlFunction {
  const ofTexts = (text: Sql) => sql`arg_${name}(${text}, ${text})`;
  return takes({
    least: 1,
    most: 1,
    aggregate: true,
    countable: true,
    build([value], { at }) {
      const rest = { aggregate: true, ...(value.element ? { element: value.element } : {}) };
      const { kind } = value;
      if (kind === 'text') return expr(kind, ofTexts(value.sql), [value], rest);
      if (kind !== 'json') return expr(kind, sql`${name}(${value.sql})`, [value], rest);
      const [number = '', text = ''] = sortKeys(value, at);
      return expr(
        'json',
        sql`coalesce(to_json(${name}(${number})), to_json(${ofTexts(text)}))`,
        [value],
        rest,
      );
    },
  });
}

const anyValue = takes({
  least: 1,
  most: 1,
  aggregate: true,
  countable: true,
  build([value], _info) {
    const rest = { aggregate: true, ...(value.element ? { element: value.element } : {}) };
    return expr(value.kind, sql`any_value(${value.sql})`, [value], rest);
  },
});

/**
 * A quantile, or a list of them, of values that are gathered first: these count to the engine's memory, and those that its aggregates hold
 * for themselves do not. They are lost to the process when a statement with very many groups is ended.
 */
export function gathered(name: string, value: Sql, shares?: Sql): Sql {
  const more = shares === undefined ? '' : sql`, ${shares}`;
  return sql`list_aggregate(list(${value}), '${name}'${more})`;
}

const quantiles = takes({
  least: 2,
  most: 2,
  aggregate: true,
  build([value, count], info) {
    const buckets = constant(count, 1, 1000, info);
    const shares = Array.from({ length: buckets + 1 }, (_, i) => String(i / buckets));
    const kind: Kind = isMoment(value.kind) ? value.kind : 'number';
    const of = (wanted: string) => gathered('quantile_disc', as(value, kind, info.at), wanted);
    return expr('array', of(`[${shares.join(', ')}]`), [value], {
      aggregate: true,
      element: kind,
      // The engine looks for each of them anew, among all values from the one before on.
      elementAt: (index) => (index in shares ? of(String(shares[index])) : undefined),
    });
  },
});

function quantile(name: string): SqlFunction {
  return takes({
    least: 2,
    most: 2,
    aggregate: true,
    build([value, share], { at, name: called }) {
      const wanted = Number(share.literal);
      if (share.kind !== 'number' || !(wanted >= 0 && wanted <= 1))
        reject(at, `${called.toUpperCase()} takes a number from 0 to 1 here`);
      return expr('number', gathered(name, as(value, 'number', at), String(wanted)), [value], {
        aggregate: true,
      });
    },
  });
}

/**
 * What an aggregate puts together is cut: it can stand in every row of a join, and is not covered by the memory limit there.
 * Characters of a text, elements of a list.
 */
const MAX_TEXT = 16_384;
const MAX_LIST = 100;

/** `present`: without NULLs. The second argument is how many elements there may be. */
function listed(present: boolean): SqlFunction {
  return takes({
    least: 1,
    most: 2,
    aggregate: true,
    build([value, limit], info) {
      if (value.kind === 'array') reject(info.at, 'An array of arrays cannot be made');
      const item = value.sql;
      const filter = present ? sql` filter (where ${item} is not null)` : '';
      const list = sql`list(${info.distinct ? 'distinct ' : ''}${item}${info.order(item)})${filter}`;
      const most = limit ? constant(limit, 0, MAX_LIST, info) : MAX_LIST;
      const rest = {
        aggregate: true,
        element: value.kind,
        maxExpansion: expansionOf(value) * MAX_EXPANSION,
      };
      return expr('array', sql`list_slice(${list}, 1, ${String(most)})`, [value], rest);
    },
  });
}

/** How often each value is there. Values of many groups are gathered first (`gathered`); all rows may have too many for that. */
export function histogram(value: Sql, { grouped }: Call): Sql {
  return grouped ? gathered('histogram', value) : sql`histogram(${value})`;
}

/** The most frequent values, with their counts, the most frequent first. */
const topCounts = takes({
  least: 2,
  most: 2,
  aggregate: true,
  build([value, count], info) {
    const most = constant(count, 1, 1000, info);
    const item =
      value.kind === 'json'
        ? value.sql
        : as(value, value.kind === 'null' ? 'text' : value.kind, info.at);
    const pairs = sql`list_transform(map_entries(${histogram(item, info)}), lambda e: {n: e.value, v: e.key})`;
    const shown = shownOf({ kind: value.kind, sql: 'e.v' }, info.at);
    const objects = sql`list_transform(list_slice(list_reverse_sort(${pairs}), 1, ${String(most)}), lambda e: json_object('value', ${shown}, 'count', e.n))`;
    return expr('array', objects, [value], { aggregate: true, element: 'json', maxExpansion: 2 });
  },
});

const strung = takes({
  least: 1,
  most: 2,
  aggregate: true,
  build([value, separator], info) {
    const between = separator ? constantText(separator, info) : ',';
    if (between.length > 100) reject(info.at, 'A separator may have 100 characters');
    const item = as(value, 'text', info.at);
    return expr(
      'text',
      sql`left(string_agg(${info.distinct ? 'distinct ' : ''}${item}, ${literal(between)}${info.order(item)}), ${String(MAX_TEXT)})`,
      [value],
      { aggregate: true, maxExpansion: 1 },
    );
  },
});

const picked = (name: string): SqlFunction =>
  takes({
    least: 2,
    most: 2,
    aggregate: true,
    build([value, by], { at }) {
      const key = by.kind === 'json' ? as(by, 'text', at) : by.sql;
      return expr(value.kind, sql`${name}(${value.sql}, ${key})`, [value, by], {
        aggregate: true,
        ...(value.element ? { element: value.element } : {}),
      });
    },
  });

/** Aggregates. */
export const AGGREGATES: Functions = {
  count: counted,
  count_star: {
    least: 0,
    most: 0,
    aggregate: true,
    countable: true,
    build: (_, { times }) =>
      expr('number', times === null ? 'count(*)' : rowsWhere('true', times), [], {
        aggregate: true,
      }),
  },
  countif: countIf,
  count_if: countIf,
  sum,
  avg: average,
  mean: average,
  stddev: spread('stddev_samp'),
  stddev_samp: spread('stddev_samp'),
  stddev_pop: spread('stddev_pop'),
  variance: spread('var_samp'),
  var_samp: spread('var_samp'),
  var_pop: spread('var_pop'),
  median: aggregate('number', 'number', (value) => gathered('median', value)),
  min: outermost('min'),
  max: outermost('max'),
  any_value: anyValue,
  first: anyValue,
  logical_and: every('bool_and'),
  bool_and: every('bool_and'),
  logical_or: every('bool_or'),
  bool_or: every('bool_or'),
  // The engine's own estimate is wrong by a fifth at times.
  approx_count_distinct: {
    ...counted,
    build: (args, info) => counted.build(args, { ...info, distinct: true }),
  },
  approx_quantiles: quantiles,
  quantile_cont: quantile('quantile_cont'),
  quantile_disc: quantile('quantile_disc'),
  approx_quantile: quantile('quantile_cont'),
  percentile_cont: quantile('quantile_cont'),
  percentile_disc: quantile('quantile_disc'),
  array_agg: listed(false),
  list: listed(false),
  array_agg_present: listed(true),
  approx_top_count: topCounts,
  string_agg: strung,
  group_concat: strung,
  listagg: strung,
  max_by: picked('arg_max'),
  min_by: picked('arg_min'),
  arg_max: picked('arg_max'),
  arg_min: picked('arg_min'),
};
