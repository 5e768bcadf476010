import type { Entry } from './answers.ts';
import { NEXT_PAGE } from './entries.ts';
import { fixedRange, type Range } from './range.ts';
import { ask, pathOf } from './request.ts';

/** How far to each side, in milliseconds: the first after which no more came than a page has. */
const REACHES_MS = [60_000, 15_000, 4000, 1000, 250, 60, 15, 4, 1];

/** The range around an entry of these sources: a minute before it and after, or less where much came. Throws `Problem`. */
export async function rangeAround(entry: Entry, source: string): Promise<Range> {
  const at = Date.parse(entry.timestamp);
  for (const reach of REACHES_MS) {
    const range = fixedRange(at - Math.max(reach, 1000), at + reach + 1);
    const path = pathOf(`/api/entries/${source}`, {
      from: entry.timestamp,
      to: range.to,
      limit: NEXT_PAGE,
    });
    if (!(await ask<Entry[]>(path)).truncated) return range;
  }
  // So many came within a millisecond; more of them are loaded as one scrolls.
  return fixedRange(at - 1000, at + 1);
}
