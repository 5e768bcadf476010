import { HEAD_BYTES } from './proofs.ts';

/** A date with a time, a time, seconds since the epoch or more digits, or the beginning of a UUID. */
const OF_ONE_LOG =
  /\d{4}-\d\d-\d\d[t _]\d\d:\d\d|\d{1,2}:\d\d:\d\d|\d{10}|[0-9a-f]{8}-[0-9a-f]{4}-/i;

/**
 * Returns how many of the first bytes of a file tell it from other logs: up to the first moment or id, or 1024. Returns Infinity for a
 * shorter file with neither. Two logs may both begin with such a banner, so equal banners do not make one the copy of the other.
 */
export function tellingBytes(start: Uint8Array): number {
  const text = Buffer.from(start.buffer, start.byteOffset, start.length).toString('latin1');
  const found = OF_ONE_LOG.exec(text);
  if (found) return found.index + found[0].length;
  return start.length < HEAD_BYTES ? Number.POSITIVE_INFINITY : HEAD_BYTES;
}
