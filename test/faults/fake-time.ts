import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Debian's libfaketime, which gives a program another clock; null when it is not installed. */
export function fakeTime(): string | null {
  if (!existsSync('/usr/lib')) return null;
  const folders = readdirSync('/usr/lib').map((name) => join('/usr/lib', name, 'faketime'));
  const library = folders.map((folder) => join(folder, 'libfaketimeMT.so.1')).find(existsSync);
  return library ?? null;
}

/** The environment of a service whose both clocks go on by days when they are told to; `file` is what tells them. */
export function settableClock(library: string, file: string) {
  const set = (days: number) => {
    writeFileSync(`${file}.new`, `+${days}d\n`);
    renameSync(`${file}.new`, file);
  };
  set(0);
  return {
    // The times of files stay as they are.
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      NO_FAKE_STAT: '1',
    },
    /** So many days after the machine's own time; waits that are over by then end at once. */
    set,
  };
}
