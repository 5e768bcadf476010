import { COLUMNS } from './fields.ts';

/** A question for entries, as people write it in a search box. */
export type Query =
  /** Every part holds; without parts it always does. */
  | { readonly kind: 'and'; readonly parts: readonly Query[] }
  | { readonly kind: 'or'; readonly parts: readonly Query[] }
  | { readonly kind: 'not'; readonly part: Query }
  /** The message or the metadata has the text. */
  | { readonly kind: 'text'; readonly text: Pattern }
  /** The message or the metadata matches a regular expression, which begins at this character. */
  | { readonly kind: 'regex'; readonly regex: string; readonly at: number }
  /** A field meets a test. */
  | {
      readonly kind: 'field';
      readonly path: readonly string[];
      readonly test: Test;
      /** The characters that it and its value begin at, from 0. */
      readonly at: number;
      readonly valueAt: number;
      /** The condition as it is written: where the field is a member of metadata, it may be a part of a text. Null where it cannot be. */
      readonly asText: Pattern | null;
    };

export type Test =
  | { readonly is: 'there' }
  | { readonly is: 'like'; readonly value: Pattern }
  | { readonly is: 'regex'; readonly value: string }
  | { readonly is: Comparison; readonly value: string };

export type Comparison = '<' | '<=' | '>' | '>=';

/** Text, with `*` for any characters and `?` for one, where these are not part of it. */
export type Pattern = readonly (string | typeof MANY | typeof ONE)[];

export const MANY = Symbol('*');
export const ONE = Symbol('?');

/** A query that cannot be read. */
export class QueryInvalid extends Error {
  /** The character that it ends to make sense at, from 0. */
  readonly at: number;
  constructor(at: number, expected: string, got: string) {
    super(`Expected ${expected} at character ${at + 1}, got ${got}.`);
    this.at = at;
  }
}

/** Parts of a query, and levels of brackets in it, so that no statement is out of proportion. */
const MOST_PARTS = 50;
const MOST_LEVELS = 20;

/** The query of a text. An empty one holds always. Throws QueryInvalid. */
export function parseQuery(text: string): Query {
  const tokens = tokensOf(text);
  const parser = new Parser(tokens, text);
  return parser.whole();
}

/** The names of a field as it is written before a colon. Throws QueryInvalid. */
export function fieldPath(text: string): string[] {
  FIELD.lastIndex = 0;
  const [found] = FIELD.exec(`${text}:`) ?? [];
  if (found === undefined || found.length !== text.length + 1)
    throw new QueryInvalid(0, 'a field, such as status or request.method', shown(text, 0));
  return namesOf(text);
}

type Token = { readonly at: number; readonly end: number } & (
  | { readonly kind: 'open' | 'close' | 'and' | 'or' | 'not' | 'end' }
  | { readonly kind: 'field'; readonly path: readonly string[]; readonly sign: Sign }
  | { readonly kind: 'comparison'; readonly comparison: Comparison }
  | { readonly kind: 'range'; readonly tests: readonly Test[] }
  | { readonly kind: 'regex'; readonly regex: string }
  | {
      readonly kind: 'value';
      readonly value: Pattern;
      readonly isQuoted: boolean;
      /** An operator, where terms stand beside it. */
      readonly word: 'and' | 'or' | 'not' | undefined;
    }
);
/** Between a field and its value. `op`: a comparison, which follows as a token. */
type Sign = ':' | '=' | '!=' | 'op';

const WORDS: Readonly<Record<string, 'and' | 'or' | 'not'>> = {
  AND: 'and',
  '&&': 'and',
  OR: 'or',
  '||': 'or',
  NOT: 'not',
};
const SMALL_WORDS: readonly string[] = ['and', 'or', 'not'];

const IN_QUOTES = '"(?:[^"\\\\]|\\\\.)*"';
const LETTERS = '[\\p{L}\\p{M}\\p{N}_@$/-]+';
/** A name, or several with dots between them; anything else that a name has stands in quotes. */
const NAMES = `(?:[\\p{L}_@$](?:${LETTERS})?|${IN_QUOTES})(?:\\.(?:${LETTERS}|${IN_QUOTES}))*`;
/** Behind the names a colon, but not that of a URL. */
const FIELD = new RegExp(`${NAMES}:(?!//)`, 'uy');
const NAME = new RegExp(`${LETTERS}|${IN_QUOTES}`, 'gu');
/** `status = 500`, `f != x`: with a value behind it. An arrow is text. */
const EQUATION = new RegExp(`(${NAMES})\\s*(!=|==?)(?![=~>])\\s*(?=[^\\s()=])`, 'uy');
/** `took>5`: with a number behind it, as other texts have these signs, too. Of severities a word. */
const INEQUATION = new RegExp(
  `(?:${NAMES}\\s*(?=[<>]=?\\s*-?\\d)|(?:level|severity)\\s*(?=[<>]=?\\s*\\p{L}))`,
  'uyi',
);
/** The selector of a stream in LogQL: `{level="error", app=~"a.*"}`. */
const MATCHER = `\\s*(${NAMES})\\s*(=~|!~|!=|=)\\s*("(?:[^"\\\\]|\\\\.)*")\\s*`;
const SELECTOR = new RegExp(`\\{${MATCHER}(?:,${MATCHER})*,?\\s*\\}`, 'uy');
/** The filters of LogQL: `|= "text"`. */
const LINE_FILTER = /(\|=|\|~|!=|!~)\s*(?=")/y;
const EXISTS = new RegExp(`(_exists_|_missing_):\\s*(${NAMES})(?=[\\s)]|$)`, 'uy');
const COMPARISON = /[<>]=?/y;
/** `[500 TO 599]`; a curly bracket leaves out the bound itself, and `*` stands for any. */
const RANGE = /([[{])\s*(\S+)\s+TO\s+([^\s\]}]+)\s*([\]}])/y;
const QUOTED = /"((?:[^"\\]|\\.)*)"/sy;
const SINGLE_QUOTED = /'([^']*)'(?=[\s)]|$)/y;
const BARE = /(?:[^\s()"\\]|\\.)+/sy;
/** Between slashes, of which it has none itself. */
const REGEX = /\/((?:[^/\\\n]|\\.)+)\/(?=[\s)]|$)/y;
/** A path such as /rest/ is text. The value of a field may have `*` and dots: `path:/rpc/v1.*`. */
const SIGNS_OF_REGEX = /[[\](){}|^$+\\.*?]/;
const SIGNS_OF_FIELD_REGEX = /[[\](){}|^$+\\]|\.[*?]/;
const BLANKS = /\s*/y;

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at += found[0].length;
    return found;
  };
  const regexOf = (signs: RegExp) => {
    const begin = at;
    const [, regex] = match(REGEX) ?? [];
    if (regex !== undefined && signs.test(regex)) return regex.replaceAll('\\/', '/');
    at = begin;
    return null;
  };
  for (;;) {
    match(BLANKS);
    const begin = at;
    const add = (...added: OmitPlace<Token>[]) =>
      tokens.push(...added.map((token) => ({ ...token, at: begin, end: at }) as Token));
    const last = tokens.at(-1);
    const isOfField = last?.kind === 'field' && (begin === last.end || last.sign !== ':');
    const isValue = isOfField || last?.kind === 'comparison';
    const sign = text[at];
    if (sign === undefined) return [...tokens, { kind: 'end', at, end: at }];
    if (sign === '(' || sign === ')') {
      at++;
      add({ kind: sign === '(' ? 'open' : 'close' });
      continue;
    }
    if (isOfField && last.sign !== '=' && last.sign !== '!=') {
      const range = match(RANGE);
      if (range) {
        add({ kind: 'range', tests: testsOf(range) });
        continue;
      }
      if (sign === '[' || sign === '{')
        throw new QueryInvalid(begin, 'a range such as [400 TO 499]', shown(text, begin));
      const comparison = match(COMPARISON);
      if (comparison) {
        add({ kind: 'comparison', comparison: comparison[0] as Comparison });
        continue;
      }
    }
    if (!isValue) {
      const filter = match(LINE_FILTER);
      if (filter) {
        if (filter[1]?.startsWith('!')) add({ kind: 'not' });
        const [, quoted = ''] = match(QUOTED) ?? [];
        if (filter[1]?.endsWith('~')) add({ kind: 'regex', regex: unescaped(quoted) });
        else add(literal(unescaped(quoted)));
        continue;
      }
      const hasMore = /[^\s]/.test(text[at + 1] ?? ' ');
      if ((sign === '-' || sign === '!') && hasMore) {
        at++;
        add({ kind: 'not' });
        continue;
      }
      // A term with a plus must hold, as all terms must.
      if (sign === '+' && hasMore) {
        at++;
        continue;
      }
      const selector = match(SELECTOR);
      if (selector) {
        add({ kind: 'open' });
        for (const [, names = '', operator = '', value = ''] of selector[0].matchAll(
          new RegExp(MATCHER, 'gu'),
        )) {
          if (operator.startsWith('!')) add({ kind: 'not' });
          add({ kind: 'field', path: namesOf(names), sign: ':' });
          const read = unescaped(value.slice(1, -1));
          if (operator.endsWith('~')) add({ kind: 'regex', regex: `^(?:${read})$` });
          else add(literal(read));
        }
        add({ kind: 'close' });
        continue;
      }
      const exists = match(EXISTS);
      if (exists) {
        if (exists[1] === '_missing_') add({ kind: 'not' });
        add({ kind: 'field', path: namesOf(exists[2] ?? ''), sign: ':' });
        add({ kind: 'value', value: [MANY], isQuoted: false, word: undefined });
        continue;
      }
      const field = match(FIELD);
      if (field) {
        add({ kind: 'field', path: namesOf(field[0].slice(0, -1)), sign: ':' });
        continue;
      }
      const equation = match(EQUATION);
      if (equation) {
        const equals = equation[2] === '!=' ? '!=' : '=';
        add({ kind: 'field', path: namesOf(equation[1] ?? ''), sign: equals });
        continue;
      }
      const inequation = match(INEQUATION);
      if (inequation) {
        add({ kind: 'field', path: namesOf(inequation[0].trim()), sign: 'op' });
        continue;
      }
    }
    const regex = regexOf(isValue ? SIGNS_OF_FIELD_REGEX : SIGNS_OF_REGEX);
    if (regex !== null) {
      add({ kind: 'regex', regex });
      continue;
    }
    const isEquation = last?.kind === 'field' && last.sign !== ':';
    const quoted = match(QUOTED) ?? (isEquation ? match(SINGLE_QUOTED) : null);
    if (quoted) {
      add(literal(sign === '"' ? unescaped(quoted[1] ?? '') : (quoted[1] ?? '')));
      continue;
    }
    const bare = match(BARE);
    if (!bare) {
      const expected = sign === '"' ? 'a quote that is closed' : 'a character behind the backslash';
      throw new QueryInvalid(begin, expected, shown(text, begin));
    }
    const word = isValue ? undefined : WORDS[bare[0]];
    if (word) add({ kind: word });
    else {
      const isSmall = last?.kind !== 'field' && SMALL_WORDS.includes(bare[0]);
      add({
        kind: 'value',
        value: patternOf(bare[0]),
        isQuoted: false,
        word: isSmall ? (bare[0] as 'and' | 'or' | 'not') : undefined,
      });
    }
  }
}

type OmitPlace<T> = T extends unknown ? Omit<T, 'at' | 'end'> : never;

function literal(text: string): OmitPlace<Token> {
  return { kind: 'value', value: text === '' ? [] : [text], isQuoted: true, word: undefined };
}

function testsOf([, open, from = '', to = '', close]: RegExpExecArray): Test[] {
  return [
    ...(from === '*' ? [] : [{ is: open === '[' ? '>=' : '>', value: from } as const]),
    ...(to === '*' ? [] : [{ is: close === ']' ? '<=' : '<', value: to } as const]),
  ];
}

function namesOf(text: string): string[] {
  return (text.match(NAME) ?? []).map((name) =>
    name.startsWith('"') ? unescaped(name.slice(1, -1)) : name,
  );
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/gs, '$1');
}

function patternOf(bare: string): Pattern {
  const parts: (string | typeof MANY | typeof ONE)[] = [];
  for (const [, escaped, sign = ''] of bare.matchAll(/\\(.)|(.)/gsu)) {
    if (escaped === undefined && sign === '*') parts.push(MANY);
    else if (escaped === undefined && sign === '?') parts.push(ONE);
    else if (typeof parts.at(-1) === 'string')
      parts.push(`${String(parts.pop())}${escaped ?? sign}`);
    else parts.push(escaped ?? sign);
  }
  return parts;
}

/** A text that was pasted has backslashes that stand for themselves: `C:\new`. */
function pasted(text: string): Pattern {
  return patternOf(text.replaceAll(/\\(?=[\p{L}\p{N}])/gu, '\\\\'));
}

function shown(text: string, at: number): string {
  return at >= text.length ? 'the end' : JSON.stringify(text.slice(at, at + 20));
}

/** Signs that a term can begin with. */
const BEGINS: readonly Token['kind'][] = ['open', 'not', 'field', 'value', 'regex'];

class Parser {
  private readonly tokens: readonly Token[];
  private readonly text: string;
  private next = 0;
  private parts = 0;
  private levels = 0;

  constructor(tokens: readonly Token[], text: string) {
    this.tokens = tokens;
    this.text = text;
  }

  whole(): Query {
    if (this.token().kind === 'end') return { kind: 'and', parts: [] };
    const query = this.or();
    if (this.token().kind !== 'end') throw this.invalid('nothing more, or a word');
    return query;
  }

  private token(): Token {
    return this.tokens[this.next] as Token;
  }

  private is(kind: Token['kind']): boolean {
    const token = this.token();
    if (token.kind === kind) return true;
    // `or` in small letters is an operator where a term follows; elsewhere it is a word.
    return (
      token.kind === 'value' &&
      token.word === kind &&
      BEGINS.includes(this.tokens[this.next + 1]?.kind ?? 'end')
    );
  }

  private takes(kind: Token['kind']): boolean {
    if (!this.is(kind)) return false;
    this.next++;
    return true;
  }

  private invalid(expected: string): QueryInvalid {
    const { at } = this.token();
    return new QueryInvalid(at, expected, shown(this.text, at));
  }

  private or(): Query {
    const parts = [this.and()];
    while (this.takes('or')) parts.push(this.and());
    return joined('or', parts);
  }

  private and(): Query {
    const parts = [this.not()];
    for (;;) {
      if (this.is('end') || this.is('close') || this.is('or')) return joined('and', parts);
      this.takes('and');
      parts.push(this.not());
    }
  }

  private not(): Query {
    const token = this.token();
    if (!this.takes('not')) return this.part();
    const word = this.token();
    const part = this.deeper(() => this.not());
    const negated: Query = { kind: 'not', part };
    // `could not connect` may be the text, too.
    if (token.kind !== 'value' || word.kind !== 'value') return negated;
    return joined('or', [
      negated,
      { kind: 'text', text: this.written(this.text.slice(token.at, word.at), word) },
    ]);
  }

  /** A value as it is written behind a text, as a pattern. */
  private written(before: string, value: Token & { kind: 'value' }): Pattern {
    const own = this.text.slice(value.at, value.end);
    const [first, ...more] = value.isQuoted ? [own] : pasted(own);
    return typeof first === 'string' ? [before + first, ...more] : [before, first ?? '', ...more];
  }

  private part(): Query {
    const token = this.token();
    if (token.kind === 'open') {
      this.next++;
      const inner = this.deeper(() => this.or());
      if (!this.takes('close')) throw this.invalid('a closing bracket');
      return inner;
    }
    if (token.kind === 'value') {
      this.count();
      this.next++;
      return { kind: 'text', text: token.value };
    }
    if (token.kind === 'regex') {
      this.count();
      this.next++;
      return { kind: 'regex', regex: token.regex, at: token.at };
    }
    if (token.kind !== 'field')
      throw this.invalid('a word, a "phrase", field:value or an opening bracket');
    this.next++;
    return this.field(token);
  }

  /** `name`: the field as it is written before each of several values. */
  private field(field: Token & { kind: 'field' }, name?: string): Query {
    const token = this.token();
    const { path, sign, at } = field;
    this.count();
    const of = (test: Test, valueAt = token.at, asText: Pattern | null = null): Query => ({
      kind: 'field',
      path,
      test,
      at,
      valueAt,
      asText,
    });
    if (token.kind === 'range') {
      this.next++;
      return joined(
        'and',
        token.tests.map((test) => of(test)),
      );
    }
    if (token.kind === 'comparison') {
      this.next++;
      const value = this.token();
      const [text, ...more] = value.kind === 'value' ? value.value : [];
      if (value.kind !== 'value' || typeof text !== 'string' || more.length > 0)
        throw this.invalid(`what to compare with behind ${token.comparison}`);
      this.next++;
      const asText = sign === 'op' ? this.written(this.text.slice(at, value.at), value) : null;
      return of({ is: token.comparison, value: text }, value.at, asText);
    }
    if (token.kind === 'open') {
      this.next++;
      const parts: Query[] = [];
      do {
        if (!['value', 'regex'].includes(this.token().kind)) throw this.invalid('a value');
        parts.push(this.field(field, this.text.slice(at, field.end)));
      } while (this.takes('or'));
      if (!this.takes('close')) throw this.invalid('OR, or a closing bracket');
      return joined('or', parts);
    }
    if (token.kind === 'regex') {
      this.next++;
      return of({ is: 'regex', value: token.regex });
    }
    if (token.kind !== 'value') {
      // The colon of a text, such as `panic:`.
      if (path.length > 1 || !COLUMNS.has(path[0]?.toLowerCase() ?? ''))
        return { kind: 'text', text: [this.text.slice(at, field.end)] };
      throw this.invalid(`a value of ${path.join('.')}`);
    }
    this.next++;
    const isAny = token.value.length === 1 && token.value[0] === MANY;
    if (isAny) return of({ is: 'there' });
    const asText = this.written(name ?? this.text.slice(at, token.at), token);
    const test: Test = { is: 'like', value: token.value };
    if (sign === '!=') return { kind: 'not', part: of(test) };
    const isColumn = path.length === 1 && COLUMNS.has(path[0]?.toLowerCase() ?? '');
    if (sign === ':' || !isColumn) return of(test, token.at, asText);
    // Messages have `level=error`, too.
    return joined('or', [of(test), { kind: 'text', text: asText }]);
  }

  private count() {
    if (++this.parts > MOST_PARTS) throw this.invalid(`at most ${MOST_PARTS} conditions`);
  }

  private deeper<T>(action: () => T): T {
    if (++this.levels > MOST_LEVELS) throw this.invalid(`at most ${MOST_LEVELS} levels`);
    const result = action();
    this.levels--;
    return result;
  }
}

function joined(kind: 'and' | 'or', parts: readonly Query[]): Query {
  const [first, ...more] = parts;
  return first && more.length === 0 ? first : { kind, parts };
}
