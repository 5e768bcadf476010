import { type Answer, type Cell, type Line, OneOf } from './answer.ts';
import type { Json } from './shape.ts';

const MAX_ROWS = 1000;

/** The first difference between the rows that came and those that must, as a sentence; undefined when there is none. */
export function difference(came: readonly Json[], { rows, by, limit }: Answer): string | undefined {
  const count = Math.min(limit ?? MAX_ROWS, MAX_ROWS, rows.length);
  const short = came.length !== count ? `${came.length} rows came instead of ${count}` : undefined;
  let start = 0;
  while (start < count) {
    const tie = by ? tieAt(rows, start, by) : rows;
    const end = Math.min(start + tie.length, count);
    const said = differenceOfSets(came.slice(start, end), tie, start);
    if (said) return short ? `${short}; ${said}` : said;
    start = end;
  }
  return short;
}

/** The rows from `start` on that may come in any order. */
function tieAt(rows: readonly Line[], start: number, by: (row: Line) => unknown): readonly Line[] {
  const key = JSON.stringify(by(rows[start] as Line));
  let end = start + 1;
  while (end < rows.length && JSON.stringify(by(rows[end] as Line)) === key) end++;
  return rows.slice(start, end);
}

/** Whether each row that came is one of those that may, none of them twice. */
function differenceOfSets(
  came: readonly Json[],
  may: readonly Line[],
  place: number,
): string | undefined {
  const exact = new Map<string, number[]>();
  may.forEach((row, i) => {
    const key = JSON.stringify(row);
    exact.set(key, [...(exact.get(key) ?? []), i]);
  });
  const left = new Set(may.keys());
  const inexact = came.flatMap((row, i) => {
    const found = exact.get(JSON.stringify(row))?.pop();
    if (found === undefined) return [{ row, place: place + i }];
    left.delete(found);
    return [];
  });
  for (const { row, place } of inexact) {
    const found = [...left].find((i) => isEqual(row, may[i] as Line));
    if (found === undefined)
      return told(
        row,
        [...left].map((i) => may[i] as Line),
        place,
      );
    left.delete(found);
  }
  return undefined;
}

function told(row: Json, left: readonly Line[], place: number): string {
  const nearest = left.toSorted((a, b) => agreement(row, b) - agreement(row, a))[0];
  if (!nearest) return `row ${place} is one too many: ${cut(row)}`;
  const names = Object.keys(nearest);
  const cameNames = Object.keys(row as object);
  if (names.join() !== cameNames.join())
    return `row ${place} has the columns ${cameNames.join()} instead of ${names.join()}`;
  const columns = row as Record<string, Json>;
  const faults = names
    .filter((name) => !isEqual(columns[name], nearest[name] as Cell))
    .map(
      (name) => `${name} = ${cut(columns[name] as Json)} instead of ${cut(nearest[name] as Cell)}`,
    );
  return `row ${place} has ${faults.join(' and ')}: ${cut(row)}`;
}

/** How many columns of a row are as they must be. */
function agreement(row: Json, expected: Line): number {
  const columns = row as Record<string, Json>;
  return Object.keys(expected).filter((name) => isEqual(columns[name], expected[name] as Cell))
    .length;
}

function cut(value: Cell | Line): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

/** Whether a value is the expected one: columns in the same order, fractions to nine digits. */
function isEqual(value: Json | undefined, expected: Cell | Line): boolean {
  if (expected instanceof OneOf) return value !== undefined && expected.accepts(value);
  if (typeof value === 'number' && typeof expected === 'number')
    return value === expected || Math.abs(value - expected) <= 1e-9 * Math.abs(expected);
  if (typeof value !== 'object' || typeof expected !== 'object' || !value || !expected)
    return value === expected;
  if (Array.isArray(value) !== Array.isArray(expected)) return false;
  const names = Object.keys(value);
  const expectedNames = Object.keys(expected);
  if (names.length !== expectedNames.length || names.some((name, i) => name !== expectedNames[i]))
    return false;
  return names.every((name) =>
    isEqual(
      (value as Record<string, Json>)[name],
      (expected as Record<string, Json>)[name] as Json,
    ),
  );
}
