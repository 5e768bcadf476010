import { setImmediate as settled } from 'node:timers/promises';
import type { Clock } from '../../server/endpoints/cache.ts';

export interface FakeClock extends Clock {
  /** Advances the time. Due actions run in order; what one has started settles before the next one runs. */
  advance(ms: number): Promise<void>;
  /** Returns how many timers have not run yet. */
  pending(): number;
}

/** Makes a clock that stands still until it is advanced. */
export function fakeClock(): FakeClock {
  let now = 5_000;
  const timers: { at: number; action: () => void }[] = [];
  return {
    now: () => now,
    setTimeout(action, ms) {
      timers.push({ at: now + ms, action });
      return { unref() {} };
    },
    async advance(ms) {
      const end = now + ms;
      for (;;) {
        timers.sort((a, b) => a.at - b.at);
        const next = timers[0];
        if (!next || next.at > end) break;
        timers.shift();
        now = Math.max(now, next.at);
        next.action();
        await settled();
      }
      now = end;
    },
    pending: () => timers.length,
  };
}
