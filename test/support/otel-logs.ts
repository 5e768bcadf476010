import type { Random } from './random.ts';

/** An entry as its line says it, and as ClickHouse would hold it: worked out here, apart from what the service does. */
export interface OtelEntry {
  readonly source: string;
  readonly line: string;
  readonly row: {
    readonly id: string;
    readonly timestamp: string;
    readonly event_message: string;
    readonly severity_text: string;
    readonly source: string;
    readonly log_attributes: Readonly<Record<string, string>>;
  };
}

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type JsonObject = { [name: string]: Json };

export const OTEL_SOURCES = [
  'edge_logs',
  'postgres_logs',
  'auth_logs',
  'function_edge_logs',
  'function_logs',
  'app_logs',
];
const PATHS = ['/rest/v1/todos', '/auth/v1/token', '/storage/v1/object/a.png', '/functions/v1/mcp'];
const STATUS = [200, 200, 201, 302, 400, 404, 500, 503];

/** Metadata and message of an entry, and its severity. */
function entryOf(source: string, { pick, below }: Random): [JsonObject, string, string] {
  const status = pick(STATUS);
  const path = pick(PATHS) + pick(['', '?select=*', `?id=eq.${below(9)}`]);
  const ofStatus = status >= 500 ? 'ERROR' : status >= 400 ? 'WARN' : 'INFO';
  const words = { LOG: 'INFO', WARNING: 'WARN', ERROR: 'ERROR', FATAL: 'FATAL', NOTICE: 'INFO' };
  switch (source) {
    case 'edge_logs': {
      const headers = {
        user_agent: pick(['curl/8', 'Mozilla/5.0 (X11)']),
        cf_connecting_ip: `203.0.113.${below(4)}`,
        content_length: String(below(900)),
      };
      const cf = { country: pick(['DE', 'US', 'CL']), asOrganization: 'Example' };
      const request = {
        method: pick(['GET', 'POST']),
        path,
        search: pick(['?a=b', null]),
        headers,
        cf,
      };
      const response = {
        status_code: status,
        origin_time: below(900),
        headers: { cf_cache_status: pick(['HIT', 'MISS']) },
      };
      return [
        { request, response, identifier: 'default' },
        `${request.method} | ${status} | ${path}`,
        ofStatus,
      ];
    }
    case 'postgres_logs': {
      const severity = pick(Object.keys(words)) as keyof typeof words;
      const parsed = {
        error_severity: severity,
        sql_state_code: pick(['00000', '42P01', '23505']),
        application_name: pick(['pg_cron', 'psql']),
        detail: pick(['Process "public"."fn_a" waits for "public"."fn_b"', null]),
      };
      const message = pick([
        'duration: 12.5 ms',
        'duration: 3 ms',
        "it's \\d+",
        'cron job 1 starting',
        'two\nlines',
      ]);
      return [{ parsed, host: 'db' }, message, words[severity]];
    }
    case 'auth_logs': {
      const level = pick(['info', 'error', 'warning']);
      const metadata = {
        level,
        status: pick([200, 400, 422, 500]),
        path: pick(['/token', '/signup', '/otp']),
        error: pick(['invalid_grant', '', null]),
        duration: below(1e8),
        auth_event: { action: 'login', actor_id: `user-${below(3)}` },
        referer: 'https://example.org/x?y',
      };
      return [
        metadata,
        JSON.stringify(metadata),
        level === 'warning' ? 'WARN' : level.toUpperCase(),
      ];
    }
    case 'function_edge_logs':
      return [
        {
          function_id: pick(['abc-123', 'def']),
          execution_time_ms: below(2000),
          request: {
            method: pick(['POST', 'GET']),
            pathname: pick(['/functions/v1/mcp', '/functions/v1/fit']),
          },
          response: { status_code: status },
          tags: ['a', 'b'],
          deep: pick<Json>([{}, { a: [{ b: 1 }, { b: 2 }] }, { a: [{ b: 1 }] }, { a: { b: 'x' } }]),
        },
        `${status}`,
        ofStatus,
      ];
    case 'function_logs': {
      const level = pick(['info', 'error', 'warning']);
      const told = {
        event: 'REQUEST',
        status,
        ms: below(500),
        cold: pick([true, false]),
        code: pick([null, 'E1']),
        at: { line: below(9) },
      };
      return [
        { event_type: pick(['Log', 'Boot']), level },
        pick([JSON.stringify(told), 'plain text', '']),
        level === 'warning' ? 'WARN' : level.toUpperCase(),
      ];
    }
    default: {
      const level = pick(['debug', 'info']);
      const calls = { calls: below(5), total_exec_time: below(100) / 4 };
      return [
        {
          level,
          n: below(5),
          'x.y': 'dotted',
          'user-agent': 'dashed',
          supamonitor: calls,
          ok: pick([true, false]),
        },
        'log',
        level.toUpperCase(),
      ];
    }
  }
}

/** Entries of several sources over six hours of a day, about a quarter with records as Logflare nests them. */
export function otelEntries(random: Random, count: number): OtelEntry[] {
  const { pick, below } = random;
  return Array.from({ length: count }, (_, i) => {
    const source = pick(OTEL_SOURCES);
    const [metadata, event_message, severity_text] = entryOf(source, random);
    const ms = Date.UTC(2026, 10, 20, 8) + below(6 * 3_600_000);
    const timestamp = new Date(ms).toISOString().replace('Z', String(below(1000)).padStart(3, '0'));
    const id = `id-${String(i).padStart(6, '0')}`;
    const sent = below(4) === 0 ? [nested(metadata)] : metadata;
    const line = { id, timestamp: `${timestamp}Z`, project: 'p', event_message, metadata: sent };
    const row = {
      id,
      timestamp,
      event_message,
      severity_text,
      source,
      log_attributes: flat(metadata),
    };
    return { source, line: `${JSON.stringify(line)}\n`, row };
  });
}

/** Each record in an array of its own. */
function nested(record: JsonObject): JsonObject {
  const members = Object.entries(record).map(([name, value]): [string, Json] => {
    const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
    return [name, isRecord && Object.keys(value).length > 0 ? [nested(value)] : value];
  });
  return Object.fromEntries(members);
}

/** The values of a record by dotted names, as text; keys with dashes stay. */
function flat(record: JsonObject, before = ''): Record<string, string> {
  const members = Object.entries(record).map(([name, value]): Record<string, string> => {
    const place = before + name;
    if (value === null) return {};
    if (typeof value !== 'object') return { [place]: String(value) };
    const [first, ...others] = Array.isArray(value) ? value : [];
    const isOne =
      Array.isArray(value) &&
      others.length === 0 &&
      typeof first === 'object' &&
      first !== null &&
      !Array.isArray(first);
    if (isOne) return flat(first as JsonObject, `${place}.`);
    if (Array.isArray(value)) return { [place]: JSON.stringify(value) };
    return Object.keys(value).length === 0 ? { [place]: '{}' } : flat(value, `${place}.`);
  });
  return Object.assign({}, ...members);
}

const ATTRIBUTES = [
  'request.method',
  'request.path',
  'request.pathname',
  'request.headers.user_agent',
  'request.cf.country',
  'response.status_code',
  'response.headers.cf_cache_status',
  'parsed.error_severity',
  'parsed.sql_state_code',
  'parsed.detail',
  'level',
  'status',
  'path',
  'error',
  'function_id',
  'auth_event.actor_id',
  'request',
  'deep.a',
  'deep.a.b',
  'deep',
  'tags',
  'x.y',
  'nothing.here',
  'ok',
];
const NUMBERS = [
  'response.status_code',
  'response.origin_time',
  'status',
  'execution_time_ms',
  'duration',
  'n',
  'supamonitor.total_exec_time',
  'request.path',
];

/** A statement in ClickHouse's dialect whose answer depends on nothing but the rows. */
export function otelStatement(random: Random): string {
  const { pick, below } = random;
  const attribute = () => `log_attributes['${pick(ATTRIBUTES)}']`;
  const number = () =>
    pick([
      `toInt32OrZero(log_attributes['${pick(NUMBERS)}'])`,
      `toFloat64OrZero(log_attributes['${pick(NUMBERS)}'])`,
      `toFloat64OrNull(log_attributes['${pick(NUMBERS)}'])`,
      `toInt64OrZero(JSONExtractString(event_message, '${pick(['status', 'duration', 'ms'])}'))`,
      'length(event_message)',
    ]);
  const bucket = () =>
    pick([
      'toStartOfMinute(timestamp)',
      'toStartOfHour(timestamp)',
      'toStartOfDay(timestamp)',
      'toStartOfFifteenMinutes(timestamp)',
      'toStartOfInterval(timestamp, INTERVAL 30 MINUTE)',
      "dateTrunc('hour', timestamp)",
    ]);
  const part = () =>
    pick([
      bucket(),
      'toUnixTimestamp(toStartOfHour(timestamp))',
      "formatDateTime(timestamp, '%Y-%m-%dT%H:%i:00Z')",
      'toHour(timestamp)',
      "dateDiff('minute', timestamp, toDateTime('2026-11-20 10:00:00'))",
    ]);
  const text = () =>
    pick([
      attribute,
      attribute,
      () => 'source',
      () => 'severity_text',
      () => 'event_message',
      () => `toString(${attribute()})`,
      () => `if(source = 'auth_logs', ${attribute()}, ${attribute()})`,
      () => `multiIf(${condition()}, 'one', ${condition()}, ${attribute()}, '')`,
      () => `splitByChar('/', ${attribute()})[${pick([1, 2, 3, 9, -1])}]`,
      () => `coalesce(nullIf(${attribute()}, ''), 'none')`,
      () => `concat(${attribute()}, ' ', source)`,
      () => `extract(event_message, '${pick(['[0-9]+', 'duration: ([0-9.]+)', '^(.)'])}')`,
      () => `replaceRegexpAll(${attribute()}, '[0-9]+', '#')`,
      () => `JSONExtractString(event_message, '${pick(['event', 'level', 'code', 'cold'])}')`,
      () => `JSONExtractRaw(event_message, '${pick(['at', 'status', 'auth_event'])}')`,
      () => `substring(source, ${1 + below(3)}, ${1 + below(5)})`,
    ])();
  const condition = (): string =>
    pick([
      () =>
        `${attribute()} ${pick(['=', '!='])} '${pick(['GET', '200', '500', 'error', '', 'ERROR', 'dotted', '{}'])}'`,
      () => `${number()} ${pick(['>=', '<', '='])} ${pick([0, 3, 200, 400, 500])}`,
      () => `toInt32OrZero(${attribute()}) BETWEEN 400 AND 499`,
      () => `source IN ('edge_logs', '${pick(OTEL_SOURCES)}')`,
      () => `source = '${pick(OTEL_SOURCES)}'`,
      () => `severity_text IN ('ERROR', 'FATAL')`,
      () =>
        `event_message ${pick(['LIKE', 'ILIKE', 'NOT LIKE'])} '${pick(['%duration%', 'GET%', '%5__%', "%it''s \\\\d%"])}'`,
      () => `match(${text()}, '${pick(['^/rest', 'two.lines', '(?i)get|post', '[0-9]{3}'])}')`,
      () => `startsWith(${attribute()}, '/${pick(['rest', 'auth', 'functions'])}')`,
      () => `position(event_message, 'o') > ${below(9)}`,
      () => `notEmpty(${attribute()})`,
      () => `mapContains(log_attributes, '${pick(ATTRIBUTES)}')`,
      () => `has(mapKeys(log_attributes), 'level')`,
      () => `timestamp ${pick(['>=', '<'])} '2026-11-20 ${pick(['09', '11', '12'])}:30:00'`,
      () => `timestamp >= parseDateTimeBestEffort('2026-11-20T10:00:00Z')`,
      () => `NOT (${condition()})`,
      () => `(${condition()} OR ${condition()})`,
      () => `${condition()} AND ${condition()}`,
      () => pick(['1', '0', '1 = 1']),
    ])();
  const total = (): string =>
    pick([
      () => 'count()',
      () => 'count(*)',
      () => `countIf(${condition()})`,
      () => `sum(${number()})`,
      () => `sumIf(${number()}, ${condition()})`,
      () => `uniqExact(${text()})`,
      () => `count(distinct ${text()})`,
      () => `count(distinct case when ${condition()} then id end)`,
      () => `round(avg(${number()}), 3)`,
      () => `quantileExact(0.${pick([5, 9, 25])})(${number()})`,
      () => `round(quantile(0.${pick([5, 95])})(${number()}), 3)`,
      () => `toFloat64(count())`,
      () => `length(groupUniqArray(${attribute()}))`,
      () => `argMin(id, id)`,
      () => `sum(case when ${condition()} then 1 else 0 end)`,
    ])();
  return pick([
    () =>
      `SELECT id, timestamp, ${text()} AS a, ${text()} AS b FROM logs WHERE ${condition()} ORDER BY timestamp DESC, id DESC LIMIT ${1 + below(50)}`,
    () =>
      `select id, ${text()} as a, ${number()} as n from logs where ${condition()} order by id limit 200 offset ${below(5)}`,
    () =>
      `SELECT ${bucket()} AS timestamp, ${total()} AS x, ${total()} AS y FROM logs WHERE ${condition()} GROUP BY timestamp ORDER BY timestamp LIMIT 900`,
    () =>
      `SELECT ${part()} AS t, ${total()} AS x FROM logs WHERE ${condition()} GROUP BY t ORDER BY t LIMIT 900`,
    () =>
      `SELECT ${text()} AS a, ${text()} AS b, ${total()} AS n FROM logs WHERE ${condition()} GROUP BY a, b ORDER BY a, b LIMIT 900`,
    () =>
      `SELECT source, ${total()} n, ${total()} m FROM logs GROUP BY source HAVING count() > ${below(60)} ORDER BY source`,
    () =>
      `SELECT arrayJoin(mapKeys(log_attributes)) AS key, count() AS rows FROM logs WHERE ${condition()} GROUP BY key ORDER BY rows DESC, key LIMIT 300`,
    () =>
      `SELECT arrayJoin(['level', 'method']) AS facet, multiIf(facet = 'level', severity_text, log_attributes['request.method']) AS value, count() AS n FROM logs WHERE ${condition()} GROUP BY facet, value HAVING value != '' ORDER BY facet, value`,
    () =>
      `SELECT 'a' AS facet, ${text()} AS value, count() AS n FROM logs GROUP BY value UNION ALL (SELECT 'b', ${text()} AS value, count() FROM logs WHERE ${condition()} GROUP BY value)`,
    () =>
      `WITH some AS (SELECT ${text()} AS a, log_attributes FROM logs WHERE ${condition()}) SELECT a, log_attributes['level'] AS l, count() AS n FROM some GROUP BY a, l`,
    () =>
      `WITH toDateTime('2026-11-20 10:00:00') AS start SELECT ${total()} AS n FROM logs WHERE timestamp >= start AND ${condition()}`,
    () => `select id, source, log_attributes from logs where ${condition()} order by id limit 20`,
    () =>
      `select count() as n from logs where log_attributes['function_id'] in (select log_attributes['function_id'] from logs where ${condition()})`,
  ])();
}

/** An entry of keys that JSON and paths into it have to escape. */
export const ODD_KEYS: OtelEntry = {
  source: 'app_logs',
  line: `${JSON.stringify({
    id: 'odd',
    timestamp: '2026-11-20T01:02:03.123456Z',
    project: 'p',
    event_message: 'odd',
    metadata: {
      'x"y': '1',
      'back\\slash': '2',
      'new\nline': '3',
      '': '4',
      k: { 'q"r': '5' },
      'x.y': { z: '6' },
      ü: { é: '7' },
    },
  })}\n`,
  row: {
    id: 'odd',
    timestamp: '2026-11-20T01:02:03.123456',
    event_message: 'odd',
    severity_text: 'INFO',
    source: 'app_logs',
    log_attributes: {
      'x"y': '1',
      'back\\slash': '2',
      'new\nline': '3',
      '': '4',
      'k.q"r': '5',
      'x.y.z': '6',
      'ü.é': '7',
    },
  },
};

/** Records in which a name leads through a list, or to a record that is empty. */
export const IN_LISTS: readonly object[] = [
  { a: [{ b: 1 }, null, 't'] },
  { a: [{ b: 1 }, 't', 'u'] },
  { a: [{ b: 1 }, ['t']] },
  { a: [null, { b: 1 }] },
  { a: [[{ b: 1 }]] },
  { a: [{}] },
  { a: [{ b: [{}] }] },
  { a: [{ b: 1 }], c_d: [{ a: 1 }, { a: 2 }] },
  { a: [{ b: 'x}, {y' }], b: '"], {' },
  { c_d: [{ a: { b: 1 } }], 'c-d': [{ a: { b: 2 } }, {}] },
  { a: [{ 'b.a': 1 }] },
];

const KEYS = ['a', 'b', 'c_d', 'c-d'];
const VALUES = [1, 2.5, true, null, 't', 'x}, {y', '"]', 'é', '', {}];

/** A record of records, arrays of one and of several, and values, as deep as few programs write one. */
export function nestedRecord(random: Random, depth = 0): Record<string, unknown> {
  const value = (): unknown => {
    const kind = random.below(10);
    if (depth > 3 || kind < 4) return random.pick(VALUES);
    if (kind < 7) return nestedRecord(random, depth + 1);
    return Array.from({ length: random.pick([0, 1, 1, 1, 2, 3]) }, () =>
      random.below(10) < 6 ? nestedRecord(random, depth + 1) : random.pick(VALUES),
    );
  };
  const count = random.below(3) + (depth === 0 ? 1 : 0);
  return Object.fromEntries(Array.from({ length: count }, () => [random.pick(KEYS), value()]));
}

/** The map of a record as docs/sql.md describes it. */
export function mapOf(metadata: unknown): Map<string, string> {
  const map = new Map<string, string>();
  const isRecord = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const collect = (record: Record<string, unknown>, before: string) => {
    for (const [key, value] of Object.entries(record)) {
      const only: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
      if (value === null) continue;
      if (isRecord(only) && Object.keys(only).length > 0) collect(only, `${before}${key}.`);
      else map.set(`${before}${key}`, typeof value === 'string' ? value : JSON.stringify(value));
    }
  };
  const [first] = Array.isArray(metadata) ? metadata : [metadata];
  if (isRecord(first)) collect(first, '');
  return map;
}
