/**
 * Every error that a client can meet: its HTTP status and its title. The codes are part of the interface and stand in
 * the table in docs/http.md.
 */
export const ERRORS = {
  PARAMETER_INVALID: [400, 'A parameter is missing or not valid'],
  SQL_INVALID: [400, 'The SQL cannot be run here'],
  QUERY_TOO_LARGE: [400, 'The query needs more memory than it may have'],
  RESULT_TOO_LARGE: [400, 'The answer would be too large'],
  HEADER_INVALID: [400, 'A header is not valid'],
  REQUEST_INVALID: [400, 'The request cannot be read'],
  UNAUTHORIZED: [401, 'A valid access token is required'],
  SCOPE_MISSING: [403, 'The access token may not do this'],
  PROJECT_FORBIDDEN: [403, 'The access token is for another project'],
  SOURCE_UNKNOWN: [404, 'There is no such source'],
  REJECTED_UNKNOWN: [404, 'There is no such rejected line any more'],
  ENDPOINT_UNKNOWN: [404, 'There is no such endpoint'],
  PATH_UNKNOWN: [404, 'There is nothing at this path'],
  METHOD_NOT_ALLOWED: [405, 'The method is not allowed here'],
  BODY_TOO_LARGE: [413, 'The body is too large'],
  URL_TOO_LONG: [414, 'The URL is too long'],
  TYPE_UNKNOWN: [415, 'The type of the body is not known'],
  ENCODING_UNKNOWN: [415, 'The encoding of the body is not known'],
  RATE_LIMITED: [429, 'Too many requests with this access token'],
  HEADERS_TOO_MANY: [431, 'The request has too many headers'],
  INTERNAL: [500, 'The request failed'],
  STARTING: [503, 'The service is starting'],
  DRAINING: [503, 'The service is stopping'],
  CONNECTIONS_EXHAUSTED: [503, 'Too many connections are open'],
  OVERLOADED: [503, 'Too many queries are waiting'],
  PUSH_OVERLOADED: [503, 'Too many pushed lines are waiting'],
  STORAGE_UNAVAILABLE: [503, 'Lines cannot be taken at present'],
  UNHEALTHY: [503, 'The service is in trouble'],
  QUERY_TIMEOUT: [504, 'The query took too long'],
} as const satisfies Record<string, readonly [number, string]>;

export type ErrorCode = keyof typeof ERRORS;

/** One parameter or header at fault: what came, and what is allowed. */
export interface FieldError {
  readonly parameter: string;
  readonly detail: string;
}

/** An error that is meant for the client: `detail` and `faults` are shown to it, `cause` is only logged. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly faults: readonly FieldError[];
  /** The methods that are allowed, with `METHOD_NOT_ALLOWED`. */
  readonly allow: readonly string[];

  constructor(
    code: ErrorCode,
    options: {
      detail?: string;
      faults?: readonly FieldError[];
      allow?: readonly string[];
      cause?: unknown;
    } = {},
  ) {
    const [status, title] = ERRORS[code];
    const detail =
      options.detail ?? options.faults?.map((fault) => fault.detail).join(' ') ?? `${title}.`;
    super(detail, { cause: options.cause });
    this.code = code;
    this.status = status;
    this.title = title;
    this.detail = detail;
    this.faults = options.faults ?? [];
    this.allow = options.allow ?? ['GET', 'HEAD'];
  }
}
