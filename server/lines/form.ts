import type { UndatedForm } from '../../ingest/index.ts';

/** So much of a text tells one form from another. */
const MOST_CHARS = 40;

/** Returns the form of a field's value, a JSON text: `2026-11-20 soon` has `0000-00-00 soon`. */
export function formOf(field: string, json: string): UndatedForm {
  const text = json.startsWith('"') ? (JSON.parse(json) as string) : json;
  return { field: cut(field), form: cut(text).replaceAll(/\p{Nd}/gu, '0') };
}

/** Digits that look like a date, with those behind them that look like a clock. */
const DATE =
  /(?<!\d)\d{1,4}([-/.])(?:\d{1,2}|[A-Z][a-z]{2})\1\d{1,4}(?:[^\w\n]{1,3}\d{1,2}[:.]\d\d(?:[:.]\d\d)?)(?!\d)/;
/** The sign between two parts of a date, and what stands behind it. It rules most lines out. */
const MAY_HAVE_DATE = /[-/.](?:\d\d?|[A-Z][a-z]{2})[-/.]\d/;
const HEAD_CHARS = 100;

/** Returns the form of a date in the head of a line of text that has no moment that can be read; null without one. No other word of the line is in it. */
export function formInText(line: string): UndatedForm | null {
  const head = line.slice(0, HEAD_CHARS);
  const found = line[0] !== '{' && MAY_HAVE_DATE.test(head) ? DATE.exec(head) : null;
  return found && formOf('message', JSON.stringify(found[0]));
}

/** Cuts between characters, and leaves out those that a table does not show, or the database does not take. */
function cut(text: string): string {
  const start = Array.from(text.slice(0, 2 * MOST_CHARS))
    .slice(0, MOST_CHARS)
    .join('');
  return start.replaceAll(/[\p{Cc}\p{Cs}]/gu, '\ufffd');
}
