/** How long a turn may last, in ms. A request that waits for one, such as `/livez`, waits about this long. */
const TURN_MS = 10;

/** Divides the event loop among the bodies that are read: one turn a pass, however many requests there are. */
export interface Turns {
  /** Returns true once the turn that runs has lasted its time. */
  isOver(): boolean;
  /** Resolves when the next turn begins. Turns are given in the order of asking. */
  next(): Promise<void>;
}

export function createTurns(): Turns {
  const waiting: (() => void)[] = [];
  let begun = Number.NEGATIVE_INFINITY;
  const begin = () => {
    begun = performance.now();
    waiting.shift()?.();
    // In the next pass: immediates that are set before it begins would all run in one.
    if (waiting.length > 0) setImmediate(begin);
  };
  return {
    isOver: () => performance.now() - begun > TURN_MS,
    next: () =>
      new Promise((resolve) => {
        if (waiting.push(resolve) === 1) setImmediate(begin);
      }),
  };
}
