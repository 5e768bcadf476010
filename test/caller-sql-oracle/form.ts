import type { Line } from './answer.ts';
import type { Row } from './dataset.ts';
import type { Json } from './shape.ts';

/** Metadata, or a part of it, as answers show it: an object that stands in no array is an array of one. */
export function shown(value: Json): Json {
  if (value === null || typeof value !== 'object') return value;
  return Array.isArray(value) ? value.map(inArray) : [inArray(value)];
}

function inArray(value: Json): Json {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(inArray);
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shown(field)]));
}

/** A whole row as answers show it. */
export function shownRow({ id, timestamp, event_message, metadata, project }: Row): Json {
  return [
    { id, timestamp, event_message, metadata: shown(metadata), project, identifier: project },
  ];
}

/** The moment that a text names, in microseconds since the epoch. */
export function microseconds(text: string): number {
  return Date.parse(text) * 1000;
}

const UNITS = { second: 1e6, minute: 60e6, hour: 3600e6, day: 86_400e6 } as const;

/** The beginning of the unit that a moment lies in, in microseconds as both. */
export function truncated(moment: number, unit: keyof typeof UNITS): number {
  return Math.floor(moment / UNITS[unit]) * UNITS[unit];
}

/** A moment as a DATETIME: a fraction only where there is one. */
export function datetime(moment: number): string {
  const seconds = new Date(Math.floor(moment / 1000)).toISOString().slice(0, 19);
  const fraction = moment % 1_000_000;
  return fraction === 0 ? seconds : `${seconds}.${`${fraction}`.padStart(6, '0')}`;
}

/** Rounded half away from zero, as SQL rounds. */
export function rounded(value: number, digits: number): number {
  const factor = 10 ** digits;
  return (Math.sign(value) * Math.round(Math.abs(value) * factor)) / factor;
}

/** Groups in the order in which they first appear: the values they are grouped by, and their members. */
export function grouped<T, K extends readonly Json[]>(
  items: readonly T[],
  keys: (item: T) => readonly [...K],
): { keys: readonly [...K]; items: T[] }[] {
  const groups = new Map<string, { keys: readonly [...K]; items: T[] }>();
  for (const item of items) {
    const values = keys(item);
    const name = JSON.stringify(values);
    const group = groups.get(name) ?? { keys: values, items: [] };
    groups.set(name, group);
    group.items.push(item);
  }
  return [...groups.values()];
}

/** Puts rows in an order by columns; a `-` before a name is descending. Nulls count as least. */
export function ordered<T extends Line>(rows: readonly T[], ...columns: readonly string[]): T[] {
  return rows.toSorted((a, b) => {
    for (const column of columns) {
      const descending = column.startsWith('-');
      const name = descending ? column.slice(1) : column;
      const order = compared(a[name] as Json, b[name] as Json);
      if (order !== 0) return descending ? -order : order;
    }
    return 0;
  });
}

function compared(a: Json, b: Json): number {
  if (a === b) return 0;
  if (a === null) return -1;
  if (b === null) return 1;
  if (typeof a === 'string' && typeof b === 'string')
    return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return Number(a) - Number(b);
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The mean of the values that are there; null of none. */
export function mean(values: readonly (number | null)[]): number | null {
  const there = values.filter((value) => value !== null);
  return there.length > 0 ? sum(there) / there.length : null;
}
