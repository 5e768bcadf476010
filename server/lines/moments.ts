/**
 * Reads a moment, however a program writes it. It takes every common form that has one meaning, and refuses the others. It does no I/O, and
 * knows nothing of lines.
 *
 * A moment is a whole number of microseconds since the epoch, within 1970 to 2200. Digits beyond that are cut.
 */

/** Returns how far a zone is ahead of UTC when a clock there shows this local time, minutes. */
export type ZoneOffset = (local: number) => number;

const DAY = 86_400_000_000;
const END = Date.UTC(2201, 0, 1) * 1000;

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MONTH = `(?<month>${MONTHS.join('|')})[a-z]*`;
const DAY_NAME = `(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*[, ] *)?`;
const CLOCK = String.raw`(?<hour>\d{1,2}):(?<minute>\d\d)(?::(?<second>\d\d)(?:[.,:](?<fraction>\d+))?)?(?: ?(?<half>[ap])\.?m\.?)?`;
const ZONE = String.raw` ?(?<zone>z|[+-]\d\d(?::?\d\d)?(?::\d\d)?|[a-z]{2,5}(?:[+-]\d\d?(?::?\d\d)?)?)?(?: (?<again>[a-z]{1,5})| [+-]\d\d(?:\d\d)?)?(?: m=[+-][\d.]+)?(?: ?\[(?<region>[a-z_+\-/0-9]+)\]| (?<place>[a-z]{2,20}\/[a-z_\-/]{2,40}))?`;
/** Common orders of a date and a time, and what may stand between them. */
const FORMS = [
  // 2026-11-20T10:00:00Z, 2026/11/20 10:00:00, 2026.11.20 10:00, 2026-11-20_10:00:00.
  String.raw`DAYNAME(?<year>\d{4})(?<between>[-/.])(?<number>\d\d?)\k<between>(?<day>\d\d?)(?: *[t_ ] *| - |[:,\t])CLOCK ZONE`,
  // 2026.11.20-10.00.00:123.
  String.raw`(?<year>\d{4})\.(?<number>\d\d)\.(?<day>\d\d)-(?<hour>\d\d)\.(?<minute>\d\d)\.(?<second>\d\d)(?::(?<fraction>\d{3}))?`,
  // 20261120T100000Z, 20261120 10:00:00.
  String.raw`(?<year>\d{4})(?<number>\d\d)(?<day>\d\d)[t_ ](?<hour>\d\d):?(?<minute>\d\d):?(?<second>\d\d)(?:[.,](?<fraction>\d+))? ZONE`,
  // 20/Nov/2026:10:00:00 +0000, 20-Nov-2026 10:00:00.123, 20 Nov 2026 10:00:00, 20Nov2026 10:00:00, Fri, 20 Nov 2026 10:00:00 GMT.
  String.raw`DAYNAME(?<day>\d{1,2})[-/ ]?MONTH[-/ ]?(?<year>\d{4})[:, ]+CLOCK ZONE`,
  // Nov 20, 2026 10:00:00 AM.
  String.raw`DAYNAME MONTH +(?<day>\d{1,2})(?:st|nd|rd|th)?,? +(?<year>\d{4})(?:,| at| -)? +CLOCK ZONE`,
  // Fri Nov 20 10:00:00 2026, Fri Nov 20 10:00:00.123456 UTC 2026.
  String.raw`DAYNAME MONTH +(?<day>\d{1,2}) CLOCK(?: (?<zone>[a-z]{2,5}|[+-]\d{4}))? (?<year>\d{4})`,
  // 20.11.2026 10:00:00, and 11/20/2026 10:00:00 where one of both numbers is a day.
  String.raw`(?<first>\d{1,2})(?<between>[-/.])(?<other>\d{1,2})\k<between>(?<year>\d{4})(?:,?[t ]+| - |\t)CLOCK ZONE`,
  // 11/20/26 10:00:00, where one order alone makes it a date.
  String.raw`(?<one>\d\d)\/(?<two>\d\d)\/(?<three>\d\d),? +CLOCK ZONE`,
].map(compiled);
/** Syslog, klog, glog, Android and Snort write no year. */
const YEARLESS_FORMS = [
  String.raw`DAYNAME MONTH +(?<day>\d{1,2}) CLOCK ZONE`,
  String.raw`(?<number>\d\d)(?<day>\d\d) CLOCK`,
  String.raw`(?<number>\d\d)-(?<day>\d\d) CLOCK`,
  String.raw`(?<number>\d\d)\/(?<day>\d\d)-CLOCK`,
].map(compiled);

function compiled(form: string): RegExp {
  return new RegExp(
    `^${form
      .replaceAll('CLOCK', CLOCK)
      .replaceAll(' ZONE', ZONE)
      .replaceAll('DAYNAME ', DAY_NAME)
      .replaceAll('DAYNAME', DAY_NAME)
      .replaceAll('MONTH', MONTH)}$`,
    'i',
  );
}

/** Epochs by how many digits they have before a fraction: how many microseconds one of their units has. */
const UNITS: readonly (readonly [least: number, most: number, micros: number])[] = [
  [1e8, 1e11, 1e6],
  [1e11, 1e14, 1e3],
  [1e14, 1e17, 1],
  [1e17, 1e20, 1e-3],
];
const NUMBER = /^[+]?\d+(?:\.\d*)?(?:e[+]?\d+)?$/i;

/** Abbreviations that have one meaning, minutes ahead of UTC. IST, BST and the like have several. */
const ABBREVIATIONS: Readonly<Record<string, number>> = {
  z: 0,
  utc: 0,
  gmt: 0,
  wet: 0,
  west: 60,
  cet: 60,
  cest: 120,
  eet: 120,
  eest: 180,
  msk: 180,
  jst: 540,
  aest: 600,
  aedt: 660,
  nzst: 720,
  nzdt: 780,
  hst: -600,
  akst: -540,
  akdt: -480,
  pst: -480,
  pdt: -420,
  mst: -420,
  mdt: -360,
  cdt: -300,
  est: -300,
  edt: -240,
};

/**
 * Returns the moment that a text names, or null. `offsetOf` tells the zone of a text that names none. A text without a year is read only if
 * `now` is given, in microseconds: as the last such day that is not more than a day ahead.
 */
export function momentOf(
  text: string,
  offsetOf: ZoneOffset = () => 0,
  now: number | null = null,
): number | null {
  const bare = text.trim();
  const trimmed = bare[0] === '[' ? bare.replace(/^\[(.*)\]$/, '$1').trim() : bare;
  const usual = ofUsual(trimmed, offsetOf);
  if (usual !== null) return usual;
  if (NUMBER.test(trimmed)) return ofNumber(trimmed);
  for (const form of FORMS) {
    const groups = form.exec(trimmed)?.groups;
    if (groups) return ofParts(groups, offsetOf);
  }
  if (now === null) return null;
  const last = now + DAY;
  const year = new Date(last / 1000).getUTCFullYear();
  for (const form of YEARLESS_FORMS) {
    const groups = form.exec(trimmed)?.groups;
    if (!groups) continue;
    const moment = ofParts({ ...groups, year: String(year) }, offsetOf);
    if (moment !== null && moment <= last) return moment;
    return ofParts({ ...groups, year: String(year - 1) }, offsetOf);
  }
  return null;
}

/** Signs of the usual form, by their place: 2026-11-20T10:00:00. It is one of FORMS, and read here because it takes a tenth of the time. */
const SIGNS = '0000-00-00T00:00:00';
const [ZERO, DOT, COMMA, SPACE, UPPER_Z] = [0x30, 0x2e, 0x2c, 0x20, 0x5a];

function ofUsual(text: string, offsetOf: ZoneOffset): number | null {
  const { length } = text;
  if (length < SIGNS.length || length > SIGNS.length + 11) return null;
  for (let at = 0; at < SIGNS.length; at++) {
    const code = text.charCodeAt(at);
    const sign = SIGNS.charCodeAt(at);
    const fits = sign === ZERO ? isDigit(code) : code === sign || (at === 10 && code === SPACE);
    if (!fits) return null;
  }
  const hasZone = text.charCodeAt(length - 1) === UPPER_Z;
  const micros = microsIn(text, hasZone ? length - 1 : length);
  if (micros === null) return null;
  const [m, d, h] = [twoDigits(text, 5), twoDigits(text, 8), twoDigits(text, 11)];
  const [min, s] = [twoDigits(text, 14), twoDigits(text, 17)];
  // Days that the month does not have, and second 60, are left to the other forms.
  if (m < 1 || m > 12 || d < 1 || d > 31 || h > 23 || min > 59 || s > 59) return null;
  const start = startOf(twoDigits(text, 0) * 100 + twoDigits(text, 2), m, d);
  if (start === null) return null;
  const local = (start + (h * 60 + min) * 60 + s) * 1e6 + micros;
  return within(hasZone ? local : local - offsetOf(local) * 60_000_000);
}

/** Returns the microseconds of a fraction behind the seconds, up to `end`; 0 without one, and null for another text. */
function microsIn(text: string, end: number): number | null {
  const start = SIGNS.length;
  if (end === start) return 0;
  const sign = text.charCodeAt(start);
  if ((sign !== DOT && sign !== COMMA) || end - start < 2 || end - start > 10) return null;
  let micros = 0;
  for (let at = start + 1; at < end; at++) if (!isDigit(text.charCodeAt(at))) return null;
  for (let at = start + 1; at < start + 7; at++)
    micros = micros * 10 + (at < end ? text.charCodeAt(at) - ZERO : 0);
  return micros;
}

let lastDay: { readonly day: number; readonly start: number | null } = { day: -1, start: null };

/** Returns when a day begins, seconds since the epoch; null if there is no such day. Most moments are of the day of the one before. */
function startOf(year: number, month: number, date: number): number | null {
  const day = (year * 100 + month) * 100 + date;
  if (day === lastDay.day) return lastDay.start;
  const start = Date.UTC(year, month - 1, date);
  // A year below 100 is one of the last century to `Date.UTC`, and not to the other forms.
  const exists = new Date(start).getUTCDate() === date && (year > 99 || date < 29);
  lastDay = { day, start: exists ? start / 1000 : null };
  return lastDay.start;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= 0x39;
}

function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - ZERO) * 10 + text.charCodeAt(at + 1) - ZERO;
}

/** Whole digits are read as they stand: nanoseconds have more of them than a double holds. */
function ofNumber(text: string): number | null {
  const value = Number(text);
  const unit = UNITS.find(([least, most]) => value >= least && value < most);
  if (!unit) return null;
  const [, , micros] = unit;
  const [whole = '', fraction = ''] = text.replace(/^\+/, '').split('.');
  if (/e/i.test(text)) return within(Math.floor(value * micros));
  if (micros < 1) return within(Number(BigInt(whole) / 1000n));
  const digits = Math.round(Math.log10(micros));
  return within(Number(whole) * micros + Number(fraction.padEnd(digits, '0').slice(0, digits)));
}

function ofParts(groups: Record<string, string | undefined>, offsetOf: ZoneOffset): number | null {
  const date = dateOf(groups);
  const clock = clockOf(groups);
  if (date === null || clock === null) return null;
  const local = date + clock;
  const offset = zoneOf(groups, local, offsetOf);
  return offset === null ? null : within(local - offset * 60_000_000);
}

function dateOf(groups: Record<string, string | undefined>): number | null {
  const { year, number, month, first, other, one, two, three } = groups;
  if (one !== undefined) return onlyDate(Number(one), Number(two), Number(three));
  let day = Number(groups.day);
  let at = month ? MONTHS.indexOf(month.toLowerCase()) + 1 : Number(number);
  if (first !== undefined) {
    // Europe's order, or that of the United States: only a number beyond 12 tells.
    const [one, two] = [Number(first), Number(other)];
    if (one > 12) [day, at] = [one, two];
    else if (two > 12 || one === two) [at, day] = [one, two];
    else return null;
  }
  return dayOf(Number(year), at, day);
}

/** Returns the date of three numbers of two digits; null if several orders make dates of them. */
function onlyDate(one: number, two: number, three: number): number | null {
  const dates = [
    dayOf(2000 + one, two, three),
    dayOf(2000 + three, one, two),
    dayOf(2000 + three, two, one),
  ].filter((date) => date !== null);
  return new Set(dates).size === 1 ? (dates[0] ?? null) : null;
}

/** Returns when a day begins, microseconds since the epoch; null if there is no such day. */
function dayOf(year: number, month: number, day: number): number | null {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return exists ? date.getTime() * 1000 : null;
}

function clockOf(groups: Record<string, string | undefined>): number | null {
  const { half, minute, second = '0', fraction = '' } = groups;
  let hour = Number(groups.hour);
  if (half) {
    if (hour < 1 || hour > 12) return null;
    hour = (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  }
  const micros = Number(fraction.slice(0, 6).padEnd(6, '0'));
  const isLeap = second === '60';
  if (hour > 23 || Number(minute) > 59 || (Number(second) > 59 && !isLeap)) return null;
  const seconds = (hour * 60 + Number(minute)) * 60 + (isLeap ? 59 : Number(second));
  return seconds * 1e6 + (isLeap ? 999_999 : micros);
}

/** Go and others name a zone behind its offset: `+0100 CET`. */
const ZONE_NAME = /^(?:UTC|GMT|MSK|[A-Z]{1,4}T)$/;

/** Minutes ahead of UTC; null for a zone that is not known. */
function zoneOf(
  groups: Record<string, string | undefined>,
  local: number,
  offsetOf: ZoneOffset,
): number | null {
  const { zone, region = groups.place, again } = groups;
  if (again && !ZONE_NAME.test(again)) return null;
  if (!zone) return region ? (regionOffset(region)?.(local) ?? null) : offsetOf(local);
  const [, name = '', sign, hours, minutes = '0'] =
    /^([a-z]*)([+-])(\d\d?):?(\d\d)?/i.exec(zone) ?? [];
  if (sign) {
    if (name !== '' && ABBREVIATIONS[name.toLowerCase()] === undefined) return null;
    if (Number(minutes) > 59) return null;
    const ahead = Number(hours) * 60 + Number(minutes);
    return ahead > 18 * 60 ? null : sign === '-' ? -ahead : ahead;
  }
  return ABBREVIATIONS[zone.toLowerCase()] ?? null;
}

const regions = new Map<string, ZoneOffset | null>();

/** Returns the offsets of a zone such as Europe/Berlin; null if there is no such zone. */
export function regionOffset(name: string): ZoneOffset | null {
  let offset = regions.get(name);
  if (offset === undefined) {
    offset = makeOffset(name);
    regions.set(name, offset);
  }
  return offset;
}

function makeOffset(name: string): ZoneOffset | null {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    return null;
  }
  /** How far ahead a clock is there at a moment, minutes. */
  const ahead = (micros: number) => {
    const seconds = Math.floor(micros / 1e6);
    const parts = format.formatToParts(seconds * 1000);
    const [month, day, year, hour, minute, second] = parts
      .filter(({ type }) => type !== 'literal')
      .map(({ value }) => Number(value));
    const shown = Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second) / 1000;
    return Math.round((shown - seconds) / 60);
  };
  // An hour that a clock shows twice is the first of both; one that it skips is read as before the change.
  return (local) => {
    const before = ahead(local - DAY);
    return ahead(local - before * 60_000_000) === before ? before : firstOf(local, ahead, before);
  };
}

function firstOf(local: number, ahead: (micros: number) => number, before: number): number {
  const after = ahead(local - before * 60_000_000);
  return ahead(local - after * 60_000_000) === after ? after : before;
}

/** Returns a moment as a text in UTC, with six digits of a second where it has any. */
export function momentText(micros: number): string {
  const seconds = Math.floor(micros / 1e6);
  const text = new Date(seconds * 1000).toISOString().slice(0, 19);
  const fraction = micros - seconds * 1e6;
  return `${text}${fraction > 0 ? `.${String(fraction).padStart(6, '0')}` : ''}Z`;
}

function within(micros: number): number | null {
  return micros >= 0 && micros < END ? micros : null;
}
