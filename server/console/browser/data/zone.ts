import { useState } from 'preact/hooks';
import type { Zone } from './times.ts';

const KEY = 'tailpond-zone';

/** Whose clock times are written in, kept by the browser; and the step to the other. */
export function useZone(): { zone: Zone; other: () => void } {
  const [zone, setZone] = useState<Zone>(localStorage.getItem(KEY) === 'utc' ? 'utc' : 'local');
  const other = () => {
    const next = zone === 'utc' ? 'local' : 'utc';
    localStorage.setItem(KEY, next);
    setZone(next);
  };
  return { zone, other };
}
