import { type Line, OneOf, oneOf } from '../answer.ts';
import type { Dataset } from '../dataset.ts';
import { grouped } from '../form.ts';
import { at, from, number, type Scope, text } from '../reading.ts';
import { EDGE_RECORDS, edge, edgeWithAnswer, functions, postgres } from './joins.ts';
import type { Expectations } from './requests.ts';

/** The page that shows the logs of all services as one. */
export const UNIFIED: Expectations = {
  'unified-all': (w) => ({ rows: unified(w) }),
  'unified-filtered': (w) => ({
    rows: unified(w).filter(
      ({ level, event_message, pathname, method }) =>
        (level === 'error' || level === 'warning') &&
        saysTimeout(event_message) &&
        `${pathname}`.includes('/rest/') &&
        method === 'GET',
    ),
  }),
};

/** The entries of one call either all tell of a timeout or none does, so that any of them decides. */
function saysTimeout(message: unknown): boolean {
  if (message instanceof OneOf) return message.accepts('timeout');
  return typeof message === 'string' && /timeout/i.test(message);
}

/** Every line of the page before its filters. */
export function unified(dataset: Dataset): Line[] {
  return [
    ...edge(dataset).flatMap((s) => edgeLine(s)),
    ...postgres(dataset).map(postgresLine),
    ...relayLines(dataset),
    ...authLines(dataset),
  ];
}

function edgeLine(scope: Scope): Line[] {
  const path = text(at(scope, 'request.path'));
  // Without a path, neither LIKE nor NOT LIKE is true.
  if (path === null) return [];
  const isRest = path.includes('/rest/');
  const isStorage = path.includes('/storage/');
  const kinds = [isRest && 'postgrest', isStorage && 'storage'].filter((kind) => kind !== false);
  return (kinds.length > 0 ? kinds : ['edge']).map((kind) =>
    line(scope, 't', kind, {
      status: text(at(scope, 'response.status_code')),
      level: levelOf(scope, 'response.status_code'),
      pathname: path,
      method: at(scope, 'request.method'),
    }),
  );
}

function postgresLine(scope: Scope): Line {
  const levels: Record<string, string> = {
    LOG: 'success',
    WARNING: 'warning',
    FATAL: 'error',
    ERROR: 'error',
  };
  return line(scope, 't', 'postgres', {
    status: text(at(scope, 'parsed.sql_state_code')),
    level: levels[text(at(scope, 'parsed.error_severity')) ?? ''] ?? null,
    event_message: at(scope, 't.event_message'),
  });
}

function relayLines(dataset: Dataset): Line[] {
  const calls = new Map(
    grouped(functions(dataset), (s) => [at(s, 'metadata.request_id')]).map(({ keys, items }) => [
      keys[0],
      items.map((s) => at(s, 't.event_message')),
    ]),
  );
  return from(dataset.function_edge_logs, EDGE_RECORDS).map((scope) => {
    const call = at(scope, 'm.request_id');
    const messages = call === null ? undefined : calls.get(call);
    return line(scope, 't', 'edge function', {
      status: text(at(scope, 'response.status_code')),
      level: levelOf(scope, 'response.status_code'),
      pathname: at(scope, 'request.pathname'),
      event_message: messages ? oneOfMessages(messages as string[]) : '',
      method: at(scope, 'request.method'),
      log_count: messages?.length ?? null,
    });
  });
}

function oneOfMessages(messages: readonly string[]): OneOf {
  const any = oneOf(messages);
  const late = messages.some((message) => /timeout/i.test(message));
  return new OneOf(any.says, (value) => any.accepts(value) || (value === 'timeout' && late));
}

function authLines(dataset: Dataset): Line[] {
  const atEdge = edgeWithAnswer(dataset);
  return from(dataset.auth_logs, { metadata: 't.metadata' })
    .filter((scope) => at(scope, 'metadata.request_id') !== null)
    .flatMap((scope) => {
      const ray = at(scope, 'metadata.request_id');
      const matched = atEdge.filter((s) => at(s, 'h.cf_ray') === ray);
      return (matched.length > 0 ? matched : [{ t: null }]).map((s) => ({
        ...line(s, 't', 'auth', {
          status: text(at(s, 'response.status_code')),
          level: levelOf(s, 'response.status_code'),
          pathname: at(s, 'request.path'),
          method: at(s, 'request.method'),
        }),
        source_id: at(scope, 't.id'),
      }));
    });
}

function levelOf(scope: Scope, path: string): string {
  const status = number(at(scope, path));
  if (status === null) return 'success';
  if (status >= 400 && status <= 499) return 'warning';
  return status >= 500 ? 'error' : 'success';
}

function line(scope: Scope, entry: string, log_type: string, fields: Line): Line {
  return {
    id: at(scope, `${entry}.id`),
    source_id: null,
    timestamp: at(scope, `${entry}.timestamp`),
    log_type,
    status: null,
    level: null,
    pathname: null,
    event_message: null,
    method: null,
    log_count: null,
    logs: null,
    ...fields,
  };
}
