import type { Random } from '../support/random.ts';
import type { Json, Shape } from './shape.ts';

/** What stands where something else is expected. */
const STRANGE: readonly Json[] = [
  null,
  true,
  0,
  -1.5,
  1e308,
  9_007_199_254_740_991,
  '',
  ' ',
  'NaN',
  '1e999',
  '99999999999999999999999',
  '2026-13-45T99:99:99Z',
  '\u0000\u001f\\"\'`',
  'null',
  '{"path":{},"duration":"1e400"}',
  [],
  [[]],
  [null],
  [1, 'a', {}],
  {},
  { '': {} },
  { path: ['/token'], level: { a: 1 } },
];

const MESSAGES = [
  '',
  '{',
  'null',
  '[]',
  '{"duration":{},"path":"/token","auth_event":[],"action":"login"}',
  '{"duration":"1e400","path":"/token","grant_type":["password"]}',
  '{"duration":99999999999999999999999,"path":"/token","auth_event":{"action":"login"}}',
  'duration: 99999999999999999999999 ms statement: level is present',
];

/** The same shape, with strange values at some of its places. */
export function hostile({ message, metadata, line }: Shape, random: Random): Shape {
  return {
    message: random.below(2) ? message : random.pick(MESSAGES),
    ...(metadata === undefined ? {} : { metadata: strange(metadata, random) }),
    ...(line === undefined ? {} : { line }),
  };
}

function strange(value: Json, random: Random): Json {
  if (random.below(8) === 0) return random.pick(STRANGE);
  if (Array.isArray(value)) return value.map((element) => strange(element, random));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, strange(field, random)]),
  );
}
