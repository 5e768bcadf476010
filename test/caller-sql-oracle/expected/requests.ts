import type { Answer, Cell, Line } from '../answer.ts';
import type { Dataset, Row } from '../dataset.ts';
import { grouped, microseconds, ordered, shown, truncated } from '../form.ts';
import { at, type Scope } from '../reading.ts';
import { any, type Condition, type Levels, none } from './conditions.ts';

/** What must come back, by the name of the request. */
export type Expectations = Readonly<Record<string, (dataset: Dataset) => Answer>>;

/** A row of values at paths; a column without a name of its own has the last part of its path. */
export function picked(scope: Scope, paths: readonly string[]): Line {
  return Object.fromEntries(
    paths.map((path) => {
      const [from = path, name = path.split('.').at(-1) as string] = path.split(' as ');
      return [name, shown(at(scope, from)) as Cell];
    }),
  );
}

export function where(scopes: readonly Scope[], condition: Condition): Scope[] {
  return scopes.filter((scope) => condition(scope) === true);
}

/** The newest hundred, as a page lists them. */
export function list(scopes: readonly Scope[], ...paths: readonly string[]): Answer {
  return {
    rows: ordered(
      scopes.map((scope) => picked(scope, paths)),
      '-timestamp',
    ),
    by: (row) => row.timestamp,
    limit: 100,
  };
}

export function count(scopes: readonly unknown[]): Answer {
  return { rows: [{ count: scopes.length }] };
}

export function tally(scopes: readonly Scope[], condition: Condition): number {
  return where(scopes, condition).length;
}

/** Where the charts of the stored requests begin; exclusive. */
const CHART_START = microseconds('2026-08-21T06:00:00Z');

/** How many entries of which level each minute or day has, as the chart above a page shows. */
export function chart(
  scopes: readonly Scope[],
  { error, warning }: Levels,
  unit: 'minute' | 'hour' | 'day' = 'minute',
  after = CHART_START,
): Answer {
  const shown = scopes.filter((scope) => moment(scope) > after);
  const rows = grouped(shown, (scope) => [truncated(moment(scope), unit)]).map(
    ({ keys, items }) => ({
      timestamp: keys[0],
      ok_count: tally(items, none(any(error, warning))),
      error_count: tally(items, error),
      warning_count: tally(items, warning),
    }),
  );
  return { rows: ordered(rows, 'timestamp'), by: (row) => row.timestamp };
}

export function moment(scope: Scope): number {
  return at(scope, 't.timestamp') as number;
}

export function newest(rows: readonly Row[]): Row[] {
  return rows.toSorted((a, b) => b.timestamp - a.timestamp);
}

/** Ids and moments of rows, in the order of their moments. */
export function times(
  rows: readonly Row[],
  order: 'timestamp' | '-timestamp' = 'timestamp',
): Answer {
  const lines = rows.map(({ id, timestamp }) => ({ id, timestamp }));
  return { rows: ordered(lines, order), by: (row) => row.timestamp };
}

/** Rows in the order of columns; a `-` before a name is descending. */
export function sorted(rows: readonly Line[], ...columns: readonly string[]): Answer {
  const names = columns.map((column) => column.replace('-', ''));
  return { rows: ordered(rows, ...columns), by: (row) => names.map((name) => row[name]) };
}
