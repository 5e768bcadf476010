import { useEffect, useState } from 'preact/hooks';
import { type Answer, ask, messageOf } from './request.ts';

export interface Loaded<T> {
  /** The last answer; stays until the next one is there, so that nothing jumps. */
  readonly answer: Answer<T> | null;
  readonly problem: string | null;
  readonly loading: boolean;
}

/** The answer to a GET; asks anew when the path or the turn changes, and gives up what was asked before. */
export function useAnswer<T>(path: string | null, turn = 0): Loaded<T> {
  const [state, setState] = useState<Loaded<T>>({ answer: null, problem: null, loading: true });
  // A new turn asks the same again.
  useEffect(() => {
    if (path === null) return setState({ answer: null, problem: null, loading: false });
    const given = new AbortController();
    setState((before) => ({ ...before, loading: true }));
    ask<T>(path, given.signal).then(
      (answer) => {
        if (!given.signal.aborted) setState({ answer, problem: null, loading: false });
      },
      (error) => {
        if (!given.signal.aborted)
          setState({ answer: null, problem: messageOf(error), loading: false });
      },
    );
    return () => given.abort();
  }, [path, turn]);
  return state;
}
