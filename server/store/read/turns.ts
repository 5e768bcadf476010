import { AppError } from '../../errors.ts';

export interface TurnsOptions {
  /** How many may run at a time. */
  readonly running: number;
  /** How many more may wait. */
  readonly waiting: number;
  /** How many of both one owner may have; as many as there are by default. */
  readonly ofOwner?: { readonly running: number; readonly waiting: number };
}

/** Whose turn it is to run. Who has no owner comes first, and may have all there is. */
export interface Turns {
  /** Resolves when it is one's turn, which lasts until `leave`. Throws `OVERLOADED` when too many wait, and the signal's reason. */
  enter(signal: AbortSignal, owner?: string): Promise<void>;
  leave(owner?: string): void;
  /** Lets none begin until `resume`: they wait, within their time. */
  hold(): void;
  resume(): void;
  counts(): { readonly running: number; readonly waiting: number };
}

/** A query that waits. */
interface Waiting {
  readonly owner: string | undefined;
  begin(): void;
}

export function createTurns({
  running: most,
  waiting: places,
  ofOwner = { running: most, waiting: places },
}: TurnsOptions): Turns {
  /** Whom each one that runs is for. */
  const owners: (string | undefined)[] = [];
  const waiting: Waiting[] = [];
  let held = false;

  const mayRun = (owner: string | undefined) => countOf(owners, owner) < ofOwner.running;
  const mayWait = (owner: string | undefined) => {
    const others = waiting.map((each) => each.owner);
    return others.length < places && countOf(others, owner) < ofOwner.waiting;
  };

  const beginNext = () => {
    while (!held && owners.length < most) {
      // The next one is of the owner with the fewest running, and has waited longest.
      const able = waiting.filter(({ owner }) => mayRun(owner));
      const fewest = Math.min(...able.map(({ owner }) => countOf(owners, owner)));
      const next = able.find(({ owner }) => countOf(owners, owner) === fewest);
      if (!next) return;
      waiting.splice(waiting.indexOf(next), 1);
      next.begin();
    }
  };

  return {
    async enter(signal, owner) {
      signal.throwIfAborted();
      if (!held && owners.length < most && mayRun(owner)) {
        owners.push(owner);
        return;
      }
      if (!mayWait(owner)) throw new AppError('OVERLOADED');
      await new Promise<void>((resolve, reject) => {
        const begin = () => {
          signal.removeEventListener('abort', leave);
          owners.push(owner);
          resolve();
        };
        const own = { owner, begin };
        const leave = () => {
          waiting.splice(waiting.indexOf(own), 1);
          reject(signal.reason);
        };
        signal.addEventListener('abort', leave, { once: true });
        waiting.push(own);
      });
    },
    leave(owner) {
      owners.splice(owners.indexOf(owner), 1);
      beginNext();
    },
    hold() {
      held = true;
    },
    resume() {
      held = false;
      beginNext();
    },
    counts: () => ({ running: owners.length, waiting: waiting.length }),
  };
}

/** Returns how many of `owners` are `owner`; 0 for those of nobody. */
function countOf(owners: readonly (string | undefined)[], owner: string | undefined): number {
  return owner === undefined ? 0 : owners.filter((each) => each === owner).length;
}
