import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually, type Service, TOKEN, withFolder, withService } from '../support/helpers.ts';

/**
 * Requests as the programs around Logflare in a self-hosted Supabase write them to a socket, byte by byte: put together from what their
 * sources and documents say, since the programs themselves were not run.
 */
const request = (lines: readonly string[], body = '') =>
  `${[...lines, ...(body === '' ? [] : [`content-length: ${Buffer.byteLength(body)}`]), '', body].join('\r\n')}`;

/** Sends the bytes, and gives what comes until the other side ends. */
async function replay(
  { url }: Service,
  bytes: string,
): Promise<{ status: number; head: string; body: string }> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.setEncoding('utf8');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  await once(socket, 'connect');
  socket.write(bytes);
  await eventually(() => expect(isWhole(text)).to.equal(true));
  socket.destroy();
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
  return { status, head: head.toLowerCase(), body: rest.join('\r\n\r\n') };
}

function isWhole(text: string): boolean {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const length = /content-length: (\d+)/i.exec(head)?.[1];
  return length !== undefined && Buffer.byteLength(rest.join('\r\n\r\n')) >= Number(length);
}

const VECTOR = (name: string) => [
  `POST /api/logs?source_name=${name} HTTP/1.1`,
  'x-api-key: public-of-env',
  'content-type: application/json',
  'user-agent: Vector/0.53.0 (x86_64-unknown-linux-musl b4bdbb2 2026-01-27)',
  'accept-encoding: identity',
  'host: analytics:4000',
];

/** Node's fetch, by which Studio's server asks. */
const STUDIO = (method: string, path: string, token: readonly string[]) => [
  `${method} ${path} HTTP/1.1`,
  'host: analytics:4000',
  'connection: keep-alive',
  ...token,
  'Content-Type: application/json',
  'Accept: application/json',
  'accept-language: *',
  'sec-fetch-mode: cors',
  'user-agent: node',
  'accept-encoding: gzip, deflate',
];
const BY_KEY = ['x-api-key: private-of-env'];
const BY_BEARER = ['Authorization: Bearer private-of-env'];

const ENVOY = `[{"appname":"supabase-envoy","event_message":"172.18.0.1 - - [26/Nov/2026:11:51:17 +0000] \\"GET /rest/v1/todos?select=* HTTP/1.1\\" 200 312 \\"-\\" \\"curl/8.18.0\\"","metadata":{"request":{"headers":{"cf_connecting_ip":"172.18.0.1","referer":null,"user_agent":"curl/8.18.0"},"method":"GET","path":"/rest/v1/todos?select=*","protocol":"HTTP/1.1"},"response":{"status_code":200}},"project":"default","timestamp":"2026-11-26T11:51:17Z"}]`;

const serving = (action: (service: Service) => Promise<void>) =>
  withFolder((folder) =>
    withService(join(folder, 'data'), action, {
      env: {
        TAILPOND_TOKEN: TOKEN,
        LOGFLARE_PUBLIC_ACCESS_TOKEN: 'public-of-env',
        LOGFLARE_PRIVATE_ACCESS_TOKEN: 'private-of-env',
      },
    }),
  );

describe('requests of the programs around Logflare, replayed', () => {
  it('Vector pushes the lines of Envoy, and Studio finds them in either dialect', () =>
    serving(async (service) => {
      const pushed = await replay(service, request(VECTOR('cloudflare.logs.prod'), ENVOY));
      expect([pushed.status, pushed.body]).to.deep.equal([200, '{"message":"Logged!"}']);
      const sql = encodeURIComponent(
        "select id, timestamp, event_message, request.method, request.path, response.status_code from edge_logs cross join unnest(metadata) as m cross join unnest(m.request) as request cross join unnest(m.response) as response where regexp_contains(request.path, '/rest') order by timestamp desc limit 100",
      );
      const times = 'iso_timestamp_start=2026-11-26T10:51:17.000Z&iso_timestamp_end=';
      const path = `/api/endpoints/query/logs.all?project=default&sql=${sql}&${times}`;
      await eventually(async () => {
        const { status, body } = await replay(service, request(STUDIO('GET', path, BY_KEY), ''));
        expect(status).to.equal(200);
        const [row] = JSON.parse(body).result;
        expect(row).to.include({
          method: 'GET',
          path: '/rest/v1/todos?select=*',
          status_code: 200,
        });
        expect(String(row.timestamp)).to.have.length(16);
      });
      const otel = encodeURIComponent(
        "-- Logs Preview Query (otel) ['edge_logs']\nSELECT id, timestamp, event_message, log_attributes['request.method'] AS method, log_attributes['request.headers.referer'] AS referer, log_attributes['response.status_code'] AS status_code\nFROM logs\nWHERE source = 'edge_logs'\nORDER BY timestamp DESC\nLIMIT 100",
      );
      const asked = await replay(
        service,
        request(
          STUDIO(
            'GET',
            `/api/endpoints/query/logs.all.otel?project=default&sql=${otel}&${times}`,
            BY_KEY,
          ),
        ),
      );
      const [row] = JSON.parse(asked.body).result;
      expect(row).to.include({
        timestamp: '2026-11-26T11:51:17.000000',
        method: 'GET',
        referer: '',
        status_code: '200',
      });
      expect(JSON.parse(asked.body)).not.to.have.property('error');
    }));

  it("Studio's page of log drains lists none, and making one fails where Studio reads the answer", () =>
    serving(async (service) => {
      const list = '/api/backends?metadata%5Btype%5D=log-drain';
      const listed = await replay(service, request(STUDIO('GET', list, BY_BEARER)));
      expect([listed.status, listed.body]).to.deep.equal([200, '[]']);
      const drain =
        '{"name":"mine","description":"","type":"webhook","config":{"url":"https://example.org"},"metadata":{"type":"log-drain"}}';
      const made = await replay(
        service,
        request(STUDIO('POST', '/api/backends', BY_BEARER), drain),
      );
      expect(made.status).to.equal(405);
      expect(made.head).to.include('content-type: text/plain');
      expect(() => JSON.parse(made.body)).to.throw(SyntaxError);
      const sources = await replay(service, request(STUDIO('GET', '/api/sources', BY_BEARER)));
      expect(JSON.parse(sources.body)).to.be.an('array').with.length.above(8);
    }));

  it("Compose's check of health by curl passes without a token, and a swapped token is refused in words", () =>
    serving(async (service) => {
      const health = await replay(
        service,
        request([
          'GET /health HTTP/1.1',
          'Host: localhost:4000',
          'User-Agent: curl/8.14.1',
          'Accept: */*',
        ]),
      );
      expect(health.status).to.equal(200);
      const swapped = VECTOR('postgres.logs').map((line) =>
        line.replace('public-of', 'private-of'),
      );
      const pushed = await replay(service, request(swapped, '[{"event_message":"x"}]'));
      expect([pushed.status, JSON.parse(pushed.body).error.message]).to.deep.equal([
        403,
        'Expected a token with the scope "ingest", got one without it.',
      ]);
    }));
});
