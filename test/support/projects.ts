/** The names of 20 projects whose shares follow Zipf's law: the first has 28 % of the lines, the last 1.4 %. */
export const PROJECTS = projects(20);

/** The names of so many projects. */
export function projects(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `project${String(i).padStart(13, '0')}`);
}

/** Gives the project, of those named, that a number in [0, 1) falls to; their shares follow Zipf's law. */
export function projectsAt(names: readonly string[]): (share: number) => string {
  const shares = names.map((_, i) => 1 / (i + 1));
  const total = shares.reduce((sum, share) => sum + share, 0);
  return (share) => {
    let rest = share * total;
    for (const [i, name] of names.entries()) {
      rest -= shares[i] as number;
      if (rest < 0) return name;
    }
    return names[0] as string;
  };
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
