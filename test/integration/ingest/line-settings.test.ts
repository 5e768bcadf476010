import { expect } from 'chai';
import { readConfig } from '../../../server/config/config.ts';
import { eventually, TOKEN, withApp, withFolder } from '../../support/helpers.ts';

type Row = Readonly<Record<string, unknown>>;

type Lines = Readonly<Record<string, readonly string[]>>;

/** What a test asks the service for. */
interface Reading {
  write(path: string, lines: readonly string[]): void;
  push(path: string, body: string): Promise<void>;
  result(path: string): Promise<Row[]>;
  ledger(source: string): Promise<Row | undefined>;
  metrics(): Promise<string>;
}

/** Starts the service with these settings of lines, and waits until it has taken the lines of files, by their paths, and of pushes. */
function reading(
  env: Readonly<Record<string, string>>,
  files: Lines,
  action: (reading: Reading) => Promise<void>,
  pushes: Lines = {},
): Promise<void> {
  return withFolder((data) =>
    serving(data, env, async (served) => {
      for (const [path, lines] of Object.entries(files)) served.write(path, lines);
      for (const [source, lines] of Object.entries(pushes))
        await served.push(`/api/logs/${source}`, `${lines.join('\n')}\n`);
      const count = [...Object.values(files), ...Object.values(pushes)].flat().length;
      await eventually(async () => {
        const entries = await served.result('/api/ledger');
        expect(entries.reduce((sum, { lines }) => sum + Number(lines), 0)).to.equal(count);
      });
      await action(served);
    }),
  );
}

function serving(
  data: string,
  env: Readonly<Record<string, string>>,
  action: (reading: Reading) => Promise<void>,
): Promise<void> {
  const lines = readConfig(env).config;
  return withApp(
    data,
    async ({ write, http, get }) => {
      const result = async (path: string) => (await get(path)).body.result as Row[];
      await action({
        write: (path, own) => write(path, `${own.join('\n')}\n`),
        result,
        async push(path, body) {
          const type = path.startsWith('/v1') ? 'application/json' : 'application/x-ndjson';
          const headers = { 'X-API-KEY': TOKEN, 'Content-Type': type };
          const answer = await http
            .post(path)
            .set(headers)
            .serialize((text) => text as unknown as string)
            .send(body);
          expect(answer.status).to.equal(200);
        },
        metrics: async () => (await get('/metrics')).text,
        ledger: async (source) =>
          (await result('/api/ledger')).find((entry) => entry.source === source),
      });
    },
    { lines },
  );
}

function rowsOf({ result }: Pick<Reading, 'result'>, source: string, query = ''): Promise<Row[]> {
  const search = query === '' ? '' : `&q=${encodeURIComponent(query)}`;
  return result(`/api/entries/${source}?project=*${search}`);
}

const messages = (rows: readonly Row[]) => rows.map(({ event_message }) => event_message);

describe('TAILPOND_TIME_ZONE', () => {
  it('is the zone of timestamps that name none, by source, in files and in pushes', () =>
    reading(
      {
        TAILPOND_TIME_ZONE: 'America/New_York, app_logs=Europe/Berlin',
      },
      {
        'app_logs/a.log': ['2026-07-01 12:00:00 INFO summer', '2026-01-05 12:00:00 INFO winter'],
        'auth_logs/a.log': [
          '{"time":"2026-07-01T12:00:00","msg":"new york"}',
          '{"time":"2026-07-01T12:00:00+01:00","msg":"named"}',
        ],
        'edge_logs/a.log': ['{"timestamp":"2026-07-01 12:00:00","event_message":"edge"}'],
      },
      async (service) => {
        const times = async (source: string) =>
          Object.fromEntries(
            (await rowsOf(service, source)).map((row) => [row.event_message, row.timestamp]),
          );
        expect(await times('app_logs')).to.deep.equal({
          summer: '2026-07-01T10:00:00Z',
          winter: '2026-01-05T11:00:00Z',
          pushed: '2026-07-01T10:00:01Z',
          'pushed as text': '2026-07-01T10:00:02Z',
        });
        expect(await times('auth_logs')).to.deep.equal({
          'new york': '2026-07-01T16:00:00Z',
          named: '2026-07-01T11:00:00Z',
        });
        expect(await times('edge_logs')).to.deep.equal({ edge: '2026-07-01T16:00:00Z' });
      },
      {
        app_logs: [
          '{"time":"2026-07-01 12:00:01","msg":"pushed"}',
          '2026-07-01 12:00:02 INFO pushed as text',
        ],
      },
    ));
});

describe('TAILPOND_FIELDS', () => {
  it('adds names of fields by what they mean, for all sources and for single ones', () =>
    reading(
      {
        TAILPOND_FIELDS:
          'time=zeit|wann,message=text_de,app_logs.severity=stufe, status=antwort,project=mandant',
      },
      {
        'app_logs/a.log': [
          '{"zeit":"2026-11-20T10:00:00Z","text_de":"eins","stufe":"error","antwort":404,"mandant":"m"}',
          '{"wann":"2026-11-20T10:00:01Z","message":"aside","Text-De":"zwei","level":"info"}',
        ],
        'edge_logs/a.log': [
          '{"timestamp":"2026-11-20T10:00:02Z","event_message":"drei","metadata":{"antwort":503,"stufe":"warn"}}',
        ],
      },
      async (service) => {
        const rows = await rowsOf(service, 'app_logs');
        expect(
          rows.map(({ timestamp, event_message, severity, status, project, metadata }) => [
            timestamp,
            event_message,
            severity,
            status,
            project,
            metadata,
          ]),
        ).to.have.deep.members([
          ['2026-11-20T10:00:00Z', 'eins', 'error', 404, 'm', { stufe: 'error', antwort: 404 }],
          ['2026-11-20T10:00:01Z', 'zwei', 'info', null, null, { message: 'aside', level: 'info' }],
        ]);
        expect(messages(await rowsOf(service, 'app_logs', 'level:error status:404'))).to.eql([
          'eins',
        ]);
        const [edge] = await rowsOf(service, 'edge_logs', 'status:503 level:error');
        expect(edge).to.include({ event_message: 'drei', severity: 'error' });
      },
    ));

  it('names attributes of OpenTelemetry, too', () =>
    reading({ TAILPOND_FIELDS: 'severity=stufe,status=antwort' }, {}, async (service) => {
      const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });
      const logRecords = [
        {
          timeUnixNano: '1795168800000000000',
          body: { stringValue: 'otel' },
          attributes: [attribute('stufe', 'fatal'), attribute('antwort', '418')],
        },
      ];
      const body = { resourceLogs: [{ scopeLogs: [{ logRecords }] }] };
      await service.push('/v1/logs', JSON.stringify(body));
      await eventually(async () => {
        const entries = await service.result('/api/ledger');
        const source = String(entries.find(({ rows }) => rows)?.source);
        expect(messages(await rowsOf(service, source, 'level:fatal status:418'))).to.eql(['otel']);
      });
    }));

  it('come behind `project`, which the token of one project puts before a pushed line', () =>
    reading(
      { TAILPOND_FIELDS: 'project=mandant' },
      { 'app_logs/a.log': ['{"project":"own","mandant":"other","msg":"m"}'] },
      async (service) => {
        const [row] = await rowsOf(service, 'app_logs');
        expect(row).to.deep.include({ project: 'own', metadata: { mandant: 'other' } });
      },
    ));
});

const ACCESS = '10.0.0.1 - - [20/Nov/2026:10:00:00 +0000] "GET /a HTTP/1.1" 404 12 "-" "curl/8"';
const ERROR = '2026/11/20 10:00:01 [error] 7#7: *1 open() failed, client: 10.0.0.1';

describe('TAILPOND_LINE_FORMAT', () => {
  it('names formats of files by patterns of their names, of which the last one counts', () =>
    reading(
      {
        TAILPOND_LINE_FORMAT:
          'json,app_logs=combined,app_logs/error*.log=nginx-error,app_logs/old/**=json,app_logs/old/text.log=text,auth_logs=nginx',
      },
      {
        'app_logs/access.log': [ACCESS],
        'app_logs/error.log': [ERROR, ACCESS],
        'app_logs/host1/error-b.log.1': [`${ERROR} of host1`],
        'app_logs/old/error.log': [`${ERROR} of old`],
        'app_logs/old/text.log': ['plain text'],
        'auth_logs/a.log': [ACCESS, ERROR],
      },
      async (service) => {
        const rows = await rowsOf(service, 'app_logs');
        expect(rows).to.have.length(4);
        expect(messages(rows)).to.include.members(['GET /a HTTP/1.1', 'plain text']);
        const rejected = await service.result('/api/rejected?source=app_logs');
        expect(rejected.map(({ reason }) => reason)).to.have.members([
          'it is neither a JSON object nor a line of nginx-error (TAILPOND_LINE_FORMAT)',
          'it is not a JSON object; set TAILPOND_LINE_FORMAT to take text',
        ]);
        expect(await service.ledger('auth_logs')).to.include({ rows: 2, rejected: 0 });
      },
    ));
});

describe('TAILPOND_LINE_PATTERNS', () => {
  it('describes formats by named groups, whose names are those of the table of fields or metadata', () =>
    reading(
      {
        TAILPOND_LINE_PATTERNS: String.raw`billing=^(?<time>\S+ \S+),(?<lvl>[A-Z]+),(?<kunde>\d+),(?<msg>.*)$,jobs=^\[(?<status>\d{3})\] (?<job>\w+)`,
        TAILPOND_LINE_FORMAT: 'auto,auth_logs=billing,app_logs/*.txt.log=jobs',
      },
      {
        'auth_logs/a.log': ['2026-11-20 10:00:00,WARN,42,late, again', 'no such line'],
        'app_logs/a.txt.log': ['[500] nightly'],
      },
      async (service) => {
        const [row] = await rowsOf(service, 'auth_logs');
        expect(row).to.deep.include({
          timestamp: '2026-11-20T10:00:00Z',
          severity: 'warn',
          event_message: 'late, again',
          metadata: { lvl: 'WARN', kunde: 42 },
        });
        const [rejected] = await service.result('/api/rejected?source=auth_logs');
        expect(rejected).to.include({
          line: 'no such line',
          reason: 'it is neither a JSON object nor a line of billing (TAILPOND_LINE_FORMAT)',
        });
        const [job] = await rowsOf(service, 'app_logs');
        expect(job).to.deep.include({
          status: 500,
          severity: 'error',
          event_message: '[500] nightly',
          metadata: { status: 500, job: 'nightly' },
        });
      },
    ));
});

const ahead = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

describe('the ledger', () => {
  it('counts repaired, undated, doubled and future rows, with the forms of their moments, over restarts', () =>
    withFolder(async (data) => {
      const lines = [
        ...['2026-99-01 soon', '2026-98-07 soon'].map((time) => ({ time, msg: 'm' })),
        { '@timestamp': { $date: { x: 12 } }, msg: 'm' },
        { msg: 'no field of a time' },
        { time: ahead(25), msg: 'ahead' },
        { time: ahead(23), msg: 'not far' },
        { time: ahead(0), msg: '{"msg":"m","a":{"b":[{"c":1},{"c":2}]}}' },
      ].map((line) => JSON.stringify(line));
      const within = [
        '{"msg":"m","a":[{"b":1,"c":"b","b":"2"}]}',
        '{"msg":"{\\"b\\":1,\\"b\\":2}"}',
      ];
      lines.push(...within.map((line) => line.replace('{', '{"time":"2026-11-20T10:00:00Z",')));
      lines.push('{"time":"2026-11-20T10:00:00Z","msg":"m","a":1,"a":2}', '{"msg":"m","a":-}');
      // As Supabase writes them.
      const edge = [ahead(1), ahead(-24), ahead(48)].map((timestamp) =>
        JSON.stringify({ timestamp, event_message: 'm', metadata: { n: 1 } }),
      );
      const wanted = {
        rows: 11,
        repaired: 1,
        undated: 5,
        undated_forms: [
          { field: 'time', form: '0000-00-00 soon', rows: 2 },
          { field: '@timestamp', form: '{"$date":{"x":00}}', rows: 1 },
        ],
        future: 1,
        doubled: 3,
      };
      const look = async ({ ledger }: Reading) => {
        expect(await ledger('app_logs')).to.deep.include(wanted);
        expect(await ledger('edge_logs')).to.include({
          rows: 3,
          undated: 0,
          future: 1,
          repaired: 0,
        });
      };
      await serving(data, {}, async (served) => {
        served.write('app_logs/a.log', lines);
        served.write('edge_logs/a.log', edge);
        await eventually(() => look(served));
        const [row] = await rowsOf(served, 'edge_logs');
        expect(row).to.deep.include({ event_message: 'm', metadata: { n: 1 } });
        const metrics = await served.metrics();
        for (const name of ['undated', 'repaired', 'future', 'doubled'] as const)
          expect(metrics).to.include(
            `tailpond_ingest_${name}_rows_total{source="app_logs"} ${wanted[name]}\n`,
          );
      });
      await serving(data, {}, look);
      await serving(data, {}, async (served) => {
        served.write('app_logs/b.log', ['{"time":"2026-90-07 soon"}', '{"ts":"never"}']);
        await eventually(async () => {
          const entry = await served.ledger('app_logs');
          expect(entry?.undated_forms).to.deep.equal([
            { field: 'time', form: '0000-00-00 soon', rows: 3 },
            { field: '@timestamp', form: '{"$date":{"x":00}}', rows: 1 },
            { field: 'ts', form: 'never', rows: 1 },
          ]);
        });
      });
    }));

  it('bounds the forms of a source, and their length', () =>
    reading(
      {},
      {
        'app_logs/a.log': Array.from({ length: 60 }, (_, i) =>
          JSON.stringify({ time: `${'x'.repeat(i % 30)} 7${'é'.repeat(50)}`, msg: 'm' }),
        ),
      },
      async ({ ledger }) => {
        const entry = await ledger('app_logs');
        const forms = entry?.undated_forms as { form: string; rows: number }[];
        expect([entry?.undated, forms.length]).to.deep.equal([60, 20]);
        for (const { form, rows } of forms) {
          expect([...form].length).to.be.at.most(40);
          expect(rows).to.equal(2);
        }
      },
    ));
});
