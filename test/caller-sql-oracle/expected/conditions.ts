import { at, integer, number, type Scope, text } from '../reading.ts';
import { and, not, or, type Truth, that } from '../truth.ts';

export type Condition = (scope: Scope) => Truth;

/** A field's text is one of these. */
export function among(path: string, ...values: readonly string[]): Condition {
  return (scope) => that(text(at(scope, path)), (value) => values.includes(value));
}

/** A field's text matches somewhere. */
export function matches(path: string, pattern: RegExp): Condition {
  return (scope) => that(text(at(scope, path)), (value) => pattern.test(value));
}

/** A field's number lies within these, both included. */
export function within(path: string, low: number, high = Number.POSITIVE_INFINITY): Condition {
  return (scope) => that(number(at(scope, path)), (value) => value >= low && value <= high);
}

export function all(...conditions: readonly Condition[]): Condition {
  return (scope) => and(...conditions.map((condition) => condition(scope)));
}

export function any(...conditions: readonly Condition[]): Condition {
  return (scope) => or(...conditions.map((condition) => condition(scope)));
}

export function none(condition: Condition): Condition {
  return (scope) => not(condition(scope));
}

export const never: Condition = () => false;

/** How bad an entry is, by the rules of the page that shows it. */
export interface Levels {
  readonly error: Condition;
  readonly warning: Condition;
}

export const EDGE: Levels = {
  error: within('response.status_code', 500),
  warning: within('response.status_code', 400, 499),
};

export const POSTGRES: Levels = {
  error: among('parsed.error_severity', 'ERROR', 'FATAL', 'PANIC'),
  warning: among('parsed.error_severity', 'WARNING'),
};

const level = (scope: Scope) => text(at(scope, 'metadata.level')) ?? '';
const status = (scope: Scope) => integer(at(scope, 'metadata.status')) ?? 0;

export const AUTH: Levels = {
  error: (scope) => ['error', 'fatal'].includes(level(scope)) || status(scope) >= 500,
  warning: (scope) => level(scope) === 'warning' || (status(scope) >= 400 && status(scope) <= 499),
};

export const UNLEVELLED: Levels = { error: never, warning: never };

/** Entries that pg_cron wrote, or that speak of its jobs. */
export const CRON = any(
  among('parsed.application_name', 'pg_cron'),
  matches('t.event_message', /cron job/),
);

/** The endpoints of the auth service that its page filters by. */
export const AUTH_ENDPOINTS = matches(
  'metadata.path',
  /\/(admin|signup|invite|verify|token|authorize|callback|otp|magiclink|recover|user|logout)/,
);

/** What a user typed who sought an alternative, an apostrophe and a backslash. */
export const TYPED = matches('t.event_message', /error|it's \d+/);
