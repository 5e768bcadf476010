import type { Source } from '../../ingest/index.ts';
import { severityOf } from '../lines/index.ts';
import type { SoughtText } from '../store/index.ts';
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
  /** A member of metadata as text, whose records are objects or the first of an array; NULL without one. Names may have dots in them. */
  member(path: readonly string[]): string;
  /**
   * Whether a member's text meets a test, or that of an element where it is an array. Without such a member: whether `otherwise` holds; null
   * stands for a condition that does not. The condition itself is never NULL.
   */
  some(path: readonly string[], test: (text: string) => string, otherwise: string | null): string;
  /** Tells whether a text has one of these in it, which are letters, digits, blanks and `:=<>!_`. */
  hasOne(text: string, parts: readonly string[]): string;
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
  /** Texts that each row has for which it holds, in its message or in a string of its metadata. */
  readonly texts: readonly SoughtText[];
  /** Its regular expressions, which may not be ones of RE2, and the characters that they begin at, from 0. */
  readonly regexes: readonly { readonly regex: string; readonly at: number }[];
}

/** The condition that entries of a source meet for which a query holds. Throws QueryInvalid for a field that cannot be asked so. */
export function conditionOf(query: Query, source: Source, words: SearchWords): Condition {
  const values: Record<string, string> = {};
  const bind = (value: string) => {
    const name = `q${Object.keys(values).length}`;
    values[name] = value;
    return name;
  };
  const regexes: { regex: string; at: number }[] = [];
  const bindRegex = (regex: string, at: number) => {
    regexes.push({ regex, at });
    return bind(regex);
  };
  // NULL counts as false. It matters below a NOT only, and the engine finds rows sooner without.
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
      case 'regex': {
        const regex = bindRegex(part.regex, part.at);
        const either = ['event_message', 'metadata'].map((text) => words.matches(text, regex));
        return `(${either.map(told).join(' or ')})`;
      }
      case 'field':
        return field(part);
    }
  };
  const anywhere = (text: Pattern) => {
    if (text.length === 0) return 'true';
    const own = wordIn('event_message', text, BESIDE_WORD);
    const inJson = wordIn('metadata', text, BESIDE_WORD_IN_JSON);
    return `(${told(own)} or ${told(inJson)})`;
  };
  /** To look for the letters first takes a third of the time: what is beside them matters in few rows. */
  const wordIn = (column: string, text: Pattern, beside: Surroundings) => {
    const [letters, word] = [{ ...beside, before: '', after: '' }, beside].map((each) =>
      expressionOf(text, each),
    ) as [string, string];
    const isWord = words.matches(column, bind(word));
    return letters === word ? isWord : `(${words.matches(column, bind(letters))} and ${isWord})`;
  };
  /** As `anywhere`. It looks for the characters about the sign first, which takes a tenth of the time, and JSON seldom has them. */
  const quickly = (text: Pattern) => {
    const parts = aboutSign(text);
    const any = ['event_message', 'metadata'].map((column) => words.hasOne(column, parts));
    return parts.length === 0
      ? anywhere(text)
      : `(case when ${any.join(' or ')} then ${anywhere(text)} else false end)`;
  };
  const field = ({ path, test, at, valueAt, asText }: Field): string => {
    const place = placeOf(path, source);
    if ('column' in place) {
      if (place.column === 'severity') return severity(test, valueAt);
      if (place.column === 'status') return status(test, valueAt);
      if (place.column === 'event_message' && test.is === 'like')
        return told(wordIn(place.column, test.value, BESIDE_WORD));
      const column = textOf(place, source, words, at);
      if (test.is === 'there') return `${column} is not null`;
      return told(tested(test, valueAt, false)(column));
    }
    const member = checkedPath(place.member, at);
    if (test.is === 'there') return `${words.member(member)} is not null`;
    // Where there is such a field its name is one: to search all texts takes several times as long.
    return words.some(member, tested(test, valueAt, true), asText && quickly(asText));
  };
  /** The condition that a text meets a test. `isJson`: it may be a number as JSON writes it. */
  const tested = (test: Exclude<Test, { is: 'there' }>, at: number, isJson: boolean) => {
    if (test.is === 'regex') {
      const regex = bindRegex(test.value, at);
      return (text: string) => words.matches(text, regex);
    }
    if (test.is !== 'like') {
      const number = bind(numberOf(test.value, at));
      return (text: string) => words.compares(text, test.is, number);
    }
    const [first = '', ...more] = test.value;
    if (typeof first !== 'string' || more.length > 0) {
      const pattern = bind(`^${patternOf(test.value, String)}$`);
      return (text: string) => words.matches(text, pattern);
    }
    const value = bind(first);
    // 42 is also 42.0: a number has no one spelling in JSON.
    return isJson && isPlainNumber(first)
      ? (text: string) => words.compares(text, '=', value)
      : (text: string) => words.equals(text, value);
  };
  const severity = (test: Test, at: number): string => {
    if (test.is === 'there') return 'severity is not null';
    if (test.is === 'regex') return told(words.matches('severity', bindRegex(test.value, at)));
    const given = test.is === 'like' ? test.value : [test.value];
    const [text = '', ...more] = given;
    const word = typeof text === 'string' ? text.toLowerCase() : '';
    const meant = severityOf(word);
    const rank = meant === null ? -1 : SEVERITIES.indexOf(meant);
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
    if (test.is === 'regex')
      return told(words.matches(words.asText('status'), bindRegex(test.value, at)));
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
  return { sql: sqlOf(query), values, texts: neededBy(query, source), regexes };
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
  if (!('column' in place)) return words.member(checkedPath(place.member, at));
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
function checkedPath(path: readonly string[], at: number): readonly string[] {
  if (path.length > MOST_NAMES)
    throw new QueryInvalid(at, `a field of at most ${MOST_NAMES} names`, String(path.length));
  if (path.some((name) => name.includes('\0')))
    throw new QueryInvalid(at, 'names without NUL', JSON.stringify(path.join('.')));
  return path;
}

/** Returns the texts that stand in each entry for which a query holds. */
function neededBy(query: Query, source: Source): SoughtText[] {
  if (query.kind === 'and') return query.parts.flatMap((part) => neededBy(part, source));
  if (query.kind === 'text') return wordsOf(query.text);
  if (query.kind !== 'field' || query.test.is !== 'like') return [];
  const place = placeOf(query.path, source);
  if ('column' in place) return place.column === 'event_message' ? wordsOf(query.test.value) : [];
  // Numbers have several spellings, and so have objects and arrays.
  const [value = '', ...more] = query.test.value;
  const isSpelledSo =
    typeof value === 'string' && more.length === 0 && /^[\p{L}_][\w .:/@-]*$/u.test(value);
  return isSpelledSo ? wordsOf([value]) : [];
}

/** Returns the texts of a pattern. Words end where it does. */
function wordsOf(pattern: Pattern): SoughtText[] {
  return pattern.flatMap((text, i) =>
    typeof text === 'string'
      ? [{ text, escaped: true, begins: i === 0, ends: i === pattern.length - 1 }]
      : [],
  );
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

/** Texts about the sign of a text such as `name: value`, in each letter case; nothing where it may have other forms in JSON. */
function aboutSign([text]: Pattern): string[] {
  const [, before = '', sign = '', after = ''] =
    /(\w)([:=<>!]+ *)(\w?)/.exec(typeof text === 'string' ? text : '') ?? [];
  const cases = (letter: string) => [...new Set([letter.toLowerCase(), letter.toUpperCase()])];
  return sign === ''
    ? []
    : cases(before).flatMap((first) => cases(after).map((last) => first + sign + last));
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
