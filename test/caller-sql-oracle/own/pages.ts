import { SUPABASE_SOURCES, type SupabaseSource } from '../../../ingest/index.ts';
import type { Dataset } from '../dataset.ts';
import { ONE_ID } from '../events.ts';
import {
  AUTH,
  among,
  type Condition,
  EDGE,
  type Levels,
  matches,
  POSTGRES,
  UNLEVELLED,
  within,
} from '../expected/conditions.ts';
import { EDGE_RECORDS } from '../expected/joins.ts';
import { single } from '../expected/pages.ts';
import { chart, count, list, where } from '../expected/requests.ts';
import { microseconds } from '../form.ts';
import { from, type Joins, type Scope } from '../reading.ts';
import type { Request } from '../request.ts';

/** What the page of a source joins and shows. */
interface Page {
  readonly joins: Joins;
  readonly columns: readonly string[];
  /** How the chart tells what is bad, in SQL and here. */
  readonly error: string;
  readonly warning: string;
  readonly levels: Levels;
}

const PLAIN: Page = {
  joins: {},
  columns: [],
  error: 'false',
  warning: 'false',
  levels: UNLEVELLED,
};

const STATUS = {
  error: 'response.status_code >= 500',
  warning: 'response.status_code >= 400 and response.status_code < 500',
  levels: EDGE,
};

const AUTH_STATUS = 'ifnull(safe_cast(metadata.status as int64), 0)';

const PAGES: Record<SupabaseSource, Page> = {
  edge_logs: {
    joins: EDGE_RECORDS,
    columns: ['request.path', 'request.method', 'request.search', 'response.status_code'],
    ...STATUS,
  },
  function_edge_logs: {
    joins: EDGE_RECORDS,
    columns: [
      'response.status_code',
      'request.method',
      'm.function_id',
      'm.execution_time_ms',
      'm.deployment_id',
      'm.version',
    ],
    ...STATUS,
  },
  postgres_logs: {
    joins: { m: 't.metadata', parsed: 'm.parsed' },
    columns: ['parsed.error_severity', 'parsed.user_name', 'parsed.query', 'parsed.process_id'],
    error: "parsed.error_severity in ('ERROR', 'FATAL', 'PANIC')",
    warning: "parsed.error_severity in ('WARNING')",
    levels: POSTGRES,
  },
  auth_logs: {
    joins: { metadata: 't.metadata' },
    columns: ['metadata.level', 'metadata.status', 'metadata.path', 'metadata.msg'],
    error: `ifnull(metadata.level, '') in ('error', 'fatal') or ${AUTH_STATUS} >= 500`,
    warning: `ifnull(metadata.level, '') = 'warning' or ${AUTH_STATUS} between 400 and 499`,
    levels: AUTH,
  },
  function_logs: {
    joins: { metadata: 't.metadata' },
    columns: ['metadata.event_type', 'metadata.function_id', 'metadata.level', 'metadata.region'],
    error: "metadata.level in ('error', 'fatal')",
    warning: "metadata.level in ('warning')",
    levels: {
      error: among('metadata.level', 'error', 'fatal'),
      warning: among('metadata.level', 'warning'),
    },
  },
  realtime_logs: {
    ...PLAIN,
    joins: { m: 't.metadata' },
    columns: ['m.level', 'm.external_id'],
  },
  storage_logs: {
    ...PLAIN,
    joins: { m: 't.metadata', c: 'm.context' },
    columns: ['m.level', 'c.host', 'c.pid'],
  },
  postgrest_logs: PLAIN,
  pgbouncer_logs: PLAIN,
};

/** Filters that the pages offer: in SQL, and here. */
const FILTERS: readonly (readonly [string, SupabaseSource, string, Condition])[] = [
  [
    'ok',
    'edge_logs',
    'response.status_code between 200 and 299',
    within('response.status_code', 200, 299),
  ],
  [
    'redirect',
    'edge_logs',
    'response.status_code between 300 and 399',
    within('response.status_code', 300, 399),
  ],
  ['delete', 'edge_logs', "request.method = 'DELETE'", among('request.method', 'DELETE')],
  [
    'not-get',
    'edge_logs',
    "request.method != 'GET'",
    (s) => among('request.method', 'GET')(s) === false,
  ],
  [
    'functions',
    'edge_logs',
    "request.path like '/functions/%'",
    matches('request.path', /^\/functions\//),
  ],
  [
    'realtime',
    'edge_logs',
    "starts_with(request.path, '/realtime')",
    matches('request.path', /^\/realtime/),
  ],
  [
    'path',
    'edge_logs',
    "request.path = '/customers/café'",
    among('request.path', '/customers/café'),
  ],
  [
    'unnamed',
    'edge_logs',
    "path like '/graphql/%' and method in ('GET', 'POST')",
    (s) =>
      matches('request.path', /^\/graphql\//)(s) === true &&
      among('request.method', 'GET', 'POST')(s) === true,
  ],
  [
    'quoted',
    'edge_logs',
    'regexp_contains(event_message, \'\\"beta\\" \\\\\\\\ ünï\')',
    matches('t.event_message', /"beta" \\ ünï/),
  ],
  [
    'warning',
    'postgres_logs',
    "parsed.error_severity = 'WARNING'",
    among('parsed.error_severity', 'WARNING'),
  ],
  [
    'log',
    'postgres_logs',
    "parsed.error_severity in ('LOG', 'NOTICE')",
    among('parsed.error_severity', 'LOG', 'NOTICE'),
  ],
  [
    'user',
    'postgres_logs',
    "parsed.user_name = 'supabase_admin'",
    among('parsed.user_name', 'supabase_admin'),
  ],
  ['query-id', 'postgres_logs', 'parsed.process_id >= 300', within('parsed.process_id', 300)],
  [
    'backslash',
    'postgres_logs',
    "regexp_contains(event_message, r'a\\\\b') and event_message like '%50\\\\%'",
    matches('t.event_message', /a\\b.*50%$/),
  ],
  [
    'signup',
    'auth_logs',
    'regexp_contains(metadata.path, "/signup|/invite|/verify")',
    matches('metadata.path', /\/(signup|invite|verify)/),
  ],
  ['token', 'auth_logs', "metadata.path = '/token'", among('metadata.path', '/token')],
  [
    'uncaught',
    'function_logs',
    "metadata.event_type = 'UncaughtException'",
    among('metadata.event_type', 'UncaughtException'),
  ],
  [
    'level',
    'function_logs',
    "metadata.level in ('error', 'warning')",
    among('metadata.level', 'error', 'warning'),
  ],
  [
    'slow',
    'function_edge_logs',
    'm.execution_time_ms > 250.5',
    within('m.execution_time_ms', 250.50001),
  ],
  [
    'server-error',
    'function_edge_logs',
    'response.status_code between 500 and 599',
    within('response.status_code', 500, 599),
  ],
  [
    'search',
    'realtime_logs',
    "regexp_contains(event_message, '(?i)ERROR|ratelimit')",
    matches('t.event_message', /error|ratelimit/i),
  ],
  [
    'host',
    'storage_logs',
    "c.host = 'decaf0123456' and c.pid = 2",
    (s) => among('c.host', 'decaf0123456')(s) === true && within('c.pid', 2, 2)(s) === true,
  ],
  [
    'status',
    'postgrest_logs',
    "event_message like '%\" 404 %'",
    matches('t.event_message', /" 404 /),
  ],
  [
    'closing',
    'pgbouncer_logs',
    "strpos(event_message, 'closing') > 0",
    matches('t.event_message', /closing/),
  ],
];

const CHART_START = microseconds('2026-08-20T12:00:00Z');

const always: Condition = () => true;

/** Lists, counts, charts and single entries of the page of each source, and the same behind its filters. */
export const OWN_PAGES: readonly Request[] = [
  ...SUPABASE_SOURCES.flatMap((source) => [
    listing(source),
    counting(source),
    charting(source, 'minute'),
    charting(source, 'hour'),
    picking(source),
  ]),
  ...FILTERS.flatMap(([name, source, sql, condition]) => [
    listing(source, name, sql, condition),
    counting(source, name, sql, condition),
    charting(source, 'hour', name, sql, condition),
  ]),
];

function listing(
  source: SupabaseSource,
  filter?: string,
  sql?: string,
  condition = always,
): Request {
  const { columns } = PAGES[source];
  return {
    name: named('list', source, filter),
    sql: `
select id, ${[`${source}.timestamp`, 'event_message', ...columns].join(', ')}
from ${source}
${joined(source)}${sql ? `where (${sql})\n` : ''}order by timestamp desc
limit 100
`,
    rows: (w) =>
      list(
        where(scopes(w, source), condition),
        't.id',
        't.timestamp',
        't.event_message',
        ...columns,
      ),
  };
}

function counting(
  source: SupabaseSource,
  filter?: string,
  sql?: string,
  condition = always,
): Request {
  return {
    name: named('count', source, filter),
    sql: `SELECT count(*) as count FROM ${source} ${joined(source)} ${sql ? `where (${sql})` : ''}`,
    rows: (w) => count(where(scopes(w, source), condition)),
  };
}

function charting(
  source: SupabaseSource,
  unit: 'minute' | 'hour',
  filter?: string,
  sql?: string,
  condition = always,
): Request {
  const { error, warning, levels } = PAGES[source];
  return {
    name: named(`chart-${unit}`, source, filter),
    sql: `
-- a chart of ${source}
SELECT
  Timestamp_Trunc(t.timestamp, ${unit.toUpperCase()}) AS timestamp,
  count(case when not (${error} or ${warning}) then 1 end) as ok_count,
  count(case when ${error} then 1 end) as error_count,
  count(case when ${warning} then 1 end) as warning_count,
FROM ${source} t
${joined(source)}
where ${sql ? `(${sql}) and ` : ''}t.timestamp > '2026-08-20T12:00:00.000Z'
group by timestamp
order by timestamp asc
`,
    rows: (w) => chart(where(scopes(w, source), condition), levels, unit, CHART_START),
  };
}

function picking(source: SupabaseSource): Request {
  return {
    name: named('single', source),
    sql: `select id, timestamp, event_message, metadata from ${source} where id = "${ONE_ID}" limit 1;`,
    rows: (w) => single(w[source]),
  };
}

function named(kind: string, source: SupabaseSource, filter?: string): string {
  return [kind, source, ...(filter ? [filter] : [])].join('-');
}

/** The joins of a page in SQL; those of the entry itself go by the bare column. */
function joined(source: SupabaseSource): string {
  return Object.entries(PAGES[source].joins)
    .map(([name, path]) => `  cross join unnest(${path.replace(/^t\./, '')}) as ${name}\n`)
    .join('');
}

function scopes(dataset: Dataset, source: SupabaseSource): Scope[] {
  return from(dataset[source], PAGES[source].joins);
}
