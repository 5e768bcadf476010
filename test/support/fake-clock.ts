import { setImmediate as settled } from 'node:timers/promises';
import type { Clock } from '../../server/endpoints/cache.ts';

export interface FakeClock extends Clock {
  /** Lets this much time go by: what is due runs in its order, each action with what it started settled. */
  advance(ms: number): Promise<void>;
  /** How many timers are still to run. */
  pending(): number;
}

/** A clock that stands until it is told to go on. */
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
