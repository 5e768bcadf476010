import type { Random } from '../support/random.ts';
import { type Json, perhaps, type Shape, weighted } from './shape.ts';

/** Ids of requests at the edge, which entries of the auth service name again. */
export const RAYS = Array.from({ length: 40 }, (_, i) => `8f1c${(i * 7919).toString(16)}-AMS`);

const PATHS = [
  '/rest/v1/todos',
  '/rest/v1/profiles',
  '/rest/v1/rpc/search_items',
  '/rest/v1/missing',
  '/graphql/v1',
  '/auth/v1/token',
  '/auth/v1/user',
  '/auth/v1/signup',
  '/storage/v1/object/public/avatars/7.png',
  '/storage/v1/object/sign/docs/r%20port.pdf',
  '/storage/v1/render/image/public/avatars/7.png',
  '/storage/v1/bucket',
  '/realtime/v1/websocket',
  '/functions/v1/hello',
  '/customers/café',
] as const;
const SEARCHES = ['?select=*', '?select=id,name&id=eq.7', '?limit=10&offset=20', '?q=it%27s'];
const METHODS = ['GET', 'GET', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'];
const STATUSES = [
  200, 200, 200, 201, 204, 206, 301, 304, 400, 401, 404, 404, 404, 429, 499, 500, 502, 503, 544,
];
const AGENTS = [
  'Mozilla/5.0 (X11; Linux x86_64) Chrome/128.0.0.0 Safari/537.36',
  'node',
  'curl/8.5.0',
  'supabase-js/2.45.1 "beta" \\ ünï',
  'Dart/3.4 (dart:io)',
];
const ADDRESSES = ['172.18.0.1', '10.0.0.7', '203.0.113.9', '203.0.113.77', '2001:db8::17'];
const COUNTRIES = ['DE', 'FR', 'US', 'JP', 'BR'];

/** What Kong's access log and error log become on their way through Vector. */
export function kong(random: Random): Shape {
  const [method, path, status] = request(random);
  const full = path + (random.below(2) ? random.pick(SEARCHES) : '');
  const address = random.pick(ADDRESSES);
  if (random.below(12) === 0) {
    return {
      message: `[error] 1102#0: *51 connect() failed (111: Connection refused) while connecting to upstream, client: ${address}, request: "${method} ${full} HTTP/1.1"`,
      line: { severity: 'error', appname: 'supabase-kong' },
      metadata: {
        request: {
          host: 'localhost:8000',
          headers: { cf_connecting_ip: address },
          method,
          path: full,
          protocol: 'HTTP/1.1',
        },
        response: { status_code: 200 },
      },
    };
  }
  const agent = random.pick(AGENTS);
  return {
    message: `${address} - - "${method} ${full} HTTP/1.1" ${status} ${random.below(9000)} "-" "${agent}"`,
    line: { appname: 'supabase-kong' },
    metadata: {
      request: {
        headers: {
          ...perhaps(random, 0.5, { referer: 'http://localhost:3000/' }),
          user_agent: agent,
          cf_connecting_ip: address,
        },
        method,
        path: full,
        protocol: 'HTTP/1.1',
      },
      response: { status_code: status },
    },
  };
}

/** A request as the platform's edge logs it: every record an array of one. */
export function platformEdge(random: Random): Shape {
  const [method, path, status] = request(random);
  const search = weighted(random, [2, null], [3, random.pick(SEARCHES)]);
  const address = random.pick(ADDRESSES);
  const url = `https://default.example.co${path}${search ?? ''}`;
  return {
    message: `${method} | ${status} | ${address} | ${random.pick(RAYS)} | ${url} | ${random.pick(AGENTS)}`,
    metadata: [
      {
        request: [
          {
            method,
            path,
            ...(search === null && random.below(2) ? {} : { search }),
            url,
            host: 'default.example.co',
            protocol: 'https:',
            headers: [requestHeaders(random, address)],
            ...perhaps(random, 0.9, {
              cf: [{ country: random.pick(COUNTRIES), colo: 'AMS', asOrganization: "Peer's Net" }],
            }),
            ...perhaps(random, 0.7, { sb: [keys(random)] }),
          },
        ],
        response: [
          {
            status_code: status,
            ...weighted<Record<string, Json>>(
              random,
              [20, { origin_time: 3 + random.below(2000) / 4 }],
              [2, {}],
              [1, { origin_time: null }],
              [1, { origin_time: 'n/a' }],
            ),
            headers: weighted<Json>(random, [20, [responseHeaders(random)]], [1, []], [1, null]),
          },
        ],
      },
    ],
  };
}

function request(random: Random): [string, string, number] {
  return [random.pick(METHODS), random.pick(PATHS), random.pick(STATUSES)];
}

function requestHeaders(random: Random, address: string) {
  return {
    user_agent: random.pick(AGENTS),
    host: 'default.example.co',
    cf_connecting_ip: address,
    ...perhaps(random, 0.8, { x_real_ip: address }),
    ...perhaps(random, 0.8, { cf_ipcountry: random.pick(COUNTRIES) }),
    ...perhaps(random, 0.5, { x_client_info: `supabase-js/2.${random.below(4)}.0` }),
    ...perhaps(random, 0.2, { referer: null }),
  };
}

function responseHeaders(random: Random) {
  return {
    cf_ray: random.pick(RAYS),
    content_type: random.pick(['application/json', 'image/png', 'text/html; charset=utf-8']),
    content_length: `${random.below(90_000)}`,
    ...perhaps(random, 0.9, {
      cf_cache_status: random.pick([
        'HIT',
        'HIT',
        'MISS',
        'DYNAMIC',
        'EXPIRED',
        'BYPASS',
        'NONE/UNKNOWN',
      ]),
    }),
  };
}

/** The facts about a request's keys. */
function keys(random: Random): Json {
  const role = random.pick(['anon', 'service_role', 'authenticated', null]);
  const payload = {
    algorithm: random.pick(['HS256', 'HS256', 'HS256', 'ES256']),
    issuer: random.pick(['supabase', 'supabase', 'supabase', 'someone']),
    role,
    signature_prefix: random.pick(['aB3xYz', 'Qq71_-', 'zz99zz']),
    expires_at: 2_100_000_000,
  };
  const apikey: Json = { payload: [payload], ...perhaps(random, 0.1, { invalid: 'expired' }) };
  const authorization: Json = {
    payload: weighted<Json>(
      random,
      [4, [{ role: 'authenticated', subject: random.pick(['u-1', 'u-2']) }]],
      [1, []],
      [1, null],
    ),
  };
  return {
    ...perhaps(random, 0.6, { auth_user: random.pick(['u-1', 'u-2', 'u-3']) }),
    ...perhaps(random, 0.9, {
      jwt: [
        {
          ...perhaps(random, 0.9, { apikey: [apikey] }),
          ...perhaps(random, 0.6, { authorization: [authorization] }),
        },
      ],
    }),
    ...perhaps(random, 0.3, { apikey: [{ apikey: [{ prefix: 'sb_publishable_x', hash: 'h1' }] }] }),
  };
}
