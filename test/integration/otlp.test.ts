import { gzipSync } from 'node:zlib';
import { ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { SeverityNumber } from '@opentelemetry/api-logs';
import { OTLPLogExporter as JsonExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPLogExporter as ProtobufExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { expect } from 'chai';
import { tokenFile } from '../faults/http.ts';
import { eventually, type Service, TOKEN, withFolder, withService } from '../support/helpers.ts';

const EXPORTERS = { JSON: JsonExporter, protobuf: ProtobufExporter };

const SPAN = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  traceFlags: 1,
};

const ATTRIBUTES = {
  'http.response.status_code': 503,
  ratio: 0.5,
  ok: false,
  list: ['a', 'b'],
  text: 'ü "quoted" \u0000 \n',
  deep: { in: { side: 1 } },
  large: Number.MAX_SAFE_INTEGER,
};

interface Entry {
  readonly timestamp: string;
  readonly project: string | null;
  readonly severity: string | null;
  readonly status: number | null;
  readonly event_message: string;
  readonly metadata: Record<string, unknown>;
}

describe('OTLP/HTTP', () => {
  for (const [encoding, Exporter] of Object.entries(EXPORTERS))
    for (const compression of ['none', 'gzip'])
      it(`takes what the official exporter sends, in ${encoding}, compression ${compression}`, () =>
        withFolder((data) =>
          withService(data, async (service) => {
            const provider = new LoggerProvider({
              resource: resourceFromAttributes({ 'service.name': 'shop', 'host.cpus': 4 }),
              processors: [
                new BatchLogRecordProcessor({
                  exporter: new Exporter({
                    url: `${service.url}/v1/logs`,
                    headers: { Authorization: `Bearer ${TOKEN}` },
                    compression: compression as never,
                  }),
                }),
              ],
            });
            const logger = provider.getLogger('cart', '1.2.3');
            logger.emit({
              timestamp: Date.parse('2026-11-20T10:00:00.123Z'),
              severityNumber: SeverityNumber.ERROR,
              severityText: 'ERROR',
              context: trace.setSpanContext(ROOT_CONTEXT, SPAN),
              body: 'it broke',
              attributes: ATTRIBUTES,
            });
            logger.emit({ severityNumber: SeverityNumber.DEBUG3, body: { a: [1, { b: 'c' }] } });
            await provider.forceFlush();
            const entries = await entriesOf(service, 'app_logs', 2);
            const [first, second] = [
              entries.find(({ severity }) => severity === 'error'),
              entries.find(({ severity }) => severity === 'debug'),
            ];
            expect(first).to.deep.include({
              timestamp: '2026-11-20T10:00:00.123Z',
              project: 'shop',
              severity: 'error',
              status: 503,
              event_message: 'it broke',
            });
            const { resource, ...metadata } = first?.metadata ?? {};
            expect(metadata).to.deep.equal({
              severity_text: 'ERROR',
              severity_number: 17,
              trace_id: SPAN.traceId,
              span_id: SPAN.spanId,
              flags: 1,
              attributes: ATTRIBUTES,
              scope: { name: 'cart', version: '1.2.3' },
            });
            expect(resource).to.include({ 'service.name': 'shop', 'host.cpus': 4 });
            expect(second).to.deep.include({ event_message: '{"a":[1,{"b":"c"}]}' });
            expect(second?.metadata.body).to.deep.equal({ a: [1, { b: 'c' }] });
            await provider.shutdown();
          }),
        ));

  it('puts services into the sources of their names, where the setting says so', () =>
    withFolder((data) =>
      withService(
        data,
        async (service) => {
          const records = (name: string | null) => ({
            resource: { attributes: name ? [attribute('service.name', name)] : [] },
            scopeLogs: [{ logRecords: [{ body: { stringValue: `of ${name}` } }] }],
          });
          const services = ['Nginx-Logs', 'other', null].map(records);
          const answer = await send(service, { resourceLogs: services });
          expect([answer.status, await answer.json()]).to.deep.equal([200, {}]);
          const [own] = await entriesOf(service, 'nginx_logs', 1);
          expect(own).to.include({ event_message: 'of Nginx-Logs', project: 'default' });
          const others = await entriesOf(service, 'app_logs', 2);
          expect(others.map((each) => each.event_message)).to.have.members(['of other', 'of null']);
        },
        { env: { TAILPOND_SOURCES: 'nginx_logs', TAILPOND_OTLP_SERVICE: 'source' } },
      ),
    ));

  it('says how many records are not stored as rows, and keeps these as rejected lines', () =>
    withFolder((data) =>
      withService(
        data,
        async (service) => {
          const logRecords = [
            { body: { stringValue: 'x'.repeat(3000) } },
            // Of the year 2255: an undated row, which keeps its text.
            { timeUnixNano: '9000000000000000000', body: { stringValue: 'too late' } },
            { timeUnixNano: '1763632800123456789', body: { stringValue: 'fine' } },
          ];
          const answer = await send(service, { resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
          expect(answer.status).to.equal(200);
          const { partialSuccess } = (await answer.json()) as Record<
            string,
            Record<string, string>
          >;
          expect(partialSuccess?.rejectedLogRecords).to.equal('1');
          expect(partialSuccess?.errorMessage).to.include('2048 bytes').and.not.include('2255');
          const entries = await entriesOf(service, 'app_logs', 2);
          const of = (message: string) =>
            entries.find(({ event_message }) => event_message === message);
          expect(of('too late')?.metadata).to.deep.equal({
            timestamp: '2255-03-14T16:00:00.000000Z',
          });
          expect(of('fine')).to.include({
            event_message: 'fine',
            timestamp: '2025-11-20T10:00:00.123456Z',
          });
          await eventually(async () => {
            const { body } = await service.get('/api/rejected?source=app_logs');
            expect(body.result).to.have.length(1);
          });
        },
        { env: { TAILPOND_MAX_LINE: '2KiB' } },
      ),
    ));

  it('takes records without a body, and text that is not UTF-8', () =>
    withFolder((data) =>
      withService(data, async (service) => {
        const logRecords = [{ body: null, attributes: null }, { body: {} }, {}];
        const answer = await send(service, {
          resourceLogs: [
            { resource: null, scopeLogs: [{ scope: null, logRecords }] },
            { scopeLogs: null },
          ],
        });
        expect([answer.status, await answer.json()]).to.deep.equal([200, {}]);
        const entries = await entriesOf(service, 'app_logs', 3);
        for (const { event_message: message, metadata } of entries)
          expect([message, metadata]).to.deep.equal(['', {}]);
        // A request with one record, whose body is the text "a", a byte that is not UTF-8, and "b".
        const field = (number: number, bytes: Buffer) =>
          Buffer.concat([Buffer.of(number * 8 + 2, bytes.length), bytes]);
        const body = field(5, field(1, Buffer.from('a\xffb', 'latin1')));
        const protobuf = field(1, field(2, field(2, body)));
        const { status } = await fetch(`${service.url}/v1/logs`, {
          method: 'POST',
          headers: { 'X-API-KEY': TOKEN, 'Content-Type': 'application/x-protobuf' },
          body: new Uint8Array(protobuf),
        });
        expect(status).to.equal(200);
        const all = await entriesOf(service, 'app_logs', 4);
        expect(all.map(({ event_message: message }) => message)).to.include('a\ufffdb');
      }),
    ));

  it('finds a message in records without a text as their body, and reads names in snake case', () =>
    withFolder((data) =>
      withService(data, async (service) => {
        const text = (string_value: string) => ({ string_value });
        const log_records = [
          { event_name: 'user.login', attributes: [{ key: 'a_b', value: text('c') }] },
          { attributes: [{ key: 'exception.message', value: text('it broke') }] },
          { attributes: [{ key: 'n', value: { int_value: '7' } }] },
          {
            severity_number: 'SEVERITY_NUMBER_ERROR2',
            body: {
              kvlist_value: {
                values: [
                  { key: 'msg', value: text('paid') },
                  { key: 'order', value: { int_value: 7 } },
                ],
              },
            },
          },
        ];
        const answer = await send(service, { resource_logs: [{ scope_logs: [{ log_records }] }] });
        expect([answer.status, await answer.json()]).to.deep.equal([200, {}]);
        const entries = await entriesOf(service, 'app_logs', 4);
        const of = (message: string) => entries.find((entry) => entry.event_message === message);
        expect(of('user.login')?.metadata).to.deep.equal({
          event_name: 'user.login',
          attributes: { a_b: 'c' },
        });
        expect(of('it broke')?.metadata).to.have.property('attributes');
        expect(of('{"n":7}')?.metadata).to.deep.equal({ attributes: { n: 7 } });
        expect(of('paid')).to.deep.include({ severity: 'error' });
        expect(of('paid')?.metadata).to.deep.equal({ severity_number: 18, body: { order: 7 } });
      }),
    ));

  it('keeps a token to its project, and refuses what is not a request of OTLP in OTLP’s form', () =>
    withFolder(async (data) => {
      const tokens = tokenFile(data);
      const token = tokens.add({ scopes: ['ingest'], project: 'mine' });
      const reader = tokens.add({ scopes: ['query'] });
      await withService(data, async (service) => {
        const request = {
          resourceLogs: [
            {
              resource: { attributes: [attribute('service.name', 'theirs')] },
              scopeLogs: [{ logRecords: [{ body: { stringValue: 'm' } }] }],
            },
          ],
        };
        expect((await send(service, request, { 'X-API-KEY': token })).status).to.equal(200);
        const [entry] = await entriesOf(service, 'app_logs', 1);
        expect(entry).to.include({ project: 'mine', event_message: 'm' });
        expect((await send(service, request, { 'X-API-KEY': reader })).status).to.equal(403);
        expect((await send(service, request, { 'X-API-KEY': 'wrong' })).status).to.equal(401);
        for (const [type, body, said] of [
          ['application/json', 'no JSON', 'Expected an ExportLogsServiceRequest'],
          ['application/json', '[]', 'got no object'],
          ['application/json', '{"resourceLogs":7}', 'got no list'],
          ['application/json', '{"resourceLogs":[7]}', 'where an object is expected'],
          [
            'application/json',
            '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":"text"}]}]}]}',
            'where an object is expected',
          ],
          [
            'application/json',
            `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":${'{"arrayValue":{"values":['.repeat(200)}${']}}'.repeat(200)}}]}]}]}`,
            'at most 100 levels',
          ],
          ['application/x-protobuf', '\u0001\u0002 no protobuf', 'as application/x-protobuf'],
          ['text/plain', 'x', 'Expected the Content-Type'],
        ] as const) {
          const answer = await fetch(`${service.url}/v1/logs`, {
            method: 'POST',
            headers: { 'X-API-KEY': TOKEN, 'Content-Type': type },
            body,
          });
          expect(answer.status, body.slice(0, 50)).to.equal(type === 'text/plain' ? 415 : 400);
          expect(await answer.text(), body.slice(0, 50)).to.include(said);
        }
        const { body } = await service.get('/api/ledger');
        const entries = body.result as { source: string; lines: number }[];
        expect(entries.find(({ source }) => source === 'app_logs')?.lines).to.equal(1);
      });
    }));
});

function attribute(key: string, stringValue: string) {
  return { key, value: { stringValue } };
}

function send(service: Service, request: object, headers: object = { 'X-API-KEY': TOKEN }) {
  return fetch(`${service.url}/v1/logs`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
    body: new Uint8Array(gzipSync(JSON.stringify(request))),
  });
}

async function entriesOf(service: Service, source: string, count: number): Promise<Entry[]> {
  return eventually(async () => {
    const { body } = await service.get(`/api/entries/${source}`);
    const entries = body.result as Entry[];
    expect(entries).to.have.length(count);
    return entries;
  });
}
