import type { Express, Request, RequestHandler, Response } from 'express';
import { requires } from '../auth/middleware.ts';
import type { Scope } from '../auth/token-file.ts';
import { AppError } from '../errors.ts';

/** The types of a parameter's value that have a name: free text, a timestamp, an RE2 regular expression, numbers, true or false. */
export const PARAMETER_TYPES = [
  'string',
  'timestamp',
  'regexp',
  'integer',
  'number',
  'boolean',
] as const;

/** The type of a parameter's value; a list: one of these words. */
export type ParameterType = (typeof PARAMETER_TYPES)[number] | readonly string[];

/** A parameter of the query string. */
export interface Parameter {
  readonly name: string;
  readonly type: ParameterType;
  readonly required: boolean;
  /** What an absent one is taken as; null: NULL. */
  readonly preset: string | null;
  readonly description: string;
}

/** What an answer with 200 holds, by the name of its schema (openapi/schemas.ts). */
export type AnswerName =
  | 'Backends'
  | 'Document'
  | 'Endpoints'
  | 'Entries'
  | 'Export'
  | 'Facets'
  | 'Health'
  | 'Histogram'
  | 'Ledger'
  | 'LogRecordsTaken'
  | 'Logged'
  | 'LogflareSources'
  | 'Projects'
  | 'RejectedLines'
  | 'Removals'
  | 'Retried'
  | 'Rows';

/** What a body holds, likewise. */
export type BodyName = 'Lines' | 'LogRecords' | 'Retry';

export type Method = 'GET' | 'HEAD' | 'POST';

/** A path of the service: Express serves it and the OpenAPI document describes it by this one entry. */
export interface Route {
  /** As Express writes it, `/api/entries/:source`. */
  readonly path: string;
  /** Further paths of the same; metrics count them as the first. */
  readonly aliases?: readonly string[];
  /** Null: the handler decides, since it depends on what is asked for. */
  readonly methods: readonly Method[] | null;
  /** The detail of the error for other methods, where their names alone do not help. */
  readonly otherwise?: string;
  /** What the token must allow; null: none is needed. */
  readonly scope: Scope | null;
  readonly summary: string;
  readonly parameters?: readonly Parameter[];
  /** Whether the caller chooses the format of the rows. */
  readonly format?: boolean;
  readonly body?: BodyName;
  /** A text with a slash is a media type that no schema describes. */
  readonly answer: AnswerName | `${string}/${string}`;
  readonly handler: RequestHandler<never> | readonly [RequestHandler<never>, RequestHandler<never>];
}

export const READ: readonly Method[] = ['GET', 'HEAD'];
export const GET: readonly Method[] = ['GET'];
export const POST: readonly Method[] = ['POST'];

/** A parameter that may be left out. */
export function optional(
  name: string,
  type: ParameterType,
  description: string,
  preset: string | null = null,
): Parameter {
  return { name, type, required: false, preset, description };
}

/** Lets a request pass, or throws what it is refused with. */
export type Check = (request: Request, response: Response) => void;

/**
 * Serves routes in their order: the scope is checked, then the method, then the handler answers. All within one handler of Express's,
 * since each one more takes a hundredth of the time of a cached answer.
 */
export function mount(app: Express, routes: readonly Route[]): void {
  for (const { path, aliases = [], scope, methods, otherwise, handler } of routes) {
    const checks = [
      ...(scope === null ? [] : [requires(scope)]),
      ...(methods === null ? [] : [only(methods, otherwise)]),
    ];
    const [first, ...more] = [handler].flat() as [RequestHandler, ...RequestHandler[]];
    app.all([path, ...aliases], checked(checks, first), ...more);
  }
}

/** A handler that answers what passes the checks. */
function checked(checks: readonly Check[], answer: RequestHandler): RequestHandler {
  return function check(request, response, next) {
    for (const passes of checks) passes(request, response);
    return answer(request, response, next);
  };
}

/** Throws `METHOD_NOT_ALLOWED` for other methods. */
function only(methods: readonly string[], detail: string | undefined): Check {
  return function checkMethod({ method }) {
    if (!methods.includes(method))
      throw new AppError('METHOD_NOT_ALLOWED', { allow: methods, ...(detail ? { detail } : {}) });
  };
}
