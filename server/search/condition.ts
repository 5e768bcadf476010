import type { Source } from '../../ingest/index.ts';
import { MOST_NAMES, placeOf, SEVERITIES } from './fields.ts';
import {
  type Comparison,
  MANY,
  ONE,
  type Pattern,
  type Query,
  QueryInvalid,
  type Test,
} from './query.ts';

/** How an engine says the conditions of a query. A value is the name of a parameter that has it as text. */
export interface SearchWords {
  /** A member of metadata as text, whose records are objects or the first of an array; NULL without one. No name has a quote or `\\`. */
  member(path: readonly string[]): string;
  /** Whether a text meets a regular expression of RE2. */
  matches(text: string, parameter: string): string;
  equals(text: string, parameter: string): string;
  /** Whether a text is a number, as JSON writes it, that is so to the one in the parameter. */
  compares(text: string, comparison: Comparison | '=', parameter: string): string;
  /** A number as text. */
  asText(number: string): string;
  /** The URL of a request, in `edge_logs`. */
  readonly url: string;
}

export interface Condition {
  readonly sql: string;
  /** The values of its parameters. */
  readonly values: Readonly<Record<string, string>>;
  /** Texts that each row has for which it holds, as they stand in a message or in metadata. */
  readonly texts: readonly string[];
}

const RANKED: readonly string[] = SEVERITIES;
/** Other words for severities. */
const OTHER_WORDS = new Map([
  ['warning', 'warn'],
  ['err', 'error'],
  ['critical', 'fatal'],
  ['crit', 'fatal'],
]);

/** The condition that entries of a source meet for which a query holds. Throws QueryInvalid for a field that cannot be asked so. */
export function conditionOf(query: Query, source: Source, words: SearchWords): Condition {
  const values: Record<string, string> = {};
  const bind = (value: string) => {
    const name = `q${Object.keys(values).length}`;
    values[name] = value;
    return name;
  };
  // Unknown is no: what is not there is not so, and its opposite is. Only below a NOT it matters, and the engine finds rows sooner without.
  let negations = 0;
  const told = (condition: string) => (negations > 0 ? `coalesce(${condition}, false)` : condition);
  const sqlOf = (part: Query): string => {
    switch (part.kind) {
      case 'and':
        return part.parts.length === 0 ? 'true' : `(${part.parts.map(sqlOf).join(' and ')})`;
      case 'or':
        return `(${part.parts.map(sqlOf).join(' or ')})`;
      case 'not': {
        negations++;
        const inner = sqlOf(part.part);
        negations--;
        return `not ${inner}`;
      }
      case 'text':
        return anywhere(part.text);
      case 'field':
        return field(part);
    }
  };
  const anywhere = (text: Pattern) => {
    if (text.length === 0) return 'true';
    const own = words.matches('event_message', bind(expressionOf(text, BESIDE_WORD)));
    const inJson = words.matches('metadata', bind(expressionOf(text, BESIDE_WORD_IN_JSON)));
    return `(${told(own)} or ${told(inJson)})`;
  };
  const field = ({ path, test, at, valueAt }: Field): string => {
    const place = placeOf(path, source);
    const column = 'column' in place ? place.column : undefined;
    if (column === 'severity') return severity(test, valueAt);
    if (column === 'event_message' && test.is === 'like')
      return told(words.matches(column, bind(expressionOf(test.value, BESIDE_WORD))));
    if (column === 'status') return status(test, valueAt);
    const text = textOf(place, source, words, at);
    if (test.is === 'there') return `${text} is not null`;
    if (test.is !== 'like')
      return told(words.compares(text, test.is, bind(numberOf(test.value, valueAt))));
    const [first = '', ...more] = test.value;
    if (typeof first === 'string' && more.length === 0) {
      const equals = words.equals(text, bind(first));
      // 42 is also 42.0: a number has no one spelling in JSON.
      return told(
        isPlainNumber(first) && !('column' in place)
          ? `(${equals} or ${words.compares(text, '=', bind(first))})`
          : equals,
      );
    }
    return told(words.matches(text, bind(`^${patternOf(test.value, String)}$`)));
  };
  const severity = (test: Test, at: number): string => {
    if (test.is === 'there') return 'severity is not null';
    const given = test.is === 'like' ? test.value : [test.value];
    const [text = '', ...more] = given;
    const word = typeof text === 'string' ? text.toLowerCase() : '';
    const rank = RANKED.indexOf(OTHER_WORDS.get(word) ?? word);
    if (rank < 0 || more.length > 0)
      throw new QueryInvalid(
        at,
        `a severity, one of ${SEVERITIES.join(', ')}`,
        JSON.stringify(word),
      );
    const are = (ranks: readonly string[]) =>
      ranks.length === 0
        ? 'false'
        : told(`severity in (${ranks.map((each) => `'${each}'`).join(', ')})`);
    if (test.is === 'like') return are(SEVERITIES.slice(rank, rank + 1));
    const from = test.is === '>=' ? rank : test.is === '>' ? rank + 1 : 0;
    const until = test.is === '<=' ? rank + 1 : test.is === '<' ? rank : SEVERITIES.length;
    return are(SEVERITIES.slice(from, until));
  };
  const status = (test: Test, at: number): string => {
    if (test.is === 'there') return 'status is not null';
    if (test.is !== 'like') return told(`status ${test.is} ${Number(numberOf(test.value, at))}`);
    const [text = '', ...more] = test.value;
    // 5xx means 5**, as it is written of statuses.
    const [, hundred] =
      (typeof text === 'string' && more.length === 0 && /^([1-5])xx$/i.exec(text)) || [];
    if (hundred) return told(`status between ${hundred}00 and ${hundred}99`);
    if (typeof text === 'string' && more.length === 0)
      return told(`status = ${Number(numberOf(text, at))}`);
    return told(words.matches(words.asText('status'), bind(`^${patternOf(test.value, String)}$`)));
  };
  return { sql: sqlOf(query), values, texts: neededBy(query) };
}

type Field = Extract<Query, { kind: 'field' }>;

/** Throws QueryInvalid. */
function numberOf(text: string, at: number): string {
  if (!/^[+-]?\d{1,18}(?:\.\d{1,18})?(?:[eE][+-]?\d{1,2})?$/.test(text))
    throw new QueryInvalid(at, 'a number to compare with', JSON.stringify(text));
  return text;
}

/** The value of a field as text; NULL without one. Throws QueryInvalid. */
export function fieldOf(path: readonly string[], source: Source, words: SearchWords): string {
  const place = placeOf(path, source);
  const text = textOf(place, source, words, 0);
  return 'column' in place && place.column === 'status' ? words.asText(text) : text;
}

/** Throws QueryInvalid. */
function textOf(
  place: ReturnType<typeof placeOf>,
  source: Source,
  words: SearchWords,
  at: number,
): string {
  if (!('column' in place)) return memberOf(place.member, words, at);
  if (place.column === 'timestamp')
    throw new QueryInvalid(at, 'a field but timestamp, which "from" and "to" bound', '"timestamp"');
  if (place.column === 'url') return words.url;
  // Its name has no signs that would have to be escaped.
  return place.column === 'source' ? `'${source}'` : place.column;
}

/** Whether a text is the number that JSON would write so, and no other number is taken for it. */
function isPlainNumber(text: string): boolean {
  return (
    /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) &&
    Math.abs(Number(text)) <= Number.MAX_SAFE_INTEGER
  );
}

/** Throws QueryInvalid. */
function memberOf(path: readonly string[], words: SearchWords, at: number): string {
  if (path.length > MOST_NAMES)
    throw new QueryInvalid(at, `a field of at most ${MOST_NAMES} names`, String(path.length));
  if (path.some((name) => /["\\\0]/.test(name)))
    throw new QueryInvalid(at, 'names without quotes and backslashes', path.join('.'));
  return words.member(path);
}

/** The texts that stand in each entry for which a query holds. */
function neededBy(query: Query): string[] {
  if (query.kind === 'and') return query.parts.flatMap(neededBy);
  if (query.kind !== 'text') return [];
  return query.text.filter((part) => typeof part === 'string');
}

/** What may be beside a word, as regular expressions, and how a text is written there. */
interface Surroundings {
  readonly before: string;
  readonly after: string;
  readonly written: (text: string) => string;
}

/** What words are made of, where they are parted by blanks: other scripts have no such words. */
const LETTERS = '\\w\\p{Latin}\\p{Greek}\\p{Cyrillic}\\p{Inherited}';
const LETTER = /[\w\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Inherited}]/u;

const BESIDE_WORD: Surroundings = {
  before: `(?:^|[^${LETTERS}])`,
  after: `(?:$|[^${LETTERS}])`,
  written: String,
};

/** The letter of an escape such as \\n is not a part of a word. An escape begins with the last of an odd number of backslashes. */
const BESIDE_WORD_IN_JSON: Surroundings = {
  before: `(?:^|[^${LETTERS}\\\\]|(?:^|[^\\\\])(?:\\\\\\\\)*\\\\(?:["\\\\/bfnrt]|u[\\da-fA-F]{4}))`,
  after: BESIDE_WORD.after,
  written: (text) => JSON.stringify(text).slice(1, -1),
};

/** A word is found as a word: letters, digits and _ end where it does. In any letter case. */
function expressionOf(pattern: Pattern, { before, after, written }: Surroundings): string {
  const [first, last] = [pattern[0], pattern.at(-1)];
  const begin = typeof first === 'string' && LETTER.test([...first][0] ?? '') ? before : '';
  const end = typeof last === 'string' && LETTER.test([...last].at(-1) ?? '') ? after : '';
  return `(?i)${begin}${patternOf(trimmed(pattern), written)}${end}`;
}

/** Without what may stand before and behind anyway. */
function trimmed(pattern: Pattern): Pattern {
  const from = pattern[0] === MANY ? 1 : 0;
  const until = pattern.length > 1 && pattern.at(-1) === MANY ? -1 : undefined;
  return pattern.slice(from, until);
}

function patternOf(pattern: Pattern, written: (text: string) => string): string {
  return pattern
    .map((part) => (part === MANY ? '(?s:.)*' : part === ONE ? '(?s:.)' : literal(written(part))))
    .join('');
}

function literal(text: string): string {
  return text.replaceAll(/[^\w\u0080-\u{10ffff}]/gu, (sign) =>
    sign === '\0' ? '\\x00' : `\\${sign}`,
  );
}
