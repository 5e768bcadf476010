import { regionOffset, type ZoneOffset } from './moments.ts';

export const UTC: ZoneOffset = () => 0;

/** Zones change at its borders. */
const QUARTER_MICROS = 15 * 60 * 1_000_000;

const zones = new Map<string, ZoneOffset>();

/** Returns the offsets of a zone such as Europe/Berlin, for lines in order of time; null if there is no such zone. */
export function zoneNamed(name: string): ZoneOffset | null {
  if (/^(?:UTC|GMT|Z)$/i.test(name)) return UTC;
  const offsetOf = /^[a-z]/i.test(name) ? regionOffset(name) : null;
  if (!offsetOf) return null;
  const known = zones.get(name) ?? remembered(offsetOf);
  zones.set(name, known);
  return known;
}

/** Asks once a quarter of an hour: to ask takes as long as all else of a line. */
function remembered(offsetOf: ZoneOffset): ZoneOffset {
  let quarter = Number.NaN;
  let offset = 0;
  return (local) => {
    const own = Math.floor(local / QUARTER_MICROS);
    if (own !== quarter) [quarter, offset] = [own, offsetOf(local)];
    return offset;
  };
}
