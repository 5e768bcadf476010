import { printable } from './terminal.ts';

/** Widest that a column is printed; the rest of a value is cut off. */
const WIDEST = 80;

/** Rows as a table of text; a column for each member that one of them has. */
export function table(rows: readonly Readonly<Record<string, unknown>>[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = [names, ...rows.map((row) => names.map((name) => cell(name, row[name])))];
  const widths = names.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)));
  const rule = widths.map((width) => '─'.repeat(width));
  const [head = [], ...body] = lines;
  return [head, rule, ...body]
    .map((line) =>
      line
        .map((text, i) => text.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** "1 row", "2 rows". */
export function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}

function cell(name: string, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (name === 'timestamp' && isMicroseconds(value)) return rfc3339(value);
  const text = printable(typeof value === 'string' ? value : JSON.stringify(value));
  return text.length > WIDEST ? `${text.slice(0, WIDEST - 1)}…` : text;
}

/** Microseconds since the epoch, from 1973 to 9999: other numbers are something else that is called so. */
function isMicroseconds(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) > 1e14 && Number(value) < 253_402_300_800e6;
}

/** Where the microseconds are whole milliseconds, as most are, the last three digits are left out. */
function rfc3339(microseconds: number): string {
  const text = new Date(Math.floor(microseconds / 1000)).toISOString();
  const rest = microseconds % 1000;
  return rest === 0 ? text : text.replace('Z', `${String(rest).padStart(3, '0')}Z`);
}
