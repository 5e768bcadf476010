import * as zlib from 'node:zlib';
import { expect } from 'chai';
import { LINE_FORMATS } from '../../server/lines/index.ts';
import { type Served, TOKEN, withApp, withFolder } from '../support/helpers.ts';

const LINES = {
  lineFormat: { app_logs: { formats: LINE_FORMATS.auto, files: [] } },
  timeZone: {},
  fields: {},
};

const serving = (action: (served: Served) => Promise<void>) =>
  withFolder((data) => withApp(data, action, { lines: LINES }));

function post(served: Served, body: string | Buffer, headers = {}, source = 'edge_logs') {
  return served.http
    .post(`/api/logs/${source}`)
    .set({ 'X-API-KEY': TOKEN, 'Content-Type': 'application/json', ...headers })
    .serialize((bytes) => bytes as unknown as string)
    .send(body as string);
}

const entry = (id: string) => JSON.stringify({ id, project: 'p', event_message: `of ${id}` });
const pretty = (id: string) => JSON.stringify(JSON.parse(entry(id)), null, 2);
const [a, b, c] = ['a', 'b', 'c'].map(entry) as [string, string, string];

describe('the body of a push', () => {
  for (const [name, body] of Object.entries({
    'one after the other': `${a}${b}${c}`,
    'over several lines each': `${pretty('a')}\n${pretty('b')}\n${pretty('c')}\n`,
    'with commas between': `${a},${b}, ${c}`,
    'with commas at the ends of lines': `${a},\n${b},\n${c},\n`,
    'as RFC 7464 has them': `\x1e${a}\n\x1e${b}\n\x1e${c}\n`,
    'with carriage returns between': `${a}\r${b}\r${c}\r`,
    'with blanks and marks between': `\ufeff${a} ${b}\t\n\ufeff${c}`,
    'in two arrays': `[${a},${b}]\n[${c}]`,
    'in two batches': `{"batch":[${a},${b}]}{"batch":[${c}]}`,
    'in lines, two of them on one': `${a}\n${b}${c}\n`,
    'in an array behind an object': `${a}\n[${b},${c}]`,
  }))
    it(`is a sequence of objects: ${name}`, () =>
      serving(async (served) => {
        const answer = await post(served, body);
        expect([answer.status, answer.body]).to.deep.equal([200, { message: 'Logged!' }]);
        expect(await served.lines(3)).to.include({ rows: 3, rejected: 0 });
        const rows = (await served.rows()).map((row) => [row.id, row.event_message]);
        expect(rows).to.have.deep.members(['a', 'b', 'c'].map((id) => [id, `of ${id}`]));
      }));

  it('keeps an object as it is written, whatever is around it', () =>
    serving(async (served) => {
      await post(served, `{"id":"a","metadata":{"n":1.10}}{"id":"b",\n"metadata":{"n":1e400}}`);
      await served.lines(2);
      const rows = await served.rows();
      expect(rows.map(({ metadata }) => metadata)).to.have.members(['{"n":1.10}', '{"n":1e400}']);
    }));

  it('makes rejected lines of what is not an object, where something is', () =>
    serving(async (served) => {
      await post(served, `${a}\n{"id":\nplain\n${b} more\n7\n${pretty('c')}`);
      expect(await served.lines(6)).to.include({ rows: 2, rejected: 4 });
      const lines = (await served.rejected()).map(({ line }) => line);
      expect(lines).to.have.members(['{"id":', 'plain', `${b} more`, '7']);
    }));

  it('gets 400 with the reason where nothing of it can be a row, and nothing is stored', () =>
    serving(async (served) => {
      for (const [body, ...parts] of [
        ['plain text\nand more', 'unexpected "p" at byte 0', 'TAILPOND_LINE_FORMAT=edge_logs=auto'],
        ['7', 'it is a number'],
        ['[1,2]', 'it is a number'],
        ['"text"', 'it is a text'],
        ['null\n', 'it is null'],
        ['event_message=hello+world&level=info', 'the body is a form'],
        ['{"id":', 'it ends early, at byte 6'],
        ['{"id":"a"} more', 'unexpected "m"'],
      ] as const) {
        const answer = await post(served, body);
        expect(answer.status, body).to.equal(400);
        expect(answer.body.code).to.equal('REQUEST_INVALID');
        for (const part of [
          'Expected at least one JSON object',
          '{"event_message":"text"}',
          ...parts,
        ])
          expect(answer.body.detail, body).to.include(part);
      }
      for (const body of ['', '[]', ' \n', '[ ]\n[]'])
        expect((await post(served, body)).status, body).to.equal(200);
      await post(served, a);
      expect(await served.lines(1)).to.include({ rows: 1, rejected: 0 });
    }));

  it('is unpacked where its first bytes say how it is packed', () =>
    serving(async (served) => {
      expect((await post(served, zlib.gzipSync(a))).status).to.equal(200);
      expect(await served.lines(1)).to.include({ rows: 1, rejected: 0 });
      const cut = await post(served, zlib.gzipSync(a).subarray(0, -9));
      expect([cut.status, cut.body.detail]).to.deep.equal([
        400,
        'Expected the body to be packed by gzip, as it begins like that, got something else.',
      ]);
    }));

  // Older releases of Node.js have no zstd: there it gets 415, as the next case shows.
  const { zstdCompressSync: pack } = zlib as { zstdCompressSync?: (text: string) => Buffer };
  if (pack)
    it('is unpacked from zstd, whatever frames it is of', () =>
      serving(async (served) => {
        const frames = Buffer.concat([
          pack(a),
          pack('\n'),
          pack(''),
          pack('{"b":1}'.repeat(20_000)),
        ]);
        const named = { 'Content-Encoding': 'zstd' };
        expect((await post(served, frames)).status).to.equal(200);
        expect((await post(served, frames, named)).status).to.equal(200);
        expect(await served.lines(40_002)).to.include({ rows: 40_002, rejected: 0 });
        for (const broken of [
          frames.subarray(0, -9),
          Buffer.concat([pack(a), Buffer.from('more')]),
        ])
          expect((await post(served, broken, named)).status).to.equal(400);
        expect(await served.lines(40_002)).to.include({ rows: 40_002, rejected: 0 });
      }));

  it('gets 415 where it is packed in a way that cannot be unpacked', () =>
    serving(async (served) => {
      for (const [name, start] of Object.entries({
        zip: 'PK\x03\x04',
        bzip2: 'BZh91AY&SY',
        xz: '\xfd7zXZ\0',
        ...('createZstdDecompress' in zlib ? {} : { zstd: '\x28\xb5\x2f\xfd' }),
      })) {
        const answer = await post(served, Buffer.from(`${start}more`, 'latin1'), {}, 'app_logs');
        expect(answer.status, name).to.equal(415);
        expect(answer.body.code).to.equal('ENCODING_UNKNOWN');
        expect(answer.body.detail).to.include(`got one that begins like ${name}`);
      }
      expect(await served.lines(0, 'app_logs')).to.include({ rows: 0, rejected: 0 });
    }));

  it('is text, line by line, where its source has a text format', () =>
    serving(async (served) => {
      const lines = ['[2026-11-20 10:00:00] one', 'level=warn msg=two', '[error] three', '7'];
      const type = { 'Content-Type': 'text/plain' };
      expect((await post(served, lines.join('\n'), type, 'app_logs')).status).to.equal(200);
      expect((await post(served, `[${a}]\nmore`, type, 'app_logs')).status).to.equal(400);
      expect(await served.lines(4, 'app_logs')).to.include({ rows: 4, rejected: 0 });
      const messages = (await served.rows('app_logs')).map((row) => row.event_message);
      expect(messages).to.include.members(['two', '7']);
      expect(messages.join()).to.include('one').and.include('three');
    }));
});
