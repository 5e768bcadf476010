/**
 * The cases that `npm test` keeps: at least one for each promise in docs/reliability.md. All others are tagged as slow;
 * `npm run test:slow` runs them.
 */
export const CORE: ReadonlySet<string> = new Set([
  // Half a line, a line after a last line without its newline.
  'T03a',
  // Rotated by logrotate, renamed under its writer, copied and truncated.
  'T05',
  'T06',
  'T07a',
  // Truncated while it is followed, deleted with unread bytes.
  'T09',
  'T12a',
  // The same first bytes, and an inode that is used again.
  'T13a',
  'T14a',
  'T15a',
  // Links out of the folder, odd lines, byte-order marks, line ends, packed files.
  'T16a',
  'T19',
  'T20',
  'T22',
  'T26c',
  // Killed again and again, and a batch that fails in each of its harnesses: staging, statements, commit, checkpoint.
  'D01b',
  'D05f',
  'D07a',
  'D07b',
  'D05d',
  'D22d',
  // A full disk.
  'D05a',
  // Stores that are lost in part, broken, or of another version; a second process.
  'D09a',
  'D10a',
  'D10j',
  'D10l',
  'D18',
  'D12a',
  'D25a',
  'D25c',
  // A backup under load, and a restore.
  'D16a',
  'D16d',
  // A stop, and an error that nobody handles, under load.
  'D13a',
  'D22a',
  // Retention over a restart.
  'D17a',
  // Tokens, limits, odd requests.
  'H01a',
  'H01b',
  'H02c',
  'H06a',
  'H06b',
  'H06c',
  'H06d',
  'H07',
  'H08',
  'H09',
  'H10b',
  // Files of pushed lines after a kill and after lost power.
  'P03',
  'P04',
  // SQL of callers: the attack list.
  'S01a',
  'S01b',
  'S01c',
  'S01d',
  'S01e',
  'S03',
  'S04a',
  'S04b',
  'S04c',
  'S04d',
  'S05a',
  'S05b',
  'S05c',
  'S05d',
  'S13a',
  'S15a',
  'S15b',
  'S15c',
  'S18a',
]);
