import { difference } from './compare.ts';
import { datasetOf, WINDOWS, type Window } from './dataset.ts';
import type { Event } from './events.ts';
import type { Request } from './request.ts';
import type { Json } from './shape.ts';

/** A running tailpond, and the project whose logs are asked for. */
export interface Target {
  readonly url: string;
  readonly token: string;
  readonly project: string;
}

export interface Failure {
  readonly name: string;
  readonly message: string;
}

export interface Report {
  /** How many requests were sent, and how many of them were answered or refused as they must be. */
  readonly total: number;
  readonly ran: number;
  /** How many have a known answer, and how many were right. */
  readonly known: number;
  readonly right: number;
  /** How many must be refused, and how many were. */
  readonly refusable: number;
  readonly refused: number;
  readonly failures: readonly Failure[];
}

/**
 * Sends each request, one after the other. Where the entries are known that the service holds, what comes back is held
 * against what must, in each of the windows that `windowsOf` gives for its number.
 */
export async function replay(
  target: Target,
  requests: readonly Request[],
  events?: readonly Event[],
  windowsOf: (n: number) => readonly Window[] = () => WINDOWS,
): Promise<Report> {
  const failures: Failure[] = [];
  const count = { ran: 0, known: 0, right: 0, refusable: 0, refused: 0 };
  for (const [n, request] of requests.entries()) {
    const fail = (message: string) => failures.push({ name: request.name, message });
    if (request.refused) {
      count.refusable++;
      const fault = faultOfRefusal(await send(target, request.sql, {}), request);
      if (fault) fail(fault);
      else {
        count.refused++;
        count.ran++;
      }
      continue;
    }
    const isKnown = events !== undefined && request.rows !== undefined;
    if (isKnown) count.known++;
    const fault = await faultOfAnswer(
      target,
      request,
      isKnown ? { events, windows: windowsOf(n) } : undefined,
    );
    if (fault) fail(fault.message);
    if (!fault?.isRefusal) count.ran++;
    if (isKnown && !fault) count.right++;
  }
  return { total: requests.length, ...count, failures };
}

async function faultOfAnswer(
  target: Target,
  { sql, rows }: Request,
  known: { readonly events: readonly Event[]; readonly windows: readonly Window[] } | undefined,
): Promise<{ message: string; isRefusal: boolean } | undefined> {
  for (const window of known?.windows ?? [{}]) {
    const { status, body } = await send(target, sql, window);
    if (status !== 200 || !Array.isArray(body.result))
      return { message: `expected rows, ${told(status, body)}`, isRefusal: true };
    if (!known || !rows) continue;
    const message = difference(body.result, rows(datasetOf(known.events, window)));
    if (message) return { message: `${windowed(window)}${message}`, isRefusal: false };
  }
  return undefined;
}

function windowed(window: Window): string {
  return window.after === undefined ? '' : 'within a window: ';
}

interface Reply {
  readonly status: number;
  readonly body: { readonly [name: string]: Json };
}

async function send({ url, token, project }: Target, sql: string, window: Window): Promise<Reply> {
  const query = new URLSearchParams({
    project,
    sql,
    iso_timestamp_start: iso(window.after),
    iso_timestamp_end: iso(window.until),
  });
  const response = await fetch(`${url}/api/endpoints/query/logs.all?${query}`, {
    headers: { 'X-API-KEY': token, Accept: 'application/json' },
  });
  return { status: response.status, body: (await response.json()) as Reply['body'] };
}

/** A bound as a parameter; none is an empty one, as Studio sends it. */
function iso(moment: number | undefined): string {
  return moment === undefined ? '' : new Date(moment / 1000).toISOString();
}

function told(status: number, { error, result, detail }: Reply['body']): string {
  if (Array.isArray(result)) return `got ${result.length} rows`;
  return `got ${status} ${JSON.stringify(error ?? detail ?? null)}`;
}

/** Returns the fault of a refusal: it must say what is at fault, where, and nothing of the engine. */
function faultOfRefusal(
  { status, body }: Reply,
  { sql, refused = /./ }: Request,
): string | undefined {
  const got = told(status, body);
  if (status !== 400 || body.code !== 'SQL_INVALID') return `expected 400 SQL_INVALID, ${got}`;
  const [fault] = (Array.isArray(body.errors) ? body.errors : []) as Reply['body'][];
  const { message } = (body.error ?? {}) as Reply['body'];
  if (fault?.parameter !== 'sql' || typeof fault.detail !== 'string')
    return `expected errors to name the parameter sql, got ${JSON.stringify(body.errors ?? null)}`;
  if (typeof message !== 'string') return `expected error.message, ${got}`;
  // A text that is not a SELECT at all, or is empty, is at fault as a whole.
  const isWhole =
    /^(only )?SELECT|no statement/i.test(message) || !/^\s*(select|with|\()/i.test(sql);
  if (!isWhole && !/line \d+.*column \d+/is.test(message))
    return `expected a line and a column, ${got}`;
  if (!refused.test(message)) return `expected a message like ${refused}, ${got}`;
  const own = /duckdb|\bmain\.|catalog|binder|0x[\da-f]{6}|\$\d/i.exec(message)?.[0];
  if (own !== undefined && !sql.includes(own)) return `expected nothing of the engine, ${got}`;
  return undefined;
}
