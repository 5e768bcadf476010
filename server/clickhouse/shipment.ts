import type { Shipment } from '../store/index.ts';

/** By which the warehouse knows a repetition, whatever its rows are: so it names the bytes, too. */
export function tokenOf({ node, source, seq, sha256 }: Shipment): string {
  return `${node}/${source}/${seq}/${sha256}`;
}

/** The next thing to do for a shipment. */
export type Step =
  /** Commit that the file at hand, which differs from the committed one, may have been sent. */
  | { readonly do: 'mark' }
  | { readonly do: 'send' }
  /** Count its rows in the warehouse; `after`: what else is known of INSERTs of it. */
  | { readonly do: 'count'; readonly after: After }
  /** Look how the table can have fewer rows than it confirmed; `hasSome`: it has a part of them. */
  | { readonly do: 'look'; readonly hasSome: boolean }
  /** Wait until no INSERT of it can be running, or its rows are there; `renews`: its token is known without the rows. */
  | { readonly do: 'outlast'; readonly renews: boolean }
  /** Make its file anew, with other bytes. */
  | { readonly do: 'renew' };

/** `confirmed`: the last INSERT got a 200; `outlasted`: no INSERT can be running; `tokenOnly`: `outlasted`, and the token is known without the rows. */
type After = 'doubt' | 'confirmed' | 'outlasted' | 'tokenOnly';

/** The last thing to do. */
export type LastStep =
  /** Remove its rows from the store. */
  | { readonly do: 'settle' }
  /** Nothing more: a part of it is there, which one INSERT of one block cannot leave. */
  | { readonly do: 'stop' };

/** How a table can lack rows that it confirmed. */
export interface Lack {
  /** How many of the shipment's rows the table's time to live removes by now. */
  readonly expired: 'none' | 'some' | 'all';
  /** True where a server may know the token without the rows. Replicas commit both at once, and one of them may have them later. */
  readonly forgets: boolean;
}

/** The result of a step; `unknown`: no answer, or one that ClickHouse did not give. */
export type Outcome = 'done' | 'unknown' | { readonly count: number } | Lack;

/**
 * The first step for a shipment that the store has; `isNew`: no process has sent anything of it; `isSame`: the file at hand is the one that
 * the store has committed.
 */
export function firstStep({ isNew, isSame }: { isNew: boolean; isSame: boolean }): Step {
  if (!isNew) return { do: 'count', after: 'doubt' };
  return { do: isSame ? 'send' : 'mark' };
}

/**
 * The next step. A shipment is settled only after the warehouse has counted all of its rows: a 200 alone says nothing of who gave it. The one
 * exception are rows that the time to live of their table has removed by then.
 * The rows are there once where each INSERT but the first follows a count of 0: an INSERT that has ended is counted, however long ago that
 * was, and one that is still running has the same token, so that one of the two becomes nothing. The warehouse must know a token from a
 * count of 0 to the end of the INSERT that follows it: a minute, of a window of days.
 * A server that is killed may know a token and not have its rows: it writes the token first. Where nothing is there after a confirmation,
 * the shipment is sent with other bytes, and so with another token, once no INSERT of it can be running.
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
      return { do: 'mark' };
    case 'mark':
      return { do: 'send' };
    case 'send':
      return { do: 'count', after: outcome === 'done' ? 'confirmed' : 'doubt' };
    case 'outlast':
      return { do: 'count', after: step.renews ? 'tokenOnly' : 'outlasted' };
    case 'look':
      if (typeof outcome === 'string' || !('expired' in outcome))
        return { do: 'count', after: 'doubt' };
      if (outcome.expired === 'all' || (outcome.expired === 'some' && step.hasSome))
        return { do: 'settle' };
      return step.hasSome ? { do: 'stop' } : { do: 'outlast', renews: outcome.forgets };
    case 'count': {
      // The 200 may have come from whoever answers now, and so confirms nothing.
      if (typeof outcome === 'string' || !('count' in outcome))
        return { do: 'count', after: step.after === 'confirmed' ? 'doubt' : step.after };
      if (outcome.count === rows) return { do: 'settle' };
      if (outcome.count > rows) return { do: 'stop' };
      if (outcome.count > 0) return { do: 'look', hasSome: true };
      if (step.after === 'confirmed') return { do: 'look', hasSome: false };
      if (step.after === 'tokenOnly') return { do: 'renew' };
      if (isSame) return { do: 'send' };
      return step.after === 'outlasted' ? { do: 'mark' } : { do: 'outlast', renews: false };
    }
  }
}
