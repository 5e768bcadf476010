import type { Expression } from './expression.ts';
import { refuse } from './refusal.ts';
import type { Sql } from './rope.ts';
import { table } from './table.ts';

/** What makes an interval, and the most that it takes: a thousand years, so that sums of them stay within the engine's range. */
export const INTERVALS = table<string>({
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

/** An interval as a literal says it, `'5 minutes'`. */
export function intervalOf(value: Expression, at: number | null): Sql {
  if (value.kind === 'interval') return value.sql;
  const [, count, unit] = /^\s*(-?\d{1,15})\s+([a-z]+?)s?\s*$/i.exec(value.literal ?? '') ?? [];
  const name = `to_${unit?.toLowerCase()}s`;
  const most = INTERVALS[name];
  if (!count || most === undefined || Math.abs(Number(count)) > Number(most))
    return refuse(at, "Expected an interval such as INTERVAL '5 minutes'");
  return `${name}(${count})`;
}
