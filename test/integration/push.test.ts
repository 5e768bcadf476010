import { readdirSync, readFileSync, renameSync, symlinkSync, unlinkSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { allSources, SUPABASE_SOURCES } from '../../ingest/index.ts';
import { openPushFiles, type PushFiles } from '../../server/push/index.ts';
import { LOGFLARE_NAMES } from '../../server/push/source.ts';
import { WAITS } from '../../server/waits.ts';
import { tokenFile } from '../faults/http.ts';
import {
  eventually,
  type Served,
  silent,
  TOKEN,
  withApp,
  withFolder,
  withService,
} from '../support/helpers.ts';
import { SLOW } from '../support/slow.ts';

const LOGGED = { message: 'Logged!' };

const serving = (action: (served: Served) => Promise<void>) =>
  withFolder((data) => withApp(data, action));

/** Posts bytes as they are, as the shipper of the test would send them. */
function post(served: Served, path: string, body: string | Buffer, headers = {}) {
  return served.http
    .post(path)
    .set({ 'X-API-KEY': TOKEN, 'Content-Type': 'application/json', ...headers })
    .serialize((bytes) => bytes as unknown as string)
    .send(body as string);
}

const EDGE = '/api/logs/edge_logs';
const entry = (id: string, more = {}) => ({ id, project: 'p', event_message: id, ...more });

async function stored(served: Served, rows: number, rejected = 0) {
  const ledger = await served.lines(rows + rejected);
  expect(ledger).to.include({ rows, rejected });
  return (await served.rows()).map(({ id }) => id);
}

describe('POST /api/logs', () => {
  it('takes what the http sink of Vector sends in a self-hosted Supabase', () =>
    serving(async (served) => {
      const timestamp = '2026-11-20T14:00:00.123456789Z';
      const events = ['a', 'b'].map((id) =>
        entry(id, { timestamp, appname: 'kong', metadata: { response: { status_code: 200 } } }),
      );
      for (const [source, name] of Object.entries(LOGFLARE_NAMES)) {
        const { status, body } = await post(
          served,
          `/api/logs?source_name=${name}`,
          gzipSync(JSON.stringify(events)),
          { 'Content-Encoding': 'gzip', 'User-Agent': 'Vector/0.28.1' },
        );
        expect({ status, body }, source).to.deep.equal({ status: 200, body: LOGGED });
      }
      for (const source of SUPABASE_SOURCES) {
        const ledger = await served.lines(2, source);
        expect(ledger).to.include({ rows: 2, undated: 0 });
        const [row] = await served.rows(source);
        expect(row).to.include({ id: 'a', project: 'p', event_message: 'a' });
      }
    }));

  it('takes a source by its own name and by that of Logflare, in the path and as a parameter', () =>
    serving(async (served) => {
      const names = ['edge_logs', 'cloudflare.logs.prod'];
      const paths = ['/api/logs/', '/api/logs?source=', '/api/logs?source_name='];
      for (const path of paths)
        for (const name of names)
          expect((await post(served, path + name, '[{}]')).body, path + name).to.deep.equal(LOGGED);
      await stored(served, 6);
    }));

  it('takes an array, one object and NDJSON, however they are broken over lines', () =>
    serving(async (served) => {
      const pretty = (value: unknown) => JSON.stringify(value, null, 2);
      for (const body of [
        JSON.stringify([entry('a1'), entry('a2', { metadata: { text: '],[{}",\\' } })]),
        `\ufeff \r\n${pretty([entry('a3', { metadata: [{ list: [1, [2]] }] }), entry('a4')])}\n`,
        pretty(entry('o1')),
        JSON.stringify(entry('o2')),
        `${JSON.stringify(entry('n1'))}\n\n${JSON.stringify(entry('n2'))}\r\n`,
        `${JSON.stringify(entry('n3'))}\n${JSON.stringify(entry('n4'))}`,
        '[]',
        ' [ ]\n',
        '',
      ])
        expect((await post(served, EDGE, body)).body, body).to.deep.equal(LOGGED);
      expect(await stored(served, 10)).to.have.members('a1 a2 a3 a4 n1 n2 n3 n4 o1 o2'.split(' '));
    }));

  it('reads lines behind a byte-order mark, and names with escapes', () =>
    serving(async (served) => {
      const type = { 'Content-Type': 'application/x-ndjson' };
      await post(served, EDGE, `\ufeff${JSON.stringify(entry('m1'))}\n`, type);
      await post(served, EDGE, `\ufeff\n${JSON.stringify(entry('m2'))}\n`, type);
      await post(served, EDGE, '{"b\\u0061tch":[{"id":"e1"},{"id":"e2"}]}');
      await post(served, '/logs', '{"id":"e3","s\\u006furce":"edge_logs"}');
      expect(await stored(served, 5)).to.have.members(['m1', 'm2', 'e1', 'e2', 'e3']);
    }));

  it('keeps the text of an element: long numbers, repeated keys', () =>
    serving(async (served) => {
      const metadata = '{"n":12345678901234567890123, "n":1.10,"x":1e400}';
      await post(served, EDGE, `[{"id":"a","metadata":${metadata}},{"id":"b"}]`);
      const [path = ''] = pushed(served);
      const text = readFileSync(join(served.data, 'logs/edge_logs/push', path), 'utf8');
      expect(text.split('\n')[1]?.trim()).to.equal(`{"id":"a","metadata":${metadata}}`);
      await stored(served, 2);
      expect((await served.rows())[0]?.metadata).to.include('12345678901234567890123,"n"');
    }));

  it('makes a rejected line of an element that is not an object, and a row of its neighbours', () =>
    serving(async (served) => {
      const body =
        '[{"id":"a"},null,7,"x",[1,\n2],{"id":},{"id":"b\nc"},{"id":"n","timestamp":"never"},{"id":"z"}]';
      expect((await post(served, EDGE, body)).body).to.deep.equal(LOGGED);
      expect(await stored(served, 4, 5)).to.have.members(['a', 'b\rc', 'n', 'z']);
      const lines = (await served.rejected()).map(({ line }) => line);
      expect(lines).to.have.members(['null', '7', '"x"', '[1, 2]', '{"id":}']);
    }));

  it('makes a rejected line of an NDJSON line that is not an object, and rows of the others', () =>
    serving(async (served) => {
      await post(served, EDGE, '{"id":\n{"id":"a"}\nplain text\n{"id":"b"}\n');
      await post(served, EDGE, 'more text\n{"id":"c"}');
      expect(await stored(served, 3, 3)).to.deep.equal(['a', 'b', 'c']);
    }));

  it('acknowledges nothing that is written outside the drop folder', () =>
    withFolder((data) =>
      withApp(data, async (served) => {
        const [push, outside] = [join(data, 'logs/edge_logs/push'), join(data, 'outside')];
        expect((await post(served, EDGE, JSON.stringify(entry('a')))).status).to.equal(200);
        // Otherwise the file may be moved away before it is read.
        await served.lines(1);
        // A file in the folder is open, and the next one is about to be made.
        renameSync(push, outside);
        symlinkSync(outside, push);
        const before = readdirSync(outside);
        for (const id of ['b', 'c', 'd']) {
          const { status, body } = await post(served, EDGE, JSON.stringify(entry(id)));
          expect(status, id).to.equal(503);
          expect(body.code).to.equal('STORAGE_UNAVAILABLE');
        }
        expect(readdirSync(outside)).to.deep.equal(before);
        unlinkSync(push);
        expect((await post(served, EDGE, JSON.stringify(entry('e')))).status).to.equal(200);
        await eventually(async () =>
          expect((await served.rows()).map(({ id }) => id)).to.include.members(['a', 'e']),
        );
      }),
    ));

  it('gives an entry without a timestamp the time of ingestion, and counts it', () =>
    serving(async (served) => {
      await post(served, EDGE, '[{"id":"a"}]');
      expect(await served.lines(1)).to.include({ undated: 1 });
    }));

  it('unpacks gzip, deflate and brotli, and refuses other encodings', () =>
    serving(async (served) => {
      const text = (id: string) => Buffer.from(JSON.stringify([entry(id)]));
      const two = Buffer.concat([gzipSync(`[${'{},'.repeat(3)}`), gzipSync('{}]')]);
      for (const [encoding, body] of [
        ['gzip', gzipSync(text('gzip'))],
        ['deflate', deflateSync(text('deflate'))],
        ['br', brotliCompressSync(text('br'))],
        ['identity', text('identity')],
        ['GZIP', two],
      ] as const) {
        const answer = await post(served, EDGE, body, { 'Content-Encoding': encoding });
        expect(answer.body, encoding).to.deep.equal(LOGGED);
      }
      const check = async (encoding: string, body: Buffer, status: number, code: string) => {
        const answer = await post(served, EDGE, body, { 'Content-Encoding': encoding });
        expect(answer.status, encoding).to.equal(status);
        expect(answer.body.code).to.equal(code);
        expect(answer.body.detail, encoding).to.match(/^Expected the /);
      };
      await check('compress', text('x'), 415, 'ENCODING_UNKNOWN');
      await check('constructor', text('x'), 415, 'ENCODING_UNKNOWN');
      await check('gzip', text('x'), 400, 'REQUEST_INVALID');
      await check('gzip', gzipSync(text('x')).subarray(0, -9), 400, 'REQUEST_INVALID');
      await check('br', text('x'), 400, 'REQUEST_INVALID');
      await stored(served, 8);
    }));

  it(`refuses what is too large, as it is sent and unpacked, and stores nothing of it ${SLOW}`, () =>
    serving(async (served) => {
      const array = (bytes: number) => Buffer.from(`[{}${' '.repeat(bytes - 4)}]`);
      const check = async (body: Buffer, headers: object, status: number) => {
        const answer = await post(served, EDGE, body, headers);
        expect(answer.status).to.equal(status);
        if (status !== 200) expect(answer.body.code).to.equal('BODY_TOO_LARGE');
      };
      const gzip = { 'Content-Encoding': 'gzip' };
      await check(array(12_000_000), {}, 200);
      await check(array(12_000_001), {}, 413);
      await check(gzipSync(array(32_000_000)), gzip, 200);
      await check(gzipSync(array(32_000_001)), gzip, 413);
      // 100 MB in 0.1 MB: the memory it takes is bounded by the limit.
      await check(gzipSync(array(100_000_000)), gzip, 413);
      // The blanks belong to the line, so it is longer than a line may be.
      await stored(served, 0, 2);
    }));

  it('counts the bytes of a body whose length was not declared', () =>
    withFolder((data) =>
      withService(data, async ({ url }) => {
        const push = async (bytes: number) => {
          const body = new Blob(['[{}', ' '.repeat(bytes - 4), ']']).stream();
          const headers = { 'X-API-KEY': TOKEN };
          const options = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
          return (await fetch(url + EDGE, options)).status;
        };
        await eventually(async () => expect((await fetch(`${url}/readyz`)).status).to.equal(200));
        expect(await push(12_000_000)).to.equal(200);
        expect(await push(12_000_001)).to.equal(413);
      }),
    ));

  it('refuses an incomplete array, and stores nothing of it', () =>
    serving(async (served) => {
      for (const body of ['[{},', '[{}', '[{}]]', '[{}] 7', '[{}}', '[{"a":"b]', '[']) {
        const answer = await post(served, EDGE, body);
        expect(answer.status, body).to.equal(400);
        expect(answer.body.code).to.equal('REQUEST_INVALID');
        expect(answer.body.detail).to.include('one whole JSON array');
      }
      await post(served, EDGE, '[{"id":"a"}]');
      expect(await stored(served, 1)).to.deep.equal(['a']);
    }));

  it('stores a large body as a whole, or nothing of it', () =>
    serving(async (served) => {
      const ids = Array.from({ length: 12_000 }, (_, n) => `large-${n}`);
      const body = JSON.stringify(
        ids.map((id) => entry(id, { metadata: { text: 'x'.repeat(100) } })),
      );
      const cut = await post(served, EDGE, body.slice(0, -1));
      expect(cut.status).to.equal(400);
      expect(pushed(served)).to.deep.equal([]);
      expect((await post(served, EDGE, body)).body).to.deep.equal(LOGGED);
      expect(await stored(served, ids.length)).to.have.members(ids);
    }));

  it('says which sources there are when the given one is unknown, or none or two are given', () =>
    serving(async (served) => {
      const check = async (path: string, status: number, code: string, ...parts: string[]) => {
        const answer = await post(served, path, '[{}]');
        expect(answer.status, path).to.equal(status);
        expect(answer.body.code).to.equal(code);
        for (const part of parts) expect(answer.body.detail).to.include(part);
      };
      const all = [...allSources(), ...Object.values(LOGFLARE_NAMES)];
      await check('/api/logs?source_name=nope', 404, 'SOURCE_UNKNOWN', '"nope"', ...all);
      await check('/api/logs/Edge_logs', 404, 'SOURCE_UNKNOWN', '"Edge_logs"');
      await check('/api/logs/..%2Fedge_logs', 404, 'SOURCE_UNKNOWN', '../edge_logs');
      await check('/api/logs', 400, 'PARAMETER_INVALID', 'got none');
      await check('/api/logs?source=', 400, 'PARAMETER_INVALID', 'got none');
      const twice = '/api/logs?source=edge_logs&source_name=auth_logs';
      await check(twice, 400, 'PARAMETER_INVALID', '"edge_logs"', '"auth_logs"');
      await check('/api/logs/edge_logs?source=edge_logs', 400, 'PARAMETER_INVALID');
      await check('/api/logs?source[]=edge_logs', 400, 'PARAMETER_INVALID');
      expect(pushed(served)).to.deep.equal([]);
    }));

  it('answers other methods with 405 and the one that is allowed', () =>
    serving(async (served) => {
      for (const method of ['get', 'put', 'delete', 'patch'] as const) {
        for (const path of ['/api/logs', EDGE, '/api/logs/']) {
          const answer = await served.http[method](path).set('X-API-KEY', TOKEN);
          expect(answer.status, path).to.equal(405);
          expect(answer.headers.allow).to.equal('POST');
        }
      }
    }));

  it('is for tokens of the scope ingest, and those of one project push lines of that one alone', () =>
    withFolder(async (data) => {
      const file = tokenFile(data);
      const [ingest, query, admin, pinned] = [
        file.add({ scopes: ['ingest'] }),
        file.add({ scopes: ['query'] }),
        file.add({ scopes: ['admin'] }),
        file.add({ scopes: ['ingest', 'query'], project: 'p' }),
      ];
      await withApp(data, async (served) => {
        const check = async (headers: object, status: number, code?: string) => {
          const answer = await post(served, EDGE, '[{}]', { 'X-API-KEY': '', ...headers });
          expect(answer.status).to.equal(status);
          expect(answer.body.code).to.equal(code);
        };
        await check({ 'X-API-KEY': ingest }, 200);
        await check({ 'X-API-KEY': ingest, Authorization: `Bearer ${ingest}` }, 200);
        await check({ 'X-API-KEY': query }, 403, 'SCOPE_MISSING');
        await check({ 'X-API-KEY': admin }, 403, 'SCOPE_MISSING');
        await check({ 'X-API-KEY': `${TOKEN}x` }, 401, 'UNAUTHORIZED');
        await stored(served, 2);
        const entries = [
          { id: 'a', project: 'theirs' },
          { id: 'b', metadata: { project: 'theirs' } },
          { id: 'c', project: null },
          { id: 'd', project: { of: 'theirs' } },
          {},
        ];
        const { body } = await post(served, EDGE, JSON.stringify(entries), {
          'X-API-KEY': pinned,
        });
        expect(body).to.deep.equal(LOGGED);
        await stored(served, 7);
        const projects = (await served.rows()).map(({ project }) => project);
        expect(projects.filter((project) => project === 'p')).to.have.length(5);
        // Bytes before an object do not hide its project.
        const theirs = (n: number) => `{"id":"h${n}","project":"theirs"}`;
        const room = '\0'.repeat(100);
        const hidden = [
          '\0',
          '\v',
          '\f',
          '\r\0',
          ' \0 ',
          '\ufeff',
          '\ufeff\0',
          '\x7f',
          room,
          `half${room}`,
        ];
        for (const [n, before] of hidden.entries()) {
          await post(served, EDGE, before + theirs(n), { 'X-API-KEY': pinned });
          const array = `[{},${before}${theirs(n)}]`;
          await post(served, EDGE, array, { 'X-API-KEY': pinned });
          const nd = `{}\n${before}${theirs(n)}\n`;
          const type = { 'X-API-KEY': pinned, 'Content-Type': 'application/x-ndjson' };
          await post(served, EDGE, nd, type);
        }
        const end = { 'X-API-KEY': ingest };
        await post(served, EDGE, '[{"id":"end","project":"q"}]', end);
        await eventually(async () =>
          expect((await served.rows()).map(({ id }) => id)).to.include('end'),
        );
        const all = await served.rows();
        expect(all.filter(({ project }) => project === 'theirs')).to.deep.equal([]);
        expect(all.filter(({ id }) => /^h\d/.test(String(id)))).not.to.deep.equal([]);
      });
    }));

  it('stores each line of many concurrent pushes in one file, without mixing the lines', () =>
    serving(async (served) => {
      const ids = Array.from({ length: 200 }, (_, n) => `push-${n}`);
      const answers = await Promise.all(
        ids.map((id) => post(served, EDGE, JSON.stringify([entry(`${id}-0`), entry(`${id}-1`)]))),
      );
      for (const { body } of answers) expect(body).to.deep.equal(LOGGED);
      // A push is acknowledged only when its lines are in the file.
      const [path = '', ...others] = pushed(served);
      expect(others).to.deep.equal([]);
      const text = readFileSync(join(served.data, 'logs/edge_logs/push', path), 'utf8');
      const [blank = '', ...lines] = text.split('\n').map((line) => line.trim());
      expect(blank).to.equal('');
      const written = lines.filter((line) => line !== '').map((line) => JSON.parse(line).id);
      const expected = ids.flatMap((id) => [`${id}-0`, `${id}-1`]);
      expect(written).to.have.members(expected);
      expect(await stored(served, 400)).to.have.members(expected);
    }));

  /** Runs `action` on push files. `flushed` has what stood in the folder, by name, whenever a file had been flushed. */
  const flushing = (
    action: (files: PushFiles, flushed: ReadonlyMap<string, string>[]) => Promise<void>,
  ) =>
    withFolder(async (logs) => {
      const removal = { add() {}, bytes: () => 0 };
      const files = openPushFiles({ logs, minFree: 0, log: silent, removal, waits: WAITS });
      const handle = await open(logs);
      const prototype = Object.getPrototypeOf(handle) as FileHandle;
      const { datasync } = prototype;
      const folder = join(logs, 'edge_logs/push');
      const flushed: Map<string, string>[] = [];
      prototype.datasync = async function flush(this: FileHandle) {
        await datasync.call(this);
        const names = readdirSync(folder);
        flushed.push(
          new Map(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')])),
        );
      };
      try {
        await action(files, flushed);
      } finally {
        prototype.datasync = datasync;
        await handle.close();
        await files.close();
      }
    });

  it('flushes once for all waiting pushes, and acknowledges none of them before', () =>
    flushing(async (files, flushed) => {
      const lines = Array.from({ length: 100 }, (_, n) => `{"n":${n}}`);
      const lastFlushed = () => [...(flushed.at(-1)?.values() ?? [])].join('').split('\n');
      await Promise.all(
        lines.map(async (line) => {
          await files.append('edge_logs', [Buffer.from(`${line}\n`)]);
          expect(lastFlushed()).to.include(line);
        }),
      );
      // One flush is for the first push alone, one for all that came while it was written.
      expect(flushed).to.have.length(2);
      expect(lastFlushed()).to.include.members(lines);
    }));

  it('flushes the file of a large body before it has its name', () =>
    flushing(async (files, flushed) => {
      const file = await files.openSeparate('edge_logs');
      await file.append([Buffer.from('{"n":1}\n')]);
      await file.append([Buffer.from('{"n":2}\n')]);
      await file.publish();
      const [[[name, text] = ['', '']] = [], ...others] = flushed.map((each) => [...each]);
      expect(others).to.deep.equal([]);
      expect(name).to.match(/^\..*\.part$/);
      expect(text).to.match(/\n\{"n":1\}\n\{"n":2\}\n$/);
    }));

  it('asks clients to retry when they push more at once than there is memory for', () =>
    serving(async (served) => {
      const body = Buffer.from(`[{"id":"a"}${' '.repeat(11_000_000)}]`);
      const answers = await Promise.all(Array.from({ length: 8 }, () => post(served, EDGE, body)));
      const taken = answers.filter(({ status }) => status === 200);
      const refused = answers.filter(({ status }) => status !== 200);
      expect(taken).not.to.deep.equal([]);
      for (const { status, headers, body } of refused) {
        expect(status).to.equal(503);
        expect(body.code).to.equal('PUSH_OVERLOADED');
        expect(headers['retry-after']).to.equal('1');
      }
      // The memory is free again, also that of the refused pushes.
      for (let n = 0; n < 5; n++) expect((await post(served, EDGE, body)).status).to.equal(200);
      await stored(served, 0, taken.length + 5);
    }));

  it('takes nothing while the store has no room', () =>
    withFolder((data) =>
      withApp(
        data,
        async (served) => {
          await eventually(() => expect(served.ingest.status().noRoom).not.to.equal(null));
          const { status, headers, body } = await post(served, EDGE, '[{}]');
          expect(status).to.equal(503);
          expect(headers['retry-after']).to.equal('1');
          expect(body.code).to.equal('STORAGE_UNAVAILABLE');
          expect(body.detail).to.include('TAILPOND_MIN_FREE');
          expect(pushed(served)).to.deep.equal([]);
        },
        { minFree: 1e15 },
      ),
    ));
});

function pushed({ data }: Served): string[] {
  try {
    return readdirSync(join(data, 'logs/edge_logs/push'));
  } catch {
    return [];
  }
}
