import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { dial, tokenFile } from '../faults/http.ts';
import { memoryMb } from '../faults/setup.ts';
import { eventually, type Service, TOKEN, withFolder, withService } from '../support/helpers.ts';
import { SLOW } from '../support/slow.ts';

/** The memory that a body may add to the process, in MB. */
const MORE_MB = 100;
const MANY = 1_000_000;
const JSON_TYPE = 'application/json';
const PROTOBUF = 'application/x-protobuf';

interface Sent {
  readonly path: string;
  readonly type: string;
  readonly body: Buffer;
}

const array = (element: string, count = MANY) => `[${`${element},`.repeat(count - 1)}${element}]`;
const json = (path: string, body: string, type = JSON_TYPE): Sent => ({
  path,
  type,
  body: Buffer.from(body),
});
const protobuf = (body: Buffer): Sent => ({ path: '/v1/logs', type: PROTOBUF, body });

/** A field of a message of protobuf. */
function field(number: number, value: Buffer): Buffer {
  const length: number[] = [];
  for (let rest = value.length; length.length === 0 || rest > 0; rest >>>= 7)
    length.push((rest & 127) | (rest > 127 ? 128 : 0));
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), value]);
}

/** The same field again and again, each an empty message. */
function empties(number: number): Buffer {
  return Buffer.alloc(2 * MANY, Buffer.from([(number << 3) | 2, 0]));
}

const inRecord = (value: Buffer) => field(1, field(2, field(2, value)));

/** Every way in, with more elements than a body may have, and some that hold them where they are not lines. */
const BODIES: Readonly<Record<string, Sent>> = {
  'an array of events': json('/api/logs/app_logs', array('{}')),
  // In a source that takes text, they are a line of text.
  'an array of numbers': json('/api/logs/auth_logs', array('7')),
  'an array of nothing': json('/api/logs/auth_logs', array('')),
  'events in `batch`': json('/api/logs/app_logs', `{"batch":${array('{}')}}`),
  'events with a default project': json('/api/logs/app_logs?project=p', array('{}')),
  NDJSON: json('/api/logs/app_logs', '{}\n'.repeat(MANY), 'application/x-ndjson'),
  'empty lines': json('/api/logs/app_logs', `{}${'\n'.repeat(MANY)}`, 'application/x-ndjson'),
  'events of Vector': json('/logs/vector?source_name=app_logs', array('{}')),
  'objects as metadata': json('/logs/json?source_name=app_logs', array('{}')),
  'lines of Logpush': json(
    '/logs/cloudflare?source_name=app_logs',
    '{}\n'.repeat(MANY),
    'text/plain',
  ),
  'records in JSON': json(
    '/v1/logs',
    `{"resourceLogs":[{"scopeLogs":[{"logRecords":${array('{}')}}]}]}`,
  ),
  'resources in JSON': json('/v1/logs', `{"resourceLogs":${array('{}')}}`),
  'attributes in JSON': json(
    '/v1/logs',
    `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"attributes":${array('{}')}}]}]}]}`,
  ),
  'records in protobuf': protobuf(field(1, field(2, empties(2)))),
  'resources in protobuf': protobuf(empties(1)),
  'attributes in protobuf': protobuf(inRecord(empties(6))),
  'unknown fields in protobuf': protobuf(inRecord(empties(15))),
};

async function push(service: Service, { path, type, body }: Sent, token = TOKEN) {
  const response = await fetch(service.url + path, {
    method: 'POST',
    headers: { 'X-API-KEY': token, 'Content-Type': type, 'Content-Encoding': 'gzip' },
    body: gzipSync(body),
  });
  return { status: response.status, detail: await response.text() };
}

describe('a pushed body of many elements', () => {
  it(`gets 413 with the limit, whatever it is, and takes little memory ${SLOW}`, () =>
    withFolder((data) =>
      withService(
        data,
        async (service) => {
          const tokens = tokenFile(data);
          const pinned = tokens.add({ scopes: ['ingest'], project: 'p' });
          service.child.kill('SIGHUP');
          await eventually(async () =>
            expect(
              (await push(service, json('/api/logs/auth_logs', '[]'), pinned)).status,
            ).to.equal(200),
          );
          const before = memoryMb(service, 'VmHWM');
          for (const [name, sent] of Object.entries(BODIES))
            for (const token of sent.path.includes('project=') ? [TOKEN] : [TOKEN, pinned]) {
              const { status, detail } = await push(service, sent, token);
              expect(status, name).to.equal(413);
              expect(detail, name).to.match(/at most (20000 lines|100000 values)/);
              expect(memoryMb(service, 'VmHWM') - before, name).to.be.lessThan(MORE_MB);
            }
          const { body } = await service.get('/api/ledger');
          const total = (body.result as { lines: number }[]).reduce(
            (sum, { lines }) => sum + lines,
            0,
          );
          expect(total).to.equal(0);
          const folder = join(data, 'logs/app_logs/push');
          expect(existsSync(folder) ? readdirSync(folder) : []).to.deep.equal([]);
        },
        { env: { TAILPOND_MAX_PUSH_LINES: '20000' } },
      ),
    )).timeout(120_000);

  it(`takes little memory in pieces of a byte, where it may be one object ${SLOW}`, () =>
    withFolder((data) =>
      withService(data, async (service) => {
        const before = memoryMb(service, 'VmHWM');
        const socket = dial(service.url);
        const answer = text(socket);
        const head = ['POST /api/logs/app_logs HTTP/1.1', 'Host: x', `X-API-KEY: ${TOKEN}`];
        socket.write(
          [...head, 'Transfer-Encoding: chunked', 'Connection: close', '', ''].join('\r\n'),
        );
        socket.write('6\r\n{"a":"\r\n');
        for (let n = 0; n < 10; n++) socket.write('1\r\nx\r\n'.repeat(100_000));
        socket.write('3\r\n"}\n\r\n0\r\n\r\n');
        expect(await answer).to.include('Logged!');
        expect(memoryMb(service, 'VmHWM') - before).to.be.lessThan(MORE_MB);
      }),
    )).timeout(120_000);

  it(`is stored within the limit in little memory, and others are answered meanwhile ${SLOW}`, () =>
    withFolder((data) =>
      withService(data, async (service) => {
        const lines = 50_000;
        const event = `{"message":"${'x'.repeat(150)}","level":"info","n":[1,2,{"a":"b"}]}`;
        const before = memoryMb(service, 'VmHWM');
        let answered = 0;
        let isOver = false;
        const pushed = push(
          service,
          json('/logs/vector?source_name=app_logs', array(event, lines)),
        ).finally(() => {
          isOver = true;
        });
        while (!isOver) {
          expect((await fetch(`${service.url}/livez`)).status).to.equal(200);
          if (!isOver) answered++;
        }
        const grown = memoryMb(service, 'VmHWM') - before;
        expect((await pushed).status).to.equal(200);
        expect(grown).to.be.lessThan(MORE_MB);
        // Its work took far more than this many turns.
        expect(answered).to.be.at.least(5);
        await eventually(async () => {
          const { body } = await service.get('/api/ledger?source=app_logs');
          const [ledger] = (body.result as { source: string; rows: number }[]).filter(
            ({ source }) => source === 'app_logs',
          );
          expect(ledger).to.include({ rows: lines });
        });
      }),
    )).timeout(120_000);
});
