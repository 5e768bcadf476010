/** Whose clock times are written in. */
export type Zone = 'local' | 'utc';

/** `2026-11-20 14:00:00.123` of a time in milliseconds. */
export function dateTime(ms: number, zone: Zone): string {
  // Cheaper by far than Intl, which counts with a thousand rows: local time is UTC of a shifted clock.
  const shifted = zone === 'utc' ? ms : ms - new Date(ms).getTimezoneOffset() * 60_000;
  return new Date(shifted).toISOString().slice(0, -1).replace('T', ' ');
}

/** `2026-11-20T14:00:00` as an input of the type datetime-local has it. */
export function toInput(ms: number, zone: Zone): string {
  return dateTime(ms, zone).replace(' ', 'T').slice(0, 19);
}

/** The time in milliseconds out of such an input; NaN when it is empty. */
export function fromInput(text: string, zone: Zone): number {
  return Date.parse(zone === 'utc' ? `${text}Z` : text);
}

/** A time range in few words; seconds only where they are needed. */
export function span(from: number, to: number, zone: Zone): string {
  const [begin, end] = [dateTime(from, zone), dateTime(to, zone)];
  const cut = from % 60_000 === 0 && to % 60_000 === 0 ? 16 : 19;
  const sameDay = begin.slice(0, 10) === end.slice(0, 10);
  return `${begin.slice(0, cut)} – ${end.slice(sameDay ? 11 : 0, cut)}`;
}

/** A length of time as its largest unit: `3 h`. */
export function duration(seconds: number): string {
  if (seconds < 1) return seconds === 0 ? '0 s' : '< 1 s';
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129_600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** How long ago a timestamp is. */
export function ago(timestamp: string): string {
  return `${duration(Math.max(0, (Date.now() - Date.parse(timestamp)) / 1000))} ago`;
}

/** The timestamp that is a microsecond later. */
export function justAfter(timestamp: string): string {
  const [, micros = ''] = /\.\d{3}(\d{3})Z$/.exec(timestamp) ?? [];
  const next = Number(micros) + 1;
  const ms = Date.parse(timestamp) + (next > 999 ? 1 : 0);
  return `${new Date(ms).toISOString().slice(0, -1)}${String(next % 1000).padStart(3, '0')}Z`;
}
