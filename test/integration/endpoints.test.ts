import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../../server/config/package-root.ts';
import { QueryFileError } from '../../server/endpoints/query-file.ts';
import { loadEndpoints } from '../../server/endpoints/registry.ts';
import {
  eventually,
  type Served,
  spawnService,
  type TestStore,
  withApp,
  withFolder,
  withService,
  withStore,
} from '../support/helpers.ts';
import { opened } from '../support/opened.ts';

const UUID = '0b7e3f0a-52c1-4f53-9d4e-6f2d6c1f9a01';
const OTHER = '0b7e3f0a-52c1-4f53-9d4e-6f2d6c1f9a02';

function file(sql: string, changes: Record<string, string> = {}): string {
  const directives = {
    uuid: UUID,
    max_rows: '1000',
    caching: 'off',
    warming: 'off',
    sandboxing: 'on',
    redact_pii: 'off',
    ...changes,
  };
  const lines = Object.entries(directives).map(([key, value]) => `--! ${key}: ${value}`);
  return ['-- A query of an operator.', ...lines, sql].join('\n');
}

/** Writes files by name into a folder for endpoints below `data`. */
function put(data: string, files: Record<string, string>): string {
  const folder = join(data, 'queries');
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

/** The app with these endpoint files alone. */
const withFiles = (files: Record<string, string>, action: (served: Served) => Promise<void>) =>
  withFolder((data) => withApp(data, action, { endpoints: put(data, files) }));

const edge = (n: number) =>
  `${JSON.stringify({
    id: String(n).padStart(5, '0'),
    timestamp: 1_700_000_000 + n,
    project: 'p',
    event_message: `m${n}`,
    metadata: { n },
  })}\n`;

describe('endpoints of an operator', () => {
  it('serves a third file as an endpoint, by its name and by its UUID', () =>
    withFiles(
      { 'ids.of-all.sql': file('select id from edge_logs order by id') },
      async (served) => {
        served.write('edge_logs/a.ndjson', edge(1) + edge(2));
        await served.lines(2);
        const expected = { result: [{ id: '00001' }, { id: '00002' }] };
        for (const name of ['ids.of-all', UUID, UUID.toUpperCase()]) {
          const { status, body } = await served.get(`/api/endpoints/query/${name}`);
          expect(status).to.equal(200);
          expect(body).to.deep.equal(expected);
        }
        expect((await served.get('/api/endpoints/query/logs.all')).status).to.equal(404);
      },
    ));

  it('cuts every answer at max_rows, keeps the order, and stores lines as before', () =>
    withFiles(
      {
        'few.sql': file('select id from edge_logs order by id', { max_rows: '7' }),
        'many.sql': file('select i from range(1000000) t(i)', { uuid: OTHER, max_rows: '3000' }),
      },
      async ({ get, write, lines }) => {
        write('edge_logs/a.ndjson', Array.from({ length: 50 }, (_, n) => edge(n)).join(''));
        await lines(50);
        for (let round = 0; round < 3; round++) {
          const { body } = await get('/api/endpoints/query/few');
          expect(body.result.map(({ id }: { id: string }) => Number(id))).to.deep.equal([
            0, 1, 2, 3, 4, 5, 6,
          ]);
          expect((await get('/api/endpoints/query/many')).body.result).to.have.length(3000);
        }
        write('edge_logs/a.ndjson', edge(50));
        await lines(51);
      },
    ));

  it('takes the declared types of parameters: words, text, timestamps, regular expressions', () =>
    withFiles(
      {
        'own.sql': file(
          `--! parameter: kind low|high required, which
--! parameter: text string optional, any
--! parameter: at timestamp optional, when
--! parameter: like regexp optional, what
select
  @kind::varchar as kind,
  @text::varchar as text,
  @at::timestamp as at,
  regexp_matches('abc', @like::varchar) as found,
  '@kind' as word`,
        ),
      },
      async ({ get }) => {
        const own = '/api/endpoints/query/own';
        const all = await get(
          `${own}?kind=high&text=${encodeURIComponent(`it's "q" $1 @x`)}&at=2026-01-02T03:04:05%2B01:00&like=^a.c$`,
        );
        expect(all.body).to.deep.equal({
          result: [
            {
              kind: 'high',
              text: `it's "q" $1 @x`,
              at: '2026-01-02T02:04:05Z',
              found: true,
              word: '@kind',
            },
          ],
        });
        const few = await get(`${own}?kind=low&text=`);
        expect(few.body).to.deep.equal({
          result: [{ kind: 'low', text: null, at: null, found: null, word: '@kind' }],
        });
        for (const [query, parameter] of [
          ['', 'kind'],
          ['kind=middle', 'kind'],
          ['kind=low&at=soon', 'at'],
          ['kind=low&like=(', 'like'],
          ['kind=low&text=a&text=b', 'text'],
        ]) {
          const { status, body } = await get(`${own}?${query}`);
          expect(status, query).to.equal(400);
          expect(body.errors.map((fault: { parameter: string }) => fault.parameter)).to.deep.equal([
            parameter,
          ]);
        }
      },
    ));

  it('gives every type of column as JSON', () =>
    withFiles(
      {
        'types.sql': file(
          `select 1::bigint as a, 9007199254740993::bigint as b, 1.5::double as c, 'nan'::double as d,
  true as e, null as f, [1, 2] as g, {'x': 'y'} as h, timestamp '2026-01-02 03:04:05.678' as i,
  12.25::decimal(6, 2) as j, date '2026-01-02' as k, 170141183460469231731687303715884105727::hugeint as l`,
        ),
      },
      async ({ get }) => {
        const { text } = await get('/api/endpoints/query/types');
        expect(text).to.equal(
          '{"result":[{"a":1,"b":9007199254740993,"c":1.5,"d":null,"e":true,"f":null,"g":[1,2],"h":{"x":"y"},' +
            '"i":"2026-01-02T03:04:05.678Z","j":12.25,"k":"2026-01-02","l":170141183460469231731687303715884105727}]}',
        );
      },
    ));

  it('lists the files with their settings, without their SQL', () =>
    withFiles(
      {
        'b.sql': file('select 1 as one', { caching: '60', warming: '30', sandboxing: 'off' }),
        'a.sql': file(
          '--! parameter: kind low|high optional, which\nselect @kind::varchar as secret_column',
          { uuid: OTHER, redact_pii: 'on', max_rows: '5' },
        ),
      },
      async ({ get }) => {
        const { body, text } = await get('/api/endpoints');
        expect(text).not.to.contain('secret_column');
        expect(body.result).to.have.length(2);
        const [a, b] = body.result;
        expect(a).to.deep.include({
          id: OTHER,
          name: 'a',
          description: 'A query of an operator.',
          max_rows: 5,
          caching: null,
          cache_warming: null,
          sandboxing: true,
          redact_pii: true,
        });
        expect(a.parameters).to.have.length(1);
        expect(a.parameters[0]).to.deep.include({
          name: 'kind',
          required: false,
          description: 'which',
        });
        expect(b).to.deep.include({ name: 'b', caching: 60, cache_warming: 30, sandboxing: false });
      },
    ));

  it('redacts by default where the file says so, and not when the request says false', () =>
    withFiles(
      { 'r.sql': file(`select 'ann@example.org' as mail`, { redact_pii: 'on' }) },
      async ({ get }) => {
        const path = '/api/endpoints/query/r';
        expect((await get(path)).body.result[0].mail).to.equal('REDACTED');
        const off = await get(path).set('SVC-ENDPOINT-REDACT-PII', 'false');
        expect(off.body.result[0].mail).to.equal('ann@example.org');
      },
    ));
});

describe('endpoint files that stop the start', () => {
  const store = opened<TestStore>((action) => withFolder((data) => withStore(data, action)));
  /** What loading these files throws. */
  const refused = (files: Record<string, string>) =>
    withFolder(async (data) => {
      const folder = put(data, files);
      const error: unknown = await loadEndpoints([folder], store()).then(
        () => expect.fail('the files were taken'),
        (thrown) => thrown,
      );
      expect(error, String(error)).to.be.instanceOf(QueryFileError);
      return { folder, message: (error as Error).message };
    });
  const check = async (name: string, text: string, line: number, reason: RegExp) => {
    const { folder, message } = await refused({ [name]: text });
    expect(message).to.match(reason);
    expect(message.startsWith(`${join(folder, name)}:${line}: `), message).to.equal(true);
  };

  it('warming without caching', () =>
    check('a.sql', file('select 1 as one', { warming: '300' }), 5, /warming/));

  it('a uuid that another file has, in whatever letter case', async () => {
    const twin = file('select 2 as two', { uuid: UUID.toUpperCase() });
    const { folder, message } = await refused({ 'a.sql': file('select 1 as one'), 'b.sql': twin });
    expect(message).to.contain(join(folder, 'b.sql'));
    expect(message).to.match(/:\d+: .*uuid.*\ba\b/);
  });

  it('SQL that cannot be parsed, with its line', () =>
    check('a.sql', file('select\n  1 as one\nfrm edge_logs as'), 10, /syntax error/));

  it('a column that is not there, with its line', () =>
    check('a.sql', file('select\n  id,\n  nothing_here\nfrom edge_logs'), 10, /nothing_here/));

  it('a table that is not there, with its line', () =>
    check('a.sql', file('select\n  *\nfrom no_logs'), 10, /no_logs/));

  for (const sql of [
    `insert into edge_logs (id) values ('x')`,
    'delete from edge_logs',
    'update ledger set rows = 0',
    'create table x (a integer)',
    'drop table edge_logs',
    `set memory_limit = '1GB'`,
    'explain select 1',
    `copy (select 1) to '/tmp/tailpond-never'`,
    'checkpoint',
    `attach ':memory:' as m`,
    'begin',
  ]) {
    it(`not a SELECT: ${sql}`, () => check('a.sql', file(sql), 1, /./));
  }

  it('two statements', () => check('a.sql', file('select 1 as one;\nselect 2 as two'), 1, /./));
  it('a SELECT and then a DELETE', () =>
    check('a.sql', file('select 1 as one;\ndelete from edge_logs'), 1, /./));
  it('no statement', () => check('a.sql', file(''), 1, /./));

  it('two columns of one name, since one would be lost', () =>
    check('a.sql', file('select 1 as one, 2 as one'), 1, /one/));

  it('windows over something that is not a source', () =>
    check(
      'a.sql',
      file(
        `--! parameter: a timestamp optional, from
--! parameter: b timestamp optional, to
--! windows: ledger 5 a b
select @a::timestamp as a, @b::timestamp as b, @newest_from::timestamp as c`,
      ),
      1,
      /ledger/,
    ));

  it('but nothing else: a semicolon at the end and other files in the folder do no harm', () =>
    withFolder(async (data) => {
      const folder = put(data, { 'a.sql': file('select 1 as one;\n'), 'README.md': '# queries' });
      const { all } = await loadEndpoints([folder], store());
      expect(all.map(({ name }) => name)).to.deep.equal(['a']);
    }));

  it('and not the two of the product, which have the settings of the specification', async () => {
    const { find } = await loadEndpoints([join(ROOT, 'sql', 'endpoints')], store());
    const settings = { maxRows: 1000, sandboxing: true, redactPii: false };
    expect(find('logs.all')).to.deep.include({ ...settings, caching: null, warming: null });
    expect(find('usage.api-counts')).to.deep.include({ ...settings, caching: 900, warming: 300 });
  });
});

describe("an operator's folder of endpoints", () => {
  const counted = (sql: string) =>
    file(`with mine as (select ${sql} as n) select n from mine`, { caching: '900' });

  it('is read again on SIGHUP, all or nothing, and earlier answers are no longer given', () =>
    withFolder(async (data) => {
      const folder = put(data, { 'mine.sql': counted('1') });
      await withService(
        data,
        async (service) => {
          const ask = async (name: string) => {
            const { status, body } = await service.get(`/api/endpoints/query/${name}`);
            return status === 200 ? (body.result as { n: number }[])[0]?.n : status;
          };
          const hangUp = async (message: RegExp) => {
            const before = service.log.length;
            service.child.kill('SIGHUP');
            return eventually(() => {
              const line = service.log.slice(before).find(({ msg }) => message.test(String(msg)));
              if (!line) throw new Error(`no line like ${message}`);
              return line;
            });
          };
          const callers = 'mine?sql=select n * 10 as n from mine';
          expect([await ask('mine'), await ask('logs.all')]).to.deep.equal([1, 400]);
          expect([await ask(callers), await ask(callers)]).to.deep.equal([10, 10]);
          put(data, { 'mine.sql': counted('2') });
          expect(await ask('mine')).to.equal(1);
          await hangUp(/endpoints were read again/);
          expect([await ask('mine'), await ask(callers)]).to.deep.equal([2, 20]);

          put(data, { 'mine.sql': counted('3'), 'wrong.sql': file('select nothing') });
          const { fault } = await hangUp(/an endpoint is wrong/);
          expect(fault).to.match(/queries\/wrong\.sql:8: .*nothing/s);
          expect([await ask('mine'), await ask('wrong')]).to.deep.equal([2, 404]);
          rmSync(join(folder, 'wrong.sql'));
          await hangUp(/endpoints were read again/);
          expect(await ask('mine')).to.equal(3);
        },
        { env: { TAILPOND_ENDPOINTS: folder } },
      );
    }));

  it('ignores a SIGHUP during a stop', () =>
    withFolder((data) =>
      withService(data, async (service) => {
        const ended = service.end('SIGTERM');
        // The socket exists until the store is closed; a moment later the process has no signal handlers.
        const socket = join(data, 'store', 'control.sock');
        const timer = setInterval(() => existsSync(socket) && service.child.kill('SIGHUP'), 2);
        try {
          expect(await ended).to.equal(0);
        } finally {
          clearInterval(timer);
        }
      }),
    ));

  it('stops the start with 78 when a file is wrong or has the name of another, or the folder is missing', () =>
    withFolder(async (data) => {
      const stops = async (folder: string, message: RegExp) => {
        const { child, errors } = spawnService(data, { env: { TAILPOND_ENDPOINTS: folder } });
        const [code] = await once(child, 'close');
        expect([code, errors.join('\n')]).to.satisfy(
          ([got, text]: [number, string]) => got === 78 && message.test(text),
          `${code} ${errors}`,
        );
      };
      await stops(put(data, { 'wrong.sql': file('select') }), /queries\/wrong\.sql:\d+: /);
      rmSync(join(data, 'queries'), { recursive: true });
      await stops(put(data, { 'logs.all.sql': file('select 1 as n') }), /an endpoint of this name/);
      await stops(
        join(data, 'none'),
        /^TAILPOND_ENDPOINTS: expected a folder, got ".*none", which is not one$/,
      );
    }));

  it('takes numbers, truth values and presets', () =>
    withFiles(
      {
        'typed.sql': file(
          `--! parameter: whole integer optional=7, how many
--! parameter: part number required, how much
--! parameter: yes boolean optional, whether
select @whole::bigint as whole, @part::double as part, @yes::boolean as yes`,
        ),
      },
      async ({ get }) => {
        const ask = (query: object) => get('/api/endpoints/query/typed').query(query);
        expect((await ask({ part: '-1.5e3' })).body.result).to.deep.equal([
          { whole: 7, part: -1500, yes: null },
        ]);
        expect((await ask({ part: 2, whole: -3, yes: 'true' })).body.result).to.deep.equal([
          { whole: -3, part: 2, yes: true },
        ]);
        const { body } = await ask({ part: '1,5', whole: '1.5', yes: 'yes' });
        expect(body.errors.map(({ parameter }: { parameter: string }) => parameter)).to.deep.equal([
          'whole',
          'part',
          'yes',
        ]);
        const listed = (await get('/api/endpoints')).body.result[0].parameters;
        expect(listed[0]).to.deep.equal({
          name: 'whole',
          type: 'integer',
          required: false,
          default: '7',
          description: 'how many',
        });
      },
    ));

  it('finds the sources behind common table expressions that name each other', () =>
    withFiles(
      {
        'chain.sql': file(
          `with a as (select id, timestamp from main.auth_logs), b as (select id from a), c as (select id from b),
            unused as (select id from main.edge_logs)
          select id from c`,
        ),
      },
      async ({ get, write, lines }) => {
        write('edge_logs/a.ndjson', edge(1));
        await lines(1);
        const none = await get('/api/endpoints/query/chain');
        expect(none.headers).not.to.have.property('tailpond-ingested-at');
        write('auth_logs/a.ndjson', edge(2));
        await lines(1, 'auth_logs');
        const { body, headers } = await get(
          '/api/endpoints/query/chain?sql=select%20id%20from%20c',
        );
        expect(body.result).to.deep.equal([{ id: '00002' }]);
        expect(headers).to.have.property('tailpond-ingested-at');
      },
    ));

  it('keeps every digit of a number in a statement with common table expressions that it does not use', () =>
    withFiles(
      {
        'numbers.sql': file(
          `with unused as (select 1 as x), v as (select 1795237447123456789 as w)
          select 1795237447123456789 as n, w, 170141183460469231731687303715884105727 as h, 0.1234567890123456789 as d, 1e300 as f, -9007199254740993 as m
          from v where 1795237447123456789 = 1795237447123456788 + 1`,
        ),
      },
      async ({ get }) => {
        const numbers =
          '"n":1795237447123456789,"w":1795237447123456789,"h":170141183460469231731687303715884105727';
        const { text } = await get('/api/endpoints/query/numbers').buffer(true);
        expect(text).to.contain(numbers).and.to.contain('"m":-9007199254740993');
        const own = await get('/api/endpoints/query/numbers?sql=select%20w%20from%20v');
        expect(own.text).to.equal('{"result":[{"w":1795237447123456789}]}');
      },
    ));

  it('takes common table expressions that name themselves', () =>
    withFiles(
      {
        'steps.sql': file(
          `with recursive unused as (select 9 as z), start as (select count(*) as n from main.auth_logs),
            r(n) as (select n from start union all select n + 1 from r where n < 4)
          select n from r order by n`,
        ),
      },
      async ({ get, write, lines }) => {
        write('auth_logs/a.ndjson', edge(1) + edge(2));
        await lines(2, 'auth_logs');
        const { body, headers } = await get('/api/endpoints/query/steps');
        expect(body.result).to.deep.equal([{ n: 2 }, { n: 3 }, { n: 4 }]);
        expect(headers).to.have.property('tailpond-ingested-at');
        const own = await get('/api/endpoints/query/steps?sql=select%20max(n)%20as%20m%20from%20r');
        expect(own.body.result).to.deep.equal([{ m: 4 }]);
      },
    ));
});
