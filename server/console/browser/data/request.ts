import { reached } from './reach.ts';
import { forgetToken, token } from './token.ts';

/** What the service, or the way to it, has against a request; the message is meant to be read. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    detail: string,
  ) {
    super(detail);
  }
}

export interface Answer<T> {
  readonly result: T;
  /** The request that gave this. */
  readonly path: string;
  /** The width of a bucket of a histogram. */
  readonly stepSeconds: number | null;
  readonly ingestedAt: string | null;
  readonly lagSeconds: number | null;
  /** Whether there is more than was given. */
  readonly truncated: boolean;
  /** How a search query was read that found nothing. */
  readonly hint: string | null;
  readonly tookMs: number;
}

/** In the place of a status where no answer came. */
const UNREACHABLE = 0;

type Parameters = Readonly<Record<string, string | number | null | undefined>>;

/** Longer than the service lets a query run. */
const TIMEOUT_MS = 60_000;

/** A path with those parameters that have a value. */
export function pathOf(path: string, parameters: Parameters = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== null && value !== undefined && value !== '') search.set(name, String(value));
  return search.size === 0 ? path : `${path}?${search}`;
}

/** The answer to a GET, or to a POST of `body`. Throws `Problem`. */
export async function ask<T>(
  path: string,
  signal?: AbortSignal,
  body?: object,
): Promise<Answer<T>> {
  const begun = performance.now();
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  const response = await send(path, {
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
    ...posted(body),
  });
  const parsed: unknown = JSON.parse(await response.text(), exactly);
  const { result, step_seconds, hint } = Array.isArray(parsed)
    ? { result: parsed, step_seconds: null, hint: null }
    : (parsed as { result: unknown; step_seconds?: number; hint?: string });
  const lag = response.headers.get('Tailpond-Ingest-Lag');
  return {
    result: result as T,
    path,
    stepSeconds: step_seconds ?? null,
    ingestedAt: response.headers.get('Tailpond-Ingested-At'),
    lagSeconds: lag === null || lag === '' ? null : Number(lag),
    truncated: response.headers.get('Tailpond-Truncated') === 'true',
    hint: hint ?? null,
    tookMs: performance.now() - begun,
  };
}

/** What makes a request a POST of this JSON. */
export function posted(body: object | undefined): RequestInit {
  if (!body) return {};
  const headers = { 'Content-Type': 'application/json' };
  return { method: 'POST', body: JSON.stringify(body), headers };
}

/** A whole number that has no exact value here, such as many an id, as its text. */
function exactly(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  return /^-?\d+$/.test(context?.source ?? '') ? context?.source : value;
}

/** The response to a request with the token, as soon as it begins. Throws `Problem` when it is not a success. */
export async function send(path: string, init: RequestInit): Promise<Response> {
  const headers = { ...(init.headers as Record<string, string>), 'X-API-KEY': token() ?? '' };
  const response = await fetch(path, { ...init, headers, cache: 'no-cache' }).catch((error) => {
    if (error.name !== 'TypeError') throw error;
    reached(false);
    throw new Problem(UNREACHABLE, 'The service cannot be reached.');
  });
  reached(true);
  if (response.ok) return response;
  const problem = new Problem(response.status, await detailOf(response));
  if (response.status === 401) forgetToken(problem.message);
  throw problem;
}

/** Whether the service was not there: one banner tells of it, for all of the page. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof Problem && error.status === UNREACHABLE;
}

/** What any error says to a reader. */
export function messageOf(error: unknown): string {
  if (error instanceof Problem) return error.message;
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return `There was no answer within ${TIMEOUT_MS / 1000} seconds.`;
  return 'The answer broke off, or was not understood.';
}

async function detailOf(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => null);
  const { detail, errors } = (body ?? {}) as { detail?: string; errors?: { detail: string }[] };
  const faults = (errors ?? []).map((fault) => fault.detail).join(' ');
  return faults || detail || `The service answered with status ${response.status}.`;
}
