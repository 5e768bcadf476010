import { matchesBytes } from '../caller-sql/index.ts';
import type { Deadline } from '../deadline.ts';
import { AppError, type FieldError } from '../errors.ts';
import type { Parameter } from '../http/route.ts';
import { momentOf, momentText } from '../lines/index.ts';
import { EngineError, type Store } from '../store/index.ts';
import { isOfType } from './query-file.ts';

/** The values of a query's declared parameters, as text; NULL where an optional one is absent. */
export type Values = Readonly<Record<string, string | null>>;

/** What declares parameters: a saved query, for one. */
export interface Declared {
  readonly parameters: readonly Parameter[];
}

/** The part of a value that is repeated in an error. */
const SHOWN = 100;

/** The parameters in a URL; everything behind the first `?` is theirs, another `?` too. */
export function searchOf(url: string): URLSearchParams {
  const mark = url.indexOf('?');
  return new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
}

/**
 * The values that a query string gives to the parameters that are declared. Throws `PARAMETER_INVALID`, naming every
 * parameter that is missing, repeated, or not one of the allowed words. Parameters that are not declared are ignored.
 */
export function readParameters({ parameters }: Declared, search: URLSearchParams): Values {
  const faults: FieldError[] = [];
  const values: Record<string, string | null> = {};
  for (const parameter of parameters) {
    const given = search.getAll(parameter.name);
    const detail = bracketed(search, parameter.name) ?? fault(parameter, given);
    if (detail) faults.push({ parameter: parameter.name, detail });
    values[parameter.name] = given[0] || parameter.preset;
  }
  if (faults.length > 0) throw new AppError('PARAMETER_INVALID', { faults });
  return values;
}

/**
 * The values as the query binds them: moments in one form. Throws `PARAMETER_INVALID` for a moment that cannot be read
 * or a regular expression that is not one, which the engine judges. A moment means what it means in a line.
 */
export async function checkParameters(
  { parameters }: Declared,
  values: Values,
  store: Pick<Store, 'query'>,
  deadline: Deadline,
): Promise<Values> {
  const checked: Record<string, string | null> = { ...values };
  const faults: FieldError[] = [];
  for (const { name, type } of parameters) {
    const value = values[name] ?? null;
    if (value === null) continue;
    if (type === 'timestamp') {
      checked[name] = moment(value);
      if (checked[name] === null) {
        faults.push({
          parameter: name,
          detail: `Expected "${name}" to be a timestamp such as 2026-11-20T14:00:00Z, or digits since the epoch, got ${shown(value)}.`,
        });
      }
    } else if (type === 'regexp' && !(await isRegexp(value, store, deadline))) {
      faults.push({
        parameter: name,
        detail: `Expected "${name}" to be a regular expression (RE2 syntax) without \\C, got ${shown(value)}.`,
      });
    }
  }
  if (faults.length > 0) throw new AppError('PARAMETER_INVALID', { faults });
  return checked;
}

/** Returns the fault of a parameter that comes as `name[]` or `name[x]`, as some libraries write lists; null without one. */
export function bracketed(search: URLSearchParams, name: string): string | null {
  for (const key of search.keys())
    if (key.startsWith(name) && key[name.length] === '[')
      return `Expected "${name}" once, as it is, got ${shown(key)}.`;
  return null;
}

function fault({ name, type, required }: Parameter, given: readonly string[]): string | null {
  if (given.length > 1) return `Expected "${name}" once, got it ${given.length} times.`;
  const value = given[0] ?? '';
  if (value === '')
    return required
      ? `Expected "${name}" (${allowed(type)}), got ${given.length === 0 ? 'nothing' : 'an empty value'}.`
      : null;
  if (value.includes('\0')) return `Expected "${name}" (${allowed(type)}) without a NUL character.`;
  if (!isOfType(type, value)) {
    return `Expected "${name}" to be ${allowed(type)}, got ${shown(value)}.`;
  }
  return null;
}

function allowed(type: Parameter['type']): string {
  if (type === 'string') return 'text';
  if (type === 'timestamp') return 'a timestamp';
  if (type === 'regexp') return 'a regular expression';
  if (type === 'integer') return 'a whole number';
  if (type === 'number') return 'a number';
  if (type === 'boolean') return 'true or false';
  return `one of ${type.join(', ')}`;
}

function shown(value: string): string {
  return JSON.stringify(value.length > SHOWN ? `${value.slice(0, SHOWN)}…` : value);
}

/** A `+` before the offset arrives as a space when the client did not escape it. */
const LOST_PLUS = /^(\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?) (\d\d:?\d\d)$/;

function moment(value: string): string | null {
  const micros = momentOf(value.replace(LOST_PLUS, '$1+$2'));
  return micros === null ? null : momentText(micros);
}

async function isRegexp(
  value: string,
  store: Pick<Store, 'query'>,
  deadline: Deadline,
): Promise<boolean> {
  if (matchesBytes(value)) return false;
  try {
    await store.query(
      `select regexp_matches('', $pattern::varchar)`,
      { pattern: value },
      { maxRows: 1, deadline },
    );
    return true;
  } catch (error) {
    if (error instanceof EngineError && error.kind === 'input') return false;
    throw error;
  }
}
