/** What a question is about. */
export interface Asked {
  readonly project: string;
  /** A word that one line has, in its message and in its metadata. */
  readonly word: string;
  /** The time of all lines, ISO 8601. */
  readonly from: string;
  readonly to: string;
  /** Whether the records of the metadata are in arrays. */
  readonly arrays: boolean;
}

/** What a question is an example of, for the targets. */
export type PeerKind = 'caller' | 'endpoint' | 'search' | 'histogram' | 'word';

/** A question over HTTP, and the same as one would write it for ClickHouse over a table with the metadata as text. */
export interface PeerQuestion {
  readonly name: string;
  readonly kind: PeerKind;
  /** Whether its answers are cached: `path` gives another question each time then. */
  readonly isCached?: boolean;
  readonly path: (asked: Asked) => string;
  readonly clickhouse: (asked: Asked) => string;
  /** The same over PostgreSQL's table, whose metadata is JSONB. */
  readonly postgres: (asked: Asked) => string;
}

export const endpoint = (name: string, parameters: Record<string, string>) =>
  `/api/endpoints/query/${name}?${new URLSearchParams(parameters)}`;
export const explore = (name: string, parameters: Record<string, string>) =>
  `/api/${name}/edge_logs?${new URLSearchParams(parameters)}`;
const callers =
  (sql: string) =>
  ({ project }: Pick<Asked, 'project'>) =>
    endpoint('logs.all', { project, sql });

const UNNESTED = `from edge_logs t cross join unnest(metadata) as m cross join unnest(m.request) as request
  cross join unnest(m.response) as response`;
/** Paths of questions about one project, which several peers are asked too. */
export const OF_PROJECT = {
  chart:
    callers(`select timestamp_trunc(t.timestamp, hour) as h, response.status_code as s, count(*) as n
      ${UNNESTED} group by h, s order by h desc, s limit 1000`),
  failures:
    callers(`select id, t.timestamp, event_message, request.method, request.path, request.search, response.status_code
      ${UNNESTED} where response.status_code >= 500 order by t.timestamp desc limit 100`),
  topPaths:
    callers(`select request.path as p, count(*) as n, approx_quantiles(response.origin_time, 100)[offset(99)] as q
      ${UNNESTED} group by p order by n desc, p limit 10`),
  newest: ({ project }: Pick<Asked, 'project'>) => endpoint('logs.all', { project }),
};

const member = ({ arrays }: Asked, kind: string, ...[record, name]: [string, string]) =>
  arrays
    ? `JSONExtract${kind}(metadata, 1, '${record}', 1, '${name}')`
    : `JSONExtract${kind}(metadata, '${record}', '${name}')`;
const status = (asked: Asked) => member(asked, 'Int', 'response', 'status_code');
const path = (asked: Asked) => member(asked, 'String', 'request', 'path');
const own = ({ project }: Asked) => `from logs.edge_logs where project = '${project}'`;
/** A search that reads every row, with the text index left aside. */
const scanned = ({ word }: Asked) => `(positionCaseInsensitive(event_message, '${word}') > 0
  or positionCaseInsensitive(metadata, '${word}') > 0)`;
const SCAN = 'settings use_skip_indexes = 0';

const inJsonb = ({ arrays }: Asked, record: string, name: string) =>
  `metadata #>> '${arrays ? `{0,${record},0,${name}}` : `{${record},${name}}`}'`;
const sought = ({ word }: Asked) =>
  `(event_message ilike '%${word}%' or metadata::text ilike '%${word}%')`;
const ofProject = ({ project }: Asked) => `from edge_logs where project = '${project}'`;

let asked = 0;

/** The path of counts of a project over seven days, by day: of sixteen in a row no two are cached together. */
export function countsOf(expression: (nth: number) => string): string {
  const nth = asked++;
  const interval = nth % 16 < 8 ? 'daily' : '7day';
  return endpoint('usage.api-counts', { interval, project: expression(nth % 8) });
}

/** Counts of a project; `expression` gives eight different ones that find the same. */
function counts(name: string, expression: (project: string, nth: number) => string): PeerQuestion {
  return {
    name,
    kind: 'endpoint',
    isCached: true,
    path: ({ project }) => countsOf((nth) => expression(project, nth)),
    clickhouse: ({
      project,
    }) => `select toStartOfDay(timestamp) as day, countIf(path like '%/rest%'), countIf(path like '%/storage%'),
        countIf(path like '%/auth%'), countIf(path like '%/realtime%')
      from logs.edge_logs
      where timestamp >= now64(6) - interval 7 day and timestamp <= now64(6) and match(url, '${expression(project, 5)}')
      group by day order by day`,
    postgres: (world) => `select date_trunc('day', timestamp, 'UTC') as day,
        count(*) filter (where ${inJsonb(world, 'request', 'path')} like '%/rest%'),
        count(*) filter (where ${inJsonb(world, 'request', 'path')} like '%/storage%'),
        count(*) filter (where ${inJsonb(world, 'request', 'path')} like '%/auth%'),
        count(*) filter (where ${inJsonb(world, 'request', 'path')} like '%/realtime%')
      from edge_logs
      where timestamp >= now() - interval '7 days' and timestamp <= now() and ${inJsonb(world, 'request', 'url')} ~ '${expression(world.project, 5)}'
      group by day order by day`,
  };
}

export const PEER_QUESTIONS: readonly PeerQuestion[] = [
  {
    name: 'chart: status by hour',
    kind: 'caller',
    path: OF_PROJECT.chart,
    clickhouse: (
      asked,
    ) => `select toStartOfHour(timestamp) as h, ${status(asked)} as s, count() as n
      ${own(asked)} group by h, s order by h desc, s limit 1000`,
    postgres: (
      asked,
    ) => `select date_trunc('hour', timestamp) as h, (${inJsonb(asked, 'response', 'status_code')})::int as s, count(*) as n
      ${ofProject(asked)} group by h, s order by h desc, s limit 1000`,
  },
  {
    name: 'newest 100 with status 5xx',
    kind: 'caller',
    path: OF_PROJECT.failures,
    clickhouse: (
      asked,
    ) => `select id, timestamp, event_message, ${member(asked, 'String', 'request', 'method')}, ${path(asked)},
        ${member(asked, 'String', 'request', 'search')}, ${status(asked)} as s
      ${own(asked)} and s >= 500 order by timestamp desc limit 100`,
    postgres: (
      asked,
    ) => `select id, timestamp, event_message, ${inJsonb(asked, 'request', 'method')}, ${inJsonb(asked, 'request', 'path')},
        ${inJsonb(asked, 'request', 'search')}, ${inJsonb(asked, 'response', 'status_code')}
      ${ofProject(asked)} and (${inJsonb(asked, 'response', 'status_code')})::int >= 500 order by timestamp desc limit 100`,
  },
  {
    name: 'top paths with p99',
    kind: 'caller',
    path: OF_PROJECT.topPaths,
    clickhouse: (
      asked,
    ) => `select ${path(asked)} as p, count() as n, quantile(0.99)(${member(asked, 'Float', 'response', 'origin_time')})
      ${own(asked)} group by p order by n desc, p limit 10`,
    postgres: (asked) => `select ${inJsonb(asked, 'request', 'path')} as p, count(*) as n,
        percentile_cont(0.99) within group (order by (${inJsonb(asked, 'response', 'origin_time')})::float)
      ${ofProject(asked)} group by p order by n desc, p limit 10`,
  },
  {
    name: '`logs.all`',
    kind: 'endpoint',
    path: OF_PROJECT.newest,
    clickhouse: (asked) =>
      `select id, timestamp, event_message, metadata ${own(asked)} order by timestamp desc limit 100`,
    postgres: (asked) =>
      `select id, timestamp, event_message, metadata ${ofProject(asked)} order by timestamp desc limit 100`,
  },
  // Without its first letters a project is still no other's.
  counts('`usage.api-counts`, daily', (project, nth) => project.slice(nth)),
  counts('the same by an expression', (project, nth) => `${project}.{${nth}}`),
  {
    name: 'search in messages and metadata, one project',
    kind: 'search',
    path: ({ project, word }) => explore('entries', { project, search: word }),
    clickhouse: (asked) =>
      `select id, timestamp, event_message, metadata ${own(asked)} and ${scanned(asked)} order by timestamp desc limit 100 ${SCAN}`,
    postgres: (asked) =>
      `select id, timestamp, event_message, metadata ${ofProject(asked)} and ${sought(asked)} order by timestamp desc limit 100`,
  },
  {
    name: 'the same, all projects',
    kind: 'search',
    path: ({ word }) => explore('entries', { search: word }),
    clickhouse: (asked) =>
      `select id, timestamp, event_message, metadata from logs.edge_logs where ${scanned(asked)} order by timestamp desc limit 100 ${SCAN}`,
    postgres: (asked) =>
      `select id, timestamp, event_message, metadata from edge_logs where ${sought(asked)} order by timestamp desc limit 100`,
  },
  {
    name: 'histogram of that search, all projects',
    kind: 'histogram',
    path: ({ word, from, to }) => explore('histogram', { search: word, from, to }),
    clickhouse: (asked) =>
      `select toStartOfHour(timestamp) as h, count() from logs.edge_logs where ${scanned(asked)} group by h order by h ${SCAN}`,
    postgres: (asked) =>
      `select date_trunc('hour', timestamp) as h, count(*) from edge_logs where ${sought(asked)} group by h order by h`,
  },
  {
    name: 'a rare word in the messages, with a text index',
    kind: 'word',
    path: ({ project, word }) =>
      callers(
        `select id, t.timestamp, event_message from edge_logs t where regexp_contains(event_message, r'\\b${word}\\b')
        order by t.timestamp desc limit 100`,
      )({ project }),
    clickhouse: (asked) =>
      `select id, timestamp, event_message ${own(asked)} and hasToken(event_message, '${asked.word}') order by timestamp desc limit 100`,
    postgres: (asked) =>
      `select id, timestamp, event_message ${ofProject(asked)} and event_message ~ '\\m${asked.word}\\M' order by timestamp desc limit 100`,
  },
];
