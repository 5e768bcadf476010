/** Successive shipments of a node whose rows are there. */
export interface Run {
  readonly node: string;
  readonly first: number;
  readonly last: number;
  /** When the first row of the first of them was stored, ms since the epoch. */
  readonly oldestMs: number;
}

/** Limits of the list: nodes, and gaps of each. */
const [MOST_NODES, MOST_GAPS] = [20, 5];

/**
 * Names the shipments that a source lacks, in a line for each node. A node numbers its shipments without a gap, and those after its last run
 * are not sent yet.
 * The time to live `keptMs` explains two kinds of gaps. Parts go in any order, so a gap before an expired run counts as expired, too. A gap
 * before the oldest run counts as expired if that run is older than half of the time. With a younger one, the rows of the other half are
 * gone, or the node sent none for so long.
 */
export function gapFaults(
  source: string,
  runs: readonly Run[],
  { keptMs, nowMs }: { readonly keptMs: number; readonly nowMs: number },
): string[] {
  const faults: string[] = [];
  for (const [node, own] of byNode(runs)) {
    const gaps: string[] = [];
    let last = 0;
    for (const run of own) {
      const isExplained = run.oldestMs + (last === 0 ? keptMs / 2 : keptMs) <= nowMs;
      if (run.first > last + 1 && !isExplained) gaps.push(rangeOf(last + 1, run.first - 1));
      last = Math.max(last, run.last);
    }
    if (gaps.length === 0) continue;
    const more = gaps.length > MOST_GAPS ? ` and ${gaps.length - MOST_GAPS} more gaps` : '';
    faults.push(
      `${source} lacks shipments ${gaps.slice(0, MOST_GAPS).join(', ')}${more} of node ${node}, which were there: look for a truncate, a dropped partition, a delete, or a server that is not named any more`,
    );
  }
  if (faults.length <= MOST_NODES) return faults;
  const more = `${source} lacks shipments of ${faults.length - MOST_NODES} more nodes`;
  return [...faults.slice(0, MOST_NODES), more];
}

/** The runs of each node, of all servers together, the lowest first. */
function byNode(runs: readonly Run[]): Map<string, Run[]> {
  const nodes = new Map<string, Run[]>();
  for (const run of runs) nodes.set(run.node, [...(nodes.get(run.node) ?? []), run]);
  for (const own of nodes.values()) own.sort((a, b) => a.first - b.first);
  return nodes;
}

function rangeOf(first: number, last: number): string {
  return first === last ? String(first) : `${first} to ${last}`;
}
