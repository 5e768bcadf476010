import { reject } from '../../error.ts';
import { pathOf, type Step } from '../../json-paths.ts';
import { type Sql, sql } from '../../sql-fragment.ts';
import { as, type Expression, type Kind } from '../../typed-expression.ts';
import {
  type Call,
  constant,
  constantText,
  expr,
  type Functions,
  type SqlFunction,
  simple,
  takes,
} from '../builder.ts';

/** A place in JSON text by the arguments behind it: names, and numbers from 1 on. */
function place(args: readonly Expression[], info: Call): string {
  const steps = args.map((arg): Step => {
    if (arg.kind === 'text') return constantText(arg, info);
    return constant(arg, 1, 100_000, info) - 1;
  });
  return pathOf(steps, info.at);
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

const asNumber = (json: Sql) =>
  sql`try_cast(case when json_type(${json}) <> 'BOOLEAN' then json_extract_string(${json}, '$') end as double)`;
const jsonNumber = (json: Sql) => sql`coalesce(${asNumber(json)}, 0)`;
/** A whole number of one, or 0: a text or a number within the range. */
const jsonWhole = (least: string, most: string) => (json: Sql) => {
  const text = sql`json_extract_string(${json}, '$')`;
  const exact = sql`try_cast(case when json_type(${json}) <> 'BOOLEAN' and regexp_full_match(${text}, '-?[0-9]{1,20}') then ${text} end as hugeint)`;
  const whole = sql`coalesce(${exact}, try_cast(trunc(${asNumber(json)}) as hugeint))`;
  return sql`coalesce(case when ${whole} between ${least} and ${most} then ${whole} end, 0)`;
};
const JSON_TEXT = fromJson('text', jsonText);
const JSON_NUMBER = fromJson('number', jsonNumber);
const JSON_INT = fromJson('number', jsonWhole('-9223372036854775808', '9223372036854775807'));
const JSON_UINT = fromJson('number', jsonWhole('0', '18446744073709551615'));
const JSON_TRUE = fromJson(
  'bool',
  (json) => sql`coalesce((${json})::varchar = 'true' or ${asNumber(json)} <> 0, false)`,
);

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
        type.startsWith('u') ? JSON_UINT : JSON_INT,
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

/** JSON, likewise. */
export const CLICKHOUSE_JSON: Functions = {
  jsonextract: jsonExtract,
  jsonextractstring: JSON_TEXT,
  jsonextractint: JSON_INT,
  jsonextractuint: JSON_UINT,
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
  simplejsonextractint: JSON_INT,
  simplejsonextractuint: JSON_UINT,
  simplejsonextractfloat: JSON_NUMBER,
  simplejsonextractbool: JSON_TRUE,
  simplejsonhas: fromJson('bool', (json) => sql`(${json} is not null)`),
};
