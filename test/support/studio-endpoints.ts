import type { Random } from './random.ts';

/**
 * Entries of Supabase's services around now, and what the endpoints that Studio asks for must say of them: worked out from the entries, one
 * by one.
 */
export interface ServiceEntry {
  readonly source: string;
  readonly atMs: number;
  readonly metadata: Readonly<Record<string, unknown>>;
}

const [MINUTE, HOUR] = [60_000, 3_600_000];
const HEALTH = [
  'postgres_logs',
  'auth_logs',
  'function_edge_logs',
  'storage_logs',
  'realtime_logs',
  'postgrest_logs',
  'edge_logs',
  'supavisor_logs',
  'function_logs',
  'etl_replication_logs',
];
const SOURCES = HEALTH.filter((source) => !/^(?:supavisor|etl)/.test(source));

/** Entries of the last three days; none so near to where a window begins that two clocks could differ. */
export function serviceEntries(
  { pick, below }: Random,
  count: number,
  now: number,
): ServiceEntry[] {
  return Array.from({ length: count }, () => {
    const source = pick(SOURCES);
    const minutes = pick([
      below(14),
      16 + below(43),
      61 + below(118),
      182 + below(1257),
      1442 + below(1437),
      2884 + below(900),
    ]);
    const atMs = now - minutes * MINUTE - 20_000;
    const status = pick([200, 201, 302, 400, 404, 500, 503]);
    const ofSource: Record<string, object> = {
      edge_logs: {
        request: { path: pick(['/auth/v1/token', '/rest/v1/x']) },
        response: { status_code: status },
      },
      auth_logs: {
        path: pick(['/token', '/signup', '/recover']),
        status,
        auth_event: {
          action: pick(['login', 'user_signedup', 'user_recovery_requested']),
          actor_id: `u${below(5)}`,
        },
      },
      function_edge_logs: {
        function_id: pick(['f', 'g']),
        execution_time_ms: below(100),
        response: { status_code: status },
      },
      function_logs: {
        function_id: pick(['f', 'g']),
        level: pick(['info', 'warning', 'error', 'log']),
        cpu_time_used: below(50),
        memory_used: {
          total: below(100) * 1048576,
          heap: below(50) * 1048576,
          external: below(10) * 1048576,
        },
      },
    };
    const metadata = ofSource[source] ?? { level: pick(['info', 'warning', 'error', 'fatal']) };
    return { source, atMs, metadata: metadata as ServiceEntry['metadata'] };
  });
}

/** The line of an entry; some have their records in arrays. */
export function lineOf({ atMs, metadata }: ServiceEntry, i: number): string {
  const wrap = (record: object): object[] => [
    Object.fromEntries(
      Object.entries(record).map(([name, value]) => [
        name,
        typeof value === 'object' && value !== null ? wrap(value) : value,
      ]),
    ),
  ];
  const line = {
    id: `${i}`,
    timestamp: new Date(atMs).toISOString(),
    project: 'default',
    event_message: 'm',
    metadata: i % 3 === 0 ? wrap(metadata) : metadata,
  };
  return `${JSON.stringify(line)}\n`;
}

type Row = Record<string, unknown>;

const iso = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z');
const statusOf = ({ metadata }: ServiceEntry): number => {
  const { response, status } = metadata as { response?: { status_code: number }; status?: number };
  return response?.status_code ?? status ?? 0;
};
function healthOf(entry: ServiceEntry): 'ok' | 'warning' | 'error' {
  const level = String(entry.metadata.level ?? '');
  if (level === 'error' || level === 'fatal') return 'error';
  if (level === 'warning') return 'warning';
  const status = statusOf(entry);
  return status >= 500 ? 'error' : status >= 400 ? 'warning' : 'ok';
}

/** The buckets of a window, with what `of` makes of the entries in each. */
function bucketed(
  entries: readonly ServiceEntry[],
  step: number,
  from: number,
  until: number,
  of: (entries: readonly ServiceEntry[]) => Row,
): Row[] {
  const rows: Row[] = [];
  for (let at = Math.floor(from / step) * step; at <= until; at += step) {
    const own = entries.filter(
      ({ atMs }) => atMs > from && atMs <= until && Math.floor(atMs / step) * step === at,
    );
    rows.push({ timestamp: iso(at), ...of(own) });
  }
  return rows;
}

const mean = (values: readonly number[]) =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;

/** A question, and what its answer must be. */
export interface Asked {
  readonly path: string;
  readonly rows: readonly Row[];
}

export function questions(entries: readonly ServiceEntry[], now: number): Asked[] {
  const count = entries.filter(({ source }) => source === 'edge_logs').length;
  const asked: Asked[] = [
    { path: 'usage.api-requests-count?project=default', rows: [{ count }] },
    {
      path: 'auth.metrics?project=default&interval=1day',
      rows: ['current', 'previous'].map((period, i) =>
        authOf(entries, period, now - i * 24 * HOUR),
      ),
    },
    {
      path: 'auth.metrics?project=other',
      rows: ['current', 'previous'].map((period) => authOf([], period, now)),
    },
  ];
  const windows: [string, number, number][] = [
    ['15min', 15 * MINUTE, MINUTE],
    ['1hr', HOUR, MINUTE],
    ['3hr', 3 * HOUR, HOUR],
    ['1day', 24 * HOUR, HOUR],
  ];
  const ofFunction = (source: string) =>
    entries.filter((entry) => entry.source === source && entry.metadata.function_id === 'f');
  const functions = [...ofFunction('function_edge_logs'), ...ofFunction('function_logs')];
  for (const [interval, length, step] of windows)
    for (const name of ['combined-stats', 'req-stats', 'resource-usage'])
      asked.push({
        path: `functions.${name}?project=default&function_id=f&interval=${interval}`,
        rows: bucketed(functions, step, now - length, now, (own) => functionOf(own, name)),
      });
  for (const [granularity, step, length] of [
    ['minute', MINUTE, HOUR],
    ['hour', HOUR, 24 * HOUR],
    ['day', 24 * HOUR, 72 * HOUR],
  ] as const) {
    // As Studio asks: whole minutes.
    const from = Math.floor((now - length) / MINUTE) * MINUTE;
    const until = Math.floor(now / MINUTE) * MINUTE;
    asked.push({
      path: `service-health?project=default&granularity=${granularity}&iso_timestamp_start=${new Date(from).toISOString()}&iso_timestamp_end=${new Date(until).toISOString()}`,
      rows: bucketed(entries, step, from, until, (own) =>
        Object.fromEntries(
          HEALTH.map((name) => {
            const all = own.filter(({ source }) => source === name).map(healthOf);
            const of = (health: string) => all.filter((each) => each === health).length;
            return [
              name,
              { ok: of('ok'), warning: of('warning'), error: of('error'), total: all.length },
            ];
          }),
        ),
      ),
    });
  }
  return asked;
}

function authOf(entries: readonly ServiceEntry[], period: string, until: number): Row {
  const within = entries.filter(({ atMs }) => atMs > until - 24 * HOUR && atMs <= until);
  const auth = within.filter(({ source }) => source === 'auth_logs');
  const api = within.filter(
    ({ source, metadata }) =>
      source === 'edge_logs' && String((metadata.request as Row).path).includes('/auth/v1'),
  );
  const acted = (action: string) =>
    auth.filter(({ metadata }) => (metadata.auth_event as Row).action === action).length;
  return {
    period,
    active_users: new Set(auth.map(({ metadata }) => (metadata.auth_event as Row).actor_id)).size,
    api_error_requests: api.filter((entry) => statusOf(entry) >= 400).length,
    api_total_requests: api.length,
    auth_total_errors: auth.filter((entry) => statusOf(entry) >= 400).length,
    auth_total_requests: auth.length,
    password_reset_requests: acted('user_recovery_requested'),
    sign_up_count: acted('user_signedup'),
  };
}

function functionOf(own: readonly ServiceEntry[], name: string): Row {
  const calls = own.filter(({ source }) => source === 'function_edge_logs');
  const lines = own.filter(({ source }) => source === 'function_logs');
  const times = calls.map(({ metadata }) => Number(metadata.execution_time_ms));
  const between = (from: number) =>
    calls.filter((entry) => Math.floor(statusOf(entry) / 100) === from).length;
  const counts = {
    success_count: between(2),
    redirect_count: between(3),
    client_err_count: between(4),
    server_err_count: between(5),
  };
  const cpu = lines.map(({ metadata }) => Number(metadata.cpu_time_used));
  const memory = (part: string) =>
    mean(lines.map(({ metadata }) => Number((metadata.memory_used as Row)[part]))) / 1048576;
  const resources = {
    avg_cpu_time_used: mean(cpu),
    max_cpu_time_used: Math.max(0, ...cpu),
    avg_memory_used: memory('total'),
    avg_heap_memory_used: memory('heap'),
    avg_external_memory_used: memory('external'),
  };
  if (name === 'resource-usage') return resources;
  if (name === 'req-stats')
    return { count: calls.length, ...counts, avg_execution_time: mean(times) };
  const levels = lines.map(healthOf);
  const of = (health: string) => levels.filter((level) => level === health).length;
  return {
    requests_count: calls.length,
    ...counts,
    avg_execution_time: mean(times),
    max_execution_time: Math.max(0, ...times),
    log_count: lines.length,
    log_info_count: of('ok'),
    log_warn_count: of('warning'),
    log_error_count: of('error'),
    ...resources,
  };
}
