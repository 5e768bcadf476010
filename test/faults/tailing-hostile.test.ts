import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually, type Service, spawnService } from '../support/helpers.ts';
import { faultCase } from './case.ts';
import { holds, ledger, overKill, settles, withSetup } from './setup.ts';

const ROOT_USER = process.geteuid?.() === 0;

describe('a path that leads to no log file', () => {
  faultCase(
    'T16',
    'is refused and named, over a kill -9: a link out of the folder, a FIFO, a device, a socket; the database stays locked',
    () =>
      withSetup(async (setup) => {
        writeFileSync(setup.at('app.log'), setup.lines(3));
        writeFileSync(join(setup.data, 'outside.log'), '{"id":"outside"}\n');
        for (const [name, target] of [
          ['passwd.log', '/etc/passwd'],
          ['database.log', join(setup.data, 'store/tailpond.duckdb')],
          ['outside.log', join(setup.data, 'outside.log')],
          ['climbing.log', '../../outside.log'],
          ['nowhere.log', 'nowhere-at-all.log'],
          ['loop.log', 'loop.log'],
          ['folder-link.log', setup.data],
          ['null.log', '/dev/null'],
        ] as const)
          symlinkSync(target, setup.at(name));
        execFileSync('mkfifo', [setup.at('pipe.log')]);
        mkdirSync(setup.at('folder.ndjson'));
        // Read like any other folder.
        writeFileSync(setup.at('folder.ndjson/app.log'), setup.lines(2));
        // Only root may make a device; /dev/zero never ends.
        if (ROOT_USER) execFileSync('mknod', [setup.at('zero.log'), 'c', '1', '5']);
        const socket = createServer().listen(setup.at('socket.log'));
        try {
          await overKill(
            setup,
            async (service) => {
              await isRefused(service, notRead());
              await holds(service, setup);
            },
            () => appendFileSync(setup.at('app.log'), setup.lines(3)),
            async (service) => {
              await isRefused(service, notRead());
              await settles(service, setup);
              await isLocked(setup.data);
              const named = service.log.filter(({ msg }) => msg === 'this is not read');
              expect(named.map(({ file }) => file)).to.have.members(notRead());
            },
          );
        } finally {
          socket.close();
        }
      }),
  );
});

describe('lines that parsers read differently', () => {
  /** Fields of a line that JSON.parse and DuckDB read differently, or one of them not at all, and what the line becomes. */
  const DIFFERENTIALS: Record<string, { becomes: 'row' | 'rejected'; fields: string }> = {
    'lone surrogate': { becomes: 'row', fields: '"metadata":{"a":"\\ud800"}' },
    'lone surrogate in a key': { becomes: 'row', fields: '"metadata":{"\\udfff":1}' },
    'lone surrogate in the path': {
      becomes: 'row',
      fields: '"metadata":{"request":{"path":"\\ud800"}}',
    },
    'escaped NUL': {
      becomes: 'row',
      fields: '"event_message":"a\\u0000b","metadata":{"a\\u0000":"\\u0000"}',
    },
    NaN: { becomes: 'row', fields: '"metadata":{"a":NaN}' },
    Infinity: { becomes: 'row', fields: '"metadata":{"a":-Infinity}' },
    'trailing comma': { becomes: 'row', fields: '"metadata":{"a":1,}' },
    'keys twice': {
      becomes: 'row',
      fields: '"metadata":{"a":1,"a":2,"request":{"path":"/1","path":"/2"}}',
    },
    'fields twice': {
      becomes: 'row',
      fields: '"project":"q","project":"p","metadata":{},"metadata":{"a":1}',
    },
    'deep arrays': {
      becomes: 'row',
      fields: `"metadata":{"a":${'['.repeat(998)}${']'.repeat(998)}}`,
    },
    'deep objects': {
      becomes: 'row',
      fields: `"metadata":${'{"a":'.repeat(999)}1${'}'.repeat(999)}`,
    },
    'deeper arrays': {
      becomes: 'rejected',
      fields: `"metadata":{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
    },
    // Such as ended the process, and the next one, too.
    'deeper by far': {
      becomes: 'rejected',
      fields: `"more":{"a":${'['.repeat(250_000)}${']'.repeat(250_000)}}`,
    },
    'deep, and never closed': {
      becomes: 'rejected',
      fields: `"metadata":${'{"a":'.repeat(20_000)}`,
    },
    prototype: {
      becomes: 'row',
      fields:
        '"__proto__":{"a":1},"metadata":{"__proto__":{"polluted":true},"constructor":{"prototype":1}}',
    },
    'beyond 2^53': {
      becomes: 'row',
      fields: '"metadata":{"a":9007199254740993,"b":123456789012345678901234567890}',
    },
    'beyond doubles': { becomes: 'row', fields: '"metadata":{"a":1e400,"b":-1e-400}' },
    'raw control characters': {
      becomes: 'row',
      fields: '"event_message":"a\u0001b\u001bc","metadata":{"a":"\u0007"}',
    },
    'single quotes': {
      becomes: 'rejected',
      fields: '"metadata":{\'a\':1}',
    },
    'a comment': {
      becomes: 'rejected',
      fields: '"metadata":{"a":1/* c */}',
    },
    'numbers in odd forms': {
      becomes: 'rejected',
      fields: '"metadata":{"a":01,"b":+1,"c":.5,"d":0x10}',
    },
    'odd columns': {
      becomes: 'row',
      fields: '"event_message":{"a":[1]},"project":"p","metadata":"text"',
    },
    'odd request': { becomes: 'row', fields: '"metadata":{"request":"text","response":[[]]}' },
    'odd request array': { becomes: 'row', fields: '"metadata":[{"request":[{"path":1}]},null,3]' },
    'a long key': { becomes: 'row', fields: `"metadata":{"${'k'.repeat(100_000)}":1}` },
    'many keys': {
      becomes: 'row',
      fields: `"metadata":{${Array.from({ length: 5000 }, (_, n) => `"k${n}":${n}`).join()}}`,
    },
  };

  faultCase(
    'T24',
    'are each a row or a rejected line, neighbours are stored, both endpoints answer, over a kill -9',
    () =>
      withSetup(async (setup) => {
        const at = new Date().toISOString();
        const neighbour = () =>
          setup
            .lines(1)
            .replace('"metadata":', '"metadata":{"request":{"path":"/rest/v1/n"}},"m":');
        const drop = (name: string) => {
          let text = neighbour();
          for (const [kind, { becomes, fields }] of Object.entries(DIFFERENTIALS)) {
            const id = `${name} ${kind}`;
            const line = `{"id":"${id}","timestamp":"${at}","project":"p",${fields}}`;
            if (becomes === 'row') setup.expectedLines.row(id);
            else setup.expectedLines.bad(line);
            text += `${line}\n${neighbour()}`;
          }
          writeFileSync(setup.at(name), text);
        };
        drop('first.log');
        await overKill(
          setup,
          (service) => holds(service, setup),
          () => drop('second.log'),
          async (service) => {
            await settles(service, setup);
            await bothAnswer(service);
          },
        );
      }),
  );
});

/** The paths of case T16 that are not read. */
function notRead(): string[] {
  const links = ['passwd', 'database', 'outside', 'climbing', 'nowhere', 'loop', 'folder-link'];
  const others = ['null', 'pipe', 'socket', ...(ROOT_USER ? ['zero'] : [])];
  return [...links, ...others].map((name) => `edge_logs/${name}.log`);
}

/** Waits until just these paths of `edge_logs` are refused, each with a reason. */
async function isRefused(service: Service, paths: readonly string[]): Promise<void> {
  await eventually(async () => {
    const { refused } = await ledger(service);
    expect(refused.map(({ path }) => path)).to.have.members(paths);
    for (const { reason } of refused) expect(reason).to.be.a('string').and.not.equal('');
  });
}

/** A second service on the same data folder ends at once, as the first one has the database. */
async function isLocked(data: string): Promise<void> {
  const { child, errors, log } = spawnService(data);
  const [code] = await once(child, 'exit');
  expect(code, JSON.stringify([errors, log])).to.equal(1);
}

/** Both saved queries answer, with something; the answer itself is nested too deeply to be written out here. */
async function bothAnswer(service: Service): Promise<void> {
  for (const path of ['logs.all?project=p', 'usage.api-counts?project=p&interval=hourly']) {
    const { status, body } = await service.get(`/api/endpoints/query/${path}`);
    expect(status, path).to.equal(200);
    expect((body.result as unknown[]).length, path).to.be.above(0);
  }
}
