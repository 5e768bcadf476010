import { placeOf } from './fields.ts';
import { MANY, ONE, type Pattern, type Query } from './query.ts';

/**
 * Returns how a query was read, and what to write instead, where it may have been meant otherwise; null where its meaning is plain. It is for
 * answers without entries.
 */
export function hintOf(text: string, query: Query, source: string): string | null {
  const advice = ADVICE.flatMap((each) => each(text, query, source) ?? []);
  return advice.length === 0 ? null : [`Read as: ${printed(query, source)}.`, ...advice].join(' ');
}

type Advice = (text: string, query: Query, source: string) => string | null;
type Field = Extract<Query, { kind: 'field' }>;

/** Each names one kind of misunderstanding, the likeliest first. */
const ADVICE: readonly Advice[] = [
  (text) =>
    /^\s*(?:select|with)\s.*\sfrom\s/is.test(text)
      ? 'For SQL use POST /api/sql, `tailpond query` or the SQL page.'
      : null,
  (text) => (/\s\|\s/.test(text) ? 'A search has no pipes: write further terms beside it.' : null),
  (text) => (/(?:^|[\s(])'\S/.test(text) ? 'A phrase stands in double quotes.' : null),
  (text) =>
    /(?:^|\s)not\s/.test(text) ? 'To find the text with "not", put it in double quotes.' : null,
  (text) => (/"[^"]*[*?][^"]*"/.test(text) ? 'In quotes * and ? stand for themselves.' : null),
  (_, query) => {
    const word = partsOf(query).find((part) => part.kind === 'text' && isWord(part.text));
    return word?.kind === 'text'
      ? `A word is found whole: *${word.text[0] as string}* finds it within words.`
      : null;
  },
  (_, query, source) => {
    const field = partsOf(query).find(
      (part) => part.kind === 'field' && !('column' in placeOf(part.path, source)),
    ) as Field | undefined;
    const [name] = field?.path ?? [];
    return name === undefined || (field && isExact(field, source))
      ? null
      : `To find the name in any text write *${name}*.`;
  },
  (_, query, source) => {
    const field = partsOf(query).find((part) => part.kind === 'field' && isExact(part, source)) as
      | Field
      | undefined;
    if (field?.test.is !== 'like') return null;
    const [name, value] = [nameOf(field.path), String(field.test.value[0])];
    return `A field's value is compared whole and by letter case: ${name}:/(?i)${regexOf(value)}/ finds it within values in any case.`;
  },
];

/** The conditions that an entry is to meet: a part below a NOT is not why there is none. */
function partsOf(query: Query): readonly Query[] {
  if (query.kind === 'and' || query.kind === 'or') return query.parts.flatMap(partsOf);
  return query.kind === 'not' ? [] : [query];
}

function isWord(text: Pattern): boolean {
  const [word, ...more] = text;
  return typeof word === 'string' && more.length === 0 && /^[\p{L}\p{N}_]+$/u.test(word);
}

/** Tells whether a field has a value whose letter case and whole length matter. */
function isExact({ path, test }: Field, source: string): boolean {
  const place = placeOf(path, source);
  if ('column' in place && ['severity', 'status', 'event_message'].includes(place.column))
    return false;
  return test.is === 'like' && test.value.length === 1 && /\p{L}/u.test(String(test.value[0]));
}

function printed(query: Query, source: string): string {
  switch (query.kind) {
    case 'and':
    case 'or':
      return query.parts
        .map((part) =>
          part.kind === 'and' || part.kind === 'or'
            ? `(${printed(part, source)})`
            : printed(part, source),
        )
        .join(` ${query.kind} `);
    case 'not':
      return `not (${printed(query.part, source)})`;
    case 'text':
      return JSON.stringify(written(query.text));
    case 'regex':
      return `/${query.regex}/`;
    case 'field': {
      const own = `${nameOf(query.path)} ${testOf(query)}`;
      const isText = query.asText !== null && !('column' in placeOf(query.path, source));
      return isText ? `(field ${own} or ${JSON.stringify(written(query.asText))})` : `field ${own}`;
    }
  }
}

function testOf({ test }: Field): string {
  if (test.is === 'there') return 'exists';
  if (test.is === 'regex') return `matches /${test.value}/`;
  return test.is === 'like'
    ? `is ${JSON.stringify(written(test.value))}`
    : `${test.is} ${test.value}`;
}

function nameOf(path: readonly string[]): string {
  return path
    .map((name) => (/^[\p{L}\p{N}_@$/-]+$/u.test(name) ? name : JSON.stringify(name)))
    .join('.');
}

function written(pattern: Pattern): string {
  return pattern.map((part) => (part === MANY ? '*' : part === ONE ? '?' : part)).join('');
}

function regexOf(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
