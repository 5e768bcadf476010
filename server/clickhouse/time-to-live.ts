const SECOND = 1000;
const DAY = 86_400 * SECOND;
/** The longest duration of each unit, ms: a row that may still be there does not count as removed. */
const UNITS: Readonly<Record<string, number>> = {
  Second: SECOND,
  Minute: 60 * SECOND,
  Hour: 3600 * SECOND,
  Day: DAY,
  Week: 7 * DAY,
  Month: 31 * DAY,
  Quarter: 92 * DAY,
  Year: 366 * DAY,
};

/**
 * Reads from `engine_full` how long a table keeps rows after their nodes stored them, ms. Returns Infinity for a table without a time to live,
 * and for one in another form than the printed schema has.
 */
export function keptMs(full: string): number {
  const [, unit = '', count] =
    / TTL toDateTime\(ingested_at\) \+ toInterval(\w+)\((\d+)\)(?: SETTINGS |$)/.exec(full) ?? [];
  const unitMs = UNITS[unit];
  return unitMs === undefined ? Number.POSITIVE_INFINITY : Number(count) * unitMs;
}
