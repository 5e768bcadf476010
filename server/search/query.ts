/** A question for entries, as people write it in a search box. */
export type Query =
  /** Every part holds; without parts it always does. */
  | { readonly kind: 'and'; readonly parts: readonly Query[] }
  | { readonly kind: 'or'; readonly parts: readonly Query[] }
  | { readonly kind: 'not'; readonly part: Query }
  /** The message or the metadata has the text. */
  | { readonly kind: 'text'; readonly text: Pattern }
  /** A field meets a test. */
  | {
      readonly kind: 'field';
      readonly path: readonly string[];
      readonly test: Test;
      /** The characters that it and its value begin at, from 0. */
      readonly at: number;
      readonly valueAt: number;
    };

export type Test =
  | { readonly is: 'there' }
  | { readonly is: 'like'; readonly value: Pattern }
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
  return (text.match(NAME) ?? []).map(nameOf);
}

type Token =
  | { readonly kind: 'open' | 'close' | 'and' | 'or' | 'not' | 'end'; readonly at: number }
  | { readonly kind: 'field'; readonly at: number; readonly path: readonly string[] }
  | { readonly kind: 'comparison'; readonly at: number; readonly comparison: Comparison }
  | { readonly kind: 'range'; readonly at: number; readonly tests: readonly Test[] }
  | { readonly kind: 'value'; readonly at: number; readonly value: Pattern };

const WORDS: Readonly<Record<string, 'and' | 'or' | 'not'>> = {
  AND: 'and',
  '&&': 'and',
  OR: 'or',
  '||': 'or',
  NOT: 'not',
};

/** A name, or several with dots between them; what a name may not have stands in quotes. Behind it a colon, but none of a URL. */
const FIELD =
  /(?:[A-Za-z_@$][\w@$-]*|"(?:[^"\\]|\\.)+")(?:\.(?:[\w@$-]+|"(?:[^"\\]|\\.)+"))*:(?!\/\/)/y;
const NAME = /[\w@$-]+|"(?:[^"\\]|\\.)+"/g;
const COMPARISON = /[<>]=?/y;
/** `[500 TO 599]`; a curly bracket leaves out the bound itself, and `*` stands for any. */
const RANGE = /([[{])\s*(\S+)\s+TO\s+([^\s\]}]+)\s*([\]}])/y;
const QUOTED = /"((?:[^"\\]|\\.)*)"/sy;
const BARE = /(?:[^\s()"\\]|\\.)+/sy;
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
  for (;;) {
    match(BLANKS);
    const begin = at;
    const last = tokens.at(-1)?.kind;
    const isOfField = last === 'field' && begin === endOf(text, tokens);
    const sign = text[at];
    if (sign === undefined) return [...tokens, { kind: 'end', at }];
    if (sign === '(' || sign === ')') {
      at++;
      tokens.push({ kind: sign === '(' ? 'open' : 'close', at: begin });
      continue;
    }
    if (isOfField) {
      const range = match(RANGE);
      if (range) {
        tokens.push({ kind: 'range', at: begin, tests: testsOf(range) });
        continue;
      }
      if (sign === '[' || sign === '{')
        throw new QueryInvalid(begin, 'a range such as [400 TO 499]', shown(text, begin));
      const comparison = match(COMPARISON);
      if (comparison) {
        tokens.push({ kind: 'comparison', at: begin, comparison: comparison[0] as Comparison });
        continue;
      }
    }
    const isValue = isOfField || last === 'comparison';
    if (!isValue && (sign === '-' || sign === '!') && /[^\s]/.test(text[at + 1] ?? ' ')) {
      at++;
      tokens.push({ kind: 'not', at: begin });
      continue;
    }
    // What must be there is, in a query whose parts all must hold.
    if (!isValue && sign === '+' && /[^\s]/.test(text[at + 1] ?? ' ')) {
      at++;
      continue;
    }
    const field = isValue ? null : match(FIELD);
    if (field) {
      const names = field[0].slice(0, -1).match(NAME) ?? [];
      tokens.push({ kind: 'field', at: begin, path: names.map(nameOf) });
      continue;
    }
    const quoted = match(QUOTED);
    if (quoted) {
      const value = unescaped(quoted[1] ?? '');
      tokens.push({ kind: 'value', at: begin, value: value === '' ? [] : [value] });
      continue;
    }
    const bare = match(BARE);
    if (!bare) {
      const expected = sign === '"' ? 'a quote that is closed' : 'a character behind the backslash';
      throw new QueryInvalid(begin, expected, shown(text, begin));
    }
    const word = isValue ? undefined : WORDS[bare[0]];
    tokens.push(
      word ? { kind: word, at: begin } : { kind: 'value', at: begin, value: patternOf(bare[0]) },
    );
  }
}

/** Where the last token ends, if it is a field. */
function endOf(text: string, tokens: readonly Token[]): number {
  FIELD.lastIndex = tokens.at(-1)?.at ?? 0;
  const found = FIELD.exec(text);
  return (tokens.at(-1)?.at ?? 0) + (found?.[0].length ?? 0);
}

function testsOf([, open, from = '', to = '', close]: RegExpExecArray): Test[] {
  return [
    ...(from === '*' ? [] : [{ is: open === '[' ? '>=' : '>', value: from } as const]),
    ...(to === '*' ? [] : [{ is: close === ']' ? '<=' : '<', value: to } as const]),
  ];
}

function nameOf(name: string): string {
  return name.startsWith('"') ? unescaped(name.slice(1, -1)) : name;
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

function shown(text: string, at: number): string {
  return at >= text.length ? 'the end' : JSON.stringify(text.slice(at, at + 20));
}

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

  private takes(kind: Token['kind']): boolean {
    if (this.token().kind !== kind) return false;
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
      const { kind } = this.token();
      if (kind === 'end' || kind === 'close' || kind === 'or') return joined('and', parts);
      this.takes('and');
      parts.push(this.not());
    }
  }

  private not(): Query {
    if (!this.takes('not')) return this.part();
    return this.deeper(() => ({ kind: 'not', part: this.not() }));
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
    if (token.kind !== 'field')
      throw this.invalid('a word, a "phrase", field:value or an opening bracket');
    this.next++;
    return this.field(token.path, token.at);
  }

  private field(path: readonly string[], at: number): Query {
    const token = this.token();
    this.count();
    const of = (test: Test, valueAt = token.at): Query => ({
      kind: 'field',
      path,
      test,
      at,
      valueAt,
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
      if (typeof text !== 'string' || more.length > 0)
        throw this.invalid(`what to compare with behind ${token.comparison}`);
      this.next++;
      return of({ is: token.comparison, value: text }, value.at);
    }
    if (token.kind === 'open') {
      this.next++;
      const parts: Query[] = [];
      do {
        if (this.token().kind !== 'value') throw this.invalid('a value');
        parts.push(this.field(path, at));
      } while (this.takes('or'));
      if (!this.takes('close')) throw this.invalid('OR, or a closing bracket');
      return joined('or', parts);
    }
    if (token.kind !== 'value') throw this.invalid(`a value of ${path.join('.')}`);
    this.next++;
    const isAny = token.value.length === 1 && token.value[0] === MANY;
    return of(isAny ? { is: 'there' } : { is: 'like', value: token.value });
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
