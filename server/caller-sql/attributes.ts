import { isMemberName, pathOf, type Step } from './json-paths.ts';
import { join, literal, type Sql, sql } from './sql-fragment.ts';

/**
 * The metadata of an entry as ClickHouse's users know it: a map of texts by dotted names. Records are taken apart, also those that are the
 * only elements of arrays; other arrays, and empty records, are values, as their JSON. What is null is not in it.
 */

/** Names with more dots than any record is deep stand for themselves only. */
const MAX_PARTS = 12;

const KIND = `case
  when atom is not null then 1
  when type = 'ARRAY' then case when starts_with(value, '[{') and json_array_length(value) = 1 then 0 else 2 end
  when value = '{}' then 1
  else 0
end`;
const TEXT = `case
  when type <> 'VARCHAR' then value::varchar
  when contains(value, '\\') then value ->> '$'
  else substr(value, 2, length(value) - 2)
end`;
/** Of several elements of metadata the first counts, and metadata itself is no value. */
const IS_WITHIN = `fullkey <> '$' and (not starts_with(fullkey, '$[') or starts_with(fullkey, '$[0]'))`;
/** An array of one record is passed through. */
const NAME = `ltrim(replace(substr(e.place, 2), '[0]', ''), '.')`;

/**
 * The value of a name; '' where there is none. `value` is JSON. `isMember`: it stands in records by the parts of its name alone, as what
 * has a column of its own does.
 */
export function attributeAt(value: Sql, name: string, isMember = false): Sql {
  if (!isMemberName(name)) return "''";
  const parts = name.split('.');
  const isDeep = parts.length <= MAX_PARTS && parts.every((part) => part !== '');
  const steps = isDeep ? parts : [name];
  const plain = pathOf(steps);
  const arrays = pathOf(steps.flatMap((step): Step[] => [0, step]));
  const read = (extract: string) =>
    sql`coalesce(${extract}(${value}, ${plain}), case when ${areNested(value)} then ${extract}(${value}, ${arrays}) end)`;
  const found = textUnlessRecord(read('json_extract_string'), read('json_extract'));
  const elsewhere = sql`case when ${mayBeElsewhere(value, steps, isMember)} then ${searched(value, name)} end`;
  return sql`coalesce(${found}, ${elsewhere}, '')`;
}

/** The value of a member that has a column; `column` is JSON, as it stands in metadata. */
export function attributeOfColumn(column: Sql): Sql {
  return sql`coalesce(${textUnlessRecord(sql`json_extract_string(${column}, '$')`, column)}, '')`;
}

/** A text that was found; NULL where it is that of a record. */
function textUnlessRecord(text: Sql, json: Sql): Sql {
  const isString = sql`starts_with(${json}, '"')`;
  const isList = sql`(starts_with(${json}, '[') and json_array_length(${json}) <> 1)`;
  const isValue = sql`${isString} or ${isList} or ${json} = '{}'::json`;
  return sql`(case when not starts_with(${text}, '{') and not starts_with(${text}, '[{') then ${text} when ${isValue} then ${text} end)`;
}

/** Holds where records are the only elements of arrays, each, as Logflare nests them. */
function areNested(value: Sql): Sql {
  return sql`starts_with(${value}, '[') and not regexp_matches(${value}, '\\}\\s*,\\s*\\{')`;
}

/**
 * Holds where a value may stand elsewhere: in some records that are objects and some that are in arrays, by keys with dashes, or by a key
 * that has the dots in it.
 */
function mayBeElsewhere(value: Sql, steps: readonly string[], isMember: boolean): Sql {
  const [last = '', before] = [steps.at(-1), steps.at(-2)];
  const has = (text: string) => sql`contains(${value}, ${literal(text)})`;
  const dashed = steps.map((step) => step.replaceAll('_', '-'));
  const tests = [
    sql`(${has('[')} and ${has(`"${last}"`)})`,
    ...dashed.flatMap((step, i) => (step === steps[i] ? [] : [has(`"${step}"`)])),
    ...(before === undefined || isMember ? [] : [has(`${before}.${last}"`)]),
  ];
  return join(tests, ' or ');
}

/** The value of a name, looked for among all of them. */
function searched(value: Sql, name: string): Sql {
  const isNamed = `${NAME} = ${literal(name)} or replace(${NAME}, '-', '_') = ${literal(name)}`;
  return sql`list_filter(${entries(value)}, lambda e: ${isNamed})[1].text`;
}

/** The values as a list of places and texts; what stands in arrays that are values is left out. */
function entries(value: Sql): Sql {
  return sql`(
    select case
      when len(lists) = 0 then found
      else list_filter(found, lambda e: len(list_filter(lists, lambda l: starts_with(e.place, l))) = 0)
    end
    from (
      select found, list_transform(list_filter(found, lambda e: e.is_list), lambda e: e.place || '[') as lists
      from (
        select coalesce(list({place: fullkey, text: ${TEXT}, is_list: ${KIND} = 2} order by id), []) as found
        from json_tree(${value})
        where ${KIND} > 0 and ${IS_WITHIN}
      )
    )
  )`;
}

/** The names, each once. */
export function attributeNames(value: Sql): Sql {
  return sql`list_distinct(list_transform(${entries(value)}, lambda e: ${NAME}))`;
}

/** The texts. */
export function attributeTexts(value: Sql): Sql {
  return sql`list_transform(${entries(value)}, lambda e: e.text)`;
}

/** All of them as one JSON object. */
export function attributesJson(value: Sql): Sql {
  const member = `to_json(${NAME})::varchar || ':' || to_json(e.text)::varchar`;
  return sql`('{' || array_to_string(list_transform(${entries(value)}, lambda e: ${member}), ',') || '}')::json`;
}
