/** The parts of the time of an answer, in the order of the header. */
const PHASES = ['wait', 'parse', 'plan', 'read', 'encode'] as const;
export type Phase = (typeof PHASES)[number];

/** The header that says what the time of an answer went into. */
export const TIMING = 'Server-Timing';

/** Counts the time of an answer. Parts that go on at the same time each count. */
export interface Spent {
  /** Runs `action`, and counts its time, also where it fails. */
  on<T>(phase: Phase, action: () => Promise<T>): Promise<T>;
  /** Returns the header, with the phases so far and the whole time until now, ms. */
  headers(): Readonly<Record<typeof TIMING, string>>;
}

export function countSpent(): Spent {
  const beganMs = performance.now();
  const spentMs = new Map<string, number>();
  return {
    async on(phase, action) {
      const startMs = performance.now();
      try {
        return await action();
      } finally {
        spentMs.set(phase, (spentMs.get(phase) ?? 0) + performance.now() - startMs);
      }
    },
    headers() {
      const phases = PHASES.filter((phase) => spentMs.has(phase));
      const total = performance.now() - beganMs;
      const parts = [
        ...phases.map((phase) => [phase, spentMs.get(phase)] as const),
        ['total', total],
      ];
      return {
        [TIMING]: parts.map(([name, ms]) => `${name};dur=${Number(ms).toFixed(1)}`).join(', '),
      };
    },
  };
}
