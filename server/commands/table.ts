/** Widest that a column is printed; the rest of a value is cut off. */
const WIDEST = 80;

/** Rows as a table of text; a column for each member that one of them has. */
export function table(rows: readonly Readonly<Record<string, unknown>>[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = [names, ...rows.map((row) => names.map((name) => cell(row[name])))];
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

/** One line, without characters that a terminal would obey. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}|\p{Cf}/gu, ' ');
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = printable(typeof value === 'string' ? value : JSON.stringify(value));
  return text.length > WIDEST ? `${text.slice(0, WIDEST - 1)}…` : text;
}
