import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Response } from 'supertest';
import { allSources } from '../../ingest/index.ts';
import { type Served, TOKEN, withApp, withFolder } from '../support/helpers.ts';
import { opened } from '../support/opened.ts';

const LOGS = '/api/endpoints/query/logs.all?project=p';
const USAGE = '/api/endpoints/query/usage.api-counts?interval=daily&project=p';

const serving = (action: (served: Served) => Promise<void>, settings = {}) =>
  withFolder((data) => withApp(data, action, settings));

/** Opens one app for the cases of a suite, which only ask. */
function servingAll(): (action: (served: Served) => Promise<void>) => Promise<void> {
  const served = opened<Served>(serving);
  return (action) => action(served());
}

/** Checks the shape of an error: RFC 9457, and the member that Studio reads. Returns the body without the request's id. */
function problem(response: Response, status: number, code: string) {
  expect(response.status, response.text).to.equal(status);
  expect(response.headers['content-type']).to.match(
    /^application\/problem\+json(; charset=utf-8)?$/,
  );
  const body = JSON.parse(response.text);
  expect(body).to.have.all.keys(
    'type',
    'title',
    'status',
    'detail',
    'instance',
    'code',
    'errors',
    'error',
  );
  expect(body.status).to.equal(status);
  expect(body.code).to.equal(code);
  for (const name of ['type', 'title', 'detail'])
    expect(body[name]).to.be.a('string').and.not.empty;
  expect(body.instance).to.be.a('string').and.not.empty;
  expect(body.instance).to.equal(response.headers['x-request-id']);
  expect(body.error).to.deep.equal({ message: body.detail });
  expect(body.errors).to.be.an('array');
  for (const fault of body.errors) {
    expect(fault).to.have.all.keys('parameter', 'detail');
    expect(fault.parameter).to.be.a('string').and.not.empty;
    expect(fault.detail).to.be.a('string').and.not.empty;
  }
  noInsides(response);
  const { instance: _, ...rest } = body;
  return rest;
}

/** Checks that no internals are shown: no stack, SQL, path, or words of the engine. */
function noInsides({ text, headers }: Response) {
  expect(text).not.to.match(/\\n +at |node_modules|\.ts\b|\.js\b|\/work|\/tmp|duckdb/i);
  expect(text).not.to.match(/\bselect\b.*\bfrom\b|LINE \d|Binder Error|Invalid Input Error/i);
  expect(headers).not.to.have.property('x-powered-by');
}

describe('http: the access token', () => {
  const serving = servingAll();

  it('lets a request pass with either header, and any letter case of the scheme', () =>
    serving(async ({ http }) => {
      const check = async (headers: Record<string, string>) => {
        for (const path of [LOGS, USAGE, '/api/endpoints', '/api/ledger', '/api/rejected'])
          expect((await http.get(path).set(headers)).status, path).to.equal(200);
      };
      await check({ 'X-API-KEY': TOKEN });
      await check({ 'x-api-key': TOKEN });
      await check({ Authorization: `Bearer ${TOKEN}` });
      await check({ Authorization: `bearer ${TOKEN}` });
      await check({ Authorization: `BEARER ${TOKEN}` });
      await check({ 'X-API-KEY': TOKEN, 'Content-Type': 'application/json; charset=utf-8' });
    }));

  it('answers 401, the same for a missing and for a wrong one', () =>
    serving(async ({ http }) => {
      const bodies = [];
      const wrong: Record<string, string>[] = [
        {},
        { 'X-API-KEY': '' },
        { 'X-API-KEY': 'wrong' },
        { 'X-API-KEY': `${TOKEN}x` },
        { 'X-API-KEY': TOKEN.slice(1) },
        { 'X-API-KEY': TOKEN.toUpperCase() },
        { 'X-API-KEY': `Bearer ${TOKEN}` },
        { Authorization: TOKEN },
        { Authorization: 'Bearer' },
        { Authorization: 'Bearer wrong' },
        { Authorization: `Basic ${Buffer.from(`x:${TOKEN}`).toString('base64')}` },
        { Authorization: `Basic ${TOKEN}` },
        { Cookie: `X-API-KEY=${TOKEN}` },
      ];
      for (const headers of wrong) {
        const response = await http.get(LOGS).set(headers);
        bodies.push(problem(response, 401, 'UNAUTHORIZED'));
        expect(response.headers['www-authenticate']).to.match(/^Bearer/);
        expect(response.headers['cache-control']).to.equal('no-store');
      }
      for (const body of bodies) expect(body).to.deep.equal(bodies[0]);
    }));

  it('does not take a token from the query string', () =>
    serving(async ({ http }) => {
      for (const name of ['X-API-KEY', 'x-api-key', 'api_key', 'apikey', 'access_token', 'token'])
        problem(await http.get(`${LOGS}&${name}=${TOKEN}`), 401, 'UNAUTHORIZED');
    }));

  it('comes before everything else: an unknown endpoint, method or path, a wrong parameter', () =>
    serving(async ({ http }) => {
      for (const path of [
        '/api/endpoints/query/nope',
        '/api/endpoints/query/logs.all',
        '/api/endpoints/query/%E0%A4%A',
        '/api/endpoints/query/',
        '/api/nope',
        '/api',
        '/api/',
        '/API/ledger',
        '/Api/Endpoints/Query/logs.all?project=p',
        '/api/rejected?source=nope',
      ])
        problem(await http.get(path), 401, 'UNAUTHORIZED');
      for (const method of ['post', 'put', 'delete', 'patch', 'options'] as const) {
        problem(await http[method](LOGS), 401, 'UNAUTHORIZED');
        problem(await http[method]('/api/ledger'), 401, 'UNAUTHORIZED');
      }
      expect((await http.head(LOGS)).status).to.equal(401);
    }));
});

describe('http: paths and methods', () => {
  const serving = servingAll();

  it('answers 404 for an endpoint or a path that does not exist', () =>
    serving(async ({ get }) => {
      for (const name of [
        'nope',
        'logs',
        'LOGS.ALL',
        'logs.all.sql',
        '00000000-0000-0000-0000-000000000000',
        'constructor',
        '__proto__',
        '..%2f..%2fetc%2fpasswd',
        'logs.all%00',
        '%00',
      ])
        problem(await get(`/api/endpoints/query/${name}?project=p`), 404, 'ENDPOINT_UNKNOWN');
      for (const path of [
        '/nope',
        '/api',
        '/api/nope',
        '/api/endpoints/query',
        '/api/endpoints/query/a/b',
        '/favicon.ico',
      ])
        problem(await get(path), 404, 'PATH_UNKNOWN');
    }));

  it('answers 404 for an unknown endpoint also to a wrong method', () =>
    serving(async ({ http }) => {
      problem(
        await http.post('/api/endpoints/query/nope').set('X-API-KEY', TOKEN),
        404,
        'ENDPOINT_UNKNOWN',
      );
    }));

  it('answers 405 with the methods that are allowed', () =>
    serving(async ({ http }) => {
      const check = async (
        method: 'post' | 'put' | 'delete' | 'patch' | 'options',
        path: string,
        allowed: string,
      ) => {
        const response = await http[method](path).set('X-API-KEY', TOKEN);
        problem(response, 405, 'METHOD_NOT_ALLOWED');
        expect(response.headers.allow).to.equal(allowed);
      };
      for (const path of ['/api/endpoints', '/api/ledger', '/api/rejected'])
        for (const method of ['post', 'put', 'delete', 'patch', 'options'] as const)
          await check(method, path, 'GET, HEAD');
      for (const path of [LOGS, USAGE])
        for (const method of ['put', 'delete', 'patch', 'options'] as const)
          await check(method, path, 'GET, HEAD, POST');
    }));

  it('answers HEAD as GET, without a body', () =>
    serving(async ({ http, get }) => {
      for (const path of [LOGS, '/api/endpoints', '/api/ledger', '/api/rejected']) {
        const full = await get(path);
        const head = await http.head(path).set('X-API-KEY', TOKEN);
        expect(head.status, path).to.equal(200);
        expect(head.text ?? '').to.equal('');
        expect(head.headers['content-type']).to.equal('application/json; charset=utf-8');
        expect(head.headers['content-length']).to.equal(full.headers['content-length']);
      }
      expect(
        (await http.head('/api/endpoints/query/nope').set('X-API-KEY', TOKEN)).status,
      ).to.equal(404);
      expect(
        (await http.head('/api/endpoints/query/logs.all').set('X-API-KEY', TOKEN)).status,
      ).to.equal(400);
    }));

  it('answers rows as JSON in UTF-8, with a request id of its own each time', () =>
    serving(async ({ get }) => {
      const [one, two] = [await get(LOGS), await get(LOGS)];
      for (const { headers, body } of [one, two]) {
        expect(headers['content-type']).to.equal('application/json; charset=utf-8');
        expect(headers).not.to.have.property('x-powered-by');
        expect(headers['x-request-id']).to.be.a('string').and.not.empty;
        expect(body).to.deep.equal({ result: [] });
      }
      expect(one.headers['x-request-id']).not.to.equal(two.headers['x-request-id']);
    }));

  it('takes a GET that says it carries JSON, or carries some', () =>
    serving(async ({ get }) => {
      const said = await get(LOGS).set('Content-Type', 'application/json; charset=utf-8');
      expect(said.status).to.equal(200);
      const sent = await get(LOGS).set('Content-Type', 'application/json').send('{"ref":"x"}');
      expect(sent.status).to.equal(200);
    }));
});

describe('http: hostile requests', () => {
  const serving = servingAll();

  it('answers 400 for a path that cannot be decoded', () =>
    serving(async ({ get }) => {
      for (const name of ['%', '%E0%A4%A', '%zz', '%ff', '%c0%af', 'logs.all%'])
        problem(await get(`/api/endpoints/query/${name}?project=p`), 400, 'REQUEST_INVALID');
    }));

  it('never fails on a query string that cannot be decoded', () =>
    serving(async ({ get }) => {
      for (const value of ['%', '%zz', '%E0%A4%A', '%ff%fe', '%c0%af', '%ed%a0%80']) {
        const { status } = await get(`/api/endpoints/query/logs.all?project=${value}`);
        expect(status, value).to.be.oneOf([200, 400]);
        const usage = await get(
          `/api/endpoints/query/usage.api-counts?interval=daily&project=${value}`,
        );
        expect(usage.status, value).to.be.oneOf([200, 400]);
      }
    }));

  it('answers 400 for a NUL in a parameter', () =>
    serving(async ({ get }) => {
      for (const query of [
        'logs.all?project=%00',
        'logs.all?project=a%00b',
        'logs.all?project=p&iso_timestamp_start=%00',
        'logs.all?project=p&iso_timestamp_end=2026-01-01T00:00:00Z%00',
        'usage.api-counts?interval=daily%00&project=p',
        'usage.api-counts?interval=daily&project=p%00',
      ]) {
        const body = problem(await get(`/api/endpoints/query/${query}`), 400, 'PARAMETER_INVALID');
        expect(body.errors).to.have.length(1);
      }
    }));

  it('takes long query strings, and repeats only the beginning of a wrong value', () =>
    serving(async ({ get }) => {
      const long = 'x'.repeat(10_000);
      expect((await get(`/api/endpoints/query/logs.all?project=${long}`)).body).to.deep.equal({
        result: [],
      });
      expect(
        (await get(`/api/endpoints/query/usage.api-counts?interval=daily&project=${long}`)).status,
      ).to.be.oneOf([200, 400]);
      expect((await get(`${LOGS}&unknown=${long}`)).status).to.equal(200);
      const wrong = await get(`${LOGS}&iso_timestamp_start=${long}`);
      problem(wrong, 400, 'PARAMETER_INVALID');
      expect(wrong.text.length).to.be.below(2000);
      const many = Array.from({ length: 2000 }, (_, i) => `p${i}=1`).join('&');
      expect((await get(`${LOGS}&${many}`)).status).to.equal(200);
    }));

  it('treats SQL in a value as a value', () =>
    serving(async ({ get, write, lines }) => {
      write('edge_logs/a.ndjson', '{"id":"1","project":"p","event_message":"m"}\n');
      await lines(1);
      for (const value of [
        "' or '1'='1",
        "p'; drop table edge_logs; --",
        '$project',
        '@project',
        '" or 1=1',
      ])
        expect(
          (await get(`/api/endpoints/query/logs.all?project=${encodeURIComponent(value)}`)).body,
        ).to.deep.equal({ result: [] });
      expect((await get(LOGS)).body.result).to.have.length(1);
    }));
});

describe('http: requests to endpoints of an operator', () => {
  it('shows no internals when the query itself fails', () =>
    withFolder((data) => {
      const folder = join(data, 'queries');
      mkdirSync(folder);
      writeFileSync(
        join(folder, 'fails.sql'),
        `-- Fails.\n--! uuid: 0b7e3f0a-52c1-4f53-9d4e-6f2d6c1f9a01\n--! max_rows: 5\n--! caching: off\n--! warming: off\n--! sandboxing: on\n--! redact_pii: off\n--! parameter: what string required, what\nselect @what::integer as secret_column\n`,
      );
      return withApp(
        data,
        async ({ get, logged }) => {
          const response = await get('/api/endpoints/query/fails?what=seven');
          problem(response, 500, 'INTERNAL');
          const insides = /seven|secret_column|Conversion/;
          expect(response.text).not.to.match(insides);
          // The log tells of it, and has no value either.
          expect(logged.map(({ level }) => level)).to.deep.equal([50]);
          expect(JSON.stringify(logged)).not.to.match(insides);
          expect((await get('/api/endpoints/query/fails?what=7')).body.result).to.deep.equal([
            { secret_column: 7 },
          ]);
        },
        { endpoints: folder },
      );
    }));

  it('refuses the parameter sql where callers may not send SQL, and ignores it elsewhere', () =>
    withFolder((data) => {
      const folder = join(data, 'queries');
      mkdirSync(folder);
      const file = (uuid: string, sandboxing: string) =>
        `-- One.\n--! uuid: ${uuid}\n--! max_rows: 5\n--! caching: off\n--! warming: off\n--! sandboxing: ${sandboxing}\n--! redact_pii: off\nselect 1 as one\n`;
      writeFileSync(join(folder, 'off.sql'), file('0b7e3f0a-52c1-4f53-9d4e-6f2d6c1f9a01', 'off'));
      return withApp(
        data,
        async ({ get }) => {
          const refused = await get('/api/endpoints/query/off?sql=select%201');
          const body = problem(refused, 400, 'PARAMETER_INVALID');
          expect(body.errors[0].parameter).to.equal('sql');
          problem(await get('/api/endpoints/query/off?sql='), 400, 'PARAMETER_INVALID');
          expect((await get('/api/endpoints/query/off')).body.result).to.deep.equal([{ one: 1 }]);
        },
        { endpoints: folder },
      );
    }));
});

describe('http: the redaction header', () => {
  const MAIL = 'ann@example.org';
  const both = ['SVC-ENDPOINT-REDACT-PII', 'LF-ENDPOINT-REDACT-PII'] as const;
  const served = opened<Served>((action) =>
    serving(async (served) => {
      served.write('edge_logs/a.ndjson', `{"id":"1","project":"p","event_message":"${MAIL}"}\n`);
      await served.lines(1);
      await action(served);
    }),
  );
  const withMail = (action: (served: Served) => Promise<void>) => action(served());

  it('turns redaction on for this request alone, in any letter case', () =>
    withMail(async ({ get }) => {
      const shown = async (headers: Record<string, string>) => {
        const { status, body } = await get(LOGS).set(headers);
        expect(status).to.equal(200);
        return body.result[0].event_message;
      };
      for (const name of both) {
        for (const value of ['true', 'TRUE', 'True', ' true '])
          expect(await shown({ [name]: value }), value).to.equal('REDACTED');
        for (const value of ['false', 'FALSE', '', ' '])
          expect(await shown({ [name]: value }), value).to.equal(MAIL);
      }
      expect(await shown({})).to.equal(MAIL);
      expect(await shown({ [both[0]]: 'true', [both[1]]: 'TRUE' })).to.equal('REDACTED');
      expect(await shown({ [both[0]]: 'true', [both[1]]: '' })).to.equal('REDACTED');
      expect(await shown({ [both[0]]: '', [both[1]]: 'true' })).to.equal('REDACTED');
      expect(await shown({ [both[0]]: 'false', [both[1]]: 'false' })).to.equal(MAIL);
    }));

  it('answers 400 for another value, and when the two disagree', () =>
    withMail(async ({ get }) => {
      for (const headers of [
        ...['yes', '1', '0', 'on', 'tru', 'true,false', '"true"', 'null'].flatMap((value) =>
          both.map((name) => ({ [name]: value })),
        ),
        { [both[0]]: 'true', [both[1]]: 'false' },
        { [both[0]]: 'false', [both[1]]: 'true' },
        { [both[0]]: 'true', [both[1]]: 'maybe' },
      ]) {
        const response = await get(LOGS).set(headers);
        const body = problem(response, 400, 'HEADER_INVALID');
        expect(response.text).not.to.contain(MAIL);
        expect(body.errors).to.have.length(1);
        expect(body.errors[0].parameter).to.be.oneOf([...both]);
      }
    }));
});

describe('http: what can be looked up', () => {
  const serving = servingAll();

  it('lists the endpoints without their SQL', () =>
    serving(async ({ get }) => {
      const { body, text } = await get('/api/endpoints');
      expect(text).not.to.match(/select|edge_logs|\$project|sql/i);
      expect(body.result.map(({ name }: { name: string }) => name)).to.deep.equal([
        'auth.metrics',
        'functions.combined-stats',
        'functions.req-stats',
        'functions.resource-usage',
        'logs.all',
        'logs.all.otel',
        'service-health',
        'usage.api-counts',
        'usage.api-requests-count',
      ]);
      const found = (wanted: string) =>
        body.result.find(({ name }: { name: string }) => name === wanted);
      const [logs, usage] = [found('logs.all'), found('usage.api-counts')];
      for (const fields of [logs, usage])
        expect(fields).to.have.all.keys(
          'id',
          'name',
          'description',
          'max_rows',
          'caching',
          'cache_warming',
          'sandboxing',
          'redact_pii',
          'parameters',
        );
      expect(logs).to.deep.include({
        max_rows: 1000,
        caching: null,
        cache_warming: null,
        sandboxing: true,
        redact_pii: false,
      });
      expect(usage).to.deep.include({
        max_rows: 1000,
        caching: 900,
        cache_warming: 300,
        sandboxing: true,
        redact_pii: false,
      });
      const named = (list: { name: string; required: boolean }[]) =>
        list.map(({ name, required }) => [name, required]);
      expect(named(logs.parameters)).to.deep.equal([
        ['project', true],
        ['iso_timestamp_start', false],
        ['iso_timestamp_end', false],
      ]);
      expect(named(usage.parameters)).to.deep.equal([
        ['interval', true],
        ['project', true],
      ]);
      expect(usage.parameters[0].allowed).to.deep.equal([
        ...['hourly', 'daily', 'minutely'],
        ...['15min', '30min', '1hr', '3hr', '1day', '3day', '7day'],
      ]);
      for (const { id, name } of body.result) {
        const query = 'project=p&interval=1day&function_id=f';
        const [byId, byName] = [
          await get(`/api/endpoints/query/${id}?${query}`),
          await get(`/api/endpoints/query/${name}?${query}`),
        ];
        expect(byId.status).to.equal(200);
        expect(byId.text).to.equal(byName.text);
      }
    }));

  it('answers 400 for an unknown source and a limit out of bounds', () =>
    serving(async ({ get }) => {
      for (const value of [
        'nope',
        'EDGE_LOGS',
        "edge_logs'",
        'edge_logs;',
        '__proto__',
        'rejected',
      ]) {
        const response = await get(`/api/rejected?source=${encodeURIComponent(value)}`);
        const body = problem(response, 400, 'PARAMETER_INVALID');
        expect(body.errors[0].parameter).to.equal('source');
        expect(body.detail).to.contain(JSON.stringify(value)).and.to.contain('edge_logs');
      }
      for (const value of [
        '0',
        '-1',
        '1001',
        '1.5',
        'ten',
        '1e2',
        '0x10',
        ' 5',
        '99999999999999999999',
      ]) {
        const response = await get(`/api/rejected?limit=${encodeURIComponent(value)}`);
        const body = problem(response, 400, 'PARAMETER_INVALID');
        expect(body.errors[0].parameter).to.equal('limit');
        expect(body.detail).to.contain(JSON.stringify(value)).and.to.contain('1000');
      }
    }));

  it('answers 400 for a source or a limit that is given twice', () =>
    serving(async ({ get }) => {
      for (const query of ['source=edge_logs&source=auth_logs', 'limit=1&limit=2'])
        problem(await get(`/api/rejected?${query}`), 400, 'PARAMETER_INVALID');
    }));
});

describe('http: what can be looked up of what was stored', () => {
  it('lists the ledger of every source, also of sources without lines', () =>
    serving(async ({ get, write, lines }) => {
      const text =
        '{"id":"1","timestamp":"2026-01-02T03:04:05Z"}\n{"id":"2","timestamp":"2025-01-02T03:04:05.5Z"}\nnull\n';
      write('edge_logs/a.ndjson', text);
      await lines(3);
      const { body } = await get('/api/ledger');
      expect(body.result).to.have.length(allSources().length);
      const of = (source: string) =>
        body.result.find((entry: { source: string }) => entry.source === source);
      expect(of('edge_logs')).to.deep.include({
        source: 'edge_logs',
        files: 1,
        bytes: text.length,
        lines: 3,
        rows: 2,
        rejected: 1,
        stored: 2,
        pending_bytes: 0,
        oldest: '2025-01-02T03:04:05.5Z',
        newest: '2026-01-02T03:04:05Z',
      });
      expect(of('auth_logs')).to.deep.include({
        files: 0,
        bytes: 0,
        lines: 0,
        rows: 0,
        rejected: 0,
        stored: 0,
        pending_bytes: 0,
        oldest: null,
        newest: null,
      });
    }));

  it('shows rejected lines, the latest first, of one source or of all', () =>
    serving(async ({ get, write, lines }) => {
      write('edge_logs/a.ndjson', 'null\n{"id":"1"}\n[2]\n');
      await lines(3);
      write('auth_logs/b.ndjson', '{"timestamp":soon}\n');
      await lines(1, 'auth_logs');
      const all = (await get('/api/rejected')).body.result;
      expect(all.map(({ line }: { line: string }) => line)).to.deep.equal([
        '{"timestamp":soon}',
        '[2]',
        'null',
      ]);
      expect(all[1]).to.deep.include({
        source: 'edge_logs',
        file: 'edge_logs/a.ndjson',
        offset: 16,
        length: 3,
      });
      expect(all[0].reason).to.equal('it is not JSON: unexpected "s" at byte 13');
      const lineOf = async (query: string) =>
        (await get(`/api/rejected?${query}`)).body.result.map(({ line }: { line: string }) => line);
      expect(await lineOf('source=edge_logs')).to.deep.equal(['[2]', 'null']);
      expect(await lineOf('source=edge_logs&limit=1')).to.deep.equal(['[2]']);
      expect(await lineOf('limit=2')).to.deep.equal(['{"timestamp":soon}', '[2]']);
      expect(await lineOf('source=storage_logs')).to.deep.equal([]);
      expect(await lineOf('limit=1000&source=')).to.have.length(3);
      expect(await lineOf('limit=')).to.have.length(3);
    }));
});

describe('http: health', () => {
  it('is shown without a token', () =>
    serving(async ({ http }) => {
      for (const path of ['/livez', '/readyz', '/health', '/healthz']) {
        const { status, headers } = await http.get(path);
        expect(status, path).to.equal(200);
        expect(headers['cache-control']).to.equal('no-store');
        expect(headers).not.to.have.property('x-powered-by');
        expect((await http.head(path)).status).to.equal(200);
      }
    }));
});

describe('http: CORS', () => {
  const origin = 'https://studio.example.org';

  it('is off unless it is set', () =>
    serving(async ({ get, http }) => {
      const { headers } = await get(LOGS).set('Origin', origin);
      expect(headers).not.to.have.property('access-control-allow-origin');
      const preflight = await http
        .options(LOGS)
        .set({ Origin: origin, 'Access-Control-Request-Method': 'GET' });
      expect(preflight.headers).not.to.have.property('access-control-allow-origin');
    }));

  it('lets browsers of the one origin send the headers of a request, and read errors too', () =>
    serving(
      async ({ get, http }) => {
        const preflight = await http.options(LOGS).set({
          Origin: origin,
          'Access-Control-Request-Method': 'GET',
          'Access-Control-Request-Headers': 'x-api-key,svc-endpoint-redact-pii,content-type',
        });
        expect(preflight.status).to.be.oneOf([200, 204]);
        expect(preflight.headers['access-control-allow-origin']).to.equal(origin);
        const allowed = preflight.headers['access-control-allow-headers']?.toLowerCase();
        for (const name of [
          'x-api-key',
          'authorization',
          'svc-endpoint-redact-pii',
          'lf-endpoint-redact-pii',
          'content-type',
        ])
          expect(allowed).to.contain(name);
        for (const response of [
          await get(LOGS).set('Origin', origin),
          await get('/api/ledger').set('Origin', origin),
          await get('/api/endpoints/query/nope').set('Origin', origin),
          await http.get(LOGS).set('Origin', origin),
        ])
          expect(response.headers['access-control-allow-origin']).to.equal(origin);
        const other = await get(LOGS).set('Origin', 'https://evil.example.org');
        expect(other.headers['access-control-allow-origin']).not.to.equal(
          'https://evil.example.org',
        );
      },
      { corsOrigin: origin },
    ));
});

describe('http: what every answer says', () => {
  const origin = 'https://studio.example.org';
  const safe = {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'x-frame-options': 'SAMEORIGIN',
  };

  for (const corsOrigin of [null, origin])
    it(`is the same for answers that are cached, new, empty or refused, and for pages${corsOrigin ? ', with CORS' : ''}`, () =>
      serving(
        async ({ get, http }) => {
          const { etag } = (await get(USAGE)).headers;
          const guarded = {
            kept: await get(USAGE),
            'not changed': await get(USAGE).set('If-None-Match', String(etag)),
            head: await http.head(USAGE).set('X-API-KEY', TOKEN),
            made: await get('/api/ledger'),
            wrong: await get('/api/endpoints/query/nope'),
            'without a token': await http.get(USAGE),
            metrics: await get('/metrics'),
          };
          for (const [name, { headers }] of Object.entries(guarded)) {
            expect(headers, name).to.include(safe);
            expect(headers['content-security-policy'], name).to.contain("default-src 'none'");
            expect(headers['x-request-id'], name).to.match(/^[0-9a-f-]{36}$/);
            const vary = headers.vary?.toLowerCase().split(/, */) ?? [];
            expect(vary, name).to.include.members(['x-api-key', 'authorization', 'accept']);
            if (corsOrigin && name !== 'metrics') expect(vary, name).to.include('origin');
          }
          expect(guarded['not changed'].status).to.equal(304);
          for (const path of ['/livez', '/', '/docs', '/nope']) {
            const { headers } = await http.get(path);
            expect(headers, path).to.include(safe);
            expect(headers['content-security-policy'], path).to.contain("default-src 'none'");
          }
        },
        { corsOrigin },
      ));
});
