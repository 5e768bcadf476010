/** mulberry32: a seeded generator of numbers in [0, 1), so that every run of a benchmark sees the same lines. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** The names of 20 projects whose shares follow Zipf's law: the first has 28 % of the lines, the last 1.4 %. */
export const PROJECTS = Array.from(
  { length: 20 },
  (_, i) => `project${String(i).padStart(13, '0')}`,
);
const SHARES = PROJECTS.map((_, i) => 1 / (i + 1));
const TOTAL = SHARES.reduce((sum, share) => sum + share, 0);

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

/**
 * `count` edge (request) log lines of about 950 bytes, without newline, oldest first, spread evenly over the
 * `spanMs` milliseconds before `end` (epoch ms).
 */
export function* edgeLines(
  count: number,
  options: { seed: number; end: number; spanMs: number },
): Generator<string> {
  const random = seeded(options.seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const hex = (n: number) => {
    let text = '';
    while (text.length < n)
      text += Math.floor(random() * 0x100000000)
        .toString(16)
        .padStart(8, '0');
    return text.slice(0, n);
  };
  for (let i = 0; i < count; i++) {
    const at = new Date(
      options.end - options.spanMs + (options.spanMs * (i + 1)) / count,
    ).toISOString();
    const project = projectAt(random());
    const path = `${pick(AREAS)}`;
    const search = `?select=*&id=eq.${Math.floor(random() * 1e6)}`;
    const method = pick(METHODS);
    const status = pick(STATUSES);
    const ip = `10.${Math.floor(random() * 256)}.${Math.floor(random() * 256)}.${Math.floor(random() * 256)}`;
    const agent = pick(AGENTS);
    const ray = hex(16);
    const uuid = `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
    yield JSON.stringify({
      id: uuid,
      timestamp: at,
      project,
      event_message: `${method} | ${status} | ${ip} | ${ray} | https://${project}.example.co${path}${search} | ${agent}`,
      metadata: {
        request: {
          method,
          path,
          search,
          host: `${project}.example.co`,
          url: `https://${project}.example.co${path}${search}`,
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
            asn: Math.floor(random() * 65536),
            colo: pick(['FRA', 'IAD', 'NRT', 'GRU']),
          },
        },
        response: {
          status_code: status,
          origin_time: Math.floor(random() * 900),
          headers: {
            content_type: 'application/json',
            content_length: Math.floor(random() * 9000),
            cf_cache_status: pick(['DYNAMIC', 'HIT', 'MISS']),
          },
        },
      },
    });
  }
}

function projectAt(share: number): string {
  let rest = share * TOTAL;
  for (let i = 0; i < SHARES.length; i++) {
    rest -= SHARES[i] as number;
    if (rest < 0) return PROJECTS[i] as string;
  }
  return PROJECTS[0] as string;
}
