/** The last while until now, such as `15m`; or a fixed one, in ISO 8601, from inclusive, to exclusive. */
export type Range = { readonly last: string } | { readonly from: string; readonly to: string };

export const QUICK_RANGES = ['5m', '15m', '1h', '3h', '6h', '12h', '24h', '2d', '7d', '30d'];

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const UNIT_NAMES = { m: 'minutes', h: 'hours', d: 'days' };

/** When a range begins and ends, in milliseconds, if it is `now`. */
export function boundsOf(range: Range, now: number): { from: number; to: number } {
  if ('from' in range) return { from: Date.parse(range.from), to: Date.parse(range.to) };
  return { from: now - lengthOf(range.last), to: now };
}

/** The fixed range of these bounds; at least a second long. */
export function fixedRange(from: number, to: number): Extract<Range, { from: string }> {
  const end = Math.max(to, from + 1000);
  return { from: new Date(from).toISOString(), to: new Date(end).toISOString() };
}

/** A range out of its text in an address; null when that is not one. */
export function readRange(search: URLSearchParams): Range | null {
  const [last, from, to] = [search.get('last'), search.get('from'), search.get('to')];
  if (last !== null && partsOf(last)) return { last };
  if (from === null || to === null) return null;
  return Date.parse(from) < Date.parse(to) ? { from, to } : null;
}

/** `15m` as `Last 15 minutes`. */
export function quickName(last: string): string {
  const { count, unit } = partsOf(last) ?? { count: 1, unit: 'h' as const };
  return `Last ${count === 1 ? '' : `${count} `}${count === 1 ? UNIT_NAMES[unit].slice(0, -1) : UNIT_NAMES[unit]}`;
}

function lengthOf(last: string): number {
  const { count, unit } = partsOf(last) ?? { count: 1, unit: 'h' as const };
  return count * UNIT_MS[unit];
}

function partsOf(last: string): { count: number; unit: 'm' | 'h' | 'd' } | null {
  const [, count, unit] = /^([1-9]\d{0,3})([mhd])$/.exec(last) ?? [];
  return count && unit ? { count: Number(count), unit: unit as 'm' | 'h' | 'd' } : null;
}
