import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { ROOT } from '../../../server/config/package-root.ts';
import { eventually, type Service, withFolder, withService } from '../../support/helpers.ts';
import { freePort } from '../../support/port.ts';
import { postgresPrograms } from '../../support/postgres.ts';
import { readBlocks } from '../docs/markdown.ts';
import { find, INSTALL } from './shippers.ts';

const PAGE = 'docs/recipes.md';
const BLOCKS = readBlocks(PAGE, readFileSync(join(ROOT, PAGE), 'utf8'));
const run = promisify(execFile);
const require = createRequire(import.meta.url);
const IS_ROOT = process.getuid?.() === 0;
/** A user without rights, on every system. */
const NOBODY = 65534;

interface Entry {
  readonly timestamp: string;
  readonly severity: string | null;
  readonly status: number | null;
  readonly event_message: string;
  readonly metadata: Record<string, unknown>;
}

interface Place {
  readonly folder: string;
  readonly data: string;
  readonly service: Service;
}

describe('the recipes', () => {
  recipe('nginx', 'nginx_logs', ['nginx'], async ({ folder, data, service }, [nginx = '']) => {
    const port = await freePort();
    const config = join(folder, 'nginx.conf');
    const user = IS_ROOT ? 'user root;' : '';
    writeFileSync(
      config,
      `${user} daemon off; pid ${folder}/nginx.pid; error_log stderr; events {}
        http {
          client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
          uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
          ${textOf('nginx', data)}
          server { listen 127.0.0.1:${port}; return 404; }
        }`,
    );
    await during(spawn(nginx, ['-p', folder, '-c', config, '-e', 'stderr']), async () => {
      await request(`http://127.0.0.1:${port}/todos?id=1`, { 'User-Agent': 'a "quoted" \\ agent' });
      // What no browser sends: nginx finds neither a method nor a path in it.
      const socket = connect(port, '127.0.0.1');
      socket.end('no request\r\n\r\n').resume();
      await once(socket, 'close');
      const [odd] = await entriesOf(service, 'nginx_logs', ({ status }) => status === 400);
      expect(odd?.severity).to.equal('warn');
      const [entry] = await entriesOf(service, 'nginx_logs', ({ event_message: message }) =>
        message.startsWith('GET'),
      );
      expect(entry).to.include({
        event_message: 'GET /todos?id=1 404',
        severity: 'warn',
        status: 404,
      });
      expect(entry?.metadata).to.include({ path: '/todos', user_agent: 'a "quoted" \\ agent' });
      isRecent(entry);
    });
  });

  recipe('Caddy', 'caddy_logs', ['caddy'], async ({ folder, data, service }, [caddy = '']) => {
    const port = await freePort();
    const config = join(folder, 'Caddyfile');
    writeFileSync(
      config,
      `{\n  admin off\n  auto_https off\n}\nhttp://127.0.0.1:${port} {\n  respond /broken 503\n  respond "fine"\n${textOf('caddy', data)}\n}\n`,
    );
    const args = ['run', '--config', config, '--adapter', 'caddyfile'];
    const env = { ...process.env, HOME: folder };
    await during(spawn(caddy, args, { env }), async () => {
      await request(`http://127.0.0.1:${port}/broken`);
      await request(`http://127.0.0.1:${port}/`);
      const [broken] = await entriesOf(service, 'caddy_logs', ({ status }) => status === 503);
      expect(broken).to.include({ event_message: 'handled request', severity: 'error' });
      expect(broken?.metadata.request).to.include({ uri: '/broken', method: 'GET' });
      isRecent(broken);
      const [fine] = await entriesOf(service, 'caddy_logs', ({ status }) => status === 200);
      expect(fine).to.include({ severity: 'info' });
    });
  });

  recipe(
    'journald',
    'journal_logs',
    ['journalctl', 'systemd-journal-remote'],
    async ({ folder, data, service }, [, remote = '']) => {
      const [, command = ''] = /^ExecStart=\/bin\/sh -c '(.*)'$/m.exec(textOf('ini', data)) ?? [];
      const journals = join(folder, 'journals');
      mkdirSync(journals);
      const ask = () =>
        run('sh', [
          '-c',
          command
            .replace('journalctl ', `journalctl --directory=${journals} `)
            .replace('/srv/tailpond', folder),
        ]);
      await record(remote, join(journals, '1.journal'), [
        { PRIORITY: '3', MESSAGE: 'disk failed', _SYSTEMD_UNIT: 'a.service' },
        { PRIORITY: '6', MESSAGE: '{"level":50,"msg":"it broke"}', _SYSTEMD_UNIT: 'b.service' },
      ]);
      await ask();
      await ask();
      await record(remote, join(journals, '2.journal'), [{ PRIORITY: '4', MESSAGE: 'later' }]);
      await ask();
      const entries = await entriesOf(service, 'journal_logs', () => true, 3);
      expect(
        entries.map(({ severity, event_message: message }) => [severity, message]),
      ).to.deep.equal([
        ['error', 'disk failed'],
        ['error', 'it broke'],
        ['warn', 'later'],
      ]);
      expect(entries[0]?.metadata).to.include({ _SYSTEMD_UNIT: 'a.service' });
      for (const entry of entries) isRecent(entry);
    },
  );

  it('of PostgreSQL', async function () {
    const programs = postgresPrograms();
    if (!programs) {
      console.log(`    skipped: PostgreSQL missing; ${INSTALL}`);
      return this.skip();
    }
    await inPlace(async ({ folder, data, service }) => {
      const cluster = join(folder, 'cluster');
      const logs = join(data, 'logs/postgres_logs');
      mkdirSync(cluster);
      mkdirSync(logs, { recursive: true });
      const user = IS_ROOT ? { uid: NOBODY, gid: NOBODY } : {};
      if (IS_ROOT) {
        for (const path of [cluster, logs]) chownSync(path, NOBODY, NOBODY);
        for (const path of [folder, data, dirname(logs)]) chmodSync(path, 0o755);
      }
      const options = { ...user, cwd: cluster };
      await run(join(programs, 'initdb'), ['-D', cluster, '-U', 'owner', '-A', 'trust'], options);
      const settings = textOf('postgresql', data);
      writeFileSync(
        join(cluster, 'postgresql.auto.conf'),
        `${settings}\nlisten_addresses = ''\nunix_socket_directories = '${cluster}'\n`,
      );
      await during(spawn(join(programs, 'postgres'), ['-D', cluster], options), async () => {
        const ask = (sql: string) =>
          run(join(programs, 'psql'), ['-h', cluster, '-U', 'owner', '-d', 'postgres', '-c', sql]);
        await eventually(() => ask('select 1'));
        await ask('select 1 / 0').catch(() => {});
        const [entry] = await entriesOf(
          service,
          'postgres_logs',
          ({ severity }) => severity === 'error',
        );
        expect(entry).to.include({ event_message: 'division by zero' });
        expect(entry?.metadata).to.include({ statement: 'select 1 / 0', state_code: '22012' });
        isRecent(entry);
      });
      const { body } = await service.get('/api/rejected');
      expect(body.result).to.deep.equal([]);
    });
  });

  for (const [name, block, more] of [
    ['pino', 0, "logger.error({ order: 7 }, 'it broke');"],
    ['winston', 1, "logger.error('it broke', { order: 7 });"],
  ] as const)
    it(`of ${name}`, () =>
      inPlace(async ({ folder, data, service }) => {
        mkdirSync(join(data, 'logs/app_logs'), { recursive: true });
        const script = join(folder, 'app.mjs');
        const text = `${textOf('js', data, block)}\n${more}`;
        // As if it were installed where the script is.
        writeFileSync(
          script,
          text.replace(
            /from '(\w+)'/,
            (_, found) => `from '${pathToFileURL(require.resolve(found))}'`,
          ),
        );
        await run(process.execPath, [script]);
        const [entry] = await entriesOf(service, 'app_logs', () => true);
        expect(entry).to.include({ event_message: 'it broke', severity: 'error' });
        expect(entry?.metadata).to.include({ order: 7 });
        isRecent(entry);
      }));

  it('of Python’s logging', () =>
    inPlace(async ({ folder, data, service }) => {
      mkdirSync(join(data, 'logs/app_logs'), { recursive: true });
      const script = join(folder, 'app.py');
      const more = `try:\n    1 / 0\nexcept ZeroDivisionError:\n    logging.exception("it broke")\nlogging.info("fine")`;
      writeFileSync(script, `${textOf('python', data)}\n${more}\n`);
      await run('python3', [script]);
      const entries = await entriesOf(service, 'app_logs', () => true, 2);
      const [broken, fine] = entries;
      expect(broken).to.include({ event_message: 'it broke', severity: 'error' });
      expect(broken?.metadata.exception).to.match(/ZeroDivisionError/);
      expect(fine).to.include({ event_message: 'fine', severity: 'info' });
      for (const entry of entries) isRecent(entry);
    }));
});

/** A recipe that needs programs of the tests' own. */
function recipe(
  name: string,
  source: string,
  names: readonly string[],
  action: (place: Place, programs: readonly string[]) => Promise<void>,
) {
  it(`of ${name}`, async function () {
    const programs = names.map(find);
    if (programs.includes(null)) {
      console.log(`    skipped: ${names.join(' or ')} missing; ${INSTALL}`);
      return this.skip();
    }
    await inPlace(async (place) => {
      mkdirSync(join(place.data, 'logs', source), { recursive: true });
      await action(place, programs.map(String));
      const { body } = await place.service.get(`/api/rejected?source=${source}`);
      expect(body.result).to.deep.equal([]);
    });
  });
}

function inPlace(action: (place: Place) => Promise<void>): Promise<void> {
  return withFolder((folder) => {
    const data = join(folder, 'data');
    const env = { TAILPOND_SOURCES: 'nginx_logs,caddy_logs,journal_logs' };
    return withService(data, (service) => action({ folder, data, service }), { env });
  });
}

/** The nth block of the page in a language, with its data folder in place of the page's. */
function textOf(language: string, data: string, n = 0): string {
  const block = BLOCKS.filter((each) => each.language === language)[n];
  if (!block) throw new Error(`${PAGE} has no block in ${language}`);
  return block.text.replaceAll('/srv/tailpond/data', data);
}

/** Runs `action` while a program runs. */
async function during(child: ChildProcess, action: () => Promise<void>): Promise<void> {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (output += text));
  const ended = once(child, 'exit');
  try {
    await action();
  } catch (error) {
    throw new Error(`${(error as Error).message}\nThe program said: ${output.slice(-2000)}`, {
      cause: error,
    });
  } finally {
    // PostgreSQL takes it for a fast end, the others for an end.
    child.kill('SIGINT');
    await ended;
  }
}

/** Asks until there is an answer, of any status. */
function request(url: string, headers: Record<string, string> = {}): Promise<unknown> {
  return eventually(async () => (await fetch(url, { headers })).text());
}

/** The entries for which `wanted` holds, in the order of their timestamps, once there are so many. */
async function entriesOf(
  service: Service,
  source: string,
  wanted: (entry: Entry) => boolean,
  count = 1,
): Promise<Entry[]> {
  return eventually(async () => {
    const { body } = await service.get(`/api/entries/${source}`);
    const entries = (body.result as Entry[]).filter(wanted).reverse();
    expect(entries).to.have.length(count);
    return entries;
  });
}

function isRecent(entry: Entry | undefined) {
  expect(Math.abs(Date.now() - Date.parse(entry?.timestamp ?? ''))).to.be.below(120_000);
}

/** When the machine of the journal was started. */
const BOOT_US = BigInt(Date.now() - 60_000) * 1000n;

/** Makes a file of a journal with these messages, a millisecond apart. */
async function record(
  program: string,
  path: string,
  messages: readonly Record<string, string>[],
): Promise<void> {
  const begin = BigInt(Date.now()) * 1000n;
  const text = messages.map((fields, i) => {
    const all = {
      __REALTIME_TIMESTAMP: String(begin + BigInt(i) * 1000n),
      __MONOTONIC_TIMESTAMP: String(begin - BOOT_US + BigInt(i) * 1000n),
      _BOOT_ID: '0123456789abcdef0123456789abcdef',
      ...fields,
    };
    return Object.entries(all)
      .map(([name, value]) => `${name}=${value}\n`)
      .join('');
  });
  const child = spawn(program, ['-o', path, '-']);
  child.stdin.end(text.map((each) => `${each}\n`).join(''));
  const [code] = await once(child, 'exit');
  expect(code).to.equal(0);
}
