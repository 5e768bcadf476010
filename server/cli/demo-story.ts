import { randomBytes, randomUUID } from 'node:crypto';
import type { Source } from '../../ingest/index.ts';

/** A line of a source; a text is one that is not JSON. */
export interface StoryLine {
  readonly source: Source;
  readonly line: object | string;
}

/** The source of the application, beside those of Supabase. */
export const SHOP: Source = 'shop_logs';

const PROJECT = 'default';
const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;
/** How long ago the outage began, and how long it took. */
const OUTAGE_AGO_MS = 190 * MINUTE_MS;
const OUTAGE_MINUTES = 34;
/** The part of all requests that fails in it. */
const FAILING = 0.6;
/** Requests of a minute at night and by day. */
const [LEAST, MOST] = [15, 60];

/**
 * What a shop and its Supabase log in the 24 hours before `now`: few requests by night, many by day, and an outage. A release of the shop
 * took too many connections to the database, so that requests failed until it was rolled back. Lines of one request share its id.
 */
export function* dayUntil(now: number): Generator<StoryLine> {
  const begun = now - OUTAGE_AGO_MS;
  for (let at = now - DAY_MS; at < now; at += MINUTE_MS) {
    const minute = Math.floor((at - begun) / MINUTE_MS);
    if (minute === -1) yield* release(at, '4.2.0 deployed', 400);
    if (minute === 1) for (const line of BROKEN) yield line;
    if (minute === OUTAGE_MINUTES) yield* release(at, '4.1.9 deployed, 4.2.0 rolled back', 20);
    yield* background(at);
    const count = Math.round(requestsAt(at) * between(0.85, 1.15));
    const failing = minute < 0 || minute >= OUTAGE_MINUTES ? 0 : FAILING;
    for (let i = 0; i < count; i++)
      // The last before the rollback fails, so that the two are seen together.
      yield* request(
        at + (i * MINUTE_MS) / count,
        Math.random() < failing || (minute === OUTAGE_MINUTES - 1 && i === count - 1),
      );
  }
}

/** What they log in the `ms` before `now`. */
export function* linesOf(now: number, ms: number): Generator<StoryLine> {
  if (Math.random() < (requestsAt(now) * ms) / MINUTE_MS) yield* request(now, false);
  if (Math.random() < ms / MINUTE_MS) yield* background(now);
}

/** Requests of a minute: few at four in the morning, many in the afternoon. */
function requestsAt(at: number): number {
  const hour = (at % DAY_MS) / (60 * MINUTE_MS);
  return LEAST + ((MOST - LEAST) * (1 - Math.cos(((hour - 4) / 24) * 2 * Math.PI))) / 2;
}

/** Lines that cannot be stored: cut off, or not JSON. */
const BROKEN: readonly StoryLine[] = [
  { source: SHOP, line: '{"level":"error","msg":"checkout failed","order":"' },
  { source: SHOP, line: 'FATAL ERROR: Reached heap limit Allocation failed' },
  { source: 'auth_logs', line: 'panic: runtime error: invalid memory address' },
];

function* release(at: number, what: string, pool: number): Generator<StoryLine> {
  const entry = { level: 'warn', msg: `release ${what}`, database_pool_size: pool };
  yield { source: SHOP, line: { timestamp: iso(at + 2000), project: PROJECT, ...entry } };
}

const NO_SLOTS =
  'FATAL:  remaining connection slots are reserved for roles with the SUPERUSER attribute';

/** A request to the shop, and what comes of it. */
function* request(at: number, fails: boolean): Generator<StoryLine> {
  const id = randomUUID();
  const { method, path, status: fine, by } = pick(REQUESTS);
  const later = (ms: number) => iso(at + ms);
  const needsDatabase = by !== 'storage';
  const failed = fails && needsDatabase;
  const status = failed ? (by === 'auth' ? 500 : 503) : Math.random() < 0.03 ? 404 : fine;
  if (failed)
    yield {
      source: 'postgres_logs',
      line: {
        timestamp: later(3),
        project: PROJECT,
        event_message: NO_SLOTS,
        metadata: {
          host: 'db-default',
          parsed: {
            error_severity: 'FATAL',
            sql_state_code: '53300',
            user_name: 'authenticator',
            application_name: `${by} request_id=${id}`,
          },
        },
      },
    };
  if (by === 'auth')
    yield {
      source: 'auth_logs',
      line: {
        timestamp: later(9),
        project: PROJECT,
        event_message: failed ? '500: Database error finding user' : 'request completed',
        metadata: {
          component: 'api',
          level: failed ? 'error' : 'info',
          method,
          path: path.replace('/auth/v1', ''),
          status,
          request_id: id,
          ...(failed ? { error: `failed to connect: ${NO_SLOTS}` } : {}),
        },
      },
    };
  yield {
    source: 'edge_logs',
    line: {
      timestamp: later(12),
      project: PROJECT,
      event_message: `${method} | ${status} | 172.18.0.1 | ${path} | ${AGENT}`,
      metadata: {
        request: { method, path, headers: { user_agent: AGENT, x_request_id: id } },
        response: { status_code: status, origin_time: Math.round(between(4, failed ? 5000 : 80)) },
      },
    },
  };
  if (by !== 'rest') return;
  const order = randomBytes(4).toString('hex');
  const isOrder = path.startsWith('/rest/v1/orders');
  if (!failed && !isOrder) return;
  yield {
    source: SHOP,
    line: {
      timestamp: later(15),
      project: PROJECT,
      ...(failed
        ? { level: 'error', msg: `${method} ${path} answered ${status}`, request_id: id }
        : { level: 'info', msg: 'order placed', order, request_id: id }),
    },
  };
}

const AGENT = 'shop/4.2 node-fetch';

/** The requests that come, frequent ones several times. */
const REQUESTS: readonly {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly by: 'rest' | 'auth' | 'storage';
}[] = [
  ...Array(4).fill({ method: 'GET', path: '/rest/v1/products', status: 200, by: 'rest' }),
  ...Array(2).fill({ method: 'POST', path: '/rest/v1/orders', status: 201, by: 'rest' }),
  { method: 'GET', path: '/rest/v1/orders', status: 200, by: 'rest' },
  { method: 'GET', path: '/rest/v1/profiles', status: 200, by: 'rest' },
  { method: 'POST', path: '/auth/v1/token', status: 200, by: 'auth' },
  { method: 'GET', path: '/auth/v1/user', status: 200, by: 'auth' },
  ...Array(2).fill({
    method: 'GET',
    path: '/storage/v1/object/public/products/7.png',
    status: 200,
    by: 'storage',
  }),
];

/** What the other parts of Supabase say once a minute. */
function* background(at: number): Generator<StoryLine> {
  const [timestamp, project] = [iso(at), PROJECT];
  const line = (source: Source, event_message: string, metadata: object): StoryLine => ({
    source,
    line: { timestamp, project, event_message, metadata },
  });
  yield line('realtime_logs', 'Billing metrics: [:realtime, :connections] %{connected: 1}', {
    external_id: project,
    level: 'info',
  });
  yield line('function_logs', 'newsletter: nothing to send\n', {
    event_type: 'Log',
    level: 'debug',
    execution_id: randomUUID(),
  });
  yield line('function_edge_logs', 'serving the request with /home/deno/functions/newsletter', {
    project_ref: project,
  });
  yield line('storage_logs', 'GET | 200 | 172.18.0.8 | /object/public/products/7.png', {
    tenantId: project,
    level: 'info',
  });
  if (Math.floor(at / MINUTE_MS) % 5 !== 0) return;
  yield line('postgres_logs', 'LOG:  checkpoint starting: time', {
    host: 'db-default',
    parsed: { error_severity: 'LOG' },
  });
  yield line('postgrest_logs', 'Schema cache loaded in 12.3 milliseconds', { host: project });
  yield line('pgbouncer_logs', 'stats: 12 xacts/s, 30 queries/s, in 9 kB/s, out 40 kB/s', {
    host: 'db-default',
  });
  yield {
    source: 'app_logs',
    line: { timestamp, project, level: 30, msg: 'stock is counted', service: 'stock' },
  };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

function between(least: number, most: number): number {
  return least + Math.random() * (most - least);
}

function pick<T>(items: readonly T[]): T {
  const item = items[Math.floor(Math.random() * items.length)];
  if (item === undefined) throw new Error('BUG: nothing to pick from');
  return item;
}
