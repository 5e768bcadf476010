import type { UndatedForm } from '../../ingest/index.ts';

/** So much of a text tells one form from another. */
const MOST_CHARS = 40;

/** Returns the form of a field's value, a JSON text: `2026-11-20 soon` has `0000-00-00 soon`. */
export function formOf(field: string, json: string): UndatedForm {
  const text = json.startsWith('"') ? (JSON.parse(json) as string) : json;
  return { field: cut(field), form: cut(text).replaceAll(/\p{Nd}/gu, '0') };
}

/** Cuts between characters, and leaves out those that a table does not show, or the database does not take. */
function cut(text: string): string {
  const start = Array.from(text.slice(0, 2 * MOST_CHARS))
    .slice(0, MOST_CHARS)
    .join('');
  return start.replaceAll(/[\p{Cc}\p{Cs}]/gu, '\ufffd');
}
