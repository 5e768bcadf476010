import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Ingesting, withFolder, withIngest } from '../../support/helpers.ts';

interface Case {
  readonly of: string;
  /** The line as the program writes it. */
  readonly line: string;
  readonly row: {
    readonly severity?: string | null;
    readonly status?: number | null;
    readonly project?: string | null;
    readonly event_message?: string;
    readonly timestamp?: string;
    /** As JSON. */
    readonly metadata?: object | null;
  };
}

const CASES: readonly Case[] = [
  {
    of: 'pino',
    line: '{"level":50,"time":1763632800123,"pid":7,"hostname":"h","err":{"type":"Error"},"msg":"it broke"}',
    row: {
      severity: 'error',
      event_message: 'it broke',
      timestamp: '2025-11-20T10:00:00.123Z',
      metadata: { level: 50, pid: 7, hostname: 'h', err: { type: 'Error' } },
    },
  },
  { of: 'pino, trace', line: '{"level":10,"msg":"m"}', row: { severity: 'trace' } },
  { of: 'pino, a level of its own', line: '{"level":35,"msg":"m"}', row: { severity: 'info' } },
  { of: 'pino, fatal', line: '{"level":60,"msg":"m"}', row: { severity: 'fatal' } },
  {
    of: 'pino-http',
    line: '{"level":30,"time":1763632800123,"req":{"method":"GET","url":"/a"},"res":{"statusCode":503},"msg":"request errored"}',
    row: { severity: 'info', status: 503 },
  },
  {
    of: 'winston',
    line: '{"level":"warn","message":"slow","timestamp":"2026-11-20T10:00:00.123Z"}',
    row: { severity: 'warn', event_message: 'slow', metadata: { level: 'warn' } },
  },
  {
    of: 'winston with its metadata format, beside which the level stands',
    line: '{"level":"error","message":"no","metadata":{"user":7},"timestamp":"2026-11-20T10:00:00.123Z"}',
    row: { severity: 'error', event_message: 'no', metadata: { user: 7, level: 'error' } },
  },
  {
    of: 'python-json-logger',
    line: '{"timestamp":"2026-11-20T10:00:00Z","levelname":"CRITICAL","name":"app","message":"gone"}',
    row: {
      severity: 'fatal',
      event_message: 'gone',
      metadata: { levelname: 'CRITICAL', name: 'app' },
    },
  },
  {
    of: 'structlog',
    line: '{"level":"warning","timestamp":"2026-11-20T10:00:00Z","event_message":"e"}',
    row: { severity: 'warn' },
  },
  { of: 'zap', line: '{"level":"dpanic","ts":1763632800.5,"msg":"m"}', row: { severity: 'fatal' } },
  { of: 'lager', line: '{"lvl":"DEBUG","msg":"m"}', row: { severity: 'debug' } },
  {
    of: 'ECS, with dots in its names',
    line: '{"@timestamp":"2026-11-20T10:00:00Z","log.level":"ERROR","message":"m","http.response.status_code":500}',
    row: { severity: 'error', status: 500 },
  },
  {
    of: 'ECS, with records',
    line: '{"@timestamp":"2026-11-20T10:00:00Z","log":{"level":"info"},"message":"m","http":{"response":{"status_code":404}}}',
    row: { severity: 'info', status: 404 },
  },
  {
    of: 'Serilog',
    line: '{"@t":"2026-11-20T10:00:00.1234567Z","@mt":"Hello {User}","@l":"Warning","User":"a"}',
    row: {
      severity: 'warn',
      timestamp: '2026-11-20T10:00:00.123456Z',
      event_message: 'Hello {User}',
      metadata: { '@l': 'Warning', User: 'a' },
    },
  },
  {
    of: 'OpenTelemetry, by number',
    line: '{"timestamp":"2026-11-20T10:00:00Z","severityNumber":17,"message":"m"}',
    row: { severity: 'error' },
  },
  {
    of: 'OpenTelemetry, by text',
    line: '{"timestamp":"2026-11-20T10:00:00Z","severity_text":"WARN","message":"m"}',
    row: { severity: 'warn' },
  },
  {
    of: 'journald',
    line: '{"__REALTIME_TIMESTAMP":"1763632800123456","PRIORITY":"3","MESSAGE":"disk failed","_SYSTEMD_UNIT":"a.service","__CURSOR":"s=1"}',
    row: {
      severity: 'error',
      timestamp: '2025-11-20T10:00:00.123456Z',
      event_message: 'disk failed',
      metadata: { PRIORITY: '3', _SYSTEMD_UNIT: 'a.service', __CURSOR: 's=1' },
    },
  },
  {
    of: 'journald, of a program that writes JSON',
    line: '{"__REALTIME_TIMESTAMP":"1763632800123456","PRIORITY":"6","MESSAGE":"{\\"level\\":50,\\"msg\\":\\"it broke\\"}","_SYSTEMD_UNIT":"a.service"}',
    row: {
      severity: 'error',
      timestamp: '2025-11-20T10:00:00.123456Z',
      event_message: 'it broke',
      metadata: { PRIORITY: '6', _SYSTEMD_UNIT: 'a.service', level: 50 },
    },
  },
  {
    of: 'syslog words',
    line: '{"timestamp":"2026-11-20T10:00:00Z","severity":"crit","message":"m"}',
    row: { severity: 'fatal' },
  },
  {
    of: 'syslog numbers',
    line: '{"timestamp":"2026-11-20T10:00:00Z","severity":"4","message":"m"}',
    row: { severity: 'warn' },
  },
  {
    of: 'Docker',
    line: '{"log":"plain text\\n","stream":"stderr","time":"2026-11-20T10:00:00.123456789Z"}',
    row: {
      severity: null,
      timestamp: '2026-11-20T10:00:00.123456Z',
      event_message: 'plain text',
      metadata: { stream: 'stderr' },
    },
  },
  {
    of: 'Docker, of a program that writes JSON',
    line: '{"log":"{\\"level\\":40,\\"time\\":1763632800123,\\"msg\\":\\"slow \\\\ud83d\\\\ude00\\",\\"a\\":{\\"b\\":[1]}}\\n","stream":"stdout","time":"2025-11-20T10:00:01.5Z"}',
    row: {
      severity: 'warn',
      timestamp: '2025-11-20T10:00:00.123Z',
      event_message: 'slow 😀',
      metadata: {
        stream: 'stdout',
        level: 40,
        a: { b: [1] },
        time: '2025-11-20T10:00:01.5Z',
      },
    },
  },
  {
    of: 'Docker, unpacked once',
    line: '{"log":"{\\"log\\":\\"{\\\\\\"x\\\\\\":1}\\",\\"level\\":\\"info\\"}\\n","time":"2025-11-20T10:00:01Z"}',
    row: { severity: 'info', event_message: '{"x":1}' },
  },
  {
    of: 'Docker, with half a character inside, a whole one and the other half',
    line: docker(String.raw`{"level":50,"msg":"a\ud83d b\ud83d\ude00 \ude00c","\uD800":1}`),
    row: {
      severity: 'error',
      event_message: 'a\ufffd b😀 \ufffdc',
      metadata: { level: 50, '\ufffd': 1 },
    },
  },
  {
    of: 'Docker, with a sign in between that no JSON may have',
    line: docker(`{"msg":"\u0001d83d ${String.raw`\ud83d`}"}`),
    row: { event_message: `{"msg":"\u0001d83d ${String.raw`\ud83d`}"}` },
  },
  {
    of: 'Docker, of a program whose own time cannot be read',
    line: docker('{"level":"error","time":"10:00:00","msg":"clock"}'),
    row: { severity: 'error', event_message: 'clock', timestamp: '2026-11-20T10:00:00.5Z' },
  },
  {
    of: 'Docker, of a program with a time of another name',
    line: docker('{"ts":1763632800.25,"msg":"own"}'),
    row: {
      event_message: 'own',
      timestamp: '2025-11-20T10:00:00.25Z',
      metadata: { time: '2026-11-20T10:00:00.5Z' },
    },
  },
  {
    of: 'Docker, whose line says the project itself',
    line: docker('{"project":"theirs","msg":"m"}', { project: 'mine' }),
    row: { project: 'mine', event_message: 'm', metadata: { project: 'theirs' } },
  },
  {
    of: 'Docker, whose line says the project itself, of a program that says it has none',
    line: docker('{"project":null,"msg":"m"}', { project: 'mine' }),
    row: { project: 'mine', event_message: 'm' },
  },
  {
    of: 'Docker, of a program that says the project',
    line: docker('{"project":"own","msg":"m"}'),
    row: { project: 'own', event_message: 'm' },
  },
  {
    of: 'Docker, with half a character behind an escaped backslash',
    line: '{"log":"{\\"msg\\":\\"\\\\\\\\ud83d\\\\ude00\\"}\\n","time":"2025-11-20T10:00:01Z"}',
    row: { event_message: '\\ud83d\ufffd' },
  },
  {
    of: 'Docker, cut off',
    line: '{"log":"{\\"msg\\":\\"long","stream":"stdout","time":"2025-11-20T10:00:01Z"}',
    row: { event_message: '{"msg":"long' },
  },
  {
    of: 'Docker, nested deeper than a line may be',
    line: `{"log":"${'{\\"a\\":'.repeat(1001)}1${'}'.repeat(1001)}","time":"2025-11-20T10:00:01Z"}`,
    row: { event_message: `${'{"a":'.repeat(1001)}1${'}'.repeat(1001)}`, metadata: null },
  },
  {
    of: 'CloudTrail',
    line: '{"eventTime":"2026-11-20T10:00:00Z","eventName":"PutObject"}',
    row: {
      timestamp: '2026-11-20T10:00:00Z',
      event_message: '',
      metadata: { eventName: 'PutObject' },
    },
  },
  {
    of: 'a web server, which has a status alone',
    line: '{"time":"2026-11-20T10:00:00Z","status":"502","msg":"GET /a"}',
    row: { severity: 'error', status: 502 },
  },
  {
    of: 'a word for a status',
    line: '{"time":"2026-11-20T10:00:00Z","status":"ok","msg":"m"}',
    row: { severity: null, status: null },
  },
  {
    of: 'a request of Supabase, in arrays of records',
    line: '{"timestamp":1763632800123456,"event_message":"GET | 404","metadata":[{"request":[{"method":"GET"}],"response":[{"status_code":404}]}]}',
    row: { severity: 'warn', status: 404 },
  },
  {
    of: 'Postgres of Supabase, in an array of records',
    line: '{"timestamp":1763632800123456,"event_message":"m","metadata":[{"parsed":[{"error_severity":"FATAL"}]}]}',
    row: { severity: 'fatal', status: null },
  },
  {
    of: 'Postgres of Supabase, LOG',
    line: '{"timestamp":1763632800123456,"event_message":"m","metadata":{"parsed":{"error_severity":"LOG"}}}',
    row: { severity: 'info' },
  },
  {
    of: 'Auth of Supabase',
    line: '{"timestamp":1763632800123456,"event_message":"m","metadata":{"level":"info","status":500}}',
    row: { severity: 'info', status: 500 },
  },
  {
    of: 'nobody',
    line: '{"timestamp":1763632800123456,"event_message":"m","metadata":{"level":"loud"}}',
    row: { severity: null, status: null },
  },
];

/** Lines that Supabase's sources are asked about, too; others say what its services do not write. */
const OF_SUPABASE: readonly (readonly [
  source: string,
  line: string,
  severity: string | null,
  status: number | null,
])[] = [
  ['edge_logs', '{"metadata":{"response":{"status_code":503}}}', 'error', 503],
  ['edge_logs', '{"metadata":[{"response":[{"status_code":"404"}]}]}', 'warn', 404],
  ['edge_logs', '{"level":"debug","metadata":{"response":{"status_code":200}}}', 'debug', 200],
  ['edge_logs', '{"metadata":{"lvl":"fatal"}}', 'fatal', null],
  ['postgres_logs', '{"metadata":{"parsed":{"error_severity":"PANIC"}}}', 'fatal', null],
  ['postgres_logs', '{"metadata":{"error_severity":"WARNING"}}', 'warn', null],
  ['function_edge_logs', '{"metadata":[{"response":[{"status_code":500}]}]}', 'error', 500],
  ['function_logs', '{"metadata":{"level":"error"}}', 'error', null],
  ['auth_logs', '{"metadata":{"level":"info","status":500}}', 'info', 500],
  ['realtime_logs', '{"metadata":[{"level":"warning"}]}', 'warn', null],
  ['storage_logs', '{"metadata":{"level":"30","res":{"statusCode":409}}}', 'info', 409],
  ['postgrest_logs', '{"severity":"4","metadata":{}}', 'warn', null],
  ['pgbouncer_logs', '{"metadata":{"level":"LOG"}}', 'info', null],
];

describe('lines of common loggers', () => {
  for (const together of [false, true])
    it(`give time, message, severity and status${together ? ', stored together with those of other sources' : ''}`, () =>
      withFolder(async (data) => {
        const lines = CASES.map(({ line }, i) => line.replace('{', `{"id":"${i}",`));
        // Lines that are there at the start are stored together.
        const before = together ? OF_SUPABASE : [];
        for (const [source, line] of before)
          append(data, source, line.replace('{', '{"timestamp":"2026-11-20T10:00:00Z","msg":"m",'));
        if (together) append(data, 'app_logs', lines.join('\n'));
        await withIngest(data, async (ingesting) => {
          if (!together) ingesting.write('app_logs/a.log', `${lines.join('\n')}\n`);
          expect(await ingesting.lines(CASES.length, 'app_logs')).to.include({ rejected: 0 });
          await isAsSaid(ingesting);
          for (const source of new Set(before.map(([name]) => name))) {
            const own = before.filter(([name]) => name === source);
            await ingesting.lines(own.length, source);
            const rows = await ingesting.rows(source, 'rowid');
            const found = rows.map(({ severity, status }) => [severity, status]);
            const wanted = own.map(([, , severity, status]) => [severity, status]);
            expect(found, source).to.have.deep.members(wanted);
          }
        });
      }));
});

async function isAsSaid(ingesting: Ingesting): Promise<void> {
  const rows = await ingesting.rows('app_logs');
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const [i, { of, row: expected }] of CASES.entries()) {
    const found = byId.get(String(i));
    for (const [name, value] of Object.entries(expected)) {
      const text = found?.[name];
      const own = name === 'metadata' && typeof text === 'string' ? JSON.parse(text) : text;
      expect(own, `${of}: ${name}`).to.deep.equal(value);
    }
  }
}

function append(data: string, source: string, text: string): void {
  mkdirSync(join(data, 'logs', source), { recursive: true });
  appendFileSync(join(data, 'logs', source, 'a.log'), `${text}\n`);
}

/** A line of Docker's, of what a program says. */
function docker(said: string, more: object = {}): string {
  return JSON.stringify({ log: `${said}\n`, time: '2026-11-20T10:00:00.5Z', ...more });
}
