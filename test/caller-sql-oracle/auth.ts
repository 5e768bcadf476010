import type { Random } from '../support/random.ts';
import { RAYS } from './edge.ts';
import { type Json, perhaps, type Shape, weighted } from './shape.ts';

const PATHS = [
  '/token',
  '/token',
  '/token',
  '/user',
  '/signup',
  '/verify',
  '/recover',
  '/logout',
  '/otp',
  '/callback',
  '/admin/users',
  '/health',
  '/settings',
];
const ACTIONS = ['login', 'login', 'user_signedup', 'user_signed_up', 'logout', 'token_refreshed'];
const MESSAGES = [
  'request completed',
  'request completed',
  'Login',
  '400: Invalid login credentials',
  'refresh Token not found',
  'it\'s a "quoted" \\ path — naïve ✓',
];

/** A line of the auth service: metadata is the parsed line, with its numbers. */
export function auth(random: Random): Shape {
  const fields = line(random, random.pick([200, 200, 204, 302, 303, 400, 401, 422, 429, 500, 503]));
  return {
    message: text(random, fields),
    metadata: { timestamp: '2026-08-21T12:00:06Z', ...fields },
    line: { appname: 'supabase-auth' },
  };
}

/** The same on the platform: an array of one, the status a text. */
export function platformAuth(random: Random): Shape {
  const status = random.pick(['200', '200', '302', '400', '403', '422', '500', '504']);
  const fields = line(random, weighted<Json>(random, [30, status], [1, ''], [1, 'ok'], [1, null]));
  const { auth_event, ...rest } = fields;
  return {
    message: text(random, fields),
    metadata: [
      {
        ...rest,
        ...(auth_event === undefined ? {} : { auth_event: [auth_event] }),
        ...perhaps(random, 0.6, {
          request_id: random.below(3) ? random.pick(RAYS) : `none-${random.hex(6)}`,
        }),
        instance_id: '00000000-0000-0000-0000-000000000000',
      },
    ],
  };
}

function line(random: Random, status: Json): Record<string, Json> {
  const path = random.pick(PATHS);
  const failed = Number(status) >= 400;
  return {
    component: 'api',
    ...duration(random),
    ...(path === '/token' ? grant(random) : {}),
    ...weighted<Record<string, Json>>(
      random,
      [20, { level: failed ? random.pick(['error', 'warning', 'info']) : 'info' }],
      [2, {}],
      [1, { level: null }],
      [1, { level: 'fatal' }],
    ),
    method: random.pick(['GET', 'POST', 'PUT']),
    ...perhaps(random, 0.95, { msg: random.pick(MESSAGES) }),
    ...perhaps(random, 0.95, { path }),
    referer: 'http://localhost:3000',
    remote_addr: random.pick(['172.18.0.1', '203.0.113.9']),
    status,
    ...(failed
      ? perhaps(random, 0.7, { error: '400: invalid_grant' })
      : perhaps(random, 0.2, { error: null })),
    ...event(random),
  };
}

function grant(random: Random): Record<string, Json> {
  return weighted<Record<string, Json>>(
    random,
    [6, { grant_type: 'password' }],
    [5, { grant_type: 'refresh_token' }],
    [1, { grant_type: 'pkce' }],
    [1, { grant_type: null }],
    [1, {}],
  );
}

/** The time a request took, under the names and in the units that versions of the service have used. */
function duration(random: Random): Record<string, Json> {
  const ns = 1_000_003 + random.below(400_000_000);
  return weighted<Record<string, Json>>(
    random,
    [14, { duration: ns }],
    [1, { duration: `${ns}` }],
    [1, { duration: 'fast' }],
    [1, { duration_ms: ns / 1e6 }],
    [1, { processing_time_us: Math.floor(ns / 1000) }],
    [1, { duration_ns: ns, processing_time_ms: null }],
    [1, {}],
  );
}

function event(random: Random): Record<string, Json> {
  const action = random.pick(ACTIONS);
  return weighted<Record<string, Json>>(
    random,
    [
      8,
      { auth_event: { action, actor_id: random.pick(['u-1', 'u-2', 'u-3']), log_type: 'account' } },
    ],
    [2, { action }],
    [1, { auth_event: { action, duration_us: 1000 + random.below(90_000) } }],
    [1, { auth_event: 'none' }],
    [6, {}],
  );
}

function text(random: Random, fields: Record<string, Json>): string {
  return weighted(
    random,
    [20, JSON.stringify(fields)],
    [1, 'GoTrue API started on: 0.0.0.0:9999 (log level info)'],
    [1, '{"level":"info","path":"/token","duration":'],
  );
}
