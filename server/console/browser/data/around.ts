import type { Bucket, Entry } from './answers.ts';
import { NEXT_PAGE } from './entries.ts';
import { fixedRange, type Range } from './range.ts';
import { ask, pathOf } from './request.ts';

/** How far to each side, in seconds; nearer where more came, so that the entry is on the first page. */
const REACHES = [60, 30, 10, 5, 2, 1];

/** The range around an entry of these sources: a minute before it and after, or less where much came. Throws `Problem`. */
export async function rangeAround(entry: Entry, source: string): Promise<Range> {
  const at = Math.floor(Date.parse(entry.timestamp) / 1000) * 1000;
  const [widest = 60] = REACHES;
  const path = pathOf(`/api/histogram/${source}`, {
    from: new Date(at).toISOString(),
    to: new Date(at + widest * 1000).toISOString(),
    buckets: widest,
  });
  const { result } = await ask<Bucket[]>(path);
  const newer = (seconds: number) =>
    result
      .filter(({ timestamp }) => Date.parse(timestamp) <= at + seconds * 1000)
      .reduce((sum, { entries }) => sum + entries, 0);
  const reach = REACHES.find((seconds) => newer(seconds) < NEXT_PAGE) ?? 1;
  return fixedRange(at - reach * 1000, at + (reach + 1) * 1000);
}
