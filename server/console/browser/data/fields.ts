import { createFieldTable } from '../../../lines/fields.ts';
import { placeOf } from '../../../search/fields.ts';
import { fieldPath } from '../../../search/query.ts';
import type { Entry, Json } from './answers.ts';

const TABLE = createFieldTable();
/** Characters of the members that are shown behind a message. */
const REST_MAX = 400;

/** The value of a field of an entry, as a search query means it; null without one. */
export function fieldText(entry: Entry, source: string, field: string): string | null {
  const path = pathOf(field);
  if (path === null) return null;
  const place = placeOf(path, source);
  if ('column' in place && place.column in entry)
    return textOf(entry[place.column as keyof Entry] ?? null);
  return textOf(memberOf(entry.metadata, 'column' in place ? ['request', ...path] : place.member));
}

/** The names of a field; null for what is not a field. */
export function pathOf(field: string): string[] | null {
  try {
    return fieldPath(field);
  } catch {
    return null;
  }
}

/** The members of an entry as `name=value`, without those that its line shows already. */
export function restOf({ metadata, event_message: message }: Entry): string {
  const parts: string[] = [];
  let length = 0;
  const add = (path: string, value: Json): void => {
    if (value === null || value === '' || length > REST_MAX) return;
    if (typeof value === 'object') {
      for (const [name, member] of Object.entries(value))
        add(Array.isArray(value) ? path : path === '' ? name : `${path}.${name}`, member);
      return;
    }
    const text = String(value);
    // The badge of the line shows it.
    if (TABLE.find(path)?.role === 'severity') return;
    if (text.length > 2 && message.includes(text)) return;
    const part = `${path}=${/[\s="]/.test(text) ? JSON.stringify(text) : text}`;
    parts.push(part);
    length += part.length + 1;
  };
  add('', metadata);
  return parts.join(' ').slice(0, REST_MAX);
}

/** The member that these names lead to, through the first of each array. */
function memberOf(value: Json, path: readonly string[]): Json {
  const record = Array.isArray(value) ? (value[0] ?? null) : value;
  const [name, ...below] = path;
  if (name === undefined) return value;
  if (typeof record !== 'object' || record === null) return null;
  const members = record as Readonly<Record<string, Json>>;
  if (Object.hasOwn(members, name)) return memberOf(members[name] ?? null, below);
  const [next, ...others] = below;
  return next === undefined ? null : memberOf(value, [`${name}.${next}`, ...others]);
}

function textOf(value: Json): string | null {
  if (value === null) return null;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
