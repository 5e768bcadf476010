import { SUPABASE_SOURCES, type SupabaseSource } from '../../ingest/index.ts';
import { PROJECTS, projectsAt } from './projects.ts';
import { type Random, randomOf } from './random.ts';

export interface LinesOptions {
  readonly seed: number;
  /** The moment of the newest line, ms since the epoch. */
  readonly end: number;
  /** The time between the oldest and the newest line, in ms. */
  readonly spanMs: number;
  /** Whose lines they are, fewer of each than of the one before; 20 projects by default. */
  readonly projects?: readonly string[];
  /** Whether each record of the metadata is the only element of an array. */
  readonly arrays?: boolean;
  /** Whether the message and the metadata of each line have a word of eight hex digits that no other line has. */
  readonly requestIds?: boolean;
}

/** Seeds the request ids apart from the lines, which are the same with and without them. */
const REQUEST_IDS = 1000;

/** `count` log lines of a source without newline, oldest first, spread evenly over the time. */
export function* lines(
  source: SupabaseSource,
  count: number,
  options: LinesOptions,
): Generator<string> {
  const random = randomOf(options.seed + SUPABASE_SOURCES.indexOf(source));
  const start = options.end - options.spanMs;
  const projectAt = projectsAt(options.projects ?? PROJECTS);
  const ids = options.requestIds ? randomOf(options.seed + REQUEST_IDS) : null;
  for (let i = 1; i <= count; i++) {
    const at = new Date(start + (options.spanMs * i) / count).toISOString();
    const project = projectAt(random.next());
    const line = LINES[source](random, project, at);
    const { event_message, metadata } = ids ? withId(line, ids.hex(8)) : line;
    yield JSON.stringify({
      id: random.uuid(),
      timestamp: at,
      project,
      event_message,
      metadata: options.arrays ? inArrays(metadata) : metadata,
    });
  }
}

function withId({ event_message, metadata }: Line, request_id: string): Line {
  return {
    event_message: `${event_message} | ${request_id}`,
    metadata: { ...metadata, request_id },
  };
}

function inArrays(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [name, inArrays(member)]);
  return [Object.fromEntries(members)];
}

/** `count` edge (request) log lines of about 950 bytes. */
export function edgeLines(count: number, options: LinesOptions): Generator<string> {
  return lines('edge_logs', count, options);
}

interface Line {
  readonly event_message: string;
  readonly metadata: object;
}

const AREAS = [
  '/rest/v1/todos',
  '/rest/v1/profiles',
  '/storage/v1/object/avatars',
  '/auth/v1/token',
  '/auth/v1/user',
  '/realtime/v1/websocket',
  '/functions/v1/hello',
];
const METHODS = ['GET', 'GET', 'GET', 'POST', 'PATCH', 'DELETE'];
const STATUSES = [200, 200, 200, 200, 201, 204, 304, 400, 401, 404, 500];
const AGENTS = [
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/128.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
  'supabase-js/2.45.1',
  'node',
];

/** One line of each source, in the form that a Supabase ships it; those of edge_logs have about 950 bytes. */
const LINES: Record<SupabaseSource, (random: Random, project: string, at: string) => Line> = {
  edge_logs({ below, pick, hex }, project) {
    const path = pick(AREAS);
    const search = `?select=*&id=eq.${below(1e6)}`;
    const [method, status, agent] = [pick(METHODS), pick(STATUSES), pick(AGENTS)];
    const ip = `10.${below(256)}.${below(256)}.${below(256)}`;
    const ray = hex(16);
    const host = `${project}.example.co`;
    const url = `https://${host}${path}${search}`;
    return {
      event_message: `${method} | ${status} | ${ip} | ${ray} | ${url} | ${agent}`,
      metadata: {
        request: {
          method,
          path,
          search,
          host,
          url,
          protocol: 'HTTP/1.1',
          headers: {
            user_agent: agent,
            cf_connecting_ip: ip,
            cf_ray: ray,
            x_client_info: 'supabase-js/2.45.1',
            referer: 'https://app.example.co/',
          },
          cf: {
            country: pick(['DE', 'US', 'JP', 'BR', 'IN']),
            asn: below(65536),
            colo: pick(['FRA', 'IAD', 'NRT', 'GRU']),
          },
        },
        response: {
          status_code: status,
          origin_time: below(900),
          headers: {
            content_type: 'application/json',
            content_length: below(9000),
            cf_cache_status: pick(['DYNAMIC', 'HIT', 'MISS']),
          },
        },
      },
    };
  },
  postgres_logs: ({ below, pick }, project, timestamp) => ({
    event_message: pick([
      'checkpoint starting: time',
      `ERROR:  relation "public.t${below(500)}" does not exist at character 15`,
      'connection authorized: user=authenticator database=postgres',
    ]),
    metadata: {
      host: `db-${project}`,
      parsed: {
        timestamp,
        process_id: below(30_000),
        error_severity: pick(['LOG', 'LOG', 'ERROR', 'WARNING']),
      },
    },
  }),
  function_edge_logs: ({ below, pick, uuid }, project) => ({
    event_message: `${pick(METHODS)} | ${pick(STATUSES)} | https://${project}.example.co/functions/v1/hello`,
    metadata: { project_ref: project, execution_id: uuid(), execution_time_ms: below(900) },
  }),
  function_logs: ({ below, pick, uuid }, project, timestamp) => ({
    event_message: `hello from the function, ${below(1000)} items\n`,
    metadata: {
      event_type: 'Log',
      execution_id: uuid(),
      level: pick(['info', 'info', 'warning', 'error']),
      project_ref: project,
      region: pick(['eu-central-1', 'us-east-1']),
      timestamp,
    },
  }),
  auth_logs({ below, pick, hex }, _project, time) {
    const entry = {
      component: 'api',
      duration: below(1e8),
      level: 'info',
      method: 'POST',
      msg: 'request completed',
      path: pick(['/token', '/user', '/logout']),
      remote_addr: `172.18.0.${below(256)}`,
      request_id: hex(8),
      status: pick([200, 200, 400]),
      time,
    };
    return { event_message: JSON.stringify(entry), metadata: entry };
  },
  realtime_logs: ({ below }, project) => ({
    event_message: `Billing metrics: [:realtime, :connections] %{connected: ${below(200)}, limit: 200}`,
    metadata: { project, external_id: project, level: 'info' },
  }),
  storage_logs: ({ pick, hex, below }, project, timestamp) => ({
    event_message: `${project} | ${pick(['GET', 'POST'])} | 200 | 172.18.0.8 | ${hex(6)} | /bucket | node`,
    metadata: {
      project,
      tenantId: project,
      level: 'info',
      timestamp,
      context: [{ host: hex(12), pid: below(30_000) }],
    },
  }),
  postgrest_logs: ({ pick, below }, project) => ({
    event_message: pick([
      'Config reloaded',
      `Schema cache loaded in ${below(90)}.3 milliseconds`,
      `Attempting to connect to the database, try ${below(9)}`,
    ]),
    metadata: { host: project },
  }),
  pgbouncer_logs: ({ hex, below }, project) => ({
    event_message: `S-0x${hex(12)}: postgres/postgres@127.0.0.1:5432 new connection to server (from 127.0.0.1:${below(65536)})`,
    metadata: { host: `db-${project}` },
  }),
};
