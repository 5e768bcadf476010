import { randomUUID } from 'node:crypto';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Source, SupabaseSource } from '../../ingest/index.ts';
import { makeFolder } from '../config/make-folder.ts';

/** A scratch data folder that is written to. */
export interface Demo {
  readonly data: string;
  /** Stops writing and removes the folder. */
  close(): void;
}

const PROJECT = 'default';
const HISTORY_LINES = 2000;
const HISTORY_MS = 7 * 24 * 3_600_000;
const EVERY_MS = 250;

/** Makes a scratch data folder with a week of requests in it, and keeps writing lines of all sources. */
export async function startDemo(logger: Logger): Promise<Demo> {
  const data = mkdtempSync(join(tmpdir(), 'tailpond-demo-'));
  const file = (source: Source) => join(data, 'logs', source, 'demo.ndjson');
  for (const source of Object.keys(LINES)) makeFolder(join(data, 'logs', source));

  const now = Date.now();
  const history = Array.from({ length: HISTORY_LINES }, (_, i) =>
    LINES.edge_logs(new Date(now - HISTORY_MS + (HISTORY_MS * i) / HISTORY_LINES).toISOString()),
  );
  appendFileSync(file('edge_logs'), history.map((line) => `${JSON.stringify(line)}\n`).join(''));

  const timer = setInterval(() => {
    for (const [source, line] of Object.entries(LINES))
      appendFileSync(file(source), `${JSON.stringify(line(new Date().toISOString()))}\n`);
  }, EVERY_MS);
  logger.info(
    `demo: writing lines of all sources, project "${PROJECT}", below ${data}; it is removed at the end`,
  );
  return {
    data,
    close() {
      clearInterval(timer);
      rmSync(data, { recursive: true, force: true });
    },
  };
}

const PATHS = [
  '/rest/v1/todos?select=*',
  '/rest/v1/profiles?id=eq.7',
  '/storage/v1/object/avatars/7.png',
  '/auth/v1/token?grant_type=password',
  '/auth/v1/user',
  '/realtime/v1/websocket',
  '/functions/v1/hello',
];
const STATUSES = [200, 200, 200, 200, 201, 204, 304, 401, 404, 500];

/** What a self-hosted Supabase ships of each source. */
const LINES: Record<SupabaseSource | 'app_logs', (timestamp: string) => object> = {
  edge_logs(timestamp) {
    const [path, status, method] = [
      pick(PATHS),
      pick(STATUSES),
      pick(['GET', 'GET', 'GET', 'POST', 'PATCH']),
    ];
    const agent = 'Mozilla/5.0 (X11; Linux x86_64) Chrome/128.0.0.0 Safari/537.36';
    return {
      timestamp,
      project: PROJECT,
      appname: 'supabase-kong',
      event_message: `172.18.0.1 - - "${method} ${path} HTTP/1.1" ${status} 512 "http://localhost:3000/" "${agent}"`,
      metadata: {
        request: {
          method,
          path,
          protocol: 'HTTP/1.1',
          headers: {
            user_agent: agent,
            referer: 'http://localhost:3000/',
            cf_connecting_ip: '172.18.0.1',
          },
        },
        response: { status_code: status },
      },
    };
  },
  postgres_logs: (timestamp) => ({
    timestamp,
    project: PROJECT,
    appname: 'supabase-db',
    event_message: pick([
      'checkpoint starting: time',
      'ERROR:  relation "public.foo" does not exist at character 15',
      'connection authorized: user=authenticator database=postgres',
    ]),
    metadata: {
      host: 'db-default',
      parsed: { timestamp, error_severity: pick(['LOG', 'LOG', 'ERROR', 'WARNING']) },
    },
  }),
  function_edge_logs: (timestamp) => ({
    timestamp,
    appname: 'supabase-edge-functions',
    event_message: 'serving the request with /home/deno/functions/hello',
    metadata: { project_ref: PROJECT },
  }),
  function_logs: (timestamp) => ({
    timestamp,
    event_message: 'hello from the function\n',
    metadata: {
      event_type: 'Log',
      execution_id: randomUUID(),
      function_id: '09f74752-4f98-4706-b7a7-10e3af844ace',
      level: 'info',
      project_ref: PROJECT,
      region: 'local',
      timestamp,
    },
  }),
  auth_logs(timestamp) {
    const entry = {
      component: 'api',
      duration: Math.floor(Math.random() * 1e8),
      level: 'info',
      method: 'POST',
      msg: 'request completed',
      path: pick(['/token', '/user', '/logout']),
      remote_addr: '172.18.0.1',
      request_id: randomUUID().slice(0, 8),
      status: pick([200, 200, 400]),
      time: timestamp,
    };
    return {
      timestamp,
      project: PROJECT,
      appname: 'supabase-auth',
      event_message: JSON.stringify(entry),
      metadata: { timestamp, ...entry },
    };
  },
  app_logs(timestamp) {
    const [level, msg] = pick([
      ['info', 'order placed'],
      ['info', 'mail sent'],
      ['warn', 'payment took long'],
      ['error', 'payment refused'],
    ]);
    return { timestamp, project: PROJECT, level, msg, order: randomUUID().slice(0, 8) };
  },
  realtime_logs: (timestamp) => ({
    timestamp,
    appname: 'realtime-dev.supabase-realtime',
    event_message: 'Billing metrics: [:realtime, :connections] %{connected: 1, limit: 200}',
    metadata: { project: PROJECT, external_id: PROJECT, level: 'info' },
  }),
  storage_logs: (timestamp) => ({
    timestamp,
    appname: 'supabase-storage',
    event_message: `stub | ${pick(['GET', 'POST'])} | 200 | 172.18.0.8 | ${randomUUID().slice(0, 6)} | /bucket | node`,
    metadata: {
      project: PROJECT,
      tenantId: PROJECT,
      level: 'info',
      timestamp,
      context: [{ host: 'c0ffee123456', pid: 1 }],
    },
  }),
  postgrest_logs: (timestamp) => ({
    timestamp,
    project: PROJECT,
    appname: 'supabase-rest',
    event_message: pick(['Config reloaded', 'Schema cache loaded in 12.3 milliseconds']),
    metadata: { host: PROJECT },
  }),
  pgbouncer_logs: (timestamp) => ({
    timestamp,
    project: PROJECT,
    event_message:
      'S-0xaaab05948260: postgres/postgres@127.0.0.1:5432 new connection to server (from 127.0.0.1:42762)',
    metadata: { host: 'db-default' },
  }),
};

function pick<T>(items: readonly T[]): T {
  const item = items[Math.floor(Math.random() * items.length)];
  if (item === undefined) throw new Error('BUG: nothing to pick from');
  return item;
}
