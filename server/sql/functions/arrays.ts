import { alike, as, nameOf } from '../expression.ts';
import { refuse } from '../refusal.ts';
import { join, literal, sql } from '../rope.ts';
import type { Functions } from './call.ts';
import { constantText, grown, growthOf, made, type SqlFunction } from './call.ts';

const array: SqlFunction = {
  least: 0,
  most: 1000,
  build(args, { at }) {
    const { kind, values } = alike(args, at);
    if (kind === 'array') refuse(at, 'An array of arrays can not be made');
    return made('array', sql`[${join(values, ', ')}]`, args, { element: kind });
  },
};

export const arrayLength: SqlFunction = {
  least: 1,
  most: 1,
  build([value], { at }) {
    if (!value) throw new Error('BUG: arguments were counted');
    if (value.kind === 'json')
      return made(
        'number',
        sql`case when json_type(${value.sql}) = 'ARRAY' then json_array_length(${value.sql})::bigint end`,
        [value],
      );
    return value.kind === 'array'
      ? made('number', sql`len(${value.sql})`, [value])
      : refuse(at, `Expected an array, got ${nameOf(value.kind)}`);
  },
};

const arrayText: SqlFunction = {
  least: 2,
  most: 3,
  build([value, separator], info) {
    if (!value || !separator) throw new Error('BUG: arguments were counted');
    if (value.kind !== 'array') refuse(info.at, `Expected an array, got ${nameOf(value.kind)}`);
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
    return made(
      'text',
      sql`array_to_string(${texts}, ${literal(between)})`,
      [value],
      grown(growthOf(value) * (1 + between.length), info),
    );
  },
};

/** Arrays. */
export const ARRAYS: Functions = {
  list_value: array,
  array,
  array_length: arrayLength,
  array_to_string: arrayText,
  array_reverse: {
    least: 1,
    most: 1,
    build: ([value], { at }) =>
      value?.kind === 'array'
        ? made('array', sql`list_reverse(${value.sql})`, [value], {
            element: value.element ?? 'null',
          })
        : refuse(at, 'Expected an array'),
  },
};
