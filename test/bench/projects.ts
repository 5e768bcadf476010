/** The names of 20 projects whose shares follow Zipf's law: the first has 28 % of the lines, the last 1.4 %. */
export const PROJECTS = Array.from(
  { length: 20 },
  (_, i) => `project${String(i).padStart(13, '0')}`,
);

const SHARES = PROJECTS.map((_, i) => 1 / (i + 1));
const TOTAL = SHARES.reduce((sum, share) => sum + share, 0);

/** The project that a number in [0, 1) falls to. */
export function projectAt(share: number): string {
  let rest = share * TOTAL;
  for (let i = 0; i < SHARES.length; i++) {
    rest -= SHARES[i] as number;
    if (rest < 0) return PROJECTS[i] as string;
  }
  return PROJECTS[0] as string;
}

/** The project of the nth question, each in turn. */
export function nthProject(n: number): string {
  return PROJECTS[n % PROJECTS.length] as string;
}

/**
 * `count` regular expressions, no two alike, that each match the URLs of one project: answers of `usage.api-counts` are
 * cached by the expression, so each of these is worked out anew.
 */
export function distinctPatterns(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, i) => {
    const n = Math.floor((from + i) / PROJECTS.length);
    return `${nthProject(from + i)}${n === 0 ? '' : `.{${n}}`}`;
  });
}
