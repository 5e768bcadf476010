import { SOURCES, type Source } from './source.ts';
import type { Capacity, IngestLog, Sink } from './types.ts';

/** Whether a line of so many bytes may be the next row of its source; one that may is counted. */
export type Density = (bytes: number) => boolean;

/**
 * Sees to it that lines that follow one another do not have more bytes together than the sink can hold. Only those beyond
 * the mean that it can are ever refused: usual lines always fit (docs/decisions/0014). Lines that are read again, because they
 * could not be stored, count again: that way it is never too many. Neither do restarts add up: what the newest rows have
 * counts from the beginning.
 */
export async function densities(
  sink: Pick<Sink, 'capacity' | 'newestBytes'>,
  log: IngestLog,
): Promise<(source: Source) => Density> {
  const all = new Map<Source, Density>();
  for (const source of SOURCES) {
    const begun = await sink.newestBytes(source).catch((err) => {
      // Mostly for want of memory, so there must be many.
      log.warn(
        { source, err },
        'the newest rows can not be read: longer lines are rejected at first',
      );
      return Infinity;
    });
    all.set(source, density(sink.capacity, begun));
  }
  return (source) => {
    const found = all.get(source);
    if (!found) throw new Error(`BUG: no density of ${source}`);
    return found;
  };
}

function density({ vectorRows, vectorBytes, longBytes }: Capacity, begun: number): Density {
  let [rows, rowsBytes] = [0, begun];
  return (bytes) => {
    if (rows === vectorRows) [rows, rowsBytes] = [0, 0];
    if (bytes > longBytes) return false;
    if (bytes > vectorBytes / vectorRows && rowsBytes + bytes > vectorBytes) return false;
    rows++;
    rowsBytes += bytes;
    return true;
  };
}
