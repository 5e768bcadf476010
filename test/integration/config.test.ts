import { once } from 'node:events';
import { appendFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { allSources } from '../../ingest/index.ts';
import { readToken } from '../../server/auth/root-token.ts';
import { ConfigError, readConfig } from '../../server/config/config.ts';
import { ROOT } from '../../server/config/package-root.ts';
import { WAITS } from '../../server/waits.ts';
import { eventually, spawnService, TOKEN, withFolder, withService } from '../support/helpers.ts';
import { SLOW } from '../support/slow.ts';

/** Returns the faults of these settings. */
function faults(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env);
  } catch (error) {
    expect(error).to.be.instanceOf(ConfigError);
    return (error as ConfigError).faults;
  }
  return expect.fail(`nothing is wrong with ${JSON.stringify(env)}`);
}

const set = (env: Record<string, string>) => readConfig(env).config;

describe('settings', () => {
  it('have defaults', () => {
    const { config, warnings } = readConfig({ PATH: '/bin', HOME: '/root' });
    expect(config).to.deep.include({
      data: './data',
      host: '127.0.0.1',
      port: 4000,
      token: null,
      tokenFile: null,
      logLevel: 'info',
      queryTimeoutMs: 30_000,
      maxLine: 1024 * 1024,
      maxPushLines: 500_000,
      maxBytes: Infinity,
      minFree: 500e6,
      corsOrigin: null,
    });
    expect(Object.values(config.keepMs)).to.deep.equal(
      Array(allSources().length).fill(30 * 24 * 3_600_000),
    );
    expect(Object.values(config.maxSourceBytes)).to.deep.equal(
      Array(allSources().length).fill(Infinity),
    );
    expect(warnings).to.deep.equal([]);
  });

  it('that are empty or blank count as not set', () => {
    const empty = {
      TAILPOND_PORT: '',
      TAILPOND_TOKEN: ' ',
      TAILPOND_TOKEN_FILE: '',
      TAILPOND_CORS_ORIGIN: '',
      TAILPOND_MAX_LINE: '',
    };
    expect(set(empty)).to.deep.equal(set({}));
  });

  it('change what the service waits for, which tests do, and name the waits where one is wrong', () => {
    const { waits } = set({ TAILPOND_TEST_WAITS: 'settle=100ms, quiet=2s' });
    expect(waits).to.deep.equal({ ...WAITS, settle: 100, quiet: 2000 });
    expect(set({}).waits).to.deep.equal(WAITS);
    for (const wrong of [
      'settle',
      'settle=1',
      'settle=0ms',
      'nothing=1s',
      'settle=1s,',
      'settle=1s;quiet=1s',
    ])
      expect(faults({ TAILPOND_TEST_WAITS: wrong })[0]).to.match(
        /^TAILPOND_TEST_WAITS: expected durations of sweep, quiet, .*, got "/,
      );
  });

  it('cannot be changed afterwards', () => {
    expect(Object.isFrozen(set({}))).to.equal(true);
  });

  it('take sizes and durations in units', () => {
    for (const [text, bytes] of [
      ['1KiB', 1024],
      ['2 MiB', 2 * 1024 * 1024],
      ['16MiB', 16 * 1024 * 1024],
      ['2kb', 2000],
      ['1.5MB', 1_500_000],
      ['4096B', 4096],
    ] as const)
      expect(set({ TAILPOND_MAX_LINE: text }).maxLine, text).to.equal(bytes);
    for (const [text, ms] of [
      ['100ms', 100],
      ['30s', 30_000],
      ['2m', 120_000],
      ['1h', 3_600_000],
    ] as const)
      expect(set({ TAILPOND_QUERY_TIMEOUT: text }).queryTimeoutMs, text).to.equal(ms);
  });

  it('take ages and sizes of all sources, and others of single ones', () => {
    const hour = 3_600_000;
    const { keepMs } = set({ TAILPOND_RETENTION: '30d, postgres_logs=7d,auth_logs=off' });
    expect(keepMs).to.include({
      edge_logs: 720 * hour,
      postgres_logs: 168 * hour,
      auth_logs: Infinity,
    });
    expect(set({ TAILPOND_RETENTION: '1h' }).keepMs.edge_logs).to.equal(hour);
    const off = set({ TAILPOND_RETENTION: 'off,edge_logs=12h' }).keepMs;
    expect(off).to.include({ edge_logs: 12 * hour, postgres_logs: Infinity });
    const { maxBytes, maxSourceBytes } = set({ TAILPOND_MAX_DISK: '20GB,edge_logs=10GiB' });
    expect(maxBytes).to.equal(20e9);
    expect(maxSourceBytes).to.include({ edge_logs: 10 * 2 ** 30, auth_logs: Infinity });
    expect(set({ TAILPOND_MAX_DISK: 'off,edge_logs=1GB' }).maxBytes).to.equal(Infinity);
    expect(set({ TAILPOND_MIN_FREE: 'off' }).minFree).to.equal(0);
    expect(set({ TAILPOND_MIN_FREE: '2GB' }).minFree).to.equal(2e9);
  });

  it('take members of sources', () => {
    const { columns } = set({
      TAILPOND_COLUMNS: 'edge_logs=a.b, auth_logs=provider,edge_logs=c-d',
    });
    expect(columns).to.include.all.keys('edge_logs', 'pgbouncer_logs');
    expect(columns.edge_logs).to.deep.equal(['a.b', 'c-d']);
    expect(columns.auth_logs).to.deep.equal(['provider']);
    expect(set({ TAILPOND_SETTLING: 'off' }).settling).to.equal(false);
  });

  it('say what is wrong with zones, fields, formats and patterns of lines', () => {
    const first = (env: Record<string, string>) => faults(env)[0];
    for (const zone of ['Europe/Berln', 'UTC,app_logs=Mars/Phobos', '+02:00', 'UTC,no_logs=UTC'])
      expect(first({ TAILPOND_TIME_ZONE: zone })).to.equal(
        `TAILPOND_TIME_ZONE: expected UTC or a zone such as Europe/Berlin, then perhaps zones of sources, such as UTC,mysql_logs=Europe/Berlin, got "${zone}"`,
      );
    for (const fields of ['zeit=time', 'time', 'time=', 'time=a|', 'no_logs.time=a', 'time=a,id=A'])
      expect(first({ TAILPOND_FIELDS: fields })).to.equal(
        `TAILPOND_FIELDS: expected names of fields by what they mean (id, project, time, message, severity, status, trace, request), each name once, such as time=zeit|wann,app_logs.severity=stufe, got ${JSON.stringify(fields)}`,
      );
    for (const format of [
      'auto,app_logs',
      'auto,app_logs/../x=text',
      'auto,no_logs/x=text',
      '/x=text',
    ])
      expect(first({ TAILPOND_LINE_FORMAT: format }), format).to.match(
        /^TAILPOND_LINE_FORMAT: expected one of json, auto, .*=nginx-error, got "/,
      );
    expect(first({ TAILPOND_LINE_FORMAT: 'auto,app_logs/*.x=ngnix' })).to.match(
      /^TAILPOND_LINE_FORMAT: expected one of .*, got "ngnix"; did you mean nginx\?$/,
    );
    const wrong: readonly [string, RegExp][] = [
      ['mine', /^TAILPOND_LINE_PATTERNS: expected names with regular expressions/],
      ['mine=(?<a>.)', /: expected names with regular expressions that begin with \^/],
      ['mine=^a,mine=^b', /: expected names with regular expressions/],
      ['mine=^(?<a>', /^TAILPOND_LINE_PATTERNS: mine: The pattern is not a regular expression/],
      ['mine=^.*', /: mine: The pattern \^\.\* has no named group\./],
      [String.raw`mine=^(?<a>(\w+\.)+)`, /: mine: The pattern repeats \(\\w\+\\\.\), which/],
      ['text=^(?<a>.)', /: text: text is the name of a built-in format\./],
    ];
    for (const [patterns, fault] of wrong)
      expect(first({ TAILPOND_LINE_PATTERNS: patterns })).to.match(fault);
    const { lineFormat } = set({
      TAILPOND_LINE_PATTERNS: 'one=^(?<a>x{1,3}),(?<b>.)\n two=^(?<c>.),three=^(?<d>.)',
      TAILPOND_LINE_FORMAT: 'one,app_logs=two,app_logs/a/*=three',
    });
    expect(lineFormat.edge_logs?.formats.map(({ name }) => name)).to.deep.equal(['one']);
    expect(lineFormat.app_logs?.formats.map(({ name }) => name)).to.deep.equal(['two']);
    expect(lineFormat.app_logs?.files[0]?.formats[0]?.name).to.equal('three');
  });

  it('take ports, levels, origins and tokens', () => {
    for (const port of ['0', '1', '65535'])
      expect(set({ TAILPOND_PORT: port }).port).to.equal(Number(port));
    for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
      expect(set({ TAILPOND_LOG_LEVEL: level }).logLevel).to.equal(level);
    for (const origin of ['https://example.org', 'http://localhost:3000', '*'])
      expect(set({ TAILPOND_CORS_ORIGIN: origin }).corsOrigin).to.equal(origin);
    expect(set({ TAILPOND_TOKEN: 'sixteen-letters-' }).token).to.equal('sixteen-letters-');
  });

  /** One wrong value each; the fault must begin with its name and repeat it, but never a token. */
  const wrong: Record<string, string[]> = {
    TAILPOND_PORT: ['65536', '-1', 'http', '80.5', '1e3', '0x50', '4000 5000'],
    TAILPOND_LOG_LEVEL: ['verbose', 'INFO!', '3'],
    TAILPOND_MEMORY: ['400', 'lots', '1MB', '-5GB', '80%', '400MBB'],
    TAILPOND_MAX_LINE: ['17MiB', '1B', '1023B', '1048576', '0MB', 'MiB'],
    TAILPOND_MAX_PUSH_LINES: ['0', '1000001', '1e3', 'many'],
    TAILPOND_QUERY_TIMEOUT: ['30', '99ms', '2h', '0s', '1.5s', '-1s', 'soon', '1d'],
    TAILPOND_RETENTION: [
      '30',
      '59m',
      '0h',
      '-1d',
      '30d,',
      'edge_logs=7d',
      '30d,edge_logs',
      '30d,nope=7d',
      '30d,edge_logs=7d,edge_logs=8d',
      '30d,edge_logs=7d=8d',
      'never',
    ],
    TAILPOND_MAX_DISK: ['20', '1MB', '20GB,edge_logs=1', '20GB,nope=10GB', '80%', '10TBB'],
    TAILPOND_MIN_FREE: ['none', '500', '-1MB', '5%'],
    TAILPOND_COLUMNS: [
      'request.search',
      'nope=request.search',
      'edge_logs=',
      'edge_logs=request..search',
      "edge_logs=request.it's",
      'edge_logs=a,edge_logs=a',
      'edge_logs=a=b',
    ],
    TAILPOND_SETTLING: ['yes', 'true', '1'],
    TAILPOND_CORS_ORIGIN: [
      'example.org',
      'https://example.org/',
      'https://a.org,https://b.org',
      'null',
    ],
  };
  for (const [name, values] of Object.entries(wrong)) {
    it(`say what is wrong with ${name}`, () => {
      for (const value of values) {
        const found = faults({ [name]: value });
        expect(found, value).to.have.length(1);
        expect(found[0]).to.match(new RegExp(`^${name}: expected `));
        expect(found[0]).to.contain(value);
      }
    });
  }

  it('never repeat a token', () => {
    for (const token of ['short-secret', 'with a blank in it, secret']) {
      const found = faults({ TAILPOND_TOKEN: token });
      expect(found).to.have.length(1);
      expect(found[0]).to.match(/^TAILPOND_TOKEN: expected .*16/);
      expect(found[0]).not.to.contain('secret');
    }
    const both = faults({ TAILPOND_TOKEN: TOKEN, TAILPOND_TOKEN_FILE: '/run/token' });
    expect(both).to.have.length(1);
    expect(both[0]).to.contain('TAILPOND_TOKEN_FILE').and.not.to.contain(TOKEN);
  });

  it('report all faults at once, by name', () => {
    const env = Object.fromEntries(
      Object.entries(wrong).map(([name, values]) => [name, values[0] ?? '']),
    );
    const found = faults({ ...env, TAILPOND_TOKEN: 'short' });
    expect(found.map((fault) => fault.split(':')[0])).to.have.members([
      ...Object.keys(wrong),
      'TAILPOND_TOKEN',
    ]);
  });

  it('warn of an unknown variable, with the nearest name', () => {
    const nearest = (name: string) => {
      const { warnings } = readConfig({ [name]: 'secret-value', OTHER: '1' });
      expect(warnings).to.have.length(1);
      expect(warnings[0]).to.contain(name).and.not.to.contain('secret-value');
      return warnings[0];
    };
    expect(nearest('TAILPOND_PROT')).to.contain('TAILPOND_PORT');
    expect(nearest('TAILPOND_LOGLEVEL')).to.contain('TAILPOND_LOG_LEVEL');
    expect(nearest('TAILPOND_MAXLINE')).to.contain('TAILPOND_MAX_LINE');
    expect(nearest('TAILPOND_TOKENFILE')).to.contain('TAILPOND_TOKEN_FILE');
    expect(readConfig({ TAILPOND_A: '', TAILPOND_B: '' }).warnings).to.have.length(2);
    expect(nearest('TAILPOND_ENCRYPTION')).not.to.contain('did you mean');
  });

  it('warn of what is set of a forwarding to nowhere', () => {
    const env = { TAILPOND_CLICKHOUSE_CLUSTER: 'c', TAILPOND_CLICKHOUSE_DATABASE: '' };
    const to = { TAILPOND_CLICKHOUSE_URL: 'http://127.0.0.1:8123' };
    expect(readConfig({ ...env, ...to }).warnings).to.deep.equal([]);
    const password = { TAILPOND_CLICKHOUSE_READER_PASSWORD_FILE: '/f' };
    expect(readConfig({ ...env, ...to, ...password }).warnings).to.deep.equal([
      'TAILPOND_CLICKHOUSE_READER_PASSWORD_FILE has no effect without TAILPOND_CLICKHOUSE_READER',
    ]);
    expect(readConfig(env).warnings).to.deep.equal([
      'TAILPOND_CLICKHOUSE_CLUSTER has no effect without TAILPOND_CLICKHOUSE_URL: no rows are forwarded',
    ]);
  });

  it('report unknown variables beside wrong values, and the unit that a size lacks', () => {
    const found = faults({ TAILPOND_MEMORY: '2G', TAILPOND_PROT: '1', TAILPOND_MAX_DISK: '20g' });
    expect(found).to.have.length(3);
    expect(found[0]).to.match(/^TAILPOND_MEMORY: .*got "2G"; the unit is GB$/);
    expect(found[1]).to.match(/^TAILPOND_MAX_DISK: .*got "20g"; the unit is GB$/);
    expect(found[2]).to.contain('unknown setting TAILPOND_PROT');
  });
});

describe('the access token', () => {
  const none = { token: null, tokenFile: null };

  it('is made once, readable by its owner alone, and used again', () =>
    withFolder(async (store) => {
      const first = readToken(none, store);
      expect(first.value).to.match(/^[\w-]{32,}$/);
      expect(first.where).to.equal(join(store, 'access-token'));
      expect(statSync(first.where).mode & 0o777).to.equal(0o600);
      expect(readFileSync(first.where, 'utf8').trim()).to.equal(first.value);
      expect(readToken(none, store)).to.deep.equal(first);
      await withFolder(async (other) => {
        expect(readToken(none, other).value).not.to.equal(first.value);
      });
    }));

  it('comes from the settings or from the file they name, without making one', () =>
    withFolder(async (store) => {
      const file = join(store, 'mine');
      writeFileSync(file, ' a-token-of-mine-in-a-file\n\n');
      expect(readToken({ token: null, tokenFile: file }, store).value).to.equal(
        'a-token-of-mine-in-a-file',
      );
      expect(readToken({ token: TOKEN, tokenFile: null }, store).value).to.equal(TOKEN);
      expect(() => statSync(join(store, 'access-token'))).to.throw(/ENOENT/);
    }));

  it('is refused when its file is missing, a folder, empty, short or of several words', () =>
    withFolder(async (store) => {
      const file = join(store, 'mine');
      const refused = (tokenFile: string) => {
        expect(() => readToken({ token: null, tokenFile }, store)).to.throw(ConfigError, tokenFile);
      };
      refused(join(store, 'nowhere'));
      refused(store);
      for (const text of [
        '',
        '\n',
        'short',
        'a token with blanks in it',
        'two-lines-of-tokens\ntwo-lines-of-tokens',
      ]) {
        writeFileSync(file, text);
        refused(file);
      }
      writeFileSync(join(store, 'access-token'), '');
      expect(() => readToken(none, store)).to.throw(ConfigError);
    }));
});

describe('the process', () => {
  /** Runs the service to its end. */
  async function run(
    data: string,
    options: { env?: Record<string, string>; args?: string[] } = {},
  ) {
    const { child, log, errors } = spawnService(data, options);
    const [code] = await once(child, 'close');
    return {
      code,
      errors: errors.join('\n'),
      text: log.map((line) => String(line.text)).join('\n'),
    };
  }

  it('ends with 78 and all faults when settings are wrong', () =>
    withFolder(async (data) => {
      const { code, errors } = await run(data, {
        env: { TAILPOND_PORT: 'x', TAILPOND_MAX_LINE: '99MiB', TAILPOND_TOKEN: 'short-secret' },
      });
      expect(code).to.equal(78);
      for (const name of ['TAILPOND_PORT', 'TAILPOND_MAX_LINE', 'TAILPOND_TOKEN'])
        expect(errors).to.contain(`${name}: expected`);
      expect(errors)
        .not.to.contain('short-secret')
        .and.not.to.match(/\n\s+at /);
    }));

  it('ends with 78 when the token file cannot be read', () =>
    withFolder(async (data) => {
      const { code, errors } = await run(data, {
        env: { TAILPOND_TOKEN: '', TAILPOND_TOKEN_FILE: join(data, 'nowhere') },
      });
      expect(code).to.equal(78);
      expect(errors).to.contain('TAILPOND_TOKEN_FILE').and.to.contain('ENOENT');
      expect(errors).not.to.match(/\n\s+at /);
    }));

  it('ends with another code when its port is taken, and says so', () =>
    withFolder((data) =>
      withService(join(data, 'a'), async ({ url }) => {
        const { code, errors } = await run(join(data, 'b'), {
          env: { TAILPOND_PORT: new URL(url).port },
        });
        expect(code).to.equal(1);
        expect(errors).to.equal(
          `Another program listens on ${new URL(url).host} already (EADDRINUSE). Stop it, which ss -ltnp names, or set TAILPOND_PORT or TAILPOND_HOST.`,
        );
      }),
    ));

  it('ends with the same code when this machine does not have its address, and says so', () =>
    withFolder(async (data) => {
      // An address of TEST-NET-1 (RFC 5737), which no machine has.
      const { code, errors } = await run(data, { env: { TAILPOND_HOST: '192.0.2.1' } });
      expect(code).to.equal(1);
      expect(errors).to.match(/^This machine has no address 192\.0\.2\.1 \(EADDRNOTAVAIL\)\. Set/);
    }));

  it('prints its settings and its version', () =>
    withFolder(async (data) => {
      const help = await run(data, { args: ['--help'], env: { TAILPOND_PORT: 'wrong' } });
      expect(help.code).to.equal(0);
      for (const name of [
        'TAILPOND_DATA',
        'TAILPOND_TOKEN_FILE',
        'TAILPOND_CORS_ORIGIN',
        '--version',
      ])
        expect(help.text).to.contain(name);
      const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
      const told = await run(data, { args: ['--version'] });
      expect(told).to.deep.include({ code: 0, text: version });
      const wrong = await run(data, { args: ['--nope'] });
      expect(wrong.code).not.to.equal(0);
      expect(wrong.errors).to.contain('--nope');
    }));

  it('listens on a free port, which it logs, and warns of unknown settings', () =>
    withFolder((data) =>
      withService(
        data,
        async ({ url, log, get }) => {
          expect(Number(new URL(url).port)).to.be.greaterThan(0);
          expect((await fetch(`${url}/readyz`)).status).to.equal(200);
          expect((await get('/api/endpoints')).status).to.equal(200);
          const warnings = log.filter(({ level }) => level === 40).map(({ msg }) => msg);
          expect(warnings.join()).to.contain('TAILPOND_PROT').and.to.contain('TAILPOND_PORT');
        },
        { env: { TAILPOND_PROT: '1' } },
      ),
    ));

  it(`makes a token, logs its path but not its value, and takes it after a restart ${SLOW}`, () =>
    withFolder(async (data) => {
      const file = join(data, 'store', 'access-token');
      const env = { TAILPOND_TOKEN: '' };
      const tokens: string[] = [];
      for (let round = 0; round < 2; round++)
        await withService(
          data,
          async ({ url, log, end }) => {
            const token = readFileSync(file, 'utf8').trim();
            tokens.push(token);
            expect(statSync(file).mode & 0o777).to.equal(0o600);
            const response = await fetch(`${url}/api/ledger`, { headers: { 'X-API-KEY': token } });
            expect(response.status).to.equal(200);
            await eventually(() => expect(JSON.stringify(log)).to.contain(file));
            expect(await end('SIGTERM')).to.equal(0);
            expect(JSON.stringify(log)).not.to.contain(token);
          },
          { env },
        );
      expect(tokens[0]).to.equal(tokens[1]);
    }));

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`stops cleanly at ${signal}, and keeps what it stored`, () =>
      withFolder(async (data) => {
        const rows = async (get: (path: string) => Promise<{ body: Record<string, unknown> }>) =>
          (await get('/api/endpoints/query/logs.all?project=p')).body.result as unknown[];
        await withService(data, async ({ get, end }) => {
          mkdirSync(join(data, 'logs', 'edge_logs'), { recursive: true });
          writeFileSync(
            join(data, 'logs', 'edge_logs', 'a.ndjson'),
            '{"id":"1","project":"p","event_message":"m"}\n',
          );
          await eventually(async () => expect(await rows(get)).to.have.length(1));
          expect(await end(signal)).to.equal(0);
        });
        await withService(data, async ({ get, end }) => {
          expect(await rows(get)).to.have.length(1);
          expect(await end(signal)).to.equal(0);
        });
      }));
  }

  it('refuses a data folder that another process uses, and does not harm that process', () =>
    withFolder((data) =>
      withService(data, async ({ get, end }) => {
        mkdirSync(join(data, 'logs', 'edge_logs'), { recursive: true });
        const file = join(data, 'logs', 'edge_logs', 'a.ndjson');
        const count = async () =>
          ((await get('/api/endpoints/query/logs.all?project=p')).body.result as unknown[]).length;
        writeFileSync(file, '{"id":"1","project":"p"}\n');
        await eventually(async () => expect(await count()).to.equal(1));
        for (let round = 0; round < 2; round++) {
          const second = await run(data);
          expect(second.code).to.equal(1);
          expect(second.errors).to.match(/^Another process has the store.* tailpond store check$/);
        }
        appendFileSync(file, '{"id":"2","project":"p"}\n');
        await eventually(async () => expect(await count()).to.equal(2));
        expect(await end('SIGTERM')).to.equal(0);
      }),
    ));

  it('logs no token, no value of a parameter and no text of a line, at debug level', () =>
    withFolder((data) =>
      withService(data, async ({ url, log, child, end }) => {
        mkdirSync(join(data, 'logs', 'edge_logs'), { recursive: true });
        writeFileSync(
          join(data, 'logs', 'edge_logs', 'a.ndjson'),
          '{"id":"1","project":"p","message":"text-of-a-line"}\n{"broken-text-of-a-line"}\nnull-text-of-a-line\n',
        );
        await eventually(async () => {
          const response = await fetch(`${url}/api/rejected`, { headers: { 'X-API-KEY': TOKEN } });
          expect(((await response.json()) as { result: unknown[] }).result).to.have.length(2);
        });
        const words = ['word-of-a-value', 'wrong-token-of-mine'];
        const calls: [string, Record<string, string>][] = [
          ['logs.all?project=word-of-a-value', {}],
          ['logs.all?project=p&iso_timestamp_start=word-of-a-value', {}],
          ['logs.all?project=p&unknown=word-of-a-value', {}],
          ['usage.api-counts?interval=daily&project=word-of-a-value', {}],
          ['usage.api-counts?interval=daily&project=(word-of-a-value', {}],
          ['usage.api-counts?interval=word-of-a-value&project=p', {}],
          ['logs.all?project=p', { 'SVC-ENDPOINT-REDACT-PII': 'word-of-a-value' }],
          ['nope?project=word-of-a-value', {}],
          ['logs.all?project=p', { 'X-API-KEY': 'wrong-token-of-mine' }],
          ['logs.all?project=p', { Authorization: 'Bearer wrong-token-of-mine' }],
          [`logs.all?project=p&token=${TOKEN}`, {}],
        ];
        for (const [path, headers] of calls)
          await fetch(`${url}/api/endpoints/query/${path}`, {
            headers: { 'X-API-KEY': TOKEN, ...headers },
          }).then((response) => response.text());
        expect(await end('SIGTERM')).to.equal(0);
        expect(child.exitCode).to.equal(0);
        const text = JSON.stringify(log);
        // The log has the requests: the path of each one is in it.
        expect(text.split('/api/endpoints/query/logs.all').length).to.be.greaterThan(5);
        for (const word of [...words, TOKEN, 'text-of-a-line']) expect(text).not.to.contain(word);
      }),
    ));
});
