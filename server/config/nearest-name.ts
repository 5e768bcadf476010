/** The name that was probably meant; null where none is near. */
export function nearestOf(name: string, names: readonly string[]): string | null {
  const nearest = names
    .map((known) => ({ known, far: distance(name, known) }))
    .sort((a, b) => a.far - b.far)[0];
  // Two letters that changed places are two changes.
  return nearest && nearest.far <= Math.max(2, name.length / 3) ? nearest.known : null;
}

/** Levenshtein's distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
