import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import {
  eventually,
  LAUNCH,
  type Service,
  type SpawnOptions,
  secrets,
  spawnService,
  TOKEN,
  withFolder,
  withService,
} from '../support/helpers.ts';
import { faultCase } from './case.ts';
import { newExpectedLines } from './expected-lines.ts';
import { exchange, get, tokenFile } from './http.ts';

const KEY = `X-API-KEY: ${TOKEN}`;
const LOGS = '/api/endpoints/query/logs.all?project=p';
const COUNTS = '/api/endpoints/query/usage.api-counts?interval=daily&project=';
const HOUR_MS = 3_600_000;

describe('HTTP: tokens', () => {
  faultCase('H01a', 'a missing, wrong, odd, expired or revoked token: 401, and the same body', () =>
    withFolder(async (data) => {
      const file = tokenFile(data);
      const good = file.add({ scopes: ['query'] });
      const expired = file.add({ scopes: ['query'], expires: '2020-01-01T00:00:00Z' });
      const revoked = file.add({ scopes: ['query'] });
      await withService(data, async (service) => {
        for (const token of [good, revoked, TOKEN])
          expect(await statusOf(service, LOGS, `X-API-KEY: ${token}`)).to.equal(200);
        expect(await statusOf(service, LOGS, `authorization: bEARER ${good}`)).to.equal(200);
        file.remove(revoked);
        await reload(service, 'the token file was read again');

        const id = /^tp_[^_]+_/.exec(good)?.[0] ?? '';
        const refused: string[][] = [
          [],
          ['X-API-KEY:'],
          [`X-API-KEY: ${expired}`],
          [`X-API-KEY: ${revoked}`],
          [`X-API-KEY: ${id}`],
          [`X-API-KEY: ${good}x`],
          [`X-API-KEY: ${good.slice(0, -1)}`],
          [`X-API-KEY: ${good.toUpperCase()}`],
          [`X-API-KEY: ${good.replace(id, 'tp_none_')}`],
          [`X-API-KEY: ${id}${'x'.repeat(8192)}`],
          [`X-API-KEY: ${TOKEN}\u00e9\u00ff`],
          [`X-API-KEY: ${good}, ${good}`],
          [`Authorization: Basic ${good}`],
          [`Authorization: ${good}`],
          ['X-API-KEY: constructor', 'Authorization: Bearer __proto__'],
          [`X-API-KEY: ${good}`, 'X-API-KEY: wrong'],
          [`X-API-KEY: ${good}`, `X-API-KEY: ${TOKEN}`],
          [`Authorization: Bearer ${good}`, 'Authorization: Bearer wrong'],
          [`Authorization: Bearer wrong`, `Authorization: Bearer ${good}`],
          [`Authorization: Bearer ${good}`, 'X-API-KEY: wrong'],
        ];
        const bodies = new Set<string>();
        for (const headers of refused) {
          const { status, body } = await answerTo(service, LOGS, ...headers);
          expect(status, headers.join('; ').slice(0, 100)).to.equal(401);
          bodies.add(JSON.stringify({ ...body, instance: '' }));
        }
        for (const name of ['token', 'X-API-KEY', 'access_token'])
          expect(await statusOf(service, `${LOGS}&${name}=${good}`)).to.equal(401);
        expect(bodies.size).to.equal(1);
      });
    }),
  );

  faultCase('H01b', 'a token does what its scopes say, for the project that it is pinned to', () =>
    withFolder(async (data) => {
      const file = tokenFile(data);
      const [query, admin, ingest, pinned, dots] = [
        file.add({ scopes: ['query'] }),
        file.add({ scopes: ['admin'] }),
        file.add({ scopes: ['ingest'] }),
        file.add({ scopes: ['query'], project: 'abc' }),
        file.add({ scopes: ['query'], project: 'a.c' }),
      ];
      const expectedLines = newExpectedLines();
      writeRequests(data, [
        { id: 'own', project: 'abc', url: 'https://api.abc.test/rest/v1' },
        { id: 'domain', project: 'abc', url: 'https://shop.test/rest/v1' },
        { id: 'other', project: 'xyz', url: 'https://abc.test/rest/v1' },
        { id: 'longer', project: 'abcd', url: 'https://abcd.test/rest/v1?abc' },
        { id: 'nobody', url: 'https://abc.test/rest/v1' },
      ]);
      for (const id of ['own', 'domain', 'other', 'longer', 'nobody']) expectedLines.row(id);
      await withService(data, async (service) => {
        await eventually(async () => {
          const { body } = await service.get('/api/ledger');
          expect((body.result as { rows: number }[])[0]?.rows).to.equal(5);
        });
        const check = async (token: string, path: string, status: number, code?: string) => {
          const answer = await answerTo(service, path, `X-API-KEY: ${token}`);
          expect(answer.status, path).to.equal(status);
          if (code) expect(answer.body.code, path).to.equal(code);
          return answer.body.result as Record<string, unknown>[];
        };
        for (const path of [
          LOGS,
          `${COUNTS}p`,
          '/api/endpoints',
          '/api/backends',
          '/api/sources',
        ]) {
          await check(query, path, 200);
          for (const token of [admin, ingest]) await check(token, path, 403, 'SCOPE_MISSING');
        }
        for (const path of ['/api/ledger', '/API/Ledger/', '/api/rejected', '/api/retention']) {
          for (const token of [query, ingest, pinned])
            await check(token, path, 403, 'SCOPE_MISSING');
          await check(admin, path, 200);
        }
        for (const path of ['/api/nope', '/api'])
          for (const token of [query, ingest, pinned, admin])
            await check(token, path, 404, 'PATH_UNKNOWN');

        const logs = '/api/endpoints/query/logs.all?project=';
        expect((await check(pinned, `${logs}abc`, 200)).map(({ id }) => id)).to.have.members([
          'own',
          'domain',
        ]);
        const total = (found: Record<string, unknown>[]) =>
          found.reduce((sum, row) => sum + Number(row.total_rest_requests), 0);
        // The answer of one that is not pinned is kept first: it must not be given to the other.
        expect(total(await check(query, `${COUNTS}abc`, 200))).to.equal(4);
        expect(total(await check(pinned, `${COUNTS}abc`, 200))).to.equal(2);
        expect(total(await check(query, `${COUNTS}abc`, 200))).to.equal(4);
        expect(total(await check(dots, `${COUNTS}a.c`, 200)), 'a dot is a dot').to.equal(0);
        for (const project of [
          'xyz',
          'ABC',
          'abc%20',
          '.*',
          'abc%7Cxyz',
          '%5Eabc%24',
          'ab',
          'abcd',
        ])
          for (const path of [logs, COUNTS])
            await check(pinned, path + project, 403, 'PROJECT_FORBIDDEN');
        for (const path of [logs, COUNTS]) {
          await check(pinned, `${path}abc&project=xyz`, 400, 'PARAMETER_INVALID');
          await check(pinned, `${path}`, 400, 'PARAMETER_INVALID');
        }
        expect(await service.end('SIGTERM')).to.equal(0);
      });
      expect(await expectedLines.differences(data)).to.deep.equal([]);
    }),
  );

  faultCase(
    'H01c',
    'a wrong token file stops the start with 78, and on SIGHUP changes nothing',
    () =>
      withFolder(async (data) => {
        const file = tokenFile(data);
        const token = file.add({ scopes: ['query'] });
        const path = join(data, 'tokens.json');
        const right = readFileSync(path, 'utf8');
        const [entry] = JSON.parse(right);
        const wrong: [string, RegExp][] = [
          ['{', /is not JSON/],
          ['{}', /must hold a list/],
          ['[7]', /entry 1: expected an object with id, /],
          [JSON.stringify([{ ...entry, hash: token }]), /entry 1: expected hash to be the SHA-256/],
          [
            JSON.stringify([{ ...entry, scopes: ['query', 'root'] }]),
            /expected scopes to be .*query, ingest, admin/,
          ],
          [JSON.stringify([{ ...entry, scopes: [] }]), /expected scopes/],
          [JSON.stringify([{ ...entry, expires: 'tomorrow' }]), /expected expires to be a moment/],
          [
            JSON.stringify([{ ...entry, expire: '2030-01-01T00:00:00Z' }]),
            /there is no field "expire"/,
          ],
          [JSON.stringify([entry, entry]), /entry 2: its id "t0" is that of an entry before it/],
          [
            JSON.stringify([{ ...entry, project: 'p', scopes: ['admin'] }]),
            /either a project or the scope admin/,
          ],
        ];
        await withService(data, async (service) => {
          for (const [text, message] of wrong) {
            writeFileSync(path, text);
            const { faults } = await reload(service, 'the token file is wrong');
            expect((faults as string[]).join(), text)
              .to.match(message)
              .and.include(path);
            expect(await statusOf(service, LOGS, `X-API-KEY: ${token}`)).to.equal(200);
          }
          writeFileSync(path, right);
          chmodSync(path, 0o644);
          const { faults } = await reload(service, 'the token file is wrong');
          expect((faults as string[]).join()).to.match(/mode 600, got 644/);
        });
        const { child, errors } = spawnService(data);
        const [code] = await once(child, 'close');
        expect(code).to.equal(78);
        expect(errors.join('\n')).to.match(
          /TAILPOND_TOKENS: .*tokens\.json must be its owner's alone, mode 600, got 644/,
        );
      }),
  );

  faultCase('H01d', 'the command makes a token once, lists and revokes it', () =>
    withFolder(async (data) => {
      const path = join(data, 'tokens.json');
      const run = async (...args: string[]) => {
        const env = { PATH: process.env.PATH, TAILPOND_DATA: data };
        return promisify(execFile)(process.execPath, [LAUNCH, 'token', ...args], {
          env,
        });
      };
      const { stdout, stderr } = await run(
        'create',
        '--scope',
        'query',
        '--project',
        'p',
        '--expires',
        '30d',
        '--name',
        'for p',
      );
      const token = stdout.trim();
      secrets.add(token);
      expect(token).to.match(/^tp_[0-9a-f]{12}_[\w-]{43}$/);
      expect(stderr).to.include('No service was reached').and.not.include(token);
      expect(statSync(path).mode & 0o777).to.equal(0o600);
      expect(readFileSync(path, 'utf8')).not.to.include(token);
      const [{ id, expires }] = JSON.parse(readFileSync(path, 'utf8'));
      expect(Date.parse(expires)).to.be.closeTo(Date.now() + 30 * 24 * HOUR_MS, HOUR_MS);
      expect((await run('list')).stdout).to.match(
        new RegExp(`^${id} .* query +p +\\S+Z +${expires}$`, 'm'),
      );

      for (const args of [
        ['revoke', 'nope'],
        ['create'],
        ['create', '--scope', 'root'],
        ['create', '--scope', 'query', '--expires', 'soon'],
        ['create', '--scope', 'admin', '--project', 'p'],
      ]) {
        const failed = await run(...args).then(
          () => null,
          (error) => error,
        );
        expect(failed?.code, args.join(' ')).to.equal(1);
        expect(failed.stderr).not.to.match(/\n +at /);
      }
      await withService(data, async (service) => {
        const header = `X-API-KEY: ${token}`;
        expect(await statusOf(service, LOGS, header)).to.equal(200);
        await run('revoke', id);
        await reload(service, 'the token file was read again');
        expect(await statusOf(service, LOGS, header)).to.equal(401);
      });
    }),
  );

  faultCase(
    'H01e',
    'a token that asks more often than it may gets 429 and Retry-After; others do not',
    () =>
      withFolder(async (data) => {
        const other = tokenFile(data).add({ scopes: ['query'] });
        await withService(
          data,
          async (service) => {
            for (let n = 0; n < 5; n++) expect(await statusOf(service, LOGS, KEY)).to.equal(200);
            const { status, body, head } = await answerTo(service, LOGS, KEY);
            expect(status).to.equal(429);
            expect(body.code).to.equal('RATE_LIMITED');
            expect(head)
              .to.match(/^Retry-After: [1-9]\d?\r$/m)
              .and.match(/^RateLimit: /m);
            expect(await statusOf(service, LOGS, `X-API-KEY: ${other}`)).to.equal(200);
            expect(await statusOf(service, LOGS)).to.equal(401);
            expect(await statusOf(service, '/livez')).to.equal(200);
          },
          { env: { TAILPOND_RATE_LIMIT: '5' } },
        );
      }),
  );
});

describe('HTTP: odd requests', () => {
  faultCase(
    'H06a',
    'URLs and heads of any size and form: an answer without insides, and the service goes on',
    () =>
      serving(async (service) => {
        const x = (kib: number) => 'x'.repeat(kib * 1024);
        const check = async (request: string, ...expected: number[]) => {
          const { statuses, text } = await exchange(service.url, request);
          expect(statuses, request.slice(0, 100)).to.deep.equal(expected);
          noInsides(text);
          // Newer versions of Node.js answer 431 themselves, without a header of ours.
          if (!expected.includes(431) || /^X-Request-Id:/m.test(text))
            expect(text).to.match(/^X-Content-Type-Options: nosniff\r$/m);
        };
        await check(get(`${LOGS}&x=${x(8)}`, KEY), 200);
        await check(get(`${LOGS}&x=${x(16)}`, KEY), 200);
        await check(get(`${LOGS}&x=${x(201)}`, KEY), 414);
        await check(get(`${LOGS}&x=${x(280)}`, KEY), 414);
        // Closed while the rest is on its way: the kernel may drop the 431 before it was read.
        for (const request of [
          get(`${LOGS}&x=${x(400)}`, KEY),
          get(LOGS, KEY, `X-Large: ${x(400)}`),
        ])
          expect((await exchange(service.url, request)).statuses.join()).to.be.oneOf(['', '431']);
        await check(get('/readyz'), 200);
        await check(get('/readyz', 'Host: y'), 400);
        await check(get(LOGS, 'host: x', KEY), 400);
        await check(get(LOGS, KEY, ...Array.from({ length: 80 }, (_, n) => `X-${n}: x`)), 200);
        // A token behind the headers that Node passes over must not count, nor one of two be overlooked.
        await check(get(LOGS, ...Array.from({ length: 2000 }, (_, n) => `X-${n}: x`), KEY), 431);
        await check(
          get(
            LOGS,
            KEY,
            ...Array.from({ length: 2000 }, (_, n) => `X-${n}: x`),
            'X-API-KEY: wrong',
          ),
          431,
        );
        for (const path of [
          '/api/endpoints/query/%00',
          '/api/endpoints/query/..%2f..%2fetc%2fpasswd',
          '/%2e%2e/',
          '//api/ledger',
          '/api/../etc/passwd',
          '/api/endpoints/query/logs.all%00?project=p',
        ])
          await check(get(path, KEY), 404);
        // The console's page.
        for (const path of ['/', '//']) await check(get(path), 200);
        await check(get('/api/endpoints/query/%E0%A4%A', KEY), 400);
        await check(get('/api/endpoints/query/logs.all?project=%E0%A4%A', KEY), 200);
        await check(get('/api/endpoints/query/logs.all?project=%00', KEY), 400);
        await check(get('http://other.test/livez'), 200);
      }),
  );

  faultCase('H06b', 'methods: HEAD as GET, all others 405 or closed', () =>
    serving(async (service) => {
      for (const [method, ...expected] of [
        ['HEAD', 200],
        ['OPTIONS', 405],
        ['TRACE', 405],
        ['PUT', 405],
        ['DELETE', 405],
        ['PROPFIND', 405],
        ['CONNECT'],
        ['get', 400],
        ['BREW', 400],
      ] as const) {
        const { statuses, text } = await exchange(
          service.url,
          get(LOGS, KEY).replace('GET', method),
        );
        expect(statuses, method).to.deep.equal(expected);
        if (method === 'HEAD') expect(text.split('\r\n\r\n')[1]).to.equal('');
        if (method === 'TRACE') expect(text).not.to.include(TOKEN);
        noInsides(text);
      }
      const h2c = await exchange(
        service.url,
        get(
          '/livez',
          'Connection: Upgrade, HTTP2-Settings',
          'Upgrade: h2c',
          'HTTP2-Settings: AAMAAABkAAQAAP__',
        ),
      );
      expect(h2c.statuses, 'h2c: stays HTTP/1.1').to.deep.equal([200]);
      const http2 = await exchange(service.url, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
      expect(http2.statuses).to.deep.equal([400]);
    }),
  );

  faultCase('H06c', 'pipelined requests are answered in their order', () =>
    serving(async (service) => {
      const more = (path: string) => get(path, KEY).replace('Connection: close\r\n', '');
      const { statuses, text } = await exchange(
        service.url,
        more('/livez') +
          more('/nope') +
          more(LOGS) +
          more('/api/endpoints/query/nope') +
          get('/readyz'),
      );
      expect(statuses).to.deep.equal([200, 404, 200, 404, 200]);
      const marks = ['"alive"', 'PATH_UNKNOWN', '{"result":[]}', 'ENDPOINT_UNKNOWN', '"ready"'];
      const places = marks.map((mark) => text.indexOf(mark));
      expect(places)
        .to.deep.equal(places.toSorted((a, b) => a - b))
        .and.not.include(-1);
    }),
  );

  faultCase('H06d', 'a request that is smuggled in the body of another is never answered', () =>
    serving(async (service) => {
      const inner = get('/api/ledger', KEY);
      const outer = (...headers: string[]) =>
        ['GET /livez HTTP/1.1', 'Host: x', ...headers, '', ''].join('\r\n');
      const chunk = `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`;
      const tries: Record<string, string> = {
        'both lengths':
          outer(`Content-Length: ${inner.length}`, 'Transfer-Encoding: chunked') + chunk,
        'both lengths, the other way':
          outer('Transfer-Encoding: chunked', 'Content-Length: 4') + chunk,
        'two lengths': outer('Content-Length: 0', `Content-Length: ${inner.length}`) + inner,
        'a list of lengths': outer(`Content-Length: 0, ${inner.length}`) + inner,
        'a signed length': outer(`Content-Length: +${inner.length}`) + inner,
        'a blank before the colon':
          outer('Content-Length : 0', 'Transfer-Encoding : chunked') + chunk,
        'an encoding that is not one': outer('Transfer-Encoding: xchunked') + chunk,
        'chunked not last': outer('Transfer-Encoding: chunked, identity') + chunk,
        'a folded header': outer('X: x', ' Transfer-Encoding: chunked') + chunk,
        'bare line feeds': `GET /livez HTTP/1.1\nHost: x\nContent-Length: ${inner.length}\n\n${inner}`,
        'a wrong chunk size': `${outer('Transfer-Encoding: chunked')}0x10\r\n${inner}`,
        'a body that is one': `${outer(`Content-Length: ${inner.length}`)}${inner}`,
      };
      for (const [name, bytes] of Object.entries(tries)) {
        // A request that is taken as a body leaves the connection open: this ends it.
        const { text, statuses } = await exchange(service.url, bytes + get('/livez'));
        expect(text, name).not.to.include('"source":"edge_logs"');
        expect(statuses.length, name).to.be.within(1, 2);
        noInsides(text);
      }
    }),
  );

  faultCase('H07', 'repeated and odd parameters: 400 that names them', () =>
    serving(async (service) => {
      const check = async (path: string, name: string) => {
        const { status, body } = await answerTo(service, path, KEY);
        expect(status, path).to.equal(400);
        expect(body.errors, path).to.have.length(1);
        expect((body.errors as { parameter: string }[])[0]?.parameter).to.equal(name);
      };
      for (const limit of [
        '1&limit=2',
        '1e9',
        '-1',
        'NaN',
        '0x10',
        '0',
        '1001',
        '1.5',
        '%201',
        '1;2',
        '9'.repeat(400),
      ])
        await check(`/api/rejected?limit=${limit}`, 'limit');
      for (const query of [
        'limit[]=',
        'limit[]=1',
        'limit[x]=1',
        'limit=1&limit[]=2',
        'limit%5B%5D=1',
      ])
        await check(`/api/rejected?${query}`, 'limit');
      await check('/api/rejected?source=edge_logs&source=auth_logs', 'source');
      await check('/api/rejected?source[]=edge_logs', 'source');
      for (const query of [
        'project=p&project=p',
        'project[]=p',
        'project=p&project[]=q',
        'project=',
        'project=a%00b',
      ])
        await check(`/api/endpoints/query/logs.all?${query}`, 'project');
      for (const moment of ['soon', '0x10', '-1', '1e7', 'NaN', '2026-13-01', '9'.repeat(400)])
        await check(`${LOGS}&iso_timestamp_start=${moment}`, 'iso_timestamp_start');
      await check(`${LOGS}&iso_timestamp_end[]=1`, 'iso_timestamp_end');
      for (const project of ['(', '(?=x)', '%5C', 'a{1001}', '[z-a]'])
        await check(COUNTS + project, 'project');
      expect(await statusOf(service, `${LOGS}&__proto__=1&constructor[prototype]=1`, KEY)).to.equal(
        200,
      );
    }),
  );

  faultCase('H09', 'scripts, escapes and line breaks in lines and requests come out as text', () =>
    withFolder(async (data) => {
      const nasty =
        '<script>alert(1)</script>\u001b[2J\u001b]0;x\u0007\r\nSet-Cookie: x=1\r\n\u2028=cmd()\u0000\u202e';
      const expectedLines = newExpectedLines();
      const entry = JSON.parse(expectedLines.line('edge_logs', nasty));
      entry.metadata = { request: { path: nasty, url: nasty, headers: { [nasty]: nasty } } };
      const folder = join(data, 'logs', 'edge_logs');
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'app.ndjson'), `${JSON.stringify(entry)}\n`);
      const bad = `not JSON <script>\u001b[2J\r=cmd()`;
      expectedLines.bad(bad);
      writeFileSync(join(folder, 'bad\u001b[2J\n{"level":60}.ndjson'), `${bad}\n`);
      // Named in the log, because it is not read.
      writeFileSync(join(folder, 'odd\u001b[2J\n{"level":60}.txt'), 'x\n');
      await withService(data, async (service) => {
        let logged = '';
        service.child.stdout?.on('data', (text) => {
          logged += text;
        });
        writeFileSync(join(folder, 'late\u009b2J\u202e\u2028.txt'), 'x\n');
        await eventually(async () => {
          const { body } = await service.get('/api/ledger');
          expect((body.result as object[])[0]).to.include({ rows: 1, rejected: 1 });
          expect(logged).to.include('late');
        });
        const injected = encodeURIComponent(nasty.replaceAll('\u0000', ''));
        for (const path of [
          LOGS,
          '/api/rejected',
          '/api/ledger',
          `${LOGS}&iso_timestamp_start=${injected}`,
          `/api/endpoints/query/${injected}`,
          `/api/rejected?source=${injected}`,
        ]) {
          const { head, text } = await answerTo(service, path, KEY, 'User-Agent: <script>');
          expect(head, path).to.match(
            /^Content-Type: application\/(problem\+)?json; charset=utf-8\r$/m,
          );
          expect(head).to.match(/^X-Content-Type-Options: nosniff\r$/m);
          expect(head).to.match(/^Content-Security-Policy: default-src 'none'/m);
          expect(head).not.to.match(/^Set-Cookie/im);
          // JSON has no raw control characters: what looks like an escape or a line break in a terminal is not one.
          expect([...text].filter((character) => character < ' ')).to.deep.equal([]);
        }
        const { body } = await service.get(LOGS);
        expect((body.result as { event_message: string }[])[0]?.event_message).to.equal(nasty);
        expect(await service.end('SIGTERM')).to.equal(0);
        expect(
          service.log.filter((line) => 'text' in line || Number(line.level) >= 50),
        ).to.deep.equal([]);
        expect(service.log.some((line) => JSON.stringify(line).includes('odd\\u001b'))).to.equal(
          true,
        );
        expect(logged).to.include('late\\u009b2J\\u202e\\u2028.txt');
        expect(logged).not.to.match(/[\u0080-\u009f\u2028-\u202e]/);
      });
      expect(await expectedLines.differences(data)).to.deep.equal([]);
    }),
  );
});

function serving(action: (service: Service) => Promise<void>, options: SpawnOptions = {}) {
  return withFolder((data) => withService(data, action, options));
}

interface Answer {
  readonly status: number;
  readonly head: string;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

/** The answer to a GET with just these header lines, each as often as it is given. */
async function answerTo(service: Service, path: string, ...headers: string[]): Promise<Answer> {
  const answer = await exchange(service.url, Buffer.from(get(path, ...headers), 'latin1'));
  const end = answer.text.indexOf('\r\n\r\n');
  const text = Buffer.from(answer.text.slice(end + 4), 'latin1').toString();
  const body = text.startsWith('{') ? JSON.parse(text) : {};
  return { status: answer.statuses[0] ?? 0, head: answer.text.slice(0, end + 2), text, body };
}

async function statusOf(service: Service, path: string, ...headers: string[]): Promise<number> {
  return (await answerTo(service, path, ...headers)).status;
}

/** Sends SIGHUP and gives the log line that begins with `message`, of those that come after it. */
function reload(service: Service, message: string): Promise<Record<string, unknown>> {
  const before = service.log.length;
  service.child.kill('SIGHUP');
  return eventually(() => {
    const line = service.log.slice(before).find(({ msg }) => String(msg).startsWith(message));
    if (!line) throw new Error(`the log does not say: ${message}`);
    return line;
  });
}

function writeRequests(data: string, requests: { id: string; project?: string; url: string }[]) {
  const folder = join(data, 'logs', 'edge_logs');
  mkdirSync(folder, { recursive: true });
  const lines = requests.map(({ url, ...entry }) =>
    JSON.stringify({
      ...entry,
      event_message: 'm',
      metadata: { request: { url, path: '/rest/v1' } },
    }),
  );
  writeFileSync(join(folder, 'app.ndjson'), `${lines.join('\n')}\n`);
}

/** No stack, path or SQL. */
function noInsides(text: string) {
  expect(text).not.to.match(/\n +at |node_modules|\.ts:|\bselect\b.*\bfrom\b|x-powered-by/i);
}
