import { elementsOf, membersOf } from '../records/object-text.ts';

/**
 * Metadata as a map of texts by dotted names, which is how ClickHouse's users know it (caller-sql/attributes.ts says which values those
 * are). Other texts than strict JSON have none. The first of equal names counts.
 */
export function attributesOf(metadata: string, redact?: (text: string) => string): string {
  const values = new Map<string, string>();
  const [first = metadata] = metadata.startsWith('[') ? (elementsOf(metadata) ?? []) : [];
  collect(first, '', values);
  const members = [...values].map(
    ([name, text]) => `${JSON.stringify(name)}:${JSON.stringify(redact ? redact(text) : text)}`,
  );
  return `{${members.join(',')}}`;
}

function collect(record: string, before: string, values: Map<string, string>): void {
  for (const { name, text } of membersOf(record) ?? []) {
    const place = before + name;
    if (text === 'null') continue;
    const within = recordIn(text);
    if (within !== null) collect(within, `${place}.`, values);
    else if (!values.has(place)) values.set(place, text.startsWith('"') ? JSON.parse(text) : text);
  }
}

/** The text of a record that a value is, or that is the only element of it; null for what is a value by itself. */
function recordIn(text: string): string | null {
  if (text.startsWith('{')) return text === '{}' ? null : text;
  if (!text.startsWith('[{') || text === '[{}]') return null;
  const [only, ...others] = elementsOf(text) ?? [];
  return only !== undefined && others.length === 0 ? only : null;
}
