const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** `1,234`. */
export function count(value: number): string {
  return value.toLocaleString('en');
}

/** A count with its noun: `1 entry`, `2 entries`. */
export function counted(value: number, one: string, many: string): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Bytes in the unit that gives up to four digits: `12.3 MB`. */
export function bytes(value: number): string {
  let [size, unit] = [value, 0];
  while (size >= 1000 && unit < UNITS.length - 1) [size, unit] = [size / 1000, unit + 1];
  return `${unit > 0 && size < 100 ? size.toFixed(1) : Math.round(size)} ${UNITS[unit]}`;
}
