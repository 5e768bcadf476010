import { attributeNames } from '../../attributes.ts';
import { reject } from '../../error.ts';
import { patternOf, textsIn } from '../../regular-expressions.ts';
import { literal, type Sql, sql } from '../../sql-fragment.ts';
import { as, type Expression, textsHeldBy } from '../../typed-expression.ts';
import { arrayLength } from '../array.ts';
import {
  boundExpansion,
  type Call,
  constantText,
  expansionOf,
  expr,
  type Functions,
  guarded,
  type SqlFunction,
  simple,
  takes,
} from '../builder.ts';
import { zoneOf } from '../datetime.ts';
import { TEXTS } from '../string.ts';
import { alias } from './defaults.ts';

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

/** Returns a value as it is written: moments with the fraction that they have. */
const toText = takes({
  least: 1,
  most: 2,
  build([value, zone], info) {
    const { at } = info;
    const form = { timestamp: '%Y-%m-%d %H:%M:%S.%f', datetime: '%Y-%m-%d %H:%M:%S' };
    const { kind } = value;
    if (kind === 'timestamp' || kind === 'datetime') {
      const local = zone ? zoneOf(zone, [value], info).local(value.sql) : value.sql;
      return expr('text', sql`strftime(${local}, '${form[kind]}')`, [value]);
    }
    if (kind === 'bool') return expr('text', sql`(${value.sql})::tinyint::varchar`, [value]);
    if (kind === 'number')
      // A whole number has no fraction, also where it was computed as a double.
      return expr(
        'text',
        sql`(case when ${value.sql} = trunc(${value.sql}) and abs(${value.sql}) < 1e21 then try_cast(${value.sql} as hugeint)::varchar else replace(replace((${value.sql})::varchar, 'e-0', 'e-'), 'e+', 'e') end)`,
        [value],
      );
    if (kind === 'array') return expr('text', sql`(${value.sql})::varchar`, [value]);
    return expr('text', as(value, 'text', at), [value]);
  },
});

/** The first place of a part, with another text in it. */
const replacedOnce = takes({
  least: 3,
  most: 3,
  build([value, part, other], info) {
    const [text, found] = [as(value, 'text', info.at), as(part, 'text', info.at)];
    const at = sql`strpos(${text}, ${found})`;
    const before = expr('text', sql`substring(${text}, 1, ${at} - 1)`, [value]);
    const after = expr('text', sql`substring(${text}, ${at} + length(${found}))`, [value]);
    const replaced = alias(TEXTS, 'concat').build([before, other as Expression, after], info);
    return {
      ...replaced,
      sql: sql`case when ${found} <> '' and ${at} > 0 then ${replaced.sql} else ${text} end`,
    };
  },
});

/** Texts of whatever they are, one behind another. */
const concatenated: SqlFunction = {
  least: 1,
  most: 40,
  build(args, info) {
    const texts = args.map((arg) => (arg.kind === 'text' ? arg : toText.build([arg], info)));
    return alias(TEXTS, 'concat').build(texts, info);
  },
};

const position = (isSame: boolean) =>
  simple('number', ['text', 'text'], ([text = '', part = '']) =>
    isSame ? sql`strpos(${text}, ${part})` : sql`strpos(lower(${text}), lower(${part}))`,
  );

const length: SqlFunction = takes({
  least: 1,
  most: 1,
  build(args, info) {
    const [value] = args;
    if (value.kind === 'array') return arrayLength.build(args, info);
    if (value.kind === 'map')
      return expr('number', sql`len(${attributeNames(value.sql)})`, args, { nested: true });
    return expr('number', sql`strlen(${as(value, 'text', info.at)})`, args);
  },
});

/** What stands in a URL, or in the part of one. */
const ofUrl = (pattern: string) =>
  simple('text', ['text'], ([url = '']) => sql`regexp_extract(${url}, ${literal(pattern)}, 1)`);
const SCHEME = '^(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?';

const UNITS = "['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB']";
const readableSize = simple('text', ['number'], ([value = '']) => {
  const size = sql`(${value})::double`;
  const power = sql`(case when abs(${size}) < 1 then 0 else least(6, floor(log2(abs(${size})) / 10)) end)`;
  return sql`format('{:.2f} {}', ${size} / pow(1024, ${power}), ${UNITS}[try_cast(${power} as integer) + 1])`;
});

/** Texts by ClickHouse's names, in lower case. */
export const CLICKHOUSE_TEXTS: Functions = {
  tostring: toText,
  match,
  ch_extract: extract,
  extractall: extractAll,
  replaceregexpone: replaced(''),
  replaceregexpall: replaced('g'),
  replaceone: replacedOnce,
  replaceall: alias(TEXTS, 'replace'),
  startswith: alias(TEXTS, 'starts_with'),
  endswith: alias(TEXTS, 'ends_with'),
  ch_position: position(true),
  positioncaseinsensitive: position(false),
  positionutf8: position(true),
  positioncaseinsensitiveutf8: position(false),
  // The needle comes first here alone.
  locate: takes({
    least: 2,
    most: 2,
    build: ([part, text], info) => position(true).build([text, part], info),
  }),
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
  splitbychar: split,
  splitbystring: split,
  concat: concatenated,
  '||': concatenated,
  leftpad: alias(TEXTS, 'lpad'),
  rightpad: alias(TEXTS, 'rpad'),
  cuttofirstsignificantsubdomain: ofUrl(`${SCHEME}//(?:www[.])?([^/:?#@\\s]+)`),
  cutquerystring: ofUrl('^([^?]*)'),
  domain: ofUrl(`${SCHEME}(?://)?([^/:?#@\\s]*[.][^/:?#@\\s]*|[^/:?#@\\s]+)(?:[/:?#]|$)`),
  domainwithoutwww: ofUrl(`${SCHEME}(?://)?(?:www[.])?([^/:?#@\\s]+)(?:[/:?#]|$)`),
  extracturlparameter: simple(
    'text',
    ['text', 'text'],
    ([url = '', name = '']) =>
      sql`regexp_extract(${url}, '(?s)^[^?#]*[?#](?:.*?[?&#])??' || regexp_escape(${name}) || '=([^&#]*)', 1)`,
  ),
  path: ofUrl(`${SCHEME}(?://[^/?#]*)?(/[^?#]*)`),
  formatreadablesize: readableSize,
};
