import { useEffect, useState } from 'preact/hooks';
import { useReach } from './reach.ts';
import { type Answer, ask, isUnreachable, messageOf } from './request.ts';

export interface Loaded<T> {
  /** The last answer; stays until the next one is there, and when there is a problem, so that nothing jumps. */
  readonly answer: Answer<T> | null;
  readonly problem: string | null;
  readonly loading: boolean;
  /** Whether the answer is not that of what is asked for now: that is not there yet, or never will be. */
  readonly isOld: boolean;
}

const NONE = { answer: null, problem: null, loading: false, isOld: false } as const;

/**
 * The answer to a GET, or to a POST of `body`; asks anew when the path, the body or the turn changes, or the service is there again, and gives up what was asked before.
 */
export function useAnswer<T>(path: string | null, turn = 0, body?: object): Loaded<T> {
  const [state, setState] = useState<Loaded<T>>({ ...NONE, loading: true });
  const { returns } = useReach();
  // By its text: another object that says the same asks nothing anew.
  const posted = body && JSON.stringify(body);
  // A new turn asks the same again.
  useEffect(() => {
    if (path === null) return setState(NONE);
    const given = new AbortController();
    setState((before) => ({ ...before, loading: true, isOld: true }));
    ask<T>(path, given.signal, posted && JSON.parse(posted)).then(
      (answer) => {
        if (!given.signal.aborted)
          setState({ answer, problem: null, loading: false, isOld: false });
      },
      (error) => {
        if (given.signal.aborted) return;
        const problem = isUnreachable(error) ? null : messageOf(error);
        setState(({ answer }) => ({ answer, problem, loading: false, isOld: true }));
      },
    );
    return () => given.abort();
  }, [path, posted, turn, returns]);
  return state;
}
