import { attributeNames, attributeTexts, hasAttribute } from '../../attributes.ts';
import { reject } from '../../error.ts';
import { type Sql, sql } from '../../sql-fragment.ts';
import { as, type Expression, nameOf } from '../../typed-expression.ts';
import { ARRAYS } from '../array.ts';
import { type Call, constant, expr, type Functions, type SqlFunction, takes } from '../builder.ts';
import { alias, orDefault } from './defaults.ts';

const isEmpty = (wanted: boolean) =>
  takes({
    least: 1,
    most: 1,
    build([value], info) {
      const test = wanted ? '=' : '<>';
      if (value.kind === 'array') return expr('bool', sql`(len(${value.sql}) ${test} 0)`, [value]);
      return expr('bool', sql`(${as(value, 'text', info.at)} ${test} '')`, [value]);
    },
  });

const has = takes({
  least: 2,
  most: 2,
  build(args, { at }) {
    const [list, value] = args;
    if (list.kind !== 'array') return reject(at, `Expected an array, got ${nameOf(list.kind)}`);
    if (list.namesOf && value.literal !== undefined)
      return expr('bool', hasAttribute(list.namesOf, value.literal), args);
    const sought = as(value, list.element ?? 'text', at);
    return expr('bool', sql`coalesce(list_contains(${list.sql}, ${sought}), false)`, args);
  },
});

/** A list's elements as values of one kind, joined. */
const joined = takes({
  least: 1,
  most: 2,
  build([value, separator], info) {
    const between = separator ?? ({ kind: 'text', sql: "''", literal: '' } as const);
    return alias(ARRAYS, 'array_to_string').build([value, between], info);
  },
});

/** Returns a function that gives the names or the texts of a map of attributes. */
function ofMap(element: 'names' | 'texts'): SqlFunction {
  return takes({
    least: 1,
    most: 1,
    build([value], info) {
      const map = mapOf(value, info);
      const list = element === 'names' ? attributeNames(map) : attributeTexts(map);
      const names = element === 'names' ? { namesOf: map } : {};
      return expr('array', list, [value], {
        element: 'text',
        maxExpansion: 2,
        nested: true,
        ...names,
      });
    },
  });
}

const mapContains = takes({
  least: 2,
  most: 2,
  build([value, name], info) {
    const map = mapOf(value, info);
    if (name.literal === undefined)
      return expr(
        'bool',
        sql`list_contains(${attributeNames(map)}, ${as(name, 'text', info.at)})`,
        [value, name],
      );
    return expr('bool', hasAttribute(map, name.literal), [value]);
  },
});

function mapOf(value: Expression, { at, name }: Call): Sql {
  if (value.kind !== 'map')
    return reject(at, `${name.toUpperCase()} takes a map, got ${nameOf(value.kind)}`);
  if (value.aggregate)
    reject(at, `${name.toUpperCase()} cannot take what an aggregate function gives`);
  return value.sql;
}

/** Arrays and maps, likewise. */
export const CLICKHOUSE_ARRAYS: Functions = {
  empty: isEmpty(true),
  notempty: isEmpty(false),
  arraystringconcat: joined,
  has,
  mapkeys: ofMap('names'),
  mapvalues: ofMap('texts'),
  mapcontains: mapContains,
  mapcontainskey: mapContains,
  arrayelement: takes({
    least: 2,
    most: 2,
    build([list, index], info) {
      if (list.kind !== 'array')
        return reject(info.at, `Expected an array, got ${nameOf(list.kind)}`);
      const item = sql`list_extract(${list.sql}, ${String(constant(index, -100_000, 100_000, info))})`;
      return orDefault(expr(list.element ?? 'null', item, [list]));
    },
  }),
  arraydistinct: takes({
    least: 1,
    most: 1,
    build: ([list], { at }) =>
      list.kind === 'array'
        ? expr('array', sql`list_distinct(${list.sql})`, [list], {
            element: list.element ?? 'null',
          })
        : reject(at, `Expected an array, got ${nameOf(list.kind)}`),
  }),
  arraysort: takes({
    least: 1,
    most: 1,
    build: ([list], { at }) =>
      list.kind === 'array'
        ? expr('array', sql`list_sort(${list.sql})`, [list], { element: list.element ?? 'null' })
        : reject(at, `Expected an array, got ${nameOf(list.kind)}`),
  }),
};
