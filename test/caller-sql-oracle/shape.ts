import type { Random } from '../support/random.ts';

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** What an entry says, without its moment, id and project. */
export interface Shape {
  readonly message: string;
  /** No metadata at all, or JSON of any form. */
  readonly metadata?: Json;
  /** Further top-level fields of the line. */
  readonly line?: Record<string, Json>;
}

/** The fields, with this probability; else none. */
export function perhaps<T extends object>(
  random: Random,
  probability: number,
  fields: T,
): T | Record<string, never> {
  return random.next() < probability ? fields : {};
}

/** One of the values, as often as its weight says. */
export function weighted<T>(random: Random, ...choices: readonly (readonly [number, T])[]): T {
  let left = random.next() * choices.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, value] of choices) {
    left -= weight;
    if (left < 0) return value;
  }
  throw new Error('BUG: no choice was left');
}
