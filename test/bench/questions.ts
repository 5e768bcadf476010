import type { SupabaseSource } from '../../ingest/index.ts';

/** A question that a log page of Supabase Studio asks, in its dialect, and as somebody writes it who knows DuckDB. */
export interface OwnQuestion {
  readonly name: string;
  readonly source: SupabaseSource;
  readonly own: string;
  /** Over a table `entries` with the view's columns. */
  readonly hand: string;
}

/** Sources that are asked, each with the full number of lines. */
export const ASKED: readonly SupabaseSource[] = ['edge_logs', 'postgres_logs', 'auth_logs'];

const EDGE = `from edge_logs t cross join unnest(metadata) as m cross join unnest(m.request) as request
  cross join unnest(m.response) as response`;
const POSTGRES =
  'from postgres_logs t cross join unnest(metadata) as m cross join unnest(m.parsed) as parsed';
const AUTH = 'from auth_logs t cross join unnest(metadata) as metadata';

/** Members, once each, as a subquery gives them to the rest of a statement by hand. */
const EDGE_BY_HAND = `(select timestamp, try_cast(metadata ->> '$.response.status_code' as int) as status,
  metadata ->> '$.request.path' as path from entries)`;
const POSTGRES_BY_HAND = `(select timestamp, event_message, metadata ->> '$.parsed.error_severity' as severity from entries)`;
const AUTH_BY_HAND = `(select timestamp, metadata ->> '$.path' as path,
  try_cast(metadata ->> '$.status' as int) as status from entries)`;

const SEVERE = `('ERROR', 'FATAL', 'PANIC')`;

/** A list, a chart and a count of each form that the log pages have. */
export const QUESTIONS: readonly OwnQuestion[] = [
  {
    name: 'edge: list',
    source: 'edge_logs',
    own: `select id, t.timestamp, event_message, request.method, request.path, response.status_code ${EDGE}
      order by timestamp desc limit 100`,
    hand: `select id, epoch_us(timestamp) as ts, event_message, metadata ->> '$.request.method' as method,
      metadata ->> '$.request.path' as path, metadata ->> '$.response.status_code' as status
      from entries order by timestamp desc limit 100`,
  },
  {
    name: 'edge: list of a status that is rare',
    source: 'edge_logs',
    own: `select id, t.timestamp, event_message, request.path ${EDGE} where response.status_code = 418
      order by timestamp desc limit 100`,
    hand: `select id, epoch_us(timestamp) as ts, event_message, metadata ->> '$.request.path' as path from entries
      where try_cast(metadata ->> '$.response.status_code' as int) = 418 order by timestamp desc limit 100`,
  },
  {
    name: 'edge: chart',
    source: 'edge_logs',
    own: `select timestamp_trunc(t.timestamp, hour) as timestamp, count(case when response.status_code < 400 then 1 end) as ok,
      count(case when response.status_code >= 500 then 1 end) as error, ${EDGE} group by timestamp order by timestamp`,
    hand: `select epoch_us(date_trunc('hour', timestamp)) as ts, count(*) filter (status < 400), count(*) filter (status >= 500)
      from ${EDGE_BY_HAND} group by 1 order by 1`,
  },
  {
    name: 'edge: count by status and path',
    source: 'edge_logs',
    own: `select count(*) as count ${EDGE} where response.status_code between 500 and 599 and request.path like '/rest/%'`,
    hand: `select count(*) from ${EDGE_BY_HAND} where status between 500 and 599 and path like '/rest/%'`,
  },
  {
    name: 'edge: top paths',
    source: 'edge_logs',
    own: `select request.path as path, count(*) as n ${EDGE} where response.status_code >= 400 group by path order by n desc limit 10`,
    hand: `select path, count(*) from ${EDGE_BY_HAND} where status >= 400 group by 1 order by 2 desc limit 10`,
  },
  {
    name: 'postgres: list, searched',
    source: 'postgres_logs',
    own: `select id, t.timestamp, event_message, parsed.error_severity ${POSTGRES}
      where parsed.error_severity in ${SEVERE} and regexp_contains(event_message, 'no such|zzz') order by timestamp desc limit 100`,
    hand: `select id, epoch_us(timestamp) as ts, event_message, metadata ->> '$.parsed.error_severity' as severity from entries
      where (metadata ->> '$.parsed.error_severity') in ${SEVERE} and regexp_matches(event_message, 'no such|zzz')
      order by timestamp desc limit 100`,
  },
  {
    name: 'postgres: chart',
    source: 'postgres_logs',
    own: `select timestamp_trunc(t.timestamp, hour) as timestamp, count(case when parsed.error_severity in ${SEVERE} then 1 end) as error,
      count(case when parsed.error_severity = 'WARNING' then 1 end) as warning ${POSTGRES} group by timestamp order by timestamp`,
    hand: `select epoch_us(date_trunc('hour', timestamp)) as ts, count(*) filter (severity in ${SEVERE}), count(*) filter (severity = 'WARNING')
      from ${POSTGRES_BY_HAND} group by 1 order by 1`,
  },
  {
    name: 'postgres: count by severity',
    source: 'postgres_logs',
    own: `select count(*) as count ${POSTGRES} where parsed.error_severity in ${SEVERE}`,
    hand: `select count(*) from ${POSTGRES_BY_HAND} where severity in ${SEVERE}`,
  },
  {
    name: 'auth: list',
    source: 'auth_logs',
    own: `select id, t.timestamp, event_message, metadata.level, metadata.status, metadata.path, metadata.msg ${AUTH}
      order by timestamp desc limit 100`,
    hand: `select id, epoch_us(timestamp) as ts, event_message, metadata ->> '$.level' as level, metadata ->> '$.status' as status,
      metadata ->> '$.path' as path, metadata ->> '$.msg' as msg from entries order by timestamp desc limit 100`,
  },
  {
    name: 'auth: chart',
    source: 'auth_logs',
    own: `select timestamp_trunc(t.timestamp, hour) as timestamp, count(case when ifnull(safe_cast(metadata.status as int64), 0) >= 500 then 1 end) as error,
      count(case when ifnull(safe_cast(metadata.status as int64), 0) between 400 and 499 then 1 end) as warning ${AUTH} group by timestamp order by timestamp`,
    hand: `select epoch_us(date_trunc('hour', timestamp)) as ts, count(*) filter (status >= 500), count(*) filter (status between 400 and 499)
      from ${AUTH_BY_HAND} group by 1 order by 1`,
  },
  {
    name: 'auth: count by endpoint',
    source: 'auth_logs',
    own: `select count(*) as count ${AUTH} where regexp_contains(metadata.path, "/token|/otp") or regexp_contains(metadata.path, "/logout")`,
    hand: `select count(*) from ${AUTH_BY_HAND} where regexp_matches(path, '/token|/otp') or regexp_matches(path, '/logout')`,
  },
  {
    name: 'auth: count',
    source: 'auth_logs',
    own: `select count(*) as count ${AUTH}`,
    hand: `select count(*) from entries where metadata is not null`,
  },
];
