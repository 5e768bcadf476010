import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { ROOT } from '../../server/config/package-root.ts';
import {
  eventually,
  type Service,
  type SpawnOptions,
  spawnService,
  withFolder,
  withService,
  withStore,
} from '../support/helpers.ts';
import { faultCase, notHere } from './case.ts';
import { newExpectedLines } from './expected-lines.ts';
import { injected } from './injected.ts';
import { allStored, dropLines } from './lines.ts';
import { storeCommand } from './store-command.ts';

const NAMESPACE = ['unshare', '-pf', '--kill-child', '--mount-proc'];

describe('a second process on a data folder', () => {
  /** Runs `meanwhile` beside a service that has stored lines, which must refuse a second one; then it stores more, and ends whole. */
  const beside = (first: SpawnOptions, meanwhile: Meanwhile, place = '.') =>
    withFolder(async (folder) => {
      const data = join(folder, place);
      mkdirSync(data, { recursive: true });
      const expectedLines = newExpectedLines();
      await withService(
        data,
        async (service) => {
          dropLines(data, expectedLines, 500);
          await allStored(service, expectedLines);
          await meanwhile(service, data);
          dropLines(data, expectedLines, 500);
          await allStored(service, expectedLines);
          expect(await service.end('SIGTERM')).to.equal(0);
        },
        first,
      );
      expect(await expectedLines.differences(data)).to.deep.equal([]);
    });

  faultCase('D11a', 'is refused though the first has dropped its lock by reading the file', () =>
    beside(injected('read-database'), async (service, data) => {
      await inject(service);
      await refused(data);
    }),
  );

  faultCase(
    'D11b',
    'is refused though the lock is dropped and the first is stopped by a signal',
    () =>
      beside(injected('read-database'), async (service, data) => {
        await inject(service);
        service.child.kill('SIGSTOP');
        await refused(data);
        service.child.kill('SIGCONT');
      }),
  );

  faultCase('D12a', 'is refused, and the first is unharmed', () =>
    beside({}, (_, data) => refused(data)),
  );

  const alone = spawnSync(NAMESPACE[0] ?? '', [...NAMESPACE.slice(1), 'true']);
  if (alone.status === 0)
    faultCase('D12b', 'is refused from another PID namespace, too', () =>
      beside(injected('read-database'), async (service, data) => {
        await inject(service);
        await refused(data, { inside: NAMESPACE });
      }),
    );
  else notHere('D12b', 'is refused from another PID namespace, too', 'unshare takes root');

  faultCase('D12c', 'is refused for a path that is too long for a socket', () =>
    beside(
      injected('read-database'),
      async (service, data) => {
        await inject(service);
        await refused(data);
        expect((await storeCommand(data, ['check'])).text).to.match(/asked of the service/);
      },
      'd'.repeat(120),
    ),
  );

  faultCase('D12d', 'starts at once when the first was killed', () =>
    withFolder(async (data) => {
      const expectedLines = newExpectedLines();
      await withService(data, async (service) => {
        dropLines(data, expectedLines, 500);
        await allStored(service, expectedLines);
        await service.end('SIGKILL');
      });
      await withService(data, async (service) => {
        dropLines(data, expectedLines, 500);
        await allStored(service, expectedLines);
        expect(await service.end('SIGTERM')).to.equal(0);
      });
      expect(await expectedLines.differences(data)).to.deep.equal([]);
    }),
  );

  faultCase('D12e', 'of ten that start at once, one serves', () =>
    withFolder(async (data) => {
      const expectedLines = newExpectedLines();
      dropLines(data, expectedLines, 500);
      const copies = Array.from({ length: 10 }, () => spawnService(data));
      try {
        const serving = await eventually(() => {
          const ended = copies.filter(({ child }) => child.exitCode !== null);
          expect(ended.map(({ child }) => child.exitCode)).to.deep.equal(Array(9).fill(1));
          for (const { errors } of ended)
            expect(errors.join()).to.match(/Another process has .* open/);
          const open = copies.filter(({ log }) => log.some(({ port }) => port));
          expect(open).to.have.length(1);
          return open[0]?.child;
        }, 40_000);
        await eventually(async () =>
          expect((await storeCommand(data, ['check'])).text).to.match(
            /asked of the service[\s\S]*edge_logs: 500 rows, 0 rejected/,
          ),
        );
        serving?.kill('SIGTERM');
        await eventually(() => expect(serving?.exitCode).to.equal(0));
      } finally {
        for (const { child } of copies) child.kill('SIGKILL');
      }
      expect(await expectedLines.differences(data)).to.deep.equal([]);
    }),
  );

  faultCase('D12f', 'a worker thread may not open the database', () =>
    withFolder((data) =>
      withStore(data, async () => {
        const worker = new Worker(
          `import('tsx/esm/api')
            .then(({ register }) => register())
            .then(() => import(${JSON.stringify(join(ROOT, 'server/store/engine.ts'))}))
            .then(({ openEngine }) => openEngine({ database: ${JSON.stringify(join(data, 'store', 'tailpond.duckdb'))} }))
            .then(() => 'opened', (error) => error.message)
            .then((text) => require('node:worker_threads').parentPort.postMessage(text))`,
          { eval: true },
        );
        const [text] = await once(worker, 'message');
        expect(text).to.match(/BUG: the database is open in this process/);
        await worker.terminate();
      }),
    ),
  );
});

type Meanwhile = (service: Service, data: string) => Promise<void>;

/** Lets the service do what it was started for, and waits until it has. */
async function inject(service: Service) {
  service.child.kill('SIGUSR2');
  await eventually(() => expect(service.log.some(({ injected }) => injected)).to.equal(true));
}

/** A second copy ends with 1 and says why, without ever listening. */
async function refused(data: string, options: SpawnOptions = {}) {
  const { child, log, errors } = spawnService(data, options);
  const ended = once(child, 'close');
  // A service that is not refused would serve for ever.
  const patience = setTimeout(() => child.kill('SIGKILL'), 60_000);
  const [code] = await ended;
  clearTimeout(patience);
  expect(errors.join('\n')).to.match(/Another process has .* open/);
  expect(code).to.equal(1);
  expect(log.filter(({ port }) => port)).to.deep.equal([]);
}
