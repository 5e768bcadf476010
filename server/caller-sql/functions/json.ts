import { reject, shown } from '../error.ts';
import { pathOf, type Step } from '../json-paths.ts';
import { join, literal, type Sql, sql } from '../sql-fragment.ts';
import { as, type Expression, flags, jsonOf, nameOf, within } from '../typed-expression.ts';
import { arrayLength } from './array.ts';
import type { Functions } from './builder.ts';
import {
  boundExpansion,
  type Call,
  constantText,
  expansionOf,
  expr,
  type SqlFunction,
  takes,
  together,
} from './builder.ts';

function jsonPath(value: Expression | undefined, info: Call): Step[] {
  const path = value === undefined ? '$' : constantText(value, info);
  const step = /\.([A-Za-z_][\w-]*)|\[(\d{1,6})\]|\.?"((?:[^"\\])*)"|\['([^'\\]*)'\]/y;
  const steps: Step[] = [];
  // The engine's operators also take a bare name.
  if (!path.startsWith('$'))
    return path.startsWith('/')
      ? reject(info.at, `Expected a path such as '$.a.b', got ${shown(path)}`)
      : named([path], info);
  for (let at = 1; at < path.length; at = step.lastIndex) {
    step.lastIndex = at;
    const [whole, name, place, quoted, bracketed] = step.exec(path) ?? [];
    if (!whole) return reject(info.at, `Expected a path such as '$.a.b[0]', got ${shown(path)}`);
    steps.push(place === undefined ? (name ?? quoted ?? bracketed ?? '') : Number(place));
  }
  return named(steps, info);
}

/** The steps. Throws SqlRefused, with the place of the call, for names that a path cannot hold. */
function named(steps: Step[], { at }: Call): Step[] {
  pathOf(steps, at);
  return steps;
}

/** JSON of a value: a text is read as such, where it is JSON. */
function jsonFrom(value: Expression): Expression {
  if (value.kind === 'null') return jsonOf('null::json');
  return value.kind === 'text'
    ? jsonOf(sql`try_cast(${value.sql} as json)`, flags([value]))
    : value;
}

/** A member of JSON as it is stored. Fields of records are found through one-element arrays; members of JSON texts are not. */
function jsonMember(value: Expression, steps: readonly Step[], at: number | null): Expression {
  if (value.kind === 'json') return steps.length === 0 ? value : within(value, steps);
  if (value.kind === 'null') return jsonOf('null::json');
  if (value.kind !== 'text') return reject(at, `Expected JSON, got ${nameOf(value.kind)}`);
  const path = pathOf(steps);
  const source = jsonFrom(value).sql;
  return {
    kind: 'json',
    sql: sql`json_extract(${source}, ${path})`,
    text: sql`json_extract_string(${source}, ${path})`,
    ...flags([value]),
  };
}

/** Returns a scalar as a text; NULL for an object or an array. */
function scalar(json: Sql): Sql {
  const compound = sql`left((${json})::varchar, 1) in ('{', '[')`;
  return sql`(case when ${compound} then null else json_extract_string(${json}, '$') end)`;
}

const jsonValue = takes({
  least: 1,
  most: 2,
  build([value, path], info) {
    const found = jsonMember(value, jsonPath(path, info), info.at);
    const plain = info.name === '->>' || info.dialect === 'duckdb';
    const text = plain ? (found.text ?? found.sql) : scalar(found.sql);
    return { kind: 'text', sql: text, ...flags([value]) };
  },
});

/** BigQuery gives a text for a text, and JSON for JSON. */
const jsonQuery = takes({
  least: 1,
  most: 2,
  build([value, path], info) {
    const found = jsonMember(value, jsonPath(path, info), info.at);
    const isText = value.kind === 'text' && info.dialect === 'bigquery' && info.name !== '->';
    return isText ? expr('text', sql`(${found.sql})::varchar`, [value]) : found;
  },
});

function jsonArray(form: 'values' | 'texts'): SqlFunction {
  return takes({
    least: 1,
    most: 2,
    build([value, path], info) {
      const found = jsonMember(value, jsonPath(path, info), info.at).sql;
      const list = sql`case when json_type(${found}) = 'ARRAY' then from_json(${found}, '["JSON"]') end`;
      const isText = form === 'texts' || (value.kind === 'text' && info.dialect === 'bigquery');
      const text = form === 'texts' ? scalar('e') : 'e::varchar';
      return expr(
        'array',
        isText ? sql`list_transform(${list}, lambda e: ${text})` : list,
        [value],
        { element: isText ? 'text' : 'json', ...boundExpansion(expansionOf(value) * 2, info) },
      );
    },
  });
}

const structure: SqlFunction = {
  least: 1,
  most: 100,
  build(args, info) {
    const { at, names } = info;
    const members = args.flatMap((arg, i) => [
      literal(names[i] ?? `_field_${i + 1}`),
      arg.kind === 'null' ? 'null' : as(arg, 'json', at),
    ]);
    return expr(
      'json',
      sql`json_object(${join(members, ', ')})`,
      args,
      boundExpansion(2 * together(args), info),
    );
  },
};

/** JSON and records. */
export const JSON_VALUES: Functions = {
  json_value: jsonValue,
  json_extract_scalar: jsonValue,
  json_extract_string: jsonValue,
  '->>': jsonValue,
  json_query: jsonQuery,
  json_extract: jsonQuery,
  '->': jsonQuery,
  json_query_array: jsonArray('values'),
  json_extract_array: jsonArray('values'),
  json_value_array: jsonArray('texts'),
  json_extract_string_array: jsonArray('texts'),
  json_array_length: arrayLength,
  parse_json: {
    least: 1,
    most: 1,
    build: ([value], { at }) =>
      value?.kind === 'json'
        ? value
        : jsonFrom({
            kind: 'text',
            sql: as(value as Expression, 'text', at),
            ...flags([value as Expression]),
          }),
  },
  to_json: {
    least: 1,
    most: 1,
    build: (args, { at }) => expr('json', as(args[0] as Expression, 'json', at), args),
  },
  to_json_string: {
    least: 1,
    most: 2,
    build: (args, info) =>
      expr(
        'text',
        sql`(${as(args[0] as Expression, 'json', info.at)})::varchar`,
        args.slice(0, 1),
        boundExpansion(expansionOf(args[0]) * 2, info),
      ),
  },
  struct_pack: structure,
  row: structure,
};
