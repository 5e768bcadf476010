import { sql } from '../sql-fragment.ts';
import { as, type Expression } from '../typed-expression.ts';
import type { Functions } from './builder.ts';
import { constant, expr, number, over, simple } from './builder.ts';

/** A negative number has no power that is not a whole number, as a real number. */
const power = over(
  (a, b) => sql`(case when ${a} >= 0 or ${b} = trunc(${b}) then pow(${a}, ${b}) end)`,
);

/** Numbers. */
export const NUMBERS: Functions = {
  abs: number('abs'),
  sign: number('sign'),
  ceil: number('ceil'),
  ceiling: number('ceil'),
  floor: number('floor'),
  sqrt: number('sqrt', (value) => sql`${value} >= 0`),
  exp: number('exp'),
  ln: number('ln', (value) => sql`${value} > 0`),
  log10: number('log10', (value) => sql`${value} > 0`),
  trunc: number('trunc'),
  round: {
    least: 1,
    most: 2,
    build(args, info) {
      const digits = args[1] ? `, ${constant(args[1], -15, 15, info)}` : '';
      return expr(
        'number',
        sql`round((${as(args[0] as Expression, 'number', info.at)})::double${digits})`,
        args,
      );
    },
  },
  pow: power,
  power,
  log: simple(
    'number',
    ['number', 'number'],
    ([value = '', base = '2.718281828459045']) =>
      sql`(ln(case when (${value})::double > 0 then (${value})::double end) / nullif(ln(case when (${base})::double > 0 then (${base})::double end), 0))`,
    1,
  ),
  mod: over((a, b) => sql`(${a} % ${b})`),
  div: over((a, b) => sql`(trunc(${a} / ${b}))`),
  safe_divide: over((a, b) => sql`(${a} / ${b})`),
  ieee_divide: over((a, b) => sql`(${a} / ${b})`),
  safe_add: over((a, b) => sql`(${a} + ${b})`),
  safe_subtract: over((a, b) => sql`(${a} - ${b})`),
  safe_multiply: over((a, b) => sql`(${a} * ${b})`),
  safe_negate: number('-'),
  is_nan: simple('bool', ['number'], ([value = '']) => sql`isnan(${value}::double)`),
  is_inf: simple('bool', ['number'], ([value = '']) => sql`isinf(${value}::double)`),
};
