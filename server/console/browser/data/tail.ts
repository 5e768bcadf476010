import { useEffect, useRef, useState } from 'preact/hooks';
import type { Entry } from './answers.ts';
import { follow } from './follow.ts';

export interface Tail {
  /** What came while it was not paused, newest first. */
  readonly entries: readonly Entry[];
  /** How many came since the pause. */
  readonly waiting: number;
  /** How many were too many to be sent. */
  readonly skipped: number;
  readonly state: 'off' | 'opening' | 'open' | 'broken';
  readonly problem: string | null;
  /** Counts the streams that were opened. */
  readonly opened: number;
}

/** So many are kept; older ones are in the store. */
export const TAIL_MAX = 2000;

const OFF: Tail = { entries: [], waiting: 0, skipped: 0, state: 'off', problem: null, opened: 0 };

/** What arrives at a source from now on; null follows none. While paused, what arrives is kept back. */
export function useTail(path: string | null, paused: boolean): Tail {
  const [tail, setTail] = useState(OFF);
  const kept = useRef<{ entries: readonly Entry[]; paused: boolean }>({ entries: [], paused });
  kept.current.paused = paused;

  useEffect(() => {
    kept.current.entries = [];
    setTail((before) => ({
      ...OFF,
      opened: before.opened,
      state: path === null ? 'off' : 'opening',
    }));
    if (path === null) return;
    const given = new AbortController();
    void follow(path, given.signal, {
      onOpen: () =>
        setTail((now) => ({ ...now, state: 'open', problem: null, opened: now.opened + 1 })),
      onEntries(entries) {
        kept.current.entries = [...entries.toReversed(), ...kept.current.entries].slice(
          0,
          TAIL_MAX,
        );
        const all = kept.current.entries;
        const held = kept.current.paused;
        setTail((now) =>
          held ? { ...now, waiting: now.waiting + entries.length } : { ...now, entries: all },
        );
      },
      onSkipped: (entries) => setTail((now) => ({ ...now, skipped: now.skipped + entries })),
      onBroken: (problem) => setTail((now) => ({ ...now, state: 'broken', problem })),
    });
    return () => given.abort();
  }, [path]);

  useEffect(() => {
    if (!paused) setTail((now) => ({ ...now, entries: kept.current.entries, waiting: 0 }));
  }, [paused]);
  return tail;
}
