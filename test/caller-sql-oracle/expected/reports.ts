import { type Cell, quantile } from '../answer.ts';
import type { Dataset, Row } from '../dataset.ts';
import { datetime, grouped, mean, microseconds, ordered, rounded, truncated } from '../form.ts';
import { at, from, integer, jsonValue, number, type Scope } from '../reading.ts';
import { all, among, matches, within } from './conditions.ts';
import { edgeWithHeaders, relay } from './joins.ts';
import { type Expectations, moment, where } from './requests.ts';

const FILTERED = all(matches('request.path', /\/rest/), within('response.status_code', 404, 404));
const ROUTE = ['request.path', 'request.method', 'request.search', 'response.status_code'];

/** The requests of the reports on API, auth and edge functions. */
export const REPORTS: Expectations = {
  'report-api-error-counts': (w) =>
    hourly(where(edgeWithHeaders(w), within('response.status_code', 400))),
  'report-api-filtered-error-counts': (w) => hourly(where(edgeWithHeaders(w), FILTERED)),
  'report-api-filtered-response-speed': (w) => ({
    rows: ordered(
      grouped(where(edgeWithHeaders(w), FILTERED), (s) => [hour(s)]).map(({ keys, items }) => ({
        timestamp: datetime(keys[0]),
        avg: mean(items.map(originTime)),
      })),
      'timestamp',
    ),
    by: (row) => row.timestamp,
  }),
  'report-api-filtered-top-error-routes': (w) => ({
    rows: ordered(
      routes(w).map(({ route, count }) => ({ ...route, count })),
      '-count',
    ),
    by: (row) => row.count,
    limit: 10,
  }),
  'report-api-filtered-top-slow-routes': (w) => ({
    rows: ordered(
      routes(w).map(({ route, count, avg }) => ({ ...route, count, avg })),
      '-avg',
    ),
    by: (row) => row.avg,
    limit: 10,
  }),

  'report-auth-v1-signin-latency': (w) => ({
    rows: ordered(
      grouped(
        w.auth_logs.filter(({ event_message }) => jsonValue(event_message, 'path') === '/token'),
        (row) => [truncated(row.timestamp, 'hour'), jsonValue(row.event_message, 'grant_type')],
      ).map(({ keys, items }) => ({
        timestamp: keys[0],
        grant_type: keys[1],
        ...signIns(items),
      })),
      '-timestamp',
      'grant_type',
    ),
    by: (row) => [row.timestamp, row.grant_type],
  }),
  'report-auth-v2-latency-all': (w) => ({
    rows: ordered(
      grouped(
        w.auth_logs.filter(({ timestamp }) => timestamp >= DAY_START && timestamp < DAY_END),
        (row) => [truncated(row.timestamp, 'hour'), metric(row)],
      )
        .filter(({ keys }) => keys[1] !== null)
        .map(({ keys, items }) => ({
          timestamp: keys[0],
          metric: keys[1],
          ...latencies(items.map(latency).filter((value) => value !== null)),
        })),
      '-timestamp',
      'metric',
    ),
    by: (row) => [row.timestamp, row.metric],
  }),

  'report-edgefn-execution-time': (w) => ({
    rows: ordered(
      grouped(relay(w), (s) => [hour(s), at(s, 'm.function_id')]).map(({ keys, items }) => ({
        timestamp: keys[0],
        function_id: keys[1],
        avg_execution_time: mean(items.map((s) => number(at(s, 'm.execution_time_ms')))),
      })),
      '-timestamp',
    ),
    by: (row) => row.timestamp,
  }),
  'report-edgefn-invocations-by-region': (w) => ({
    rows: ordered(
      grouped(
        from(w.function_edge_logs, { m: 't.metadata', r: 'm.response', h: 'r.headers' }).filter(
          (s) => at(s, 'h.x_sb_edge_region') !== null,
        ),
        (s) => [hour(s), at(s, 'h.x_sb_edge_region')],
      ).map(({ keys, items }) => ({ timestamp: keys[0], region: keys[1], count: items.length })),
      '-timestamp',
    ),
    by: (row) => row.timestamp,
  }),
  'report-edgefn-status-codes-filtered': (w) => ({
    rows: ordered(
      grouped(
        where(
          from(w.function_edge_logs, {
            m: 't.metadata',
            response: 'm.response',
            h: 'response.headers',
          }),
          all(
            among('m.function_id', 'a1', 'b2'),
            within('response.status_code', 500),
            among('h.x_sb_edge_region', 'us-east-1'),
            within('m.execution_time_ms', 100.0000001),
          ),
        ),
        (s) => [hour(s), at(s, 'response.status_code')],
      ).map(({ keys, items }) => ({
        timestamp: keys[0],
        status_code: keys[1],
        count: items.length,
      })),
      '-timestamp',
    ),
    by: (row) => row.timestamp,
  }),
};

function hour(scope: Scope): number {
  return truncated(moment(scope), 'hour');
}

function hourly(scopes: readonly Scope[]) {
  return {
    rows: ordered(
      grouped(scopes, (s) => [hour(s)]).map(({ keys, items }) => ({
        timestamp: datetime(keys[0]),
        count: items.length,
      })),
      'timestamp',
    ),
    by: (row: Readonly<Record<string, Cell>>) => row.timestamp,
  };
}

function originTime(scope: Scope): number | null {
  return number(at(scope, 'response.origin_time'));
}

function routes(dataset: Dataset) {
  return grouped(where(edgeWithHeaders(dataset), FILTERED), (s) =>
    ROUTE.map((path) => at(s, path)),
  ).map(({ keys: [path = null, method = null, search = null, status_code = null], items }) => ({
    route: { path, method, search, status_code },
    count: items.length,
    avg: mean(items.map(originTime)),
  }));
}

/** Nanoseconds as milliseconds with two digits. */
const milliseconds = (value: number) => rounded(value / 1_000_000, 2);

function signIns(rows: readonly Row[]) {
  const durations = rows
    .map(({ event_message }) => integer(jsonValue(event_message, 'duration')))
    .filter((value) => value !== null);
  const average = mean(durations);
  const none = durations.length === 0;
  return {
    request_count: rows.length,
    avg_latency_ms: average === null ? null : milliseconds(average),
    min_latency_ms: none ? null : milliseconds(Math.min(...durations)),
    max_latency_ms: none ? null : milliseconds(Math.max(...durations)),
    p50_latency_ms: quantile(durations, 0.5, milliseconds),
    p95_latency_ms: quantile(durations, 0.95, milliseconds),
    p99_latency_ms: quantile(durations, 0.99, milliseconds),
  };
}

const DAY_START = microseconds('2026-08-20T12:00:00Z');
const DAY_END = microseconds('2026-08-21T12:00:00Z');

const METRICS: Readonly<Record<string, string>> = {
  login: 'SignInLatency',
  user_signedup: 'SignUpLatency',
  user_signed_up: 'SignUpLatency',
};

function metric({ event_message }: Row): string | null {
  const action =
    jsonValue(event_message, 'auth_event.action') ?? jsonValue(event_message, 'action');
  return METRICS[action ?? ''] ?? null;
}

/** The names under which a duration may stand, by what turns it into milliseconds; the first that is a number counts. */
const DURATIONS = [
  ['processing_time_ms', 1],
  ['duration_ms', 1],
  ['processing_time_us', 1e3],
  ['duration_us', 1e3],
  ['processing_time_ns', 1e6],
  ['duration_ns', 1e6],
  ['duration', 1e6],
] as const;

function latency({ event_message }: Row): number | null {
  for (const [name, unit] of DURATIONS) {
    for (const path of [name, `auth_event.${name}`]) {
      const value = number(jsonValue(event_message, path));
      if (value !== null) return value / unit;
    }
  }
  return null;
}

function latencies(values: readonly number[]) {
  const none = values.length === 0;
  return {
    min_processing_time_ms: none ? null : Math.min(...values),
    avg_processing_time_ms: mean(values),
    max_processing_time_ms: none ? null : Math.max(...values),
    p50_processing_time_ms: quantile(values, 0.5),
    p95_processing_time_ms: quantile(values, 0.95),
    p99_processing_time_ms: quantile(values, 0.99),
  };
}
