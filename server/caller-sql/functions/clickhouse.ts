import { attributeNames, attributeTexts, hasAttribute } from '../attributes.ts';
import { reject } from '../error.ts';
import { pathOf, type Step } from '../json-paths.ts';
import { patternOf, textsIn } from '../regular-expressions.ts';
import { join, literal, type Sql, sql } from '../sql-fragment.ts';
import { alike, as, type Expression, type Kind, nameOf, textsHeldBy } from '../typed-expression.ts';
import { AGGREGATES } from './aggregate.ts';
import { ARRAYS, arrayLength } from './array.ts';
import {
  boundExpansion,
  type Call,
  constant,
  constantText,
  expansionOf,
  expr,
  type Functions,
  guarded,
  over,
  type SqlFunction,
  simple,
  takes,
} from './builder.ts';
import { CLICKHOUSE_TIMES } from './clickhouse-times.ts';
import { CHOICES } from './conditional.ts';
import { TEXTS } from './string.ts';

/** A function of another dialect under ClickHouse's name. */
function alias(functions: Functions, name: string): SqlFunction {
  const found = functions[name];
  if (!found) throw new Error(`BUG: there is no function ${name}`);
  return found;
}

/** The first that is not NULL, which is NULL only where the last one may be. */
function choice(name: string): SqlFunction {
  const inner = alias(CHOICES, name);
  return {
    ...inner,
    build: (args, info) => ({
      ...inner.build(args, info),
      nullable: args.at(-1)?.nullable ?? false,
    }),
  };
}

function maybe(inner: SqlFunction): SqlFunction {
  return { ...inner, build: (args, info) => ({ ...inner.build(args, info), nullable: true }) };
}

/** A regular expression as ClickHouse reads it: `.` also matches a line break. */
function regex(value: Expression, info: Call): string {
  return `(?s)${patternOf(value, info)}`;
}

const wellFormed = (args: readonly Expression[], value: Sql) =>
  guarded(args, sql`decode(encode(${value}))`);

const match = takes({
  least: 2,
  most: 2,
  build([value, pattern], info) {
    const expression = regex(pattern, info);
    const test = sql`regexp_matches(${as(value, 'text', info.at)}, ${literal(expression)})`;
    return expr('bool', test, [value], { texts: textsHeldBy(value, textsIn(expression)) });
  },
});

/** The first group of the expression, or all that it matches; '' where it matches nothing. */
const extract = takes({
  least: 2,
  most: 2,
  build([value, pattern], info) {
    const expression = regex(pattern, info);
    const found = sql`regexp_extract(${as(value, 'text', info.at)}, ${literal(expression)}, ${groupOf(expression)})`;
    return expr('text', wellFormed([value], found), [value]);
  },
});

const extractAll = takes({
  least: 2,
  most: 2,
  build([value, pattern], info) {
    const expression = regex(pattern, info);
    const found = sql`regexp_extract_all(${as(value, 'text', info.at)}, ${literal(expression)}, ${groupOf(expression)})`;
    const texts = guarded([value], sql`list_transform(${found}, lambda t: decode(encode(t)))`);
    return expr('array', texts, [value], {
      element: 'text',
      ...boundExpansion(expansionOf(value) * 16, info),
    });
  },
});

function groupOf(expression: string): string {
  return /(?:^|[^\\])(?:\\\\)*\((?!\?)/.test(expression.replace(/\[[^\]]*\]/g, '')) ? '1' : '0';
}

function replaced(options: 'g' | ''): SqlFunction {
  return takes({
    least: 3,
    most: 3,
    build([value, pattern, replacement], info) {
      const to = constantText(replacement, info);
      const references = to.match(/\\\d/g)?.length ?? 0;
      const text = sql`regexp_replace(${as(value, 'text', info.at)}, ${literal(regex(pattern, info))}, ${literal(to)}, '${options}')`;
      return expr(
        'text',
        wellFormed([value], text),
        [value],
        boundExpansion(expansionOf(value) * (1 + references + to.length), info),
      );
    },
  });
}

/** Splits by a literal text, which comes first. */
const split = takes({
  least: 2,
  most: 3,
  build([separator, value, most], info) {
    if (most) reject(info.at, `${info.name.toUpperCase()} takes two arguments`);
    const text = sql`string_split(${as(value, 'text', info.at)}, ${literal(constantText(separator, info))})`;
    const growth = boundExpansion(expansionOf(value) * 16, info);
    return expr('array', text, [value], { element: 'text', ...growth });
  },
});

/** A whole number that is all of a text, within a range; what is none, or is beyond it, is `other`. */
function wholeNumber(bits: number, isSigned: boolean, other: string): SqlFunction {
  const power = bits - (isSigned ? 1 : 0);
  const most = `${(1n << BigInt(power)) - 1n}`;
  const least = isSigned ? `-${1n << BigInt(power)}` : '0';
  return takes({
    least: 1,
    most: 1,
    build([value], { at }) {
      const text = as(value, 'text', at);
      const read = sql`try_cast(case when regexp_full_match(${text}, '[-+]?[0-9]{1,19}') then ${text} end as bigint)`;
      const number = sql`case when ${read} between ${least} and ${bits === 64 && !isSigned ? '9223372036854775807' : most} then ${read} end`;
      return expr('number', sql`coalesce(${number}, ${other})`, [value], {
        nullable: other === 'null',
      });
    },
  });
}

/** A number that is all of a text; what is none is `other`. */
function realNumber(other: string): SqlFunction {
  const form = "'[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?'";
  return takes({
    least: 1,
    most: 1,
    build([value], { at }) {
      const text = as(value, 'text', at);
      const read = sql`try_cast(case when regexp_full_match(${text}, ${form}) then ${text} end as double)`;
      return expr('number', sql`coalesce(${read}, ${other})`, [value], {
        nullable: other === 'null',
      });
    },
  });
}

/** A number of a text or of another number, cut to a whole one where `isWhole`. */
function toNumber(isWhole: boolean): SqlFunction {
  return takes({
    least: 1,
    most: 1,
    build([value], { at, name }) {
      if (value.kind === 'timestamp' || value.kind === 'datetime')
        return expr('number', sql`(epoch_us(${value.sql}) // 1000000)`, [value]);
      if (!['number', 'text', 'bool', 'json', 'null'].includes(value.kind))
        reject(at, `${name.toUpperCase()} takes a string or a number, got ${nameOf(value.kind)}`);
      const number = sql`(${as(value, 'number', at)})::double`;
      const whole = sql`try_cast(trunc(${number}) as bigint)`;
      return expr('number', isWhole ? whole : number, [value]);
    },
  });
}

const NUMBERS_OF_TEXTS: Functions = Object.fromEntries(
  [8, 16, 32, 64].flatMap((bits) =>
    [true, false].flatMap((isSigned) => {
      const name = `to${isSigned ? '' : 'u'}int${bits}`;
      return [
        [name, toNumber(true)],
        [`${name}orzero`, wholeNumber(bits, isSigned, '0')],
        [`${name}ordefault`, wholeNumber(bits, isSigned, '0')],
        [`${name}ornull`, wholeNumber(bits, isSigned, 'null')],
      ];
    }),
  ),
);

const multiIf: SqlFunction = {
  least: 3,
  most: 401,
  build(args, { at }) {
    if (args.length % 2 === 0)
      reject(at, 'MULTIIF takes conditions with values, and one value more');
    const results = args.filter((_, i) => i % 2 === 1 || i === args.length - 1);
    const { kind, element, values } = alike(results, at);
    const branches = values
      .slice(0, -1)
      .map((value, i) => sql`when ${as(args[2 * i] as Expression, 'bool', at)} then ${value}`);
    return expr(
      kind,
      sql`case ${join(branches, ' ')} else ${values.at(-1) ?? 'null'} end`,
      args,
      element ? { element } : {},
    );
  },
};

/** What is written of a value: moments with the fraction that they have. */
const toText = takes({
  least: 1,
  most: 2,
  build([value], { at }) {
    const form = { timestamp: '%Y-%m-%d %H:%M:%S.%f', datetime: '%Y-%m-%d %H:%M:%S' };
    const { kind } = value;
    if (kind === 'timestamp' || kind === 'datetime')
      return expr('text', sql`strftime(${value.sql}, '${form[kind]}')`, [value]);
    if (kind === 'bool') return expr('text', sql`(${value.sql})::tinyint::varchar`, [value]);
    if (kind === 'number')
      // A whole number has no fraction, also where it was computed as a double.
      return expr(
        'text',
        sql`(case when ${value.sql} = trunc(${value.sql}) and abs(${value.sql}) < 1e15 then try_cast(${value.sql} as bigint)::varchar else (${value.sql})::varchar end)`,
        [value],
      );
    if (kind === 'array') return expr('text', sql`(${value.sql})::varchar`, [value]);
    return expr('text', as(value, 'text', at), [value]);
  },
});

const position = (isSame: boolean) =>
  simple('number', ['text', 'text'], ([text = '', part = '']) =>
    isSame ? sql`strpos(${text}, ${part})` : sql`strpos(lower(${text}), lower(${part}))`,
  );

/** A place in JSON text by the arguments behind it: names, and numbers from 1 on. */
function place(args: readonly Expression[], info: Call): string {
  const steps = args.map((arg): Step => {
    if (arg.kind === 'text') return constantText(arg, info);
    return constant(arg, 1, 100_000, info) - 1;
  });
  return pathOf(steps);
}

/** `JSONExtract…(text, names…)`: what `read` makes of the JSON there, which is NULL where there is none. */
function fromJson(
  kind: Kind,
  read: (json: Sql) => Sql,
  rest: Partial<Expression> = {},
): SqlFunction {
  return takes({
    least: 1,
    most: 20,
    build([value, ...path], info) {
      const json = sql`json_extract(try_cast(${as(value, 'text', info.at)} as json), ${place(path, info)})`;
      return expr(kind, read(json), [value], rest);
    },
  });
}

const jsonText = (json: Sql) =>
  sql`coalesce(nullif(json_extract_string(${json}, '$'), 'null'), '')`;
const jsonNumber = (json: Sql) => sql`coalesce(try_cast(${json} as double), 0)`;
const jsonWhole = (json: Sql) =>
  sql`coalesce(try_cast(trunc(try_cast(${json} as double)) as bigint), 0)`;
const JSON_TEXT = fromJson('text', jsonText);
const JSON_NUMBER = fromJson('number', jsonNumber);
const JSON_WHOLE = fromJson('number', jsonWhole);
const JSON_TRUE = fromJson('bool', (json) => sql`coalesce((${json})::varchar = 'true', false)`);
const JSON_LIST = '\'["VARCHAR"]\'';

/** `JSONExtract(text, names…, 'Nullable(Int64)')`. */
const jsonExtract = takes({
  least: 2,
  most: 20,
  build(args, info) {
    const written = constantText(args.at(-1), info).replaceAll(/\s/g, '');
    const [, inner] = /^Nullable\((\w+)\)$/i.exec(written) ?? [];
    const type = (inner ?? written).toLowerCase();
    const rest = args.slice(0, -1);
    const of = (plain: SqlFunction, kind: Kind, orNull: (json: Sql) => Sql) =>
      (inner ? fromJson(kind, orNull) : plain).build(rest, info);
    if (/^u?int\d+$/.test(type))
      return of(
        JSON_WHOLE,
        'number',
        (json) => sql`try_cast(trunc(try_cast(${json} as double)) as bigint)`,
      );
    if (/^(?:float\d+|decimal)/.test(type))
      return of(JSON_NUMBER, 'number', (json) => sql`try_cast(${json} as double)`);
    if (type === 'bool') return of(JSON_TRUE, 'bool', (json) => sql`try_cast(${json} as boolean)`);
    if (type === 'string')
      return of(JSON_TEXT, 'text', (json) => sql`json_extract_string(${json}, '$')`);
    if (type === 'array(string)')
      return fromJson('array', (json) => sql`coalesce(try(from_json(${json}, ${JSON_LIST})), [])`, {
        element: 'text',
      }).build(rest, info);
    return reject(
      info.at,
      `JSONEXTRACT takes the type String, Int64, UInt64, Float64, Bool, Array(String) or Nullable of one, got ${JSON.stringify(written)}`,
    );
  },
});

const isEmpty = (wanted: boolean) =>
  takes({
    least: 1,
    most: 1,
    build([value], info) {
      const test = wanted ? '=' : '<>';
      if (value.kind === 'array') return expr('bool', sql`(len(${value.sql}) ${test} 0)`, [value]);
      return expr('bool', sql`(${as(value, 'text', info.at)} ${test} '')`, [value]);
    },
  });

const has = takes({
  least: 2,
  most: 2,
  build(args, { at }) {
    const [list, value] = args;
    if (list.kind !== 'array') return reject(at, `Expected an array, got ${nameOf(list.kind)}`);
    if (list.namesOf && value.literal !== undefined)
      return expr('bool', hasAttribute(list.namesOf, value.literal), args);
    const sought = as(value, list.element ?? 'text', at);
    return expr('bool', sql`coalesce(list_contains(${list.sql}, ${sought}), false)`, args);
  },
});

const UNITS = "['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB']";
const readableSize = simple('text', ['number'], ([value = '']) => {
  const size = sql`(${value})::double`;
  const power = sql`(case when abs(${size}) < 1 then 0 else least(6, floor(log2(abs(${size})) / 10)) end)`;
  return sql`format('{:.2f} {}', ${size} / pow(1024, ${power}), ${UNITS}[try_cast(${power} as integer) + 1])`;
});

/** What is not NULL and not there is in ClickHouse. */
const NONE: Partial<Record<Kind, string>> = {
  text: "''",
  number: '0',
  timestamp: "timestamp '1970-01-01'",
  datetime: "timestamp '1970-01-01'",
  date: "date '1970-01-01'",
};

/** An aggregate that is not NULL of no rows, unless its value may be. */
function withDefault(inner: SqlFunction): SqlFunction {
  return {
    ...inner,
    build(args, info) {
      const value = inner.build(args, info);
      const none = args[0]?.nullable ? undefined : NONE[value.kind];
      return none === undefined ? value : { ...value, sql: sql`coalesce(${value.sql}, ${none})` };
    },
  };
}

const quantile = (name: 'quantile_cont' | 'quantile_disc'): SqlFunction =>
  takes({
    least: 1,
    most: 2,
    aggregate: true,
    build([value, level], info) {
      const share = level ? levelOf(level, info) : 0.5;
      // The exact one takes the upper of two that it lies between.
      const wanted = name === 'quantile_disc' ? Math.min(1, share + 1e-9) : share;
      const number = sql`(${as(value, 'number', info.at)})::double`;
      return expr('number', sql`${name}(${number}, ${String(wanted)})`, [value], {
        aggregate: true,
      });
    },
  });

const quantiles: SqlFunction = takes({
  least: 2,
  most: 20,
  aggregate: true,
  build([value, ...levels], info) {
    const shares = levels.map((level) => String(levelOf(level, info)));
    const number = sql`(${as(value, 'number', info.at)})::double`;
    return expr('array', sql`quantile_cont(${number}, [${shares.join(', ')}])`, [value], {
      aggregate: true,
      element: 'number',
    });
  },
});

function levelOf(level: Expression, { at, name }: Call): number {
  const share = Number(level.literal);
  return level.kind === 'number' && share >= 0 && share <= 1
    ? share
    : reject(at, `${name.toUpperCase()} takes a number from 0 to 1 in its first brackets`);
}

const counted = alias(AGGREGATES, 'count');
const distinct: SqlFunction = {
  ...counted,
  build: (args, info) => counted.build(args, { ...info, distinct: true }),
};

/** `groupArray(most)(x)`, written with `most` behind. */
function grouped(isDistinct: boolean): SqlFunction {
  const list = alias(AGGREGATES, 'array_agg_present');
  return {
    ...list,
    build(args, info) {
      const value = list.build(args, { ...info, distinct: isDistinct });
      return { ...value, sql: sql`coalesce(${value.sql}, [])` };
    },
  };
}

/** The distinct elements of all arrays. */
const groupedElements = takes({
  least: 1,
  most: 1,
  aggregate: true,
  build([value], { at }) {
    if (value.kind !== 'array') return reject(at, `Expected an array, got ${nameOf(value.kind)}`);
    const all = sql`coalesce(list_distinct(flatten(list(${value.sql}))), [])`;
    return expr('array', all, [value], {
      aggregate: true,
      element: value.element ?? 'null',
      maxExpansion: 32,
    });
  },
});

const topValues = takes({
  least: 1,
  most: 2,
  aggregate: true,
  build([value, count], info) {
    const most = count ? constant(count, 1, 1000, info) : 10;
    const item = as(value, value.kind === 'null' ? 'text' : value.kind, info.at);
    const pairs = sql`list_transform(map_entries(histogram(${item})), lambda e: {n: e.value, v: e.key})`;
    const values = sql`list_transform(list_slice(list_reverse_sort(${pairs}), 1, ${String(most)}), lambda e: e.v)`;
    return expr('array', sql`coalesce(${values}, [])`, [value], {
      aggregate: true,
      element: value.kind,
      maxExpansion: 32,
    });
  },
});

const isNull = (wanted: boolean) =>
  takes({
    least: 1,
    most: 1,
    build: ([value]) => expr('bool', sql`(${value.sql} is ${wanted ? '' : 'not '}null)`, [value]),
  });

/** ClickHouse rounds halves to even digits. */
const round: SqlFunction = takes({
  least: 1,
  most: 2,
  build([value, digits], info) {
    const places = digits ? constant(digits, -15, 15, info) : 0;
    return expr(
      'number',
      sql`round_even((${as(value, 'number', info.at)})::double, ${String(places)})`,
      [value],
    );
  },
});

/** A list's elements as values of one kind, joined. */
const joined = takes({
  least: 1,
  most: 2,
  build([value, separator], info) {
    const between = separator ?? ({ kind: 'text', sql: "''", literal: '' } as const);
    return alias(ARRAYS, 'array_to_string').build([value, between], info);
  },
});

const length: SqlFunction = takes({
  least: 1,
  most: 1,
  build(args, info) {
    const [value] = args;
    if (value.kind === 'array') return arrayLength.build(args, info);
    return expr('number', sql`strlen(${as(value, 'text', info.at)})`, args);
  },
});

/** What is asked of a map of attributes. */
function ofMap(element: 'names' | 'texts'): SqlFunction {
  return takes({
    least: 1,
    most: 1,
    build([value], info) {
      const map = mapOf(value, info);
      const list = element === 'names' ? attributeNames(map) : attributeTexts(map);
      const names = element === 'names' ? { namesOf: map } : {};
      return expr('array', list, [value], {
        element: 'text',
        maxExpansion: 2,
        nested: true,
        ...names,
      });
    },
  });
}

const mapContains = takes({
  least: 2,
  most: 2,
  build([value, name], info) {
    const map = mapOf(value, info);
    if (name.literal === undefined)
      return expr(
        'bool',
        sql`list_contains(${attributeNames(map)}, ${as(name, 'text', info.at)})`,
        [value, name],
      );
    return expr('bool', hasAttribute(map, name.literal), [value]);
  },
});

function mapOf(value: Expression, { at, name }: Call): Sql {
  if (value.kind !== 'map')
    return reject(at, `${name.toUpperCase()} takes a map, got ${nameOf(value.kind)}`);
  if (value.aggregate)
    reject(at, `${name.toUpperCase()} cannot take what an aggregate function gives`);
  return value.sql;
}

/** What stands in a URL. */
const ofUrl = (pattern: string) =>
  simple('text', ['text'], ([url = '']) => sql`regexp_extract(${url}, ${literal(pattern)}, 1)`);

/** Functions by ClickHouse's names, in lower case, and those of the other dialects that mean something else there. */
export const CLICKHOUSE: Functions = {
  ...NUMBERS_OF_TEXTS,
  ...CLICKHOUSE_TIMES,
  tofloat32: toNumber(false),
  tofloat64: toNumber(false),
  tofloat32orzero: realNumber('0'),
  tofloat64orzero: realNumber('0'),
  tofloat64ordefault: realNumber('0'),
  tofloat32ornull: realNumber('null'),
  tofloat64ornull: realNumber('null'),
  tostring: toText,
  multiif: multiIf,
  assumenotnull: takes({ least: 1, most: 1, build: ([value]) => ({ ...value, nullable: false }) }),
  ch_isnull: isNull(true),
  ch_isnotnull: isNull(false),
  match,
  ch_extract: extract,
  extractall: extractAll,
  replaceregexpone: replaced(''),
  replaceregexpall: replaced('g'),
  replaceone: alias(TEXTS, 'replace'),
  replaceall: alias(TEXTS, 'replace'),
  startswith: alias(TEXTS, 'starts_with'),
  endswith: alias(TEXTS, 'ends_with'),
  ch_position: position(true),
  positioncaseinsensitive: position(false),
  positionutf8: position(true),
  positioncaseinsensitiveutf8: position(false),
  locate: position(true),
  hastoken: simple(
    'bool',
    ['text', 'text'],
    ([text = '', token = '']) =>
      sql`list_contains(regexp_split_to_array(${text}, '[^A-Za-z0-9\\x80-\\x{10ffff}]+'), ${token})`,
  ),
  hassubstr: alias(TEXTS, 'contains'),
  lowerutf8: alias(TEXTS, 'lower'),
  upperutf8: alias(TEXTS, 'upper'),
  substringutf8: alias(TEXTS, 'substring'),
  mid: alias(TEXTS, 'substring'),
  trimboth: alias(TEXTS, 'trim'),
  trimleft: alias(TEXTS, 'ltrim'),
  trimright: alias(TEXTS, 'rtrim'),
  length,
  lengthutf8: alias(TEXTS, 'char_length'),
  empty: isEmpty(true),
  notempty: isEmpty(false),
  splitbychar: split,
  splitbystring: split,
  arraystringconcat: joined,
  has,
  mapkeys: ofMap('names'),
  mapvalues: ofMap('texts'),
  mapcontains: mapContains,
  mapcontainskey: mapContains,
  arrayelement: takes({
    least: 2,
    most: 2,
    build([list, index], info) {
      if (list.kind !== 'array')
        return reject(info.at, `Expected an array, got ${nameOf(list.kind)}`);
      const item = sql`list_extract(${list.sql}, ${String(constant(index, -100_000, 100_000, info))})`;
      return orDefault(expr(list.element ?? 'null', item, [list]));
    },
  }),
  arraydistinct: takes({
    least: 1,
    most: 1,
    build: ([list], { at }) =>
      list.kind === 'array'
        ? expr('array', sql`list_distinct(${list.sql})`, [list], {
            element: list.element ?? 'null',
          })
        : reject(at, `Expected an array, got ${nameOf(list.kind)}`),
  }),
  arraysort: takes({
    least: 1,
    most: 1,
    build: ([list], { at }) =>
      list.kind === 'array'
        ? expr('array', sql`list_sort(${list.sql})`, [list], { element: list.element ?? 'null' })
        : reject(at, `Expected an array, got ${nameOf(list.kind)}`),
  }),
  domain: ofUrl('^(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?//([^/:?#@\\s]+)(?:[/:?#]|$)'),
  path: ofUrl('^(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?//[^/?#]*(/[^?#]*)'),
  formatreadablesize: readableSize,
  round,
  roundbankers: round,
  intdiv: over((a, b) => sql`trunc(${a} / nullif(${b}, 0))`),
  modulo: over((a, b) => sql`(${a} % ${b})`),
  plus: over((a, b) => sql`(${a} + ${b})`),
  minus: over((a, b) => sql`(${a} - ${b})`),
  multiply: over((a, b) => sql`(${a} * ${b})`),
  divide: over((a, b) => sql`(${a} / ${b})`),
  jsonextract: jsonExtract,
  jsonextractstring: JSON_TEXT,
  jsonextractint: JSON_WHOLE,
  jsonextractuint: JSON_WHOLE,
  jsonextractfloat: JSON_NUMBER,
  jsonextractbool: JSON_TRUE,
  jsonextractraw: fromJson('text', (json) => sql`coalesce((${json})::varchar, '')`),
  jsonextractkeys: fromJson('array', (json) => sql`coalesce(json_keys(${json}), [])`, {
    element: 'text',
  }),
  jsonextractarrayraw: fromJson(
    'array',
    (json) =>
      sql`coalesce(list_transform(case when json_type(${json}) = 'ARRAY' then from_json(${json}, '["JSON"]') end, lambda e: e::varchar), [])`,
    { element: 'text' },
  ),
  jsonhas: fromJson('bool', (json) => sql`(${json} is not null)`),
  jsonlength: fromJson(
    'number',
    (json) =>
      sql`coalesce(case json_type(${json}) when 'ARRAY' then json_array_length(${json}) when 'OBJECT' then len(json_keys(${json})) end, 0)`,
  ),
  isvalidjson: simple(
    'bool',
    ['text'],
    ([text = '']) => sql`(try_cast(${text} as json) is not null)`,
  ),
  simplejsonextractstring: JSON_TEXT,
  simplejsonextractint: JSON_WHOLE,
  simplejsonextractuint: JSON_WHOLE,
  simplejsonextractfloat: JSON_NUMBER,
  simplejsonextractbool: JSON_TRUE,
  simplejsonhas: fromJson('bool', (json) => sql`(${json} is not null)`),
  sum: withDefault(alias(AGGREGATES, 'sum')),
  min: withDefault(alias(AGGREGATES, 'min')),
  max: withDefault(alias(AGGREGATES, 'max')),
  any_value: withDefault(alias(AGGREGATES, 'any_value')),
  anylast: withDefault(alias(AGGREGATES, 'any_value')),
  uniq: distinct,
  uniqexact: distinct,
  uniqcombined: distinct,
  uniqcombined64: distinct,
  uniqhll12: distinct,
  argmin: withDefault(alias(AGGREGATES, 'arg_min')),
  argmax: withDefault(alias(AGGREGATES, 'arg_max')),
  stddevpop: alias(AGGREGATES, 'stddev_pop'),
  stddevsamp: alias(AGGREGATES, 'stddev_samp'),
  varpop: alias(AGGREGATES, 'var_pop'),
  varsamp: alias(AGGREGATES, 'var_samp'),
  quantile: quantile('quantile_cont'),
  quantiletdigest: quantile('quantile_cont'),
  quantiletiming: quantile('quantile_cont'),
  quantileexact: quantile('quantile_disc'),
  quantileexactinclusive: quantile('quantile_cont'),
  quantiledeterministic: quantile('quantile_cont'),
  quantiles,
  quantilestdigest: quantiles,
  grouparray: grouped(false),
  groupuniqarray: grouped(true),
  groupuniqarrayarray: groupedElements,
  topk: topValues,
  coalesce: choice('coalesce'),
  ifnull: choice('ifnull'),
  nullif: maybe(alias(CHOICES, 'nullif')),
};

/** What ClickHouse gives where an array has no such element: nothing is NULL there that is not told to be. */
export function orDefault(value: Expression): Expression {
  const none = NONE[value.kind];
  return none === undefined ? value : { ...value, sql: sql`coalesce(${value.sql}, ${none})` };
}
