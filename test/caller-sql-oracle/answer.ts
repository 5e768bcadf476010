import type { Json } from './shape.ts';

/** Something that stands for several values that would all be right. */
export class OneOf {
  readonly says: string;
  readonly accepts: (value: Json) => boolean;

  constructor(says: string, accepts: (value: Json) => boolean) {
    this.says = says;
    this.accepts = accepts;
  }

  toJSON(): string {
    return `<${this.says}>`;
  }
}

export type Cell = Json | OneOf;

/** A row of an answer: its columns in their order. */
export type Line = Readonly<Record<string, Cell>>;

/** What must come back. */
export interface Answer {
  /** All rows before a limit cuts them, in the order of the request. */
  readonly rows: readonly Line[];
  /** What the order goes by: rows for which it is equal may come in any order. Without it all may. */
  readonly by?: (row: Line) => unknown;
  /** The most rows; 1000 without it. */
  readonly limit?: number;
}

/** Any of these values. */
export function oneOf(values: readonly Json[]): OneOf {
  const texts = new Set(values.map((value) => JSON.stringify(value)));
  return new OneOf(`one of ${texts.size} values`, (value) => texts.has(JSON.stringify(value)));
}

/**
 * What an approximate quantile may be: a number between those whose ranks are a hundredth of all, and one place, lower
 * and higher than `part` says. `change` is what the request does with it.
 */
export function quantile(
  values: readonly number[],
  part: number,
  change: (value: number) => number = (value) => value,
): Cell {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const last = sorted.length - 1;
  const low = sorted[Math.max(0, Math.floor(last * (part - 0.01)) - 1)] as number;
  const high = sorted[Math.min(last, Math.ceil(last * (part + 0.01)) + 1)] as number;
  const [from, to] = [change(low), change(high)];
  return new OneOf(
    `${from} to ${to}`,
    (value) =>
      typeof value === 'number' &&
      value >= from - 1e-9 * Math.abs(from) &&
      value <= to + 1e-9 * Math.abs(to),
  );
}
