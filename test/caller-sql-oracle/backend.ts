import type { Random } from '../support/random.ts';
import { type Json, perhaps, type Shape, weighted } from './shape.ts';

const SEVERITIES = ['LOG', 'LOG', 'LOG', 'ERROR', 'ERROR', 'WARNING', 'FATAL', 'PANIC', 'NOTICE'];
const STATEMENTS = [
  'connection received: host=172.18.0.5 port=41162',
  'connection authorized: user=authenticator database=postgres',
  'terminating connection due to administrator command',
  'relation "public.foo" does not exist at character 15',
  'duplicate key value violates unique constraint "todos_pkey"',
  'The backup label is present',
  'cron job 1 starting: select cleanup()',
  "cron job 7 COMMAND completed: it's 42 rows",
  'cron job 3 error: canceling statement due to statement timeout',
  'duration: 1532.25 ms  statement: select "a\\b" from t where x = \'ü\' -- 50%',
  'checkpoint complete: wrote 12 buffers (0.1%)',
];

/** A line of the database as Vector ships it: of its fields only moment and severity. */
export function database(random: Random): Shape {
  const severity = random.pick(SEVERITIES);
  return {
    message: `172.18.0.5 [101] authenticator@postgres ${severity}:  ${random.pick(STATEMENTS)}`,
    line: { appname: 'supabase-db' },
    metadata: {
      host: 'db-default',
      parsed: {
        timestamp: '2026-08-21T12:00:03.482913Z',
        ...weighted<Record<string, Json>>(
          random,
          [20, { error_severity: severity }],
          [1, {}],
          [1, { error_severity: null }],
        ),
      },
    },
  };
}

/** A line of the platform's database, with all its fields. */
export function platformDatabase(random: Random): Shape {
  const severity = random.pick(SEVERITIES);
  const failed = ['ERROR', 'FATAL', 'PANIC'].includes(severity);
  const message = random.pick(STATEMENTS);
  return {
    message,
    metadata: [
      {
        host: 'db-default',
        identifier: random.pick(['default', 'default-rr-1']),
        parsed: weighted<Json>(
          random,
          [30, [parsed(random, severity, failed)]],
          [1, []],
          [1, null],
        ),
      },
    ],
  };
}

function parsed(random: Random, severity: string, failed: boolean): Json {
  return {
    application_name: random.pick(['pg_cron', 'PostgREST 12.2', '', 'psql', null]),
    backend_type: 'client backend',
    command_tag: random.pick(['SELECT', 'INSERT', 'UPDATE', 'authentication', 'idle']),
    database_name: 'postgres',
    error_severity: severity,
    ...(failed
      ? {
          sql_state_code: random.pick(['42P01', '23505', '57P01', '57014']),
          ...perhaps(random, 0.6, { detail: 'Key (id)=(7) already exists.' }),
          ...perhaps(random, 0.3, { hint: 'See "server" log.' }),
          ...perhaps(random, 0.8, { query: "insert into todos values (7, 'it''s')" }),
        }
      : { sql_state_code: '00000', detail: null }),
    process_id: 100 + random.below(400),
    query_id: 1_000_000_007 * random.below(9_000_000),
    session_id: `66c5${random.hex(4)}.${random.hex(3)}`,
    user_name: random.pick(['authenticator', 'postgres', 'supabase_admin', 'supabase_auth_admin']),
    timestamp: '2026-08-21 12:00:03.482 UTC',
  };
}

/** Ids of calls of functions, which relay and functions both log. */
const CALLS = Array.from({ length: 60 }, (_, i) => `call-${i}`);
const FUNCTIONS = ['a1', 'b2', 'a1b2c3', '09f74752-4f98-4706-b7a7-10e3af844ace'];
const REGIONS = ['us-east-1', 'us-east-1', 'eu-central-1', 'ap-northeast-1'];

/** A line of the edge runtime as Vector ships it. */
export function relay(random: Random): Shape {
  return {
    message: random.pick([
      'serving the request with /home/deno/functions/hello',
      'main function started',
      'worker boot error: it\'s "gone"',
    ]),
    line: { appname: 'supabase-edge-functions' },
    metadata: { project_ref: 'default' },
  };
}

/** A call of a function as the platform's relay logs it. */
export function platformRelay(random: Random): Shape {
  const method = random.pick(['GET', 'GET', 'POST', 'OPTIONS']);
  const status = random.pick([200, 200, 201, 400, 404, 500, 500, 503, 546]);
  const pathname = random.pick([
    '/functions/v1/hello',
    '/functions/v1/proxy/rest/v1/todos',
    '/hello',
  ]);
  return {
    message: `${method} | ${status} | https://default.functions.example.co${pathname}`,
    metadata: [
      {
        project_ref: 'default',
        function_id: random.pick(FUNCTIONS),
        deployment_id: `default_${random.below(9)}`,
        execution_id: random.uuid(),
        ...weighted<Record<string, Json>>(
          random,
          [15, { execution_time_ms: random.below(4000) / 8 }],
          [1, {}],
          [1, { execution_time_ms: null }],
        ),
        ...perhaps(random, 0.9, { request_id: random.pick(CALLS) }),
        version: `${1 + random.below(3)}`,
        request: [
          {
            method,
            pathname,
            url: `https://default.functions.example.co${pathname}`,
            headers: [{ user_agent: 'Deno/1.45', x_client_info: 'supabase-js/2.45.1' }],
          },
        ],
        response: [
          {
            status_code: status,
            headers: weighted<Json>(
              random,
              [20, [responseHeaders(random)]],
              [1, [responseHeaders(random), responseHeaders(random)]],
              [1, []],
            ),
          },
        ],
      },
    ],
  };
}

function responseHeaders(random: Random): Json {
  return {
    content_type: 'application/json',
    ...perhaps(random, 0.9, { x_sb_edge_region: random.pick(REGIONS) }),
    x_served_by: 'supabase-edge-runtime',
  };
}

/** What a function says, or what befalls it. All entries of one call time out, or none does. */
export function functionEvent(random: Random): Shape {
  const call = random.below(CALLS.length);
  const late = random.pick([
    'upstream TIMEOUT after 10s',
    'timeout',
    'Fetch Timeout: it\'s "slow"',
  ]);
  const said = random.pick([
    'hello from the function\n',
    'Listening on http://localhost:9999/',
    'price: 5 € 😀',
  ]);
  const level = random.pick(['info', 'info', 'log', 'warning', 'error']);
  const metadata: Json = {
    deployment_id: `default_${random.below(9)}`,
    event_type: random.pick(['Log', 'Log', 'Boot', 'Shutdown', 'UncaughtException']),
    execution_id: random.uuid(),
    function_id: random.pick(FUNCTIONS),
    level,
    project_ref: 'default',
    region: random.pick(REGIONS),
    ...perhaps(random, 0.8, { request_id: CALLS[call] ?? null }),
    ...perhaps(random, 0.3, { boot_time: random.below(90), cpu_time_used: random.below(2000) / 4 }),
    version: '3',
  };
  return {
    message: call % 4 === 0 ? late : said,
    metadata: random.below(2) ? [metadata] : metadata,
  };
}

export function realtime(random: Random): Shape {
  return {
    message: random.pick([
      'Billing metrics: [:realtime, :connections] %{connected: 1, limit: 200}',
      "ClientJoinRateLimitReached: it's 17 too many",
      'error: :tenant_not_found',
      'Realtime is restarting\u2028…',
    ]),
    line: { appname: 'realtime-dev.supabase-realtime' },
    metadata: {
      project: 'default',
      external_id: 'default',
      level: random.pick(['info', 'info', 'warning', 'error']),
    },
  };
}

export function storage(random: Random): Shape {
  const status = random.pick([200, 200, 206, 400, 404, 500]);
  return {
    message: random.pick([
      `stub | POST | ${status} | 172.18.0.8 | req-1f | /bucket | node`,
      `stub | GET | ${status} | 172.18.0.8 | req-2a | /object/avatars/it's 7.png | curl`,
      'error: The resource was not found',
    ]),
    line: { appname: 'supabase-storage' },
    metadata: {
      project: 'default',
      tenantId: 'default',
      level: status >= 500 ? 'error' : 'info',
      timestamp: '2026-08-21T12:00:08.119Z',
      context: [{ host: random.pick(['c0ffee123456', 'decaf0123456']), pid: 1 + random.below(3) }],
      ...perhaps(random, 0.3, {
        req: { method: 'GET', url: '/object/avatars/7.png' },
        res: { statusCode: status },
        responseTime: random.below(800) / 8,
      }),
    },
  };
}

export function rest(random: Random): Shape {
  if (random.below(3)) {
    const status = random.pick([200, 206, 404]);
    return { message: `172.18.0.4 - anon "GET /todos HTTP/1.1" ${status} 512 "" "node"` };
  }
  return {
    message: random.pick(['Config reloaded', 'Schema cache loaded in 12.5 milliseconds']),
    line: { appname: 'supabase-rest' },
    metadata: { host: 'default' },
  };
}

export function pooler(random: Random): Shape {
  return {
    message: random.pick([
      'S-0xaaab05948260: postgres/postgres@127.0.0.1:5432 new connection to server (from 127.0.0.1:42762)',
      'C-0xaaab05945a90: postgres/authenticator@127.0.0.1:1024 closing because: client close request (age=30s)',
      'stats: 3 xacts/s, 4 queries/s',
    ]),
    metadata: random.below(4)
      ? { host: 'db-default' }
      : [{ host: 'db-default', project: 'default' }],
  };
}
