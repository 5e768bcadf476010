/**
 * The cases that `npm test` keeps: at least one for each promise in docs/reliability.md that test/integration/ does not show. All others
 * are tagged as slow; `npm run test:slow` runs them.
 */
export const CORE: ReadonlySet<string> = new Set([
  // Truncated, or deleted and made again, over a kill.
  'T08',
  // Links out of the folder.
  'T16',
  // Killed again and again, and a batch that fails in its harnesses: staging, statements, commit.
  'D01b',
  'D05f',
  'D07a',
  'D07b',
  'D05d',
  // Stores that are lost in part, broken, or of another version; a second process.
  'D10a',
  'D10j',
  'D10l',
  'D18',
  'D12a',
  'D25a',
  'D25c',
  // A backup under load, and a restore.
  'D16a',
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
  'S01g',
  'S03',
  'S04a',
  'S04b',
  'S04c',
  'S04d',
  'S05a',
  'S05b',
  'S05c',
  'S05d',
  'S05h',
  'S13a',
  'S15a',
  'S15b',
  'S15c',
]);
