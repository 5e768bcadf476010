import { isMemberName, pathOf, type Step } from './json-paths.ts';
import { join, literal, type Sql, sql } from './sql-fragment.ts';

/**
 * The metadata of an entry as ClickHouse's users know it: a map of texts by dotted names. Records are taken apart, also those that are the
 * only elements of arrays; other arrays, and empty records, are values, as their JSON. A null is not in it.
 */

/** Names with more dots than any record is deep stand for themselves only. */
const MAX_PARTS = 12;

/**
 * The value of a name; '' where there is none. `value` is JSON. `isMember`: it stands in records by the parts of its name alone, as what
 * has a column of its own does.
 */
export function attributeAt(value: Sql, name: string, isMember = false): Sql {
  return sql`coalesce(${attributeOrNull(value, name, isMember)}, '')`;
}

/** Whether a name has a value. */
export function hasAttribute(value: Sql, name: string): Sql {
  return sql`(${attributeOrNull(value, name, false)} is not null)`;
}

/** The value of a member that has a column; `column` is JSON, as it stands in metadata. */
export function attributeOfColumn(column: Sql): Sql {
  return sql`coalesce(${textUnlessRecord(sql`json_extract_string(${column}, '$')`, column)}, '')`;
}

/** The most common places are looked at first, each by a scan of its own; an engine's subquery would be run for each row. */
function attributeOrNull(value: Sql, name: string, isMember: boolean): Sql {
  if (name.includes('\0')) return 'null::varchar';
  const parts = name.split('.');
  const isDeep = parts.length <= MAX_PARTS && parts.every((part) => part !== '');
  const steps = isDeep ? parts : [name];
  const plain = placeOf(steps);
  const found = textUnlessRecord(
    sql`json_extract_string(${value}, ${plain})`,
    sql`json_extract(${value}, ${plain})`,
  );
  const dashed = steps.map((step) => step.replaceAll('_', '-'));
  const others = dashed.filter((step, i) => step !== steps[i]);
  const joined = isMember ? [] : withDots(steps);
  const dotted = steps.slice(1).map((step, i) => `${written(steps[i] ?? '')}.${written(step)}`);
  const isInArray = sql`${has(value, '[')} and ${has(value, `"${written(steps.at(-1) ?? '')}"`)}`;
  const places = [
    elsewhere(value, [isInArray], [steps]),
    elsewhere(
      value,
      others.map((step) => has(value, `"${written(step)}"`)),
      [[...steps.slice(0, -1), dashed.at(-1) ?? ''], dashed],
    ),
    elsewhere(value, joined.length === 0 ? [] : dotted.map((key) => has(value, key)), joined),
  ];
  return sql`coalesce(${join([found, ...places.filter((place) => place !== null)], ', ')})`;
}

/**
 * The text at the first of the ways that has a value, where one of `tests` holds; a way is in names, of records that are objects or the only
 * elements of arrays. NULL where one leads through a list. Null without tests.
 */
function elsewhere(
  value: Sql,
  tests: readonly Sql[],
  ways: readonly (readonly string[])[],
): Sql | null {
  if (tests.length === 0) return null;
  const paths = [...new Set(ways.flatMap(inArrays).map(placeOf))];
  const first = sql`list_filter(json_extract(${value}, [${join(paths, ', ')}]), lambda e: e is not null and json_type(e) <> 'NULL')[1]`;
  const text = textUnlessRecord(sql`json_extract_string(${first}, '$')`, first);
  const within = [...new Set(ways.flatMap(listsWithin))];
  const lists = sql`len(list_filter(json_type(${value}, [${join(within, ', ')}]), lambda t: t is not null)) > 0`;
  const outside =
    within.length === 0
      ? text
      : sql`case when regexp_matches(${value}, ${literal(IN_A_LIST)}) and ${lists} then null else ${text} end`;
  return sql`case when ${join(tests, ' or ')} then ${outside} end`;
}

/** A text that was found; NULL where it is that of a record. */
function textUnlessRecord(text: Sql, json: Sql): Sql {
  const isString = sql`starts_with(${json}, '"')`;
  const isList = sql`(starts_with(${json}, '[') and json_array_length(${json}) <> 1)`;
  const isValue = sql`${isString} or ${isList} or ${json} in ('{}', '[{}]')`;
  return sql`(case when not starts_with(${text}, '{') and not starts_with(${text}, '[{') then ${text} when ${isValue} then ${text} end)`;
}

/** A path, or, for names that a path cannot hold, a pointer. */
function placeOf(steps: readonly Step[]): string {
  const isPath = steps.every((step) => typeof step === 'number' || isMemberName(step));
  if (isPath) return pathOf(steps);
  const escaped = steps.map((step) => String(step).replaceAll('~', '~0').replaceAll('/', '~1'));
  return literal(`/${escaped.join('/')}`);
}

/** The ways to write names in which some dots belong to a key. */
function withDots(steps: readonly string[]): string[][] {
  const [first = '', ...rest] = steps;
  if (steps.length > MAX_MIXED) return [[steps.join('.')]];
  const ways = rest.reduce<string[][]>(
    (all, step) =>
      all.flatMap((way) => [
        [...way, step],
        [...way.slice(0, -1), `${way.at(-1)}.${step}`],
      ]),
    [[first]],
  );
  return ways.slice(1);
}

/** With records in more levels than these, all of them or none are taken to be in arrays. */
const MAX_MIXED = 4;

/** The ways to a value where records may be the only elements of arrays: any of them, or, where these are many, all and none. */
function inArrays(names: readonly string[]): Step[][] {
  const isMixed = names.length <= MAX_MIXED;
  const ways = isMixed ? 2 ** names.length : 2;
  return Array.from({ length: ways }, (_, way) =>
    names.flatMap((name, level): Step[] =>
      (isMixed ? way & (1 << level) : way) ? [0, name] : [name],
    ),
  );
}

/** What text has where a record is an element of an array before others: a value comes behind it, and not a key. */
const IN_A_LIST = String.raw`\}\s*,\s*(?:[^"\s]|"(?:[^"\\]|\\.)*"\s*[,\]])`;

/** The second elements of arrays that a value would stand within: then each is a list, and the list is the value. */
function listsWithin(steps: readonly string[]): string[] {
  return steps
    .slice(0, -1)
    .flatMap((_, i) => inArrays(steps.slice(0, i + 1)))
    .map((way) => placeOf([...way, 1]));
}

/** As JSON writes it. */
const written = (text: string) => JSON.stringify(text).slice(1, -1);

function has(value: Sql, text: string): Sql {
  return sql`contains(${value}, ${literal(text)})`;
}

/** A node of the tree that the engine makes of JSON: of the table function `json_tree`, or of `from` beside others. */
function node(from = '') {
  const [fullkey, type, value] = [`${from}"fullkey"`, `${from}"type"`, `${from}"value"`];
  const isRecord = `(${type} = 'OBJECT' and ${value} <> '{}')`;
  const isOneRecord = `(${type} = 'ARRAY' and starts_with(${value}, '[{') and ${value} <> '[{}]' and json_array_length(${value}) = 1)`;
  const parts = `string_split(${fullkey}, '[0]')`;
  const heads = `list_transform(range(1, len(${parts})), lambda i: array_to_string(${parts}[1:i], '[0]'))`;
  return {
    name: `ltrim(replace(substr(${fullkey}, 2), '[0]', ''), '.')`,
    text: `case
      when ${type} <> 'VARCHAR' then ${value}::varchar
      when contains(${value}, '\\') then ${value} ->> '$'
      else substr(${value}, 2, length(${value}) - 2)
    end`,
    /**
     * Holds for a value that stands outside of lists in the tree of `whole`. The first element of metadata counts, and metadata itself is
     * not a value.
     */
    isValue: (whole: Sql): Sql => {
      const lists = sql`list_filter(${heads}, lambda h: h <> '$' and coalesce(try(json_array_length(${whole}, h)), 0) <> 1)`;
      return sql`${type} <> 'NULL' and not ${isRecord} and not ${isOneRecord} and (case
        when ${fullkey} = '$' then false
        when not contains(${fullkey}, '[') then true
        when ends_with(${fullkey}, ']') or contains(${fullkey}, '][') or regexp_matches(${fullkey}, '\\[[1-9]') then false
        else len(${lists}) = 0
      end)`;
    },
  };
}

/**
 * The names as rows beside those that have the map: the FROM clause, what they must meet, and the name. A subquery of each row the engine
 * would make a join of with all rows in memory.
 */
export function attributeRows(map: Sql, id: string): { rows: Sql; where: Sql; name: string } {
  const { name, isValue } = node(`${id}.`);
  return { rows: sql`json_tree(${map}) as ${id}`, where: isValue(map), name };
}

/** What an aggregate makes of the values of one map, in their order; of equal names the first counts. */
function aggregated(map: Sql, of: (name: string, text: string) => string): Sql {
  const each = node();
  // A lambda finds no columns of an outer query.
  return sql`(select ${of('v.name', 'v.text')} from (
    select ${each.name} as name, arg_min(${each.text}, id) as text, min(id) as id
    from (select ${map} as whole) as w, json_tree(w.whole)
    where ${each.isValue('w.whole')}
    group by 1
  ) as v)`;
}

/** The names, each once. */
export function attributeNames(map: Sql): Sql {
  return aggregated(map, (name) => `coalesce(list(${name} order by v.id), [])`);
}

/** The texts, in the order of their names. */
export function attributeTexts(map: Sql): Sql {
  return aggregated(map, (_, text) => `coalesce(list(${text} order by v.id), [])`);
}

/** All of them as the text of a JSON object. */
export function attributesText(map: Sql): Sql {
  return aggregated(map, (name, text) => {
    const member = `to_json(${name})::varchar || ':' || to_json(${text})::varchar`;
    return `'{' || coalesce(string_agg(${member}, ',' order by v.id), '') || '}'`;
  });
}
