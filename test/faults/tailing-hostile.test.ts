import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually, type Service, spawnService } from '../support/helpers.ts';
import { faultCase } from './case.ts';
import { ledger, PASSAGES, run, settles, through, withSetup } from './setup.ts';

const ROOT_USER = process.geteuid?.() === 0;
/** The user nobody of Debian, whom file permissions bind. */
const NOBODY = 65_534;

describe('what is not a log file', () => {
  for (const [i, passage] of PASSAGES.entries()) {
    faultCase(
      `T16${'abc'[i]}`,
      `links out of the folder, FIFO, device, socket, a folder: refused and named, nothing hangs, the database stays locked, ${passage}`,
      () =>
        withSetup(async (setup) => {
          const socket = createServer().listen(setup.at('socket.log'));
          try {
            await through(
              setup,
              passage,
              async (service) => {
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
                await refuses(service);
                await settles(service, setup);
                await isLocked(setup.data);
              },
              () => appendFileSync(setup.at('app.log'), setup.lines(3)),
              async (service) => {
                await refuses(service);
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
  }

  faultCase(
    'T36',
    'our own log, database and scratch files: not read, and nothing comes round',
    () =>
      withSetup((setup) =>
        run(
          setup.data,
          async (service) => {
            // What a service writes beside the drop folder, under names of logs.
            for (const name of ['tailpond.log', 'store/tailpond.log', 'store/staging/own.ndjson'])
              writeFileSync(join(setup.data, name), '{"id":"own"}\n');
            writeFileSync(setup.at('app.log'), setup.lines(5));
            await settles(service, setup);
            const { bytes, refused } = await ledger(service);
            expect(refused).to.deep.equal([]);
            await settles(service, setup);
            expect((await ledger(service)).bytes).to.equal(bytes);
          },
          { env: { TAILPOND_LOG_LEVEL: 'trace' } },
        ),
      ),
  );
});

describe('a file that may not be read', () => {
  for (const [i, passage] of PASSAGES.entries()) {
    faultCase(
      `T30${'abc'[i]}`,
      `is named and tried again until it may; others are not held up, ${passage}`,
      () =>
        withSetup(async (setup) => {
          // Root may read everything: then the service runs as another user, who owns the folder.
          const inside = ROOT_USER
            ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
            : [];
          const own = (path: string) => ROOT_USER && chownSync(path, NOBODY, NOBODY);
          const write = (name: string, count: number) => {
            const path = setup.at(name);
            appendFileSync(path, setup.lines(count));
            own(path);
          };
          for (const name of ['.', 'logs', 'logs/edge_logs', 'logs/pgbouncer_logs']) {
            mkdirSync(join(setup.data, name), { recursive: true });
            own(join(setup.data, name));
          }
          mkdirSync(setup.at('folder'));
          own(setup.at('folder'));
          const closed = ['edge_logs/closed.log', 'edge_logs/folder'];
          await through(
            setup,
            passage,
            async (service) => {
              write('open.log', 3);
              await settles(service, setup);
              // As text that must come later, it is entered when it can be read.
              const path = setup.at('closed.log');
              writeFileSync(path, '', { mode: 0 });
              chmodSync(setup.at('folder'), 0);
              appendFileSync(path, '{"id":"closed"}\n');
              own(path);
              await isRefused(service, closed);
              write('open.log', 3);
              await settles(service, setup);
            },
            () => write('open.log', 3),
            async (service) => {
              await isRefused(service, closed);
              await settles(service, setup);
              setup.expectedLines.row('closed');
              chmodSync(setup.at('closed.log'), 0o600);
              chmodSync(setup.at('folder'), 0o700);
              write('folder/app.log', 3);
              await settles(service, setup);
              await isRefused(service, []);
            },
            { inside },
          );
        }),
    );
  }
});

describe('a file name', () => {
  const NAMES = [
    "it's; drop table edge_logs; --.log",
    '"quoted".log',
    'new\nline.log',
    'carriage\rreturn.log',
    '","level":60,"msg":"forged.log',
    'tab\tand\u0001and\u001b[31m.log',
    'back\\slash.log',
    '\u2028\u2029.log',
    `${'x'.repeat(251)}.log`,
    `${'😀'.repeat(62)}.log`,
    ' .log',
    '%s$1`.log',
    '-rf.log',
    '__proto__.log',
  ];

  for (const [i, passage] of PASSAGES.entries()) {
    faultCase(
      `T34${'abc'[i]}`,
      `of quotes, newlines, escapes, 255 bytes or no UTF-8 is read or refused, each log line stays one, ${passage}`,
      () =>
        withSetup(async (setup) => {
          const undecodable = Buffer.concat([
            Buffer.from(setup.at('x').slice(0, -1)),
            Buffer.from([0xff, 0xfe, 0x0a, 0x22]),
            Buffer.from('.log'),
          ]);
          const check = async (service: Service) => {
            await settles(service, setup);
            const { refused } = await ledger(service);
            expect(refused).to.have.length(1);
            expect(refused[0]?.reason).to.equal('its name is not UTF-8');
            const { body } = await service.get('/api/rejected?source=edge_logs&limit=1000');
            const files = (body.result as { file: string }[]).map(({ file }) => file);
            expect([...new Set(files)]).to.have.members(NAMES.map((name) => `edge_logs/${name}`));
            // A line that is not JSON would have been kept as text.
            expect(service.log.filter(({ text }) => text !== undefined)).to.deep.equal([]);
            const named = service.log.filter(({ msg }) => msg === 'this is not read');
            expect(named).to.have.length(1);
          };
          const write = () => {
            for (const name of NAMES) {
              setup.expectedLines.bad('7');
              appendFileSync(setup.at(name), `${setup.lines(1)}7\n`);
            }
          };
          await through(
            setup,
            passage,
            async (service) => {
              write();
              writeFileSync(undecodable, '{"id":"undecodable"}\n');
              await check(service);
            },
            write,
            check,
          );
        }),
    );
  }
});

/** The paths of case T16 that are not read. */
function notRead(): string[] {
  const links = ['passwd', 'database', 'outside', 'climbing', 'nowhere', 'loop', 'folder-link'];
  const others = ['null', 'pipe', 'socket', ...(ROOT_USER ? ['zero'] : [])];
  return [...links, ...others].map((name) => `edge_logs/${name}.log`);
}

function refuses(service: Service): Promise<void> {
  return isRefused(service, notRead());
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
