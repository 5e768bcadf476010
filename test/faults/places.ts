import type { Service } from '../support/helpers.ts';

/** What a service was doing when it found no space. */
export type Place = (typeof PLACES)[number][0];

/** The first that fits a line of the log tells its place. */
const PLACES = [
  ['staging', /staging\/batch-\S+ could not be written/],
  ['checkpoint', /checkpoint/i],
  ['commit', /Failed to commit: Could not write file \S+\.wal/],
] as const;

/** Where a service has met a full disk, as its log tells; each place once, and `elsewhere` when none is known. */
export function placesOf(log: Service['log']): Set<Place | 'elsewhere'> {
  const lines = log.map(({ err }) => JSON.stringify(err) ?? '');
  return new Set(
    lines
      .filter((line) => /ENOSPC|No space left/i.test(line))
      .map(
        (line) =>
          PLACES.find(([, said]) => said.test(line.replaceAll('\\"', '')))?.[0] ?? 'elsewhere',
      ),
  );
}
