/**
 * Bounds a question as a whole: a request makes one deadline, and every statement and every wait for its answer takes that one. A statement
 * has no time limit of its own.
 */
import { AppError } from './errors.ts';
import { countSpent, type Spent } from './spent.ts';

export interface Deadline {
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Counts what the time went into. */
  readonly spent: Spent;
  /** Milliseconds that are left; 0 or less once the time is over. */
  remainingMs(): number;
  /** Returns the whole time again, from now on, for the next part of an answer that goes on while its client reads. */
  renewed(): Deadline;
  /** Returns the same deadline for a part of the question whose time is counted as a whole. */
  apart(): Deadline;
}

/** `signal` ends the question earlier, with its reason. */
export function deadlineIn(ms: number, signal = new AbortController().signal): Deadline {
  const endMs = performance.now() + ms;
  const deadline: Deadline = {
    signal,
    spent: countSpent(),
    remainingMs: () => endMs - performance.now(),
    renewed: () => deadlineIn(ms, signal),
    apart: () => ({ ...deadline, spent: countSpent() }),
  };
  return deadline;
}

/**
 * Runs `action`, which should end when its signal aborts: at the deadline, with `QUERY_TIMEOUT`, or with the deadline's own signal. After
 * either, throws the reason and does not begin.
 */
export async function within<T>(
  deadline: Deadline,
  action: (ends: AbortSignal) => Promise<T>,
): Promise<T> {
  deadline.signal.throwIfAborted();
  const remainingMs = deadline.remainingMs();
  if (remainingMs <= 0) throw new AppError('QUERY_TIMEOUT');
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(new AppError('QUERY_TIMEOUT')), remainingMs);
  try {
    return await action(AbortSignal.any([deadline.signal, timeout.signal]));
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for work that others may share, and that goes on after the deadline. Throws like `within`. */
export function waitFor<T>(deadline: Deadline, work: () => Promise<T>): Promise<T> {
  return within(deadline, (ends) => {
    const ended = new Promise<never>((_resolve, reject) => {
      ends.addEventListener('abort', () => reject(ends.reason), { once: true });
    });
    return Promise.race([work(), ended]);
  });
}
