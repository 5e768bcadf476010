import type { History } from './operations.ts';

/** Histories that failed once, each under what must hold; they run before random ones. */
export const REGRESSIONS: Readonly<Record<string, History>> = {
  'a file is read to its end that was truncated, written to, and deleted while it was open': [
    { do: 'start' },
    { do: 'append', log: 1, nth: 0, lines: 4, bytes: 60, bad: false },
    { do: 'settle' },
    // By then it is no longer looked at between two sweeps; the copy makes the next one begin at once.
    { do: 'wait', ms: 1300 },
    { do: 'copytruncate', log: 1, between: [] },
    { do: 'append', log: 1, nth: 0, lines: 4, bytes: 300, bad: false },
    { do: 'delete', log: 1, nth: 0 },
  ],
  'a copy of a file that was not known is not doubled where an older rotated one stood': [
    { do: 'start' },
    { do: 'append', log: 2, nth: 0, lines: 4, bytes: 60, bad: false },
    { do: 'settle' },
    { do: 'rename', log: 2, create: false },
    { do: 'settle' },
    { do: 'kill' },
    { do: 'append', log: 2, nth: 0, lines: 4, bytes: 60, bad: true },
    { do: 'copytruncate', log: 2, between: [{ do: 'start' }, { do: 'wait', ms: 1300 }] },
  ],
  'a packed log that was not read is read beside a new one that begins with the same line': [
    { do: 'recreate', log: 2, header: true, lines: 0 },
    { do: 'turns', log: 2, turns: 3, packed: true },
    { do: 'start' },
    { do: 'kill' },
    { do: 'start' },
    { do: 'rename', log: 2, create: true },
    { do: 'append', log: 2, nth: 1, lines: 4, bytes: 1100, bad: false },
    { do: 'begin', log: 2, whole: true },
    { do: 'stop' },
    { do: 'truncate', log: 2, hole: false },
    { do: 'delete', log: 2, nth: 2 },
    { do: 'recreate', log: 2, header: true, lines: 0 },
  ],
  'a packed log that was not read is read beside an older packed one that has nothing but the same line':
    [
      { do: 'recreate', log: 2, header: true, lines: 0 },
      { do: 'start' },
      { do: 'settle' },
      { do: 'rename', log: 2, create: false },
      { do: 'gzip', log: 2, nth: 1, between: [] },
      { do: 'settle' },
      { do: 'stop' },
      { do: 'recreate', log: 2, header: true, lines: 2 },
      { do: 'turns', log: 2, turns: 2, packed: true },
      { do: 'start' },
      { do: 'settle' },
    ],
};
