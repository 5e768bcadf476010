import { reject } from '../error.ts';
import { join, literal, type Sql, sql } from '../sql-fragment.ts';
import { alike, as, type Expression, MAX_EXPANSION, nameOf } from '../typed-expression.ts';
import type { Call, Functions } from './builder.ts';
import {
  boundExpansion,
  constantText,
  expansionOf,
  expr,
  type SqlFunction,
  takes,
  together,
} from './builder.ts';

const array: SqlFunction = {
  least: 0,
  most: 1000,
  build(args, info) {
    const { kind, values } = alike(args, info.at);
    if (kind === 'array') reject(info.at, 'An array of arrays cannot be made');
    // Twice, as the engine's binder takes twice as long for each that stands in another.
    const maxExpansion = boundExpansion(2 * together(args), info);
    return expr('array', sql`[${join(values, ', ')}]`, args, { element: kind, ...maxExpansion });
  },
};

/**
 * Returns what UNNEST makes of a value: of JSON its elements, or itself, but no NULL. Throws SqlRefused for what is neither an array nor a
 * record.
 */
export function elementsOf(
  value: Expression,
  at: number | null,
): { sql: Sql; element: Expression['kind']; maxExpansion: number } {
  const maxExpansion = value.maxExpansion ?? 1;
  if (value.kind === 'array')
    return { sql: value.sql, element: value.element ?? 'null', maxExpansion };
  if (value.kind === 'null') return { sql: 'null::varchar[]', element: 'text', maxExpansion };
  if (value.kind !== 'json') return reject(at, 'UNNEST takes an array or a record');
  const json = value.sql;
  const list = sql`case when json_type(${json}) = 'ARRAY' then list_filter(from_json(${json}, '["JSON"]'), lambda o: json_type(o) <> 'NULL') when json_type(${json}) <> 'NULL' then [${json}] else [] end`;
  return { sql: list, element: 'json', maxExpansion };
}

export const arrayLength = takes({
  least: 1,
  most: 1,
  build([value], { at }) {
    if (value.kind === 'json')
      return expr(
        'number',
        sql`case when json_type(${value.sql}) = 'ARRAY' then json_array_length(${value.sql})::bigint end`,
        [value],
      );
    return value.kind === 'array'
      ? expr('number', sql`len(${value.sql})`, [value])
      : reject(at, `Expected an array, got ${nameOf(value.kind)}`);
  },
});

/** Characters of a text that is made of an array, at most; it is cut. */
const MAX_TEXT = 65_536;

const arrayText = takes({
  least: 2,
  most: 3,
  build([value, separator], info) {
    if (value.kind !== 'array') reject(info.at, `Expected an array, got ${nameOf(value.kind)}`);
    const between = constantText(separator, info);
    const item = as(
      {
        kind: value.element ?? 'text',
        sql: 'e',
        ...(value.element === 'json' ? { text: "json_extract_string(e, '$')" } : {}),
      },
      'text',
      info.at,
    );
    const texts =
      value.element === 'text' ? value.sql : sql`list_transform(${value.sql}, lambda e: ${item})`;
    return expr(
      'text',
      sql`left(array_to_string(${texts}, ${literal(between)}), ${String(MAX_TEXT)})`,
      [value],
      // Not more than of the list, so that lists of such texts come to an end.
      { maxExpansion: Math.min(expansionOf(value), MAX_EXPANSION) },
    );
  },
});

/** Elements of a generated array, at most; it is made for each row. */
const MAX_GENERATED = 10_000;

/** From a first value to a last one by a step, none for a step that leads away. */
function steps(first: Sql, last: Sql, step: Sql, element: (offset: Sql) => Sql): Sql {
  const count = sql`least(try_cast(floor((${last} - ${first}) / nullif(${step}, 0)) + 1 as bigint), ${String(MAX_GENERATED)})`;
  return sql`list_transform(range(0, greatest(0, ${count})), lambda n: ${element(sql`(${first} + n * ${step})`)})`;
}

/** Within a lambda, which such an array is made by, the engine finds no columns of an outer query. */
function refuseOuter(args: readonly Expression[], { at, name }: Call): void {
  if (args.some(({ outer }) => outer))
    reject(at, `${name.toUpperCase()} cannot take columns of an outer query`);
}

const generated: SqlFunction = {
  least: 2,
  most: 3,
  build(args, info) {
    const { at } = info;
    refuseOuter(args, info);
    const [first = '', last = '', step = '1::double'] = args.map(
      (arg) => sql`(${as(arg, 'number', at)})::double`,
    );
    return expr(
      'array',
      steps(first, last, step, (value) => value),
      args,
      { element: 'number' },
    );
  },
};

function generatedMoments(kind: 'timestamp' | 'date'): SqlFunction {
  return takes({
    least: kind === 'date' ? 2 : 3,
    most: 3,
    build(args, info) {
      const { at } = info;
      refuseOuter(args, info);
      const [first, last, step] = args;
      const micros = (value: Expression) => sql`epoch_us(${as(value, 'timestamp', at)})::double`;
      const interval = step ? as(step, 'interval', at) : "interval '1' day";
      const moment = (value: Sql) =>
        sql`make_timestamp(try_cast(${value} as bigint))${kind === 'date' ? '::date' : ''}`;
      const list = steps(
        micros(first),
        micros(last),
        sql`(date_part('epoch', ${interval}) * 1000000)`,
        moment,
      );
      return expr('array', list, args, { element: kind });
    },
  });
}

/** Arrays. */
export const ARRAYS: Functions = {
  generate_array: generated,
  generate_timestamp_array: generatedMoments('timestamp'),
  generate_date_array: generatedMoments('date'),
  list_value: array,
  array,
  array_length: arrayLength,
  // What IN UNNEST is written as.
  array_elements: takes({
    least: 1,
    most: 1,
    build: ([value], { at }) => {
      const list = elementsOf(value, at);
      return expr('array', list.sql, [value], { element: list.element });
    },
  }),
  array_to_string: arrayText,
  array_reverse: {
    least: 1,
    most: 1,
    build: ([value], { at }) =>
      value?.kind === 'array'
        ? expr('array', sql`list_reverse(${value.sql})`, [value], {
            element: value.element ?? 'null',
          })
        : reject(at, 'Expected an array'),
  },
};
