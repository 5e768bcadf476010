export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** A whole number below `end`. */
  below(end: number): number;
  pick<T>(items: readonly T[]): T;
  hex(digits: number): string;
  uuid(): string;
}

/** mulberry32: a seeded generator of numbers in [0, 1), so that every run sees the same values. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Random values of several kinds from a seed. */
export function randomOf(seed: number): Random {
  const next = seeded(seed);
  const below = (end: number) => Math.floor(next() * end);
  const hex = (digits: number) => {
    let text = '';
    while (text.length < digits) text += below(0x100000000).toString(16).padStart(8, '0');
    return text.slice(0, digits);
  };
  return {
    next,
    below,
    pick: <T>(items: readonly T[]) => items[below(items.length)] as T,
    hex,
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`,
  };
}
