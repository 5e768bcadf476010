import { reject, shown } from '../error.ts';
import { hasGroup, patternOf, textsIn } from '../regular-expressions.ts';
import { join, literal, type Sql, sql } from '../sql-fragment.ts';
import { as, type Expression, textsHeldBy } from '../typed-expression.ts';
import { arrayLength } from './array.ts';
import type { Call, Functions } from './builder.ts';
import {
  boundExpansion,
  call,
  constant,
  constantText,
  expansionOf,
  expr,
  guarded,
  type SqlFunction,
  simple,
  takes,
  text,
} from './builder.ts';

/**
 * What was found or made by a regular expression, and NULL for what is not UTF-8: most functions on texts take it for granted that they
 * are given some.
 */
function wellFormed(args: readonly Expression[], value: Sql): Sql {
  return guarded(args, sql`decode(encode(${value}))`);
}

const matches = takes({
  least: 2,
  most: 2,
  build([value, pattern], info) {
    const expression = patternOf(pattern, info);
    return expr(
      'bool',
      sql`regexp_matches(${as(value, 'text', info.at)}, ${literal(expression)})`,
      [value],
      { texts: textsHeldBy(value, textsIn(expression)) },
    );
  },
});

const extracted = takes({
  least: 2,
  most: 3,
  build([value, pattern, group], info) {
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
    return expr('text', sql`case when regexp_matches(${source}, ${quoted}) then ${found} end`, [
      value,
    ]);
  },
});

const extractedAll = takes({
  least: 2,
  most: 2,
  build([value, pattern], info) {
    const expression = patternOf(pattern, info);
    const found = sql`regexp_extract_all(${as(value, 'text', info.at)}, ${literal(expression)}, ${hasGroup(expression) ? '1' : '0'})`;
    const texts = guarded([value], sql`list_transform(${found}, lambda t: decode(encode(t)))`);
    return expr('array', texts, [value], {
      element: 'text',
      ...boundExpansion(expansionOf(value) * 16, info),
    });
  },
});

const replacedAll = takes({
  least: 3,
  most: 4,
  build([value, pattern, replacement], info) {
    const to = constantText(replacement, info);
    const references = to.match(/\\\d/g)?.length ?? 0;
    const replaced = sql`regexp_replace(${as(value, 'text', info.at)}, ${literal(patternOf(pattern, info))}, ${literal(to)}, 'g')`;
    return expr(
      'text',
      wellFormed([value], replaced),
      [value],
      boundExpansion(expansionOf(value) * (1 + references + to.length), info),
    );
  },
});

const replacedText = takes({
  least: 3,
  most: 3,
  build([value, from, to], info) {
    const [old, fresh] = [constantText(from, info), constantText(to, info)];
    if (old === '') return expr('text', as(value, 'text', info.at), [value]);
    const maxExpansion = expansionOf(value) * Math.max(1, fresh.length / old.length);
    return expr(
      'text',
      sql`replace(${as(value, 'text', info.at)}, ${literal(old)}, ${literal(fresh)})`,
      [value],
      boundExpansion(maxExpansion, info),
    );
  },
});

/** To the engine NULL has no type any more once it was joined to a text. */
function joined(parts: readonly Sql[]): Sql {
  return sql`(${join(parts, ' || ')})::varchar`;
}

/** Characters of a literal that is made of others, at most. */
const MAX_LITERAL = 65_536;

const concatenated: SqlFunction = {
  least: 1,
  most: 20,
  build(args, info) {
    const maxExpansion = args.reduce(
      (sum, arg) => sum + (arg.literal === undefined ? expansionOf(arg) : 0),
      0,
    );
    const texts = args.map(({ kind, literal: given }) => (kind === 'text' ? given : undefined));
    if (texts.every((each) => each !== undefined)) {
      const whole = texts.join('');
      // Each may be made of others that are made so.
      if (whole.length > MAX_LITERAL) reject(info.at, `A text may have ${MAX_LITERAL} characters`);
      return { kind: 'text', sql: literal(whole), literal: whole };
    }
    const parts = args.map((arg) => as(arg, 'text', info.at));
    return expr('text', joined(parts), args, boundExpansion(Math.max(1, maxExpansion), info));
  },
};

function padded(name: string): SqlFunction {
  return takes({
    least: 2,
    most: 3,
    build([value, length, fill], info) {
      const count = constant(length, 0, 1000, info);
      const filling = fill ? constantText(fill, info) : ' ';
      if (filling === '') reject(info.at, 'The filling may not be empty');
      return expr(
        'text',
        sql`${name}(${as(value, 'text', info.at)}, ${String(count)}, ${literal(filling)})`,
        [value],
      );
    },
  });
}

const repeated = takes({
  least: 2,
  most: 2,
  build([value, times], info) {
    const count = constant(times, 0, 100, info);
    return expr(
      'text',
      sql`repeat(${as(value, 'text', info.at)}, ${String(count)})`,
      [value],
      boundExpansion(expansionOf(value) * count, info),
    );
  },
});

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
        args[used++] ?? reject(info.at, 'FORMAT has fewer arguments than its format asks for');
      parts.push(specified(value, `%${flags}`, type, info));
    }
    const rest = text.slice(at);
    if (rest.includes('%')) reject(info.at, `There is no specifier ${shown(rest)} in FORMAT`);
    if (used < args.length) reject(info.at, 'FORMAT has more arguments than its format asks for');
    const maxExpansion = args.reduce((sum, arg) => sum + expansionOf(arg), 1);
    return expr(
      'text',
      joined([...parts, literal(rest)]),
      args,
      boundExpansion(maxExpansion, info),
    );
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
    return reject(at, `There is no specifier ${shown(`%${type}`)} in FORMAT`);
  return sql`printf(${literal(`${flags}${type}`)}, (${as(value, 'number', at)})::double)`;
}

/** A count of characters, not negative; NULL for no number. */
function count(value: Expression, at: number | null): Sql {
  return sql`least(greatest(try_cast(${as(value, 'number', at)} as bigint), 0), 1000000000)`;
}

const substring = takes({
  least: 2,
  most: 3,
  build(args, { at }) {
    const [value, start, length] = args;
    const place = sql`try_cast(${as(start, 'number', at)} as bigint)`;
    // From the first character for 0, too; and from the end for less.
    const from = sql`case when ${place} = 0 then 1 when abs((${place})::double) < 1000000000 then ${place} end`;
    const most = length ? sql`, ${count(length, at)}` : '';
    return expr('text', sql`substring(${as(value, 'text', at)}, ${from}${most})`, args);
  },
});

function edge(name: string): SqlFunction {
  return takes({
    least: 2,
    most: 2,
    build(args, { at }) {
      const [value, length] = args;
      return expr('text', sql`${name}(${as(value, 'text', at)}, ${count(length, at)})`, args);
    },
  });
}

/** A literal becomes a literal again, as patterns must be. */
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
      : expr('number', sql`length(${as(args[0] as Expression, 'text', info.at)})`, args),
};

/** Texts and regular expressions. */
export const TEXTS: Functions = {
  lower: cased('lower', (value) => value.toLowerCase()),
  upper: cased('upper', (value) => value.toUpperCase()),
  reverse: text('reverse'),
  initcap: takes({
    least: 1,
    most: 1,
    build([value], info) {
      const words = sql`string_split(lower(${as(value, 'text', info.at)}), ' ')`;
      const list = sql`list_transform(${words}, lambda w: upper(left(w, 1)) || substring(w, 2))`;
      // The engine's binder takes twice as long for each that stands in another.
      return expr(
        'text',
        sql`array_to_string(${list}, ' ')`,
        [value],
        boundExpansion(expansionOf(value) * 4, info),
      );
    },
  }),
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
  split: takes({
    least: 1,
    most: 2,
    build([value, by], info) {
      const separator = by ? constantText(by, info) : ',';
      return expr(
        'array',
        sql`string_split(${as(value, 'text', info.at)}, ${literal(separator)})`,
        [value],
        { element: 'text', ...boundExpansion(expansionOf(value) * 16, info) },
      );
    },
  }),
  regexp_contains: matches,
  regexp_matches: matches,
  regexp_extract: extracted,
  regexp_substr: extracted,
  regexp_extract_all: extractedAll,
  regexp_replace: replacedAll,
};
