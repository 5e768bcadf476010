import type { Source } from '../../ingest/index.ts';

/** Rows from the front of a table that go to the warehouse in one INSERT of one block, in one partition: all of them or none. */
export interface Shipment {
  /** Which store they are of: a random UUID that was made with it. */
  readonly node: string;
  readonly source: Source;
  /** 1 for a source's first shipment, without a gap. */
  readonly seq: number;
  readonly rows: number;
  /** The day, in UTC, that all of its rows were stored on: `2026-11-25`. */
  readonly day: string;
  /** Of the file that was sent last, or is to be sent, in hex. */
  readonly sha256: string;
  /** The shard that it is sent to, which never changes. */
  readonly endpoint: string;
  /** What the store has committed: `sent` before the first byte leaves. */
  readonly state: 'cut' | 'sent';
}

/** By which the warehouse knows a repetition, whatever its rows are: so it names the bytes, too. */
export function tokenOf({ node, source, seq, sha256 }: Shipment): string {
  return `${node}/${source}/${seq}/${sha256}`;
}

/** What is to be done for a shipment. */
export type Step =
  /** Commit that the file at hand may have been sent. */
  | { readonly do: 'mark' }
  /** Send it. */
  | { readonly do: 'send' }
  /** Ask how many of its rows are there; `outlasted`: no INSERT of it can still be running. */
  | { readonly do: 'count'; readonly outlasted: boolean }
  /** Wait until no INSERT of it can be running. */
  | { readonly do: 'outlast' };

/** What is to be done at last. */
export type LastStep =
  /** Remove its rows from the store. */
  | { readonly do: 'settle' }
  /** Nothing more: a part of it is there, which one INSERT of one block cannot leave. */
  | { readonly do: 'stop' };

/** What came of a step; `unknown`: no answer, or one that says nothing of the rows. */
export type Outcome = 'done' | 'unknown' | { readonly count: number };

/** The first step for a shipment that the store has. */
export function firstStep({ state }: Pick<Shipment, 'state'>): Step {
  return state === 'cut' ? { do: 'mark' } : { do: 'count', outlasted: false };
}

/**
 * The next step. The rows of a shipment are in the warehouse once where each INSERT of it but the first follows a count of 0: an INSERT that
 * has ended is counted, however long ago that was, and one that is still running has the same token, so that one of the two becomes nothing.
 * The warehouse must know a token from a count of 0 to the end of the INSERT that follows it: a minute, of a window of days.
 * `isSame`: the file at hand is the one that was sent. One that was made anew by another version of the engine has another token, so it is
 * sent only when no other INSERT can be running.
 */
export function nextStep(
  step: Step,
  outcome: Outcome,
  { rows, isSame }: { readonly rows: number; readonly isSame: boolean },
): Step | LastStep {
  switch (step.do) {
    case 'mark':
      return { do: 'send' };
    case 'send':
      return outcome === 'done' ? { do: 'settle' } : { do: 'count', outlasted: false };
    case 'outlast':
      return { do: 'count', outlasted: true };
    case 'count': {
      if (typeof outcome === 'string') return step;
      if (outcome.count === rows) return { do: 'settle' };
      if (outcome.count !== 0) return { do: 'stop' };
      if (isSame) return { do: 'send' };
      return { do: step.outlasted ? 'mark' : 'outlast' };
    }
  }
}
