import { refuse, shown } from '../error.ts';
import { hasGroup, patternOf } from '../patterns.ts';
import { join, literal, type Sql, sql } from '../sql-fragment.ts';
import { as, type Expression } from '../typed-expression.ts';
import { arrayLength } from './array.ts';
import type { Call, Functions } from './builder.ts';
import {
  call,
  constant,
  constantText,
  grown,
  growthOf,
  guarded,
  made,
  type SqlFunction,
  simple,
  text,
} from './builder.ts';

/**
 * What was found or made by a regular expression, and NULL for what is not UTF-8: most functions on texts take it for granted that they
 * are given some.
 */
function wellFormed(args: readonly Expression[], value: Sql): Sql {
  return guarded(args, sql`decode(encode(${value}))`);
}

const matches: SqlFunction = {
  least: 2,
  most: 2,
  build([value, pattern], info) {
    if (!value || !pattern) throw new Error('BUG: arguments were counted');
    return made(
      'bool',
      sql`regexp_matches(${as(value, 'text', info.at)}, ${literal(patternOf(pattern, info))})`,
      [value],
    );
  },
};

const extracted: SqlFunction = {
  least: 2,
  most: 3,
  build([value, pattern, group], info) {
    if (!value || !pattern) throw new Error('BUG: arguments were counted');
    const expression = patternOf(pattern, info);
    // The engine counts groups, BigQuery takes the one that there is.
    const index =
      group && info.dialect === 'duckdb'
        ? constant(group, 0, 9, info)
        : hasGroup(expression)
          ? 1
          : 0;
    const [source, quoted] = [as(value, 'text', info.at), literal(expression)];
    const found = wellFormed([value], sql`regexp_extract(${source}, ${quoted}, ${String(index)})`);
    return made('text', sql`case when regexp_matches(${source}, ${quoted}) then ${found} end`, [
      value,
    ]);
  },
};

const extractedAll: SqlFunction = {
  least: 2,
  most: 2,
  build([value, pattern], info) {
    if (!value || !pattern) throw new Error('BUG: arguments were counted');
    const expression = patternOf(pattern, info);
    const found = sql`regexp_extract_all(${as(value, 'text', info.at)}, ${literal(expression)}, ${hasGroup(expression) ? '1' : '0'})`;
    const texts = guarded([value], sql`list_transform(${found}, lambda t: decode(encode(t)))`);
    return made('array', texts, [value], { element: 'text', ...grown(growthOf(value) * 16, info) });
  },
};

const replacedAll: SqlFunction = {
  least: 3,
  most: 4,
  build([value, pattern, replacement], info) {
    if (!value || !pattern || !replacement) throw new Error('BUG: arguments were counted');
    const to = constantText(replacement, info);
    const references = to.match(/\\\d/g)?.length ?? 0;
    const replaced = sql`regexp_replace(${as(value, 'text', info.at)}, ${literal(patternOf(pattern, info))}, ${literal(to)}, 'g')`;
    return made(
      'text',
      wellFormed([value], replaced),
      [value],
      grown(growthOf(value) * (1 + references + to.length), info),
    );
  },
};

const replacedText: SqlFunction = {
  least: 3,
  most: 3,
  build([value, from, to], info) {
    if (!value || !from || !to) throw new Error('BUG: arguments were counted');
    const [old, fresh] = [constantText(from, info), constantText(to, info)];
    if (old === '') return made('text', as(value, 'text', info.at), [value]);
    const growth = growthOf(value) * Math.max(1, fresh.length / old.length);
    return made(
      'text',
      sql`replace(${as(value, 'text', info.at)}, ${literal(old)}, ${literal(fresh)})`,
      [value],
      grown(growth, info),
    );
  },
};

/** To the engine NULL has no type any more once it was joined to a text. */
function joined(parts: readonly Sql[]): Sql {
  return sql`(${join(parts, ' || ')})::varchar`;
}

const concatenated: SqlFunction = {
  least: 1,
  most: 20,
  build(args, info) {
    const growth = args.reduce(
      (sum, arg) => sum + (arg.literal === undefined ? growthOf(arg) : 0),
      0,
    );
    const texts = args.map(({ kind, literal: given }) => (kind === 'text' ? given : undefined));
    if (texts.every((each) => each !== undefined)) {
      const whole = texts.join('');
      return { kind: 'text', sql: literal(whole), literal: whole };
    }
    const parts = args.map((arg) => as(arg, 'text', info.at));
    return made('text', joined(parts), args, grown(Math.max(1, growth), info));
  },
};

function padded(name: string): SqlFunction {
  return {
    least: 2,
    most: 3,
    build([value, length, fill], info) {
      if (!value || !length) throw new Error('BUG: arguments were counted');
      const count = constant(length, 0, 1000, info);
      const filling = fill ? constantText(fill, info) : ' ';
      if (filling === '') refuse(info.at, 'The filling may not be empty');
      return made(
        'text',
        sql`${name}(${as(value, 'text', info.at)}, ${String(count)}, ${literal(filling)})`,
        [value],
      );
    },
  };
}

const repeated: SqlFunction = {
  least: 2,
  most: 2,
  build([value, times], info) {
    if (!value || !times) throw new Error('BUG: arguments were counted');
    const count = constant(times, 0, 100, info);
    return made(
      'text',
      sql`repeat(${as(value, 'text', info.at)}, ${String(count)})`,
      [value],
      grown(growthOf(value) * count, info),
    );
  },
};

const SPECIFIER = /%([-+ 0#]{0,3}\d{0,2}(?:\.\d{1,2})?)([a-zA-Z%])/g;

/** `FORMAT('%s took %d ms', a, b)`; a width has two digits at most. */
const formatted: SqlFunction = {
  least: 1,
  most: 20,
  build([format, ...args], info) {
    const text = constantText(format, info);
    const parts: Sql[] = [];
    let [at, used] = [0, 0];
    for (const match of text.matchAll(SPECIFIER)) {
      const [whole, flags, type = ''] = match;
      parts.push(literal(text.slice(at, match.index)));
      at = match.index + whole.length;
      if (type === '%') {
        parts.push("'%'");
        continue;
      }
      const value =
        args[used++] ?? refuse(info.at, 'FORMAT has fewer arguments than its format asks for');
      parts.push(specified(value, `%${flags}`, type, info));
    }
    const rest = text.slice(at);
    if (rest.includes('%')) refuse(info.at, `There is no specifier ${shown(rest)} in FORMAT`);
    if (used < args.length) refuse(info.at, 'FORMAT has more arguments than its format asks for');
    const growth = args.reduce((sum, arg) => sum + growthOf(arg), 1);
    return made('text', joined([...parts, literal(rest)]), args, grown(growth, info));
  },
};

function specified(value: Expression, flags: string, type: string, { at }: Call): Sql {
  if ('sStT'.includes(type)) {
    const text = as(value, 'text', at);
    return flags === '%' ? text : sql`printf(${literal(`${flags}s`)}, ${text})`;
  }
  if ('dioxX'.includes(type)) {
    const number = sql`try_cast(${as(value, 'number', at)} as bigint)`;
    return sql`printf(${literal(`${flags}${type === 'i' ? 'd' : type}`)}, ${number})`;
  }
  if (!'fFeEgG'.includes(type))
    return refuse(at, `There is no specifier ${shown(`%${type}`)} in FORMAT`);
  return sql`printf(${literal(`${flags}${type}`)}, (${as(value, 'number', at)})::double)`;
}

/** A count of characters, not negative; NULL for no number. */
function count(value: Expression, at: number | null): Sql {
  return sql`least(greatest(try_cast(${as(value, 'number', at)} as bigint), 0), 1000000000)`;
}

const substring: SqlFunction = {
  least: 2,
  most: 3,
  build(args, { at }) {
    const [value, start, length] = args;
    if (!value || !start) throw new Error('BUG: arguments were counted');
    const place = sql`try_cast(${as(start, 'number', at)} as bigint)`;
    // From the first character for 0, too; and from the end for less.
    const from = sql`case when ${place} = 0 then 1 when abs((${place})::double) < 1000000000 then ${place} end`;
    const most = length ? sql`, ${count(length, at)}` : '';
    return made('text', sql`substring(${as(value, 'text', at)}, ${from}${most})`, args);
  },
};

function edge(name: string): SqlFunction {
  return {
    least: 2,
    most: 2,
    build(args, { at }) {
      const [value, length] = args;
      if (!value || !length) throw new Error('BUG: arguments were counted');
      return made('text', sql`${name}(${as(value, 'text', at)}, ${count(length, at)})`, args);
    },
  };
}

/** Of a literal it is one again, as patterns must be. */
function cased(name: string, change: (value: string) => string): SqlFunction {
  const plain = text(name);
  return {
    ...plain,
    build(args, info) {
      const [value] = args;
      if (value?.kind !== 'text' || value.literal === undefined) return plain.build(args, info);
      const changed = change(value.literal);
      return { kind: 'text', sql: literal(changed), literal: changed };
    },
  };
}

const trimmed = (name: string) => text(name, ['text', 'text'], 1);

const length: SqlFunction = {
  least: 1,
  most: 1,
  build: (args, info) =>
    args[0]?.kind === 'array'
      ? arrayLength.build(args, info)
      : made('number', sql`length(${as(args[0] as Expression, 'text', info.at)})`, args),
};

/** Texts and regular expressions. */
export const TEXTS: Functions = {
  lower: cased('lower', (value) => value.toLowerCase()),
  upper: cased('upper', (value) => value.toUpperCase()),
  reverse: text('reverse'),
  initcap: {
    least: 1,
    most: 1,
    build([value], info) {
      if (!value) throw new Error('BUG: arguments were counted');
      const words = sql`string_split(lower(${as(value, 'text', info.at)}), ' ')`;
      const list = sql`list_transform(${words}, lambda w: upper(left(w, 1)) || substring(w, 2))`;
      // The engine's binder takes twice as long for each that stands in another.
      return made(
        'text',
        sql`array_to_string(${list}, ' ')`,
        [value],
        grown(growthOf(value) * 4, info),
      );
    },
  },
  format: formatted,
  string: simple('text', ['text'], ([value = '']) => value),
  trim: trimmed('trim'),
  ltrim: trimmed('ltrim'),
  rtrim: trimmed('rtrim'),
  left: edge('left'),
  right: edge('right'),
  substr: substring,
  substring,
  length,
  len: length,
  char_length: length,
  character_length: length,
  byte_length: simple('number', ['text'], call('strlen')),
  octet_length: simple('number', ['text'], call('strlen')),
  strlen: simple('number', ['text'], call('strlen')),
  starts_with: simple('bool', ['text', 'text'], call('starts_with')),
  prefix: simple('bool', ['text', 'text'], call('starts_with')),
  ends_with: simple('bool', ['text', 'text'], call('ends_with')),
  suffix: simple('bool', ['text', 'text'], call('ends_with')),
  contains: simple('bool', ['text', 'text'], call('contains')),
  contains_substr: simple(
    'bool',
    ['text', 'text'],
    ([value = '', part = '']) => sql`contains(lower(${value}), lower(${part}))`,
  ),
  strpos: simple('number', ['text', 'text'], call('strpos')),
  instr: simple('number', ['text', 'text'], call('strpos')),
  position: simple('number', ['text', 'text'], call('strpos')),
  concat: concatenated,
  '||': concatenated,
  replace: replacedText,
  lpad: padded('lpad'),
  rpad: padded('rpad'),
  repeat: repeated,
  split: {
    least: 1,
    most: 2,
    build([value, by], info) {
      if (!value) throw new Error('BUG: arguments were counted');
      const separator = by ? constantText(by, info) : ',';
      return made(
        'array',
        sql`string_split(${as(value, 'text', info.at)}, ${literal(separator)})`,
        [value],
        { element: 'text', ...grown(growthOf(value) * 16, info) },
      );
    },
  },
  regexp_contains: matches,
  regexp_matches: matches,
  regexp_extract: extracted,
  regexp_substr: extracted,
  regexp_extract_all: extractedAll,
  regexp_replace: replacedAll,
};
