import { dictionary } from '../dictionary.ts';
import { reject } from '../error.ts';
import { made } from '../functions/index.ts';
import { type Sql, sql } from '../sql-fragment.ts';
import { as, type Expression } from '../typed-expression.ts';

/** What makes an interval, and the most that it takes: a thousand years, so that sums of them stay within the engine's range. */
export const INTERVALS = dictionary<string>({
  to_years: '1e3',
  to_quarters: '4e3',
  to_months: '12e3',
  to_weeks: '52e3',
  to_days: '365e3',
  to_hours: '876e4',
  to_minutes: '525e6',
  to_seconds: '315e8',
  to_milliseconds: '315e11',
  to_microseconds: '315e14',
});

/** `interval 5 minute`, which the parser makes `to_minutes(5)`; NULL beyond the most. */
export function interval(
  name: string,
  [value, ...more]: readonly Expression[],
  at: number | null,
): Expression {
  if (!value || more.length > 0) return reject(at, 'An interval takes one number');
  const number = sql`(${as(value, 'number', at)})::double`;
  const integer = /hours|minutes|seconds/.test(name) ? 'bigint' : 'integer';
  const count = name === 'to_seconds' ? number : sql`(${number})::${integer}`;
  const most = INTERVALS[name] ?? '0';
  return made('interval', sql`(case when abs(${number}) <= ${most} then ${name}(${count}) end)`, [
    value,
  ]);
}

/** An interval as a literal says it, `'5 minutes'`. */
export function intervalOf(value: Expression, at: number | null): Sql {
  if (value.kind === 'interval') return value.sql;
  const [, count, unit] = /^\s*(-?\d{1,15})\s+([a-z]+?)s?\s*$/i.exec(value.literal ?? '') ?? [];
  const name = `to_${unit?.toLowerCase()}s`;
  const most = INTERVALS[name];
  if (!count || most === undefined || Math.abs(Number(count)) > Number(most))
    return reject(at, "Expected an interval such as INTERVAL '5 minutes'");
  return `${name}(${count})`;
}
