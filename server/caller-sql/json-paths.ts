import { reject, shown } from './error.ts';
import { literal, type Sql, sql } from './sql-fragment.ts';

/** A step into a JSON value: a member's name, or a place in an array, from 0. */
export type Step = string | number;

const MEMBER_NAME = /^[^"\\*\p{Cc}]{1,256}$/u;

/** Whether a path can hold a member's name. */
export function isMemberName(name: string): boolean {
  return MEMBER_NAME.test(name);
}

/** The JSON path of `steps`, which stand at `at` in the statement, for the engine. Throws SqlRefused for names that a path cannot hold. */
export function pathOf(steps: readonly Step[], at: number | null = null): string {
  const path = steps.map((step) => {
    if (typeof step === 'number') return `[${step}]`;
    if (!isMemberName(step)) reject(at, `A field cannot be called ${shown(step)}`);
    return `."${step}"`;
  });
  return literal(`$${path.join('')}`);
}

/** From more names than these a value is found in several goes: the ways to it double with each. */
const MAX_NAMES = 4;
/** Beyond so many names, all or none of the records are taken to be in arrays: the engine's binder suffers from nested expressions. */
const MAX_MIXED = 32;

/** A function of the engine that takes a value out of JSON. */
export type Extract = 'json_extract' | 'json_extract_string';

export interface Start {
  /** Where the element stands that the steps begin at: if it is an array itself, none of its elements counts. By default `value` itself. */
  readonly place?: readonly Step[];
  /** Whether names stand for keys with dashes, too. */
  readonly dashes?: boolean;
}

/**
 * The value that `steps` lead to. Each record on the way may be an object, or the first element of an array, and `[0]` finds either. Each
 * name may stand for a key with dashes instead of its underscores, where the key of its own is not there.
 */
export function found(
  extract: Extract,
  value: Sql,
  steps: readonly Step[],
  { place, dashes = true }: Start = {},
): Sql {
  const most = steps.length > MAX_MIXED ? steps.length : MAX_NAMES;
  const [part, rest] = [steps.slice(0, most), steps.slice(most)];
  const all = nestings(part, !place, dashes ? withDashes : (name) => [name]);
  const ways = [...new Set(all.map((way) => pathOf([...(place ?? []), ...way])))];
  const by = rest.length === 0 ? extract : 'json_extract';
  const made =
    ways.length === 1
      ? sql`${by}(${value}, ${ways[0] ?? ''})`
      : firstThere(sql`${by}(${value}, [${ways.join(', ')}])`, part, ways);
  if (rest.length === 0) return made;
  const isElement = typeof part.at(-1) === 'number';
  return found(extract, made, rest, { dashes, ...(isElement ? { place: [] } : {}) });
}

/** The value, NULL for JSON's null: two texts to whoever groups by them. Unlike `nullif` it has the value in it once. */
export function withoutNull(json: Sql): Sql {
  return sql`from_json(${json}, '"JSON"')`;
}

/** The first of the values that is there. Behind `[0]` an empty array has none, and is not meant itself. */
function firstThere(values: Sql, steps: readonly Step[], ways: readonly string[]): Sql {
  if (steps.at(-1) !== 0) return sql`list_any_value(${values})`;
  const [arrays, others] = [`[${ways.map((way) => way.endsWith("[0]'"))}]`, `'[]'`];
  return sql`list_filter(${values}, lambda e, i: e is not null and (${arrays}[i] or e <> ${others}))[1]`;
}

function withDashes(name: string): string[] {
  return name.includes('_') ? [name, name.replaceAll('_', '-')] : [name];
}

/** The ways along `steps`; `mayBeArray`: the first may lead into the first element of an array; `keysOf`: the keys that a name stands for. */
function nestings(
  steps: readonly Step[],
  mayBeArray: boolean,
  keysOf: (name: string) => string[],
): Step[][] {
  const isInArray = (i: number) => (i === 0 ? mayBeArray : typeof steps[i - 1] === 'string');
  if (steps.length > MAX_MIXED)
    return [
      steps.filter((step) => step !== 0),
      steps.flatMap((step, i) => (typeof step === 'string' && isInArray(i) ? [0, step] : [step])),
    ];
  return steps.reduce<Step[][]>(
    (ways, step, i) => {
      if (step === 0) return ways.flatMap((way) => [[...way, 0], way]);
      if (typeof step === 'number') return ways.map((way) => [...way, step]);
      const places = isInArray(i) ? [[], [0]] : [[]];
      return keysOf(step).flatMap((key) =>
        ways.flatMap((way) => places.map((place) => [...way, ...place, key])),
      );
    },
    [[]],
  );
}
