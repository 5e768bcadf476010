import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import * as zlib from 'node:zlib';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { ROOT } from '../../../server/config/package-root.ts';
import { lockStore } from '../../../server/store/index.ts';
import { eventually, LAUNCH, TOKEN, withFolder, withService } from '../../support/helpers.ts';
import { opened } from '../../support/opened.ts';
import { freePort } from '../../support/port.ts';
import { SLOW } from '../../support/slow.ts';

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function start(
  data: string,
  args: readonly string[],
  env: Record<string, string> = {},
  files?: number,
) {
  const limit = files ? ['sh', '-c', `ulimit -n ${files} && exec "$@"`, 'sh'] : [];
  const [command = '', ...words] = [...limit, LAUNCH, ...args];
  return spawn(command, words, {
    cwd: ROOT,
    env: { PATH: process.env.PATH, TAILPOND_DATA: data, TAILPOND_TOKEN: TOKEN, ...env },
  });
}

/** Runs `tailpond` with these words to its end. */
async function run(
  data: string,
  args: readonly string[],
  {
    env = {},
    input = '',
    files,
  }: { env?: Record<string, string>; input?: string | Buffer; files?: number } = {},
): Promise<Ran> {
  const child = start(data, args, env, files);
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  child.stdin.end(input);
  const [code] = await once(child, 'close');
  return { code, out, err };
}

/** Lines of a long import. */
const LINES = 40_000;
const line = (id: string, more: object = {}) =>
  `${JSON.stringify({ id, timestamp: '2026-08-21T12:00:00Z', project: 'p', event_message: `message ${id}`, metadata: {}, ...more })}\n`;

/** A line of a child's stdout that `wanted` takes. */
function lineOf(child: ChildProcess, wanted: (text: string) => boolean): Promise<string> {
  return new Promise((found, ended) => {
    child.once('close', () => ended(new Error('it ended first')));
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (more) => {
      const lines = (text + more).split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) if (wanted(line)) found(line);
    });
  });
}

/** What is the same beside a service that runs and where none does, for which one is started. */
function sameCases(withData: (action: (data: string) => Promise<void>) => Promise<void>): void {
  it('imports plain and packed files and standard input, and asks for what is there', () =>
    withData((data) =>
      withFolder(async (files) => {
        const [file, packed] = [join(files, 'old.log'), join(files, 'packed')];
        writeFileSync(file, line('a') + line('b').trimEnd());
        writeFileSync(packed, gzipSync(`${line('c')}broken\n`));
        const args = ['import', '--source', 'auth_logs', file, packed, '-'];
        const imported = await run(data, [...args, '--json'], { input: line('d') });
        expect(imported.code, imported.err).to.equal(0);
        expect(JSON.parse(imported.out)).to.include({ lines: 5, rows: 4, rejected: 1 });

        const sql = 'select id, event_message from auth_logs order by id';
        const asked = await run(data, ['query', 'logs.all', '--project', 'p', '--sql', sql]);
        expect(asked.out.split('\n')).to.deep.equal([
          'id  event_message',
          '──  ─────────────',
          'a   message a',
          'b   message b',
          'c   message c',
          'd   message d',
          '',
        ]);
        expect(asked.err).to.match(/^4 rows; the last entry was stored: 20/m);
        const searched = await run(data, ['search', 'auth_logs', '--json', 'message', 'b']);
        expect(JSON.parse(searched.out)).to.include({ id: 'b' });
      }),
    ));

  it('imports a sequence of objects, however they are parted and packed, and fails where nothing is a row', () =>
    withData((data) =>
      withFolder(async (files) => {
        const write = (name: string, bytes: string | Buffer) => {
          writeFileSync(join(files, name), bytes);
          return join(files, name);
        };
        const pretty = ['a', 'b'].map((id) => JSON.stringify(JSON.parse(line(id)), null, 2));
        const args = ['import', '--source', 'auth_logs', '--json'];
        const parted = write('parted', `${pretty.join('\n')}${line('c').trim()}[${line('d')}]`);
        const imported = await run(data, [...args, parted, '-'], { input: gzipSync(line('e')) });
        expect(imported.code, imported.err).to.equal(0);
        expect(JSON.parse(imported.out)).to.include({ lines: 5, rows: 5, rejected: 0 });
        const nothing = await run(data, [...args, write('text', 'no object\n7\n')]);
        expect(nothing.code).to.equal(1);
        expect(JSON.parse(nothing.out)).to.include({ lines: 2, rows: 0, rejected: 2 });
        const zip = await run(data, [...args, write('zip', 'PK\x03\x04more')]);
        expect(zip).to.include({ code: 1 });
        expect(zip.err).to.include('is packed by zip, which cannot be unpacked');
        const { zstdCompressSync: pack } = zlib as { zstdCompressSync?: (text: string) => Buffer };
        const frames = pack && Buffer.concat([pack(line('f')), pack(line('g'))]);
        const zst = await run(data, [...args, write('zst', frames ?? '\x28\xb5\x2f\xfdmore')]);
        if (frames) expect(JSON.parse(zst.out)).to.include({ lines: 2, rows: 2, rejected: 0 });
        else expect(zst.code).to.equal(1);
      }),
    ));

  it('lists rejected lines and sends them in again', () =>
    withData(async (data) => {
      const source = ['--source', 'edge_logs'];
      await run(data, ['import', ...source, '-'], { input: 'one\ntwo\n' });
      const { out } = await run(data, ['rejected', 'list', ...source, '--json']);
      const lines = JSON.parse(out) as { id: string }[];
      expect(lines).to.have.length(2);
      const edited = await run(data, [
        ...['rejected', 'retry', lines[0]?.id ?? '', '--line', line('x').trimEnd()],
      ]);
      expect(edited.code, edited.err).to.equal(0);
      const all = await run(data, ['rejected', 'retry', '--all', ...source, '--json']);
      expect(JSON.parse(all.out)).to.deep.equal({ retried: 1 });
    }));

  it('prints entries as they come', () =>
    withData(async (data) => {
      // Garbage is collected as often as in hours: a tail is interrupted after that.
      const collects =
        'import v8 from "node:v8";import vm from "node:vm";v8.setFlagsFromString("--expose-gc");const gc=vm.runInNewContext("gc");setInterval(gc,300).unref()';
      const env = {
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(collects)}`,
      };
      const child = start(data, ['tail', 'realtime_logs', '--search', 'ESSAGE N'], env);
      const closed = once(child, 'close');
      const first = lineOf(child, () => true);
      // A tail shows what comes after it has begun, and does not say when that is.
      let written = 0;
      const timer = setInterval(() => {
        mkdirSync(join(data, 'logs/realtime_logs'), { recursive: true });
        writeFileSync(
          join(data, 'logs/realtime_logs/a.log'),
          line(`n${written++}`, { project: 'p\u2028q' }),
          { flag: 'a' },
        );
      }, 100);
      try {
        // Some readers end a line at U+2028, so that a space stands for it.
        expect(await first).to.match(/^2026-08-21T12:00:00Z p q message n\d+$/);
      } finally {
        clearInterval(timer);
        child.kill('SIGINT');
      }
      expect((await closed)[0]).to.equal(0);
    }));
}

describe(`the command, without a service ${SLOW}`, () => sameCases(withFolder));

describe('the command, beside a service that runs', () => {
  const dataOf = opened<string>((action) =>
    withFolder((data) => withService(data, () => action(data))),
  );

  sameCases((action) => action(dataOf()));

  it('gives lines that name no project the one of their import, and searches by it', async () => {
    const data = dataOf();
    const args = ['import', '--source', 'app_logs', '--project', 'website', '-'];
    const input = `{"id":"e","level":"info"}\n${line('f')}`;
    const imported = await run(data, args, { input });
    expect(imported.code, imported.err).to.equal(0);
    const both = await run(data, [
      ...['query', 'logs.all', '--project', '*', '--format', 'csv'],
      ...['--sql', 'select id, project from app_logs order by id'],
    ]);
    expect(both.out).to.equal('id,project\r\ne,website\r\nf,p\r\n');

    const searched = await run(data, ['search', 'app_logs', 'project:website', 'level:info']);
    expect(searched.out).to.match(/^20\S+ website info \n$/);
    expect(searched.err).to.equal('1 row\n');
    const others = await run(data, ['search', 'app_logs', '--json', '--', '-level:info']);
    expect(JSON.parse(others.out)).to.include({ id: 'f' });
    const wrong = await run(data, ['search', 'app_logs', 'a OR']);
    expect([wrong.code, wrong.err]).to.deep.equal([
      1,
      'Expected a word, a "phrase", field:value or an opening bracket at character 5, got the end.\n',
    ]);
  });

  it('says which rejected lines it cannot send in again', async () => {
    const data = dataOf();
    const retried = async (...args: string[]) => {
      const { code, err } = await run(data, ['rejected', 'retry', ...args]);
      return [code, err.trim()];
    };
    expect(await retried()).to.deep.equal([1, 'Expected the id of one rejected line, or --all.']);
    expect(await retried('0123456789abcdef')).to.deep.equal([
      1,
      'There is no such rejected line any more.',
    ]);
  });

  it('escapes what it prints for a terminal, and prints it as it was stored for a file or a pipe', async () => {
    const data = dataOf();
    const source = 'function_logs';
    const hostile = 'a\u001b[2J\u009b2J\u202eb\u2028c\u0085';
    const input = `${line('h', { event_message: hostile })}not JSON ${hostile}\n`;
    await run(data, ['import', '--source', source, '-'], { input });
    const isTerminal = 'data:text/javascript,process.stdout.isTTY=true';
    const terminal = { env: { NODE_OPTIONS: `--import=${isTerminal}` } };
    const shown = 'a\\u001b[2J\\u009b2J\\u202eb\\u2028c\\u0085';
    const sql = `select event_message from ${source}`;
    const csv = ['query', 'logs.all', '-p', 'project=p', '--sql', sql, '--format', 'csv'];
    expect((await run(data, csv)).out).to.equal(`event_message\r\n${hostile}\r\n`);
    expect((await run(data, csv, terminal)).out).to.equal(`event_message\r\n${shown}\r\n`);
    const json = await run(data, ['search', source, '--json'], terminal);
    expect(json.out).to.include(shown);
    expect(JSON.parse(json.out).event_message).to.equal(hostile);
    const [found, listed] = [
      await run(data, ['search', source]),
      await run(data, ['rejected', 'list', '--source', source]),
    ];
    for (const { out } of [found, listed]) expect(out).to.include('a [2J 2J b c');
    const [id = ''] = /[0-9a-f]{8}\S*/.exec(listed.out) ?? [];
    expect((await run(data, ['rejected', 'show', id])).out).to.equal(`not JSON ${hostile}`);
    const whole = await run(data, ['rejected', 'show', id], terminal);
    expect(whole.out).to.equal(`not JSON ${shown}`);
  });

  it('says in a sentence what the operating system refuses', async () => {
    const data = dataOf();
    const nowhere = join(data, 'none.log');
    const imported = await run(data, ['import', '--source', 'auth_logs', nowhere]);
    expect(imported).to.include({ code: 1, err: `${nowhere} is not there.\n` });
    const folder = await run(data, ['import', '--source', 'auth_logs', data]);
    expect(folder.err).to.include('is a folder, where a file is expected.');
    // A folder that nobody may write to, not even root.
    const backup = await run(data, ['backup', '/proc/backup.duckdb']);
    expect([backup.code, backup.err]).to.deep.equal([1, '/proc/backup.duckdb is not there.\n']);
  });

  it('does not wait for blank lines, which the ledger does not count', async () => {
    const input = `${line('a')}\n \t\r\n${line('b')}`;
    const args = ['import', '--source', 'storage_logs', '-', '--json'];
    const imported = await run(dataOf(), args, { input });
    const { seconds, ...counts } = JSON.parse(imported.out);
    expect(counts).to.include({ lines: 2, rows: 2, rejected: 0 });
    // `STILL_MS` of server/cli/import.ts: so long it would wait for lines that never come.
    expect(seconds).to.be.below(30);
  });
});

describe('tailpond tail', () => {
  it(`goes on when the service is started again: each line is there once, one that came meanwhile, too ${SLOW}`, () =>
    withFolder(async (data) => {
      const env = { TAILPOND_PORT: String(await freePort()) };
      const log = join(data, 'logs/auth_logs/a.log');
      mkdirSync(join(data, 'logs/auth_logs'), { recursive: true });
      let written = 0;
      const write = (count: number) => {
        for (let i = 0; i < count; i++) writeFileSync(log, line(`n${written++}`), { flag: 'a' });
      };
      const { child, closed, ids, errors } = await withService(
        data,
        async ({ end }) => {
          const child = start(data, ['tail', 'auth_logs', '--json']);
          const closed = once(child, 'close');
          const [ids, errors]: [string[], string[]] = [[], []];
          createInterface({ input: child.stdout }).on('line', (text) =>
            ids.push(JSON.parse(text).id),
          );
          createInterface({ input: child.stderr }).on('line', (text) => errors.push(text));
          await eventually(() => {
            write(1);
            expect(ids).not.to.be.empty;
          });
          expect(await end('SIGTERM')).to.equal(0);
          return { child, closed, ids, errors };
        },
        { env },
      );
      try {
        write(10);
        await eventually(() => expect(errors.join('\n')).to.include('The live tail was cut'));
        await withService(
          data,
          async () => {
            const last = `n${written - 1}`;
            await eventually(() => expect(ids).to.include(last), 30_000);
          },
          { env },
        );
      } finally {
        child.kill('SIGINT');
      }
      expect((await closed)[0]).to.equal(0);
      // All have one timestamp, and what is shown at once is in its order.
      const numbers = ids.map((id) => Number(id.slice(1))).sort((a, b) => a - b);
      const [begun = 0] = numbers;
      expect(numbers).to.deep.equal(Array.from({ length: written - begun }, (_, i) => begun + i));
      expect(errors.filter((text) => text.includes('was cut'))).to.have.length.within(1, 2);
    })).timeout(120_000);
});

describe('tailpond tail, where nothing comes', () => {
  it(`says that the service hangs ${SLOW}`, () =>
    withFolder((data) =>
      withService(data, async (service) => {
        service.child.kill('SIGSTOP');
        try {
          const { code, err } = await run(data, ['tail', 'auth_logs']);
          expect([code, err]).to.deep.equal([
            1,
            `The service on ${join(data, 'store')} does not answer: it hangs, or is stopped by a signal.\n`,
          ]);
        } finally {
          service.child.kill('SIGCONT');
        }
      }),
    ));

  it('ends at Ctrl-C while the service does not answer', async () => {
    const hanging = createServer(() => {});
    hanging.listen(0, '127.0.0.1');
    await once(hanging, 'listening');
    const url = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}`;
    try {
      await withFolder(async (data) => {
        const child = start(data, ['tail', 'auth_logs', '--url', url]);
        const closed = once(child, 'close');
        await once(hanging, 'request');
        child.kill('SIGINT');
        expect((await closed)[0]).to.equal(0);
      });
    } finally {
      hanging.closeAllConnections();
      hanging.close();
    }
  });

  it('ends where another program answers, and says so', async () => {
    const other = createServer((_, response) =>
      response.setHeader('Content-Type', 'text/html').end('hello'),
    );
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    try {
      await withFolder(async (data) => {
        const { code, err } = await run(data, ['tail', 'auth_logs', '--url', url]);
        expect([code, err]).to.deep.equal([
          1,
          `${url}/api/tail/auth_logs? gives no events but text/html: it is not tailpond.\n`,
        ]);
      });
    } finally {
      other.close();
    }
  });
});

describe('the command', () => {
  it('tells what there is, with examples, and what is unknown', () =>
    withFolder(async (data) => {
      const help = await run(data, ['--help']);
      for (const name of 'start demo check import query search tail token backup restore rejected'.split(
        ' ',
      ))
        expect(help.out).to.match(new RegExp(`^ {2}${name}\\b`, 'm'));
      for (const name of ['query', 'search', 'tail', 'import'])
        expect((await run(data, [name, '--help'])).out).to.match(/Examples:\n {2}\S/);
      const unknown = await run(data, ['nothing']);
      expect([unknown.code, unknown.err]).to.satisfy(
        ([code, err]: [number, string]) => code === 1 && err.includes("unknown command 'nothing'"),
      );
      expect(unknown.err).not.to.include('Did you mean');
      expect((await run(data, ['querry'])).err).to.include('(Did you mean query?)');
      const bare = await run(data, ['tail', 'auth_logs', '--url', 'localhost:4000']);
      expect([bare.code, bare.err.split('\n')[0]]).to.deep.equal([
        1,
        "error: option '--url <url>' argument 'localhost:4000' is invalid. It must begin with http:// or https://.",
      ]);
    }));

  it('makes no data folder where there is none, and says which it means', () =>
    withFolder(async (data) => {
      const nowhere = join(data, 'none');
      for (const args of [
        ['query', 'logs.all'],
        ['tail', 'auth_logs'],
        ['rejected', 'list'],
      ]) {
        const { code, err } = await run(nowhere, args);
        expect([code, err]).to.deep.equal([
          1,
          `No service runs on ${nowhere}, which is not there: go where the data folder is, or set TAILPOND_DATA.\n`,
        ]);
      }
      expect(existsSync(nowhere)).to.equal(false);
    }));

  it('asks a store without a service, and reads no log file meanwhile', () =>
    withFolder(async (data) => {
      const folder = join(data, 'logs/auth_logs');
      mkdirSync(folder, { recursive: true });
      const sql = ['--sql', 'select id from auth_logs order by id', '--json'];
      const ask = async () => {
        const { code, out, err } = await run(data, ['query', 'logs.all', '--project', 'p', ...sql]);
        expect(code, err).to.equal(0);
        return (JSON.parse(out).result as { id: string }[]).map(({ id }) => id);
      };
      const arrives = (id: string) =>
        withService(data, ({ get }) =>
          eventually(async () => {
            const { body } = await get('/api/entries/auth_logs');
            expect((body.result as { id: string }[]).map((entry) => entry.id)).to.include(id);
          }),
        );
      writeFileSync(join(folder, 'a.log'), line('a'));
      await arrives('a');
      writeFileSync(join(folder, 'b.log'), line('b'));
      // Both at once: one waits for the other.
      expect(await Promise.all([ask(), ask()])).to.deep.equal([['a'], ['a']]);
      await arrives('b');
    }));

  it('says how many files the process may open where they are few', () =>
    withFolder(async (data) => {
      // How many Node.js needs for itself differs from version to version: the most that are too few.
      let [few, enough] = [1, 40];
      const tried = (files: number) => run(data, ['--version'], { files });
      const { code, err } = await tried(enough);
      expect(code, err).to.equal(0);
      // At the limit itself it is a matter of timing.
      let refused = { code: 0 as number | null, err: '' };
      while (enough - few > 1) {
        const files = Math.floor((few + enough) / 2);
        const result = await tried(files);
        if (result.code === 0) enough = files;
        else [few, refused] = [files, result];
      }
      expect([refused.code, refused.err]).to.deep.equal([
        1,
        'This process may open too few files: raise its limit (ulimit -n, LimitNOFILE).\n',
      ]);
      await withService(
        data,
        async ({ log }) => {
          const warned = log.filter(({ limit }) => limit === 60);
          expect(warned.map(({ level }) => level)).to.deep.equal([40]);
        },
        { inside: ['sh', '-c', 'ulimit -n 60 && exec "$@"', 'sh'] },
      );
    }));

  it('leaves no service behind when it is killed', () =>
    withFolder(async (data) => {
      mkdirSync(join(data, 'store'), { recursive: true });
      const child = start(data, ['import', '--source', 'auth_logs', '-']);
      const closed = once(child, 'close');
      await eventually(() =>
        expect(existsSync(join(data, 'store/tailpond.duckdb'))).to.equal(true),
      );
      child.kill('SIGKILL');
      await closed;
      await withService(data, async ({ get }) =>
        expect((await get('/readyz')).status).to.equal(200),
      );
    }));

  it('waits for a service that is starting', () =>
    withFolder(async (data) => {
      const service = start(data, ['start'], { TAILPOND_PORT: '0', TAILPOND_HOST: '127.0.0.1' });
      const closed = once(service, 'close');
      try {
        for (let n = 0; n < 2; n++) {
          const { code, err } = await run(data, ['query', 'logs.all', '--project', 'p', '--json']);
          expect(code, err).to.equal(0);
        }
      } finally {
        service.kill('SIGTERM');
        await closed;
      }
    }));

  it('completes its commands, options, sources and formats', () =>
    withFolder(async (data) => {
      const asked = async (...words: string[]) =>
        (await run(data, ['complete', '--', ...words])).out
          .split('\n')
          .map((text) => text.split('\t')[0])
          .filter((text) => !/^(?::\d+)?$/.test(text ?? ''));
      expect(await asked('reje')).to.deep.equal(['rejected']);
      expect(await asked('token', '')).to.deep.equal(['create', 'list', 'revoke', 'help']);
      expect(await asked('tail', 'pg')).to.deep.equal(['pgbouncer_logs']);
      expect(await asked('query', '--format', 'c')).to.deep.equal(['csv']);
      const script = join(data, 'completion');
      writeFileSync(script, (await run(data, ['completion', 'bash'])).out);
      const bash = spawnSync('bash', ['-n', script]);
      expect([bash.status, String(bash.stderr)]).to.deep.equal([0, '']);
    }));

  it('checks settings, endpoints and the data folder, and changes nothing', () =>
    withFolder(async (data) => {
      const right = await run(join(data, 'none'), ['check', '--json']);
      expect(right.code).to.equal(0);
      const { result } = JSON.parse(right.out) as { result: { what: string; fault: boolean }[] };
      expect(result.map(({ what }) => what)).to.deep.equal([
        'settings',
        'tokens',
        'endpoints',
        'data folder',
        'disk',
        'service',
      ]);
      expect(() => readFileSync(join(data, 'none'))).to.throw(/ENOENT/);
      const wrong = await run(data, ['check'], { env: { TAILPOND_PORT: 'x' } });
      expect([wrong.code, wrong.out]).to.satisfy(
        ([code, out]: [number, string]) =>
          code === 78 && /^WRONG settings: TAILPOND_PORT/m.test(out),
      );
      const url = 'http://127.0.0.1:1';
      const forwards = await run(data, ['check'], { env: { TAILPOND_CLICKHOUSE_URL: url } });
      expect([forwards.code, forwards.out]).to.satisfy(
        ([code, out]: [number, string]) => code === 0 && out.includes(`forwarding: to ${url}; `),
      );
      writeFileSync(join(data, 'mine.sql'), 'select');
      const endpoint = await run(data, ['check'], { env: { TAILPOND_ENDPOINTS: data } });
      expect(endpoint.code).to.equal(78);
      expect(endpoint.out).to.match(/^WRONG endpoints: .*mine\.sql:1: /m);
    }));

  it('says of the service what /readyz says, and where none runs whether there would be room', () =>
    withFolder(async (data) => {
      const env = { TAILPOND_MIN_FREE: '900000000GB' };
      const asked = async () => {
        const { code, out } = await run(data, ['check'], { env });
        return { code, last: out.trimEnd().split('\n').slice(-2).map(rounded) };
      };
      // What is free changes from one moment to the next, and once it was too little, more must be.
      const rounded = (text: string) => text.replace(/\d+ MB/g, '… MB');
      const noRoom =
        'The disk is nearly full: … MB are free, and … MB must be (TAILPOND_MIN_FREE).';
      expect(await asked()).to.deep.equal({
        code: 1,
        last: [`WRONG disk: ${noRoom}`, 'ok    service: none runs on this data folder'],
      });
      await withService(
        data,
        async ({ url, get }) => {
          await eventually(async () => {
            const { detail } = (await get('/readyz')).body;
            expect(rounded(String(detail))).to.equal(noRoom);
          });
          const { code, last } = await asked();
          expect([code, last[1]]).to.deep.equal([1, `WRONG service: runs on ${url}. ${noRoom}`]);
        },
        { env },
      );
      const lock = await lockStore(join(data, 'store'), 'the service');
      const starting = await run(data, ['check']);
      await lock.release();
      expect(starting.out).to.match(/^WRONG service: The service does not listen: it is starting/m);
      expect(starting.code).to.equal(1);
    }));

  it('makes, lists and revokes tokens as JSON', () =>
    withFolder(async (data) => {
      const made = await run(data, ['token', 'create', '--scope', 'query', '--json']);
      const { id, token } = JSON.parse(made.out);
      expect(token).to.match(new RegExp(`^tp_${id}_`));
      const list = async () => JSON.parse((await run(data, ['token', 'list', '--json'])).out);
      const [{ created, ...entry }] = await list();
      expect(entry).to.deep.equal({ id, scopes: ['query'] });
      expect(Date.parse(created)).to.be.closeTo(Date.now(), 60_000);
      expect(JSON.parse((await run(data, ['token', 'revoke', id, '--json'])).out)).to.deep.equal({
        revoked: id,
      });
      expect(await list()).to.deep.equal([]);
    }));

  it(`says which lines were taken when an import ends early ${SLOW}`, () =>
    withFolder((data) =>
      withService(data, async ({ url }) => {
        const file = join(data, 'old.log');
        // Several requests of 4 MiB.
        const pad = { pad: 'x'.repeat(400) };
        const all = Array.from({ length: LINES }, (_, n) => line(`${n}`, pad));
        const packed = gzipSync(all.join(''));
        const args = ['import', '--source', 'auth_logs', '--url', url, file];
        let skip = 0;
        for (const bytes of [packed.length / 2, packed.length - 10]) {
          writeFileSync(file, packed.subarray(0, bytes));
          const failed = await run(join(data, 'elsewhere'), [...args, '--skip', String(skip)]);
          expect(failed.code).to.equal(1);
          const told = /(\d+) lines taken; go on with --skip (\d+)\./.exec(failed.err) ?? [];
          const [taken, next] = told.slice(1).map(Number);
          expect(taken, failed.err).to.be.above(0);
          expect(next, failed.err).to.equal(skip + Number(taken));
          skip = Number(next);
        }
        expect(skip).to.be.below(LINES);
        writeFileSync(file, packed);
        const rest = await run(join(data, 'elsewhere'), [...args, '--skip', `${skip}`, '--json']);
        expect(JSON.parse(rest.out)).to.include({ lines: LINES - skip });
        const count = ['query', 'logs.all', '--project', 'p', '--json', '--url', url];
        const sql = 'select count(*) as n, count(distinct id) as ids from auth_logs';
        const { out } = await run(data, [...count, '--sql', sql]);
        expect(JSON.parse(out).result).to.deep.equal([{ n: LINES, ids: LINES }]);
      }),
    ));
});
