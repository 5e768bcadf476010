import type { History } from './operations.ts';

/** Histories that failed once, each under what must hold. */
export const REGRESSIONS: Readonly<Record<string, History>> = {
  'a file is read to its end that was truncated, written to, and deleted while it was open': [
    { do: 'start' },
    { do: 'append', log: 1, nth: 0, lines: 4, bytes: 60, bad: false },
    { do: 'settle' },
    { do: 'truncate', log: 1 },
    { do: 'append', log: 1, nth: 0, lines: 4, bytes: 300, bad: false },
    { do: 'delete', log: 1, nth: 0 },
  ],
  'a copy that is shorter than what was read is not read again when it is compressed at once': [
    { do: 'start' },
    { do: 'append', log: 0, nth: 0, lines: 1, bytes: 0, bad: true },
    { do: 'settle' },
    {
      do: 'copytruncate',
      log: 0,
      between: [{ do: 'append', log: 0, nth: 0, lines: 3, bytes: 0, bad: false }, { do: 'settle' }],
    },
    { do: 'gzip', log: 0, nth: 1, between: [] },
    { do: 'append', log: 0, nth: 0, lines: 2, bytes: 60, bad: false },
    { do: 'wait', ms: 5000 },
  ],
};
