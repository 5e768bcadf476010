import type { Shipment } from '../store/index.ts';

/** By which the warehouse knows a repetition, whatever its rows are: so it names the bytes, too. */
export function tokenOf({ node, source, seq, sha256 }: Shipment): string {
  return `${node}/${source}/${seq}/${sha256}`;
}

/** The next thing to do for a shipment. */
export type Step =
  /** Commit that the file at hand, which is not the one of before, may have been sent. */
  | { readonly do: 'mark'; readonly isFirst: boolean }
  /** Send it; `isFirst`: nothing of the shipment was ever sent. */
  | { readonly do: 'send'; readonly isFirst: boolean }
  /** Ask how many of its rows are there; `after`: what else is known of INSERTs of it. */
  | { readonly do: 'count'; readonly after: After }
  /** Wait until no INSERT of it can be running; `renews`: its token is known without the rows. */
  | { readonly do: 'outlast'; readonly renews: boolean }
  /** Make its file anew, with other bytes. */
  | { readonly do: 'renew' };

/** `confirmed`: the warehouse has confirmed a repetition; `outlasted`: none can be running, `tokenOnly`: and its token is known without the rows. */
type After = 'doubt' | 'confirmed' | 'outlasted' | 'tokenOnly';

/** The last thing to do. */
export type LastStep =
  /** Remove its rows from the store. */
  | { readonly do: 'settle' }
  /** Nothing more: a part of it is there, which one INSERT of one block cannot leave. */
  | { readonly do: 'stop' };

/** What came of a step; `unknown`: no answer, or one that says nothing of the rows. */
export type Outcome = 'done' | 'unknown' | { readonly count: number };

/**
 * The first step for a shipment that the store has; `isNew`: no process has sent anything of it; `isSame`: the file at hand is the one that
 * the store has committed.
 */
export function firstStep({ isNew, isSame }: { isNew: boolean; isSame: boolean }): Step {
  if (!isNew) return { do: 'count', after: 'doubt' };
  return { do: isSame ? 'send' : 'mark', isFirst: true };
}

/**
 * The next step. The rows of a shipment are in the warehouse once where each INSERT of it but the first follows a count of 0: an INSERT that
 * has ended is counted, however long ago that was, and one that is still running has the same token, so that one of the two becomes nothing.
 * The warehouse must know a token from a count of 0 to the end of the INSERT that follows it: a minute, of a window of days.
 * A warehouse that is killed may know a token and not have its rows: it writes the token first. So a repetition that it confirms is counted,
 * too; where nothing is there, it is sent with other bytes, and so with another token, once no INSERT of it can be running.
 * `isSame`: the file at hand is the one that was sent. A file that another version of the engine made anew has another token, so it is
 * sent only when no other INSERT can be running.
 */
export function nextStep(
  step: Step,
  outcome: Outcome,
  { rows, isSame }: { readonly rows: number; readonly isSame: boolean },
): Step | LastStep {
  switch (step.do) {
    case 'renew':
      return { do: 'mark', isFirst: false };
    case 'mark':
      return { do: 'send', isFirst: step.isFirst };
    case 'send':
      if (outcome !== 'done') return { do: 'count', after: 'doubt' };
      return step.isFirst ? { do: 'settle' } : { do: 'count', after: 'confirmed' };
    case 'outlast':
      return { do: 'count', after: step.renews ? 'tokenOnly' : 'outlasted' };
    case 'count': {
      if (typeof outcome === 'string') return step;
      if (outcome.count === rows) return { do: 'settle' };
      if (outcome.count !== 0) return { do: 'stop' };
      if (step.after === 'confirmed') return { do: 'outlast', renews: true };
      if (step.after === 'tokenOnly') return { do: 'renew' };
      if (isSame) return { do: 'send', isFirst: false };
      return step.after === 'outlasted'
        ? { do: 'mark', isFirst: false }
        : { do: 'outlast', renews: false };
    }
  }
}
