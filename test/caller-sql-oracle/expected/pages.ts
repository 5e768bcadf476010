import type { Dataset, Row } from '../dataset.ts';
import { ONE_ID } from '../events.ts';
import { shown } from '../form.ts';
import { from } from '../reading.ts';
import {
  AUTH,
  AUTH_ENDPOINTS,
  all,
  among,
  any,
  CRON,
  EDGE,
  matches,
  none,
  POSTGRES,
  TYPED,
  UNLEVELLED,
  within,
} from './conditions.ts';
import { auth, edge, functions, postgres } from './joins.ts';
import { chart, count, type Expectations, list, where } from './requests.ts';

const AUTH_COLUMNS = [
  't.id',
  't.timestamp',
  't.event_message',
  'metadata.level',
  'metadata.status',
  'metadata.path',
  'metadata.msg',
  'metadata.error',
];
const FUNCTION_COLUMNS = [
  't.id',
  't.timestamp',
  't.event_message',
  'metadata.event_type',
  'metadata.function_id',
  'metadata.execution_id',
  'metadata.level',
];
const PLAIN_COLUMNS = ['t.id', 't.timestamp', 't.event_message'];

const AUTH_INFO = all(none(AUTH.error), none(AUTH.warning));
const CONNECTION_ERROR = all(POSTGRES.error, matches('t.event_message', /connection/));
const status = (low: number, high: number) => within('metadata.status', low, high);

/** The requests of the log pages: charts, counts, lists and single entries. */
export const PAGES: Expectations = {
  'chart-auth_logs-filter-endpoints-all': (w) => chart(where(auth(w), AUTH_ENDPOINTS), AUTH),
  'chart-auth_logs-filter-severity-error': (w) => chart(where(auth(w), AUTH.error), AUTH),
  'chart-auth_logs-filter-severity-info': (w) => chart(where(auth(w), AUTH_INFO), AUTH),
  'chart-auth_logs-filter-severity-warning': (w) => chart(where(auth(w), AUTH.warning), AUTH),
  'chart-auth_logs-filter-status-errors': (w) =>
    chart(where(auth(w), any(status(500, 599), status(400, 499))), AUTH),
  'chart-edge_logs-day': (w) => chart(edge(w), EDGE, 'day'),
  'chart-edge_logs-filter-product-auth': (w) =>
    chart(where(edge(w), matches('request.path', /^\/auth\//)), EDGE),
  'chart-pg_cron_logs-minute': (w) =>
    chart(where(postgres(w), CRON), { ...POSTGRES, warning: UNLEVELLED.warning }),
  'chart-postgres_logs-filter-severity-error-search': (w) =>
    chart(where(postgres(w), CONNECTION_ERROR), POSTGRES),
  'chart-postgres_logs-filter-severity-error': (w) =>
    chart(where(postgres(w), POSTGRES.error), POSTGRES),
  'chart-postgres_logs-minute': (w) => chart(postgres(w), POSTGRES),
  'chart-storage_logs-minute': (w) => chart(from(w.storage_logs), UNLEVELLED),

  'count-auth_logs-filter-endpoints-all': (w) => count(where(auth(w), AUTH_ENDPOINTS)),
  'count-auth_logs-filter-status-ok': (w) =>
    count(where(auth(w), any(status(300, 399), status(200, 299)))),
  'count-auth_logs': (w) => count(auth(w)),
  'count-edge_logs-filter-combined': (w) =>
    count(
      where(
        edge(w),
        all(
          EDGE.warning,
          among('request.method', 'PUT', 'PATCH', 'DELETE'),
          matches('request.path', /^\/storage\//),
          matches('t.event_message', /\/storage\/v1/),
        ),
      ),
    ),
  'count-edge_logs-filter-method': (w) =>
    count(where(edge(w), among('request.method', 'GET', 'POST', 'OPTIONS'))),
  'count-edge_logs-filter-product-database-storage': (w) =>
    count(where(edge(w), matches('request.path', /^\/(rest|graphql|storage)\//))),
  'count-edge_logs-filter-status-error': (w) =>
    count(where(edge(w), within('response.status_code', 500, 599))),
  'count-pgbouncer_logs': (w) => count(w.pgbouncer_logs),
  'count-postgres_logs-filter-severity-error-search': (w) =>
    count(where(postgres(w), CONNECTION_ERROR)),
  'count-postgrest_logs': (w) => count(w.postgrest_logs),

  'list-auth_logs-filter-severity-error': (w) => list(where(auth(w), AUTH.error), ...AUTH_COLUMNS),
  'list-auth_logs-filter-severity-info': (w) => list(where(auth(w), AUTH_INFO), ...AUTH_COLUMNS),
  'list-auth_logs-filter-severity-warning': (w) =>
    list(where(auth(w), AUTH.warning), ...AUTH_COLUMNS),
  'list-function_logs-override-function_id-dotted': (w) =>
    list(where(functions(w), among('metadata.function_id', 'a1b2c3')), ...FUNCTION_COLUMNS),
  'list-function_logs': (w) => list(functions(w), ...FUNCTION_COLUMNS),
  'list-pg_cron_logs-search': (w) =>
    list(
      where(postgres(w), all(CRON, TYPED)),
      ...PLAIN_COLUMNS,
      'parsed.error_severity',
      'parsed.query',
    ),
  'list-postgres_logs': (w) =>
    list(
      postgres(w),
      't.timestamp',
      't.id',
      't.event_message',
      'parsed.error_severity',
      'parsed.detail',
      'parsed.hint',
    ),
  'list-realtime_logs-search': (w) => list(where(from(w.realtime_logs), TYPED), ...PLAIN_COLUMNS),
  'list-realtime_logs': (w) => list(from(w.realtime_logs), ...PLAIN_COLUMNS),
  'list-storage_logs-search': (w) => list(where(from(w.storage_logs), TYPED), ...PLAIN_COLUMNS),
  'mcp-auth-search': (w) =>
    list(
      where(auth(w), any(...AUTH_COLUMNS.filter((path) => path !== 't.timestamp').map(saysToken))),
      ...AUTH_COLUMNS,
    ),
  'old-postgres_logs-2024': (w) =>
    list(
      where(postgres(w), POSTGRES.error),
      't.timestamp',
      't.id',
      't.event_message',
      'parsed.error_severity',
    ),
  'platform-list-postgres_logs': (w) =>
    list(
      postgres(w),
      't.project as identifier',
      't.timestamp',
      't.id',
      't.event_message',
      'parsed.error_severity',
      'parsed.detail',
      'parsed.hint',
    ),
  'single-function_edge_logs': (w) => single(w.function_edge_logs),
  'single-storage_logs': (w) => single(w.storage_logs),
};

function saysToken(path: string) {
  return matches(path, /token/i);
}

export function single(rows: Dataset[keyof Dataset]) {
  return {
    rows: rows.filter(({ id }) => id === ONE_ID).map(whole),
    limit: 1,
  };
}

function whole({ id, timestamp, event_message, metadata }: Row) {
  return { id, timestamp, event_message, metadata: shown(metadata) };
}
