import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { ROOT } from '../../server/config/package-root.ts';
import { deadlineIn } from '../../server/deadline.ts';
import { openStore } from '../../server/store/index.ts';
import { WAITS } from '../../server/waits.ts';
import {
  eventually,
  type Service,
  type SpawnOptions,
  spawnService,
  withFolder,
  withService,
} from '../support/helpers.ts';
import { faultCase, LONG } from './case.ts';
import { newExpectedLines } from './expected-lines.ts';
import { injected } from './injected.ts';
import { dropLines, endsWhole, ledger, startWriter } from './lines.ts';

const LIMIT_MS = 1000;
/** How long a service lets a query go on after that: docs/install.md. */
const GRACE_MS = 4000;

describe('an end that was not asked for', () => {
  for (const [id, fault] of [
    ['D22a', 'rejection'],
    ['D22b', 'exception'],
  ] as const)
    faultCase(
      id,
      `a fault that nobody handles (${fault}): logged as fatal, exit 1, no line lost`,
      () =>
        underLoad(async (service) => {
          // By SIGKILL where a query runs (docs/install.md): on a busy machine one of the start may.
          expect(await service.end('SIGUSR2')).to.be.oneOf([1, 'SIGKILL']);
          const fatal = service.log.filter(({ level }) => level === 60);
          expect(fatal).to.have.length(1);
          expect(JSON.stringify(fatal)).to.contain(`injected ${fault}`);
        }, injected(fault)),
    );

  faultCase(
    'D22c',
    'a query that an interrupt does not end is fatal; one that it ends is not',
    () =>
      withFolder(async (data) => {
        const fatal: string[] = [];
        const store = await openStore({
          folder: join(data, 'store'),
          sql: join(ROOT, 'sql'),
          memory: 400e6,
          maxLine: 1024,
          minFree: 0,
          waits: { ...WAITS, queryGrace: 200 },
          onFatal: (error) => fatal.push(error.message),
        });
        const fails = (sql: string) =>
          store.query(sql, {}, { maxRows: 1, deadline: deadlineIn(100) }).then(
            () => expect.fail('it ended by itself'),
            ({ code }) => expect(code).to.equal('QUERY_TIMEOUT'),
          );
        try {
          await fails('select sum(hash(a.i + b.i)) from range(10000000) a(i), range(1000000) b(i)');
          expect(fatal).to.deep.equal([]);
          // One call of a function on one value, in which nobody looks for interrupts.
          await fails(`select levenshtein(repeat('a', 16000), repeat('b', 16000))`);
          await eventually(() => expect(fatal).to.have.length(1));
          expect(fatal[0]).to.match(/a query goes on 200 ms after it was interrupted/);
        } finally {
          await store.shutdown();
        }
      }),
  );
});

describe('a query of a running service that no interrupt ends', () => {
  const serving = (options: SpawnOptions = {}): SpawnOptions => ({
    env: {
      ...options.env,
      TAILPOND_ENDPOINTS: join(ROOT, 'test/faults/fixtures/endpoints'),
      TAILPOND_QUERY_TIMEOUT: `${LIMIT_MS}ms`,
      TAILPOND_TEST_WAITS: `queryGrace=${GRACE_MS}ms`,
    },
  });
  /** The status of its answer, or that there was none. */
  const ask = (service: Service) =>
    service.get('/api/endpoints/query/endless?id=line-0').then(
      ({ status }) => status,
      () => 'none',
    );

  faultCase(
    'D22e',
    'is fatal once its time and the grace are over: SIGKILL to itself, no line lost or doubled',
    () =>
      underLoad(async (service) => {
        // A query that an interrupt ends is answered, and forgotten.
        const long = await service.get('/api/endpoints/query/long?id=line-0');
        expect(long.status, JSON.stringify(long.body)).to.equal(504);
        const asked = Date.now();
        const closed = once(service.child, 'close');
        const answer = ask(service);
        // The first batch may have been on its way already.
        for (let batch = 0; batch < 2; batch++) {
          const before = await eventually(async () => Number((await ledger(service))[0]?.rows));
          await eventually(async () =>
            expect((await ledger(service))[0]?.rows).to.be.above(before),
          );
        }
        expect((await service.get('/readyz')).status).to.equal(200);
        // Not exit 1, which would wait for the query's thread.
        expect(await closed).to.deep.equal([null, 'SIGKILL']);
        expect(await answer).to.be.oneOf([504, 'none']);
        const fatal = service.log.filter(({ level }) => level === 60);
        expect(fatal).to.have.length(1);
        expect(fatal[0]?.msg).to.match(/^a query cannot be ended; start again/);
        expect(JSON.stringify(fatal)).to.contain(
          `a query goes on ${GRACE_MS} ms after it was interrupted`,
        );
        expect(Date.parse(`${fatal[0]?.time}`) - asked).to.be.at.least(LIMIT_MS + GRACE_MS);
      }, serving()),
  );

  faultCase(
    'D22f',
    'does not keep a fault that nobody handles from ending the process: SIGKILL to itself',
    () =>
      underLoad(
        async (service) => {
          const closed = once(service.child, 'close');
          // As many as one project may have: what waits for one of them for longer than a query may take tells that they run.
          const answers = Array.from({ length: 3 }, () => ask(service));
          let tries = 0;
          await eventually(async () => {
            const path = `/api/endpoints/query/long?id=none-${tries++}`;
            expect((await service.get(path)).status).to.equal(504);
          });
          expect(await service.end('SIGUSR2')).to.equal('SIGKILL');
          await closed;
          expect(await Promise.all(answers)).to.deep.equal(['none', 'none', 'none']);
          const fatal = service.log.filter(({ level }) => level === 60);
          expect(fatal).to.have.length(1);
          expect(fatal[0]?.msg).to.match(/^an error that nobody handles, while queries run;/);
        },
        serving(injected('rejection')),
      ),
  );
});

describe('a stop', () => {
  faultCase('D13a', 'SIGTERM under load', () =>
    underLoad(async (service) => {
      expect(await service.end('SIGTERM')).to.equal(0);
    }),
  );

  faultCase('D13b', 'a signal under load that comes twice, as Ctrl-C does through npm', () =>
    underLoad(async (service) => {
      service.child.kill('SIGINT');
      await eventually(() =>
        expect(service.log.some(({ msg }) => msg === 'stopping')).to.equal(true),
      );
      expect(await service.end('SIGINT')).to.equal(0);
    }),
  );

  faultCase('D13c', 'SIGSTOP and SIGCONT under load', () =>
    underLoad(async (service) => {
      service.child.kill('SIGSTOP');
      await delay(LONG ? 60_000 : 2000);
      service.child.kill('SIGCONT');
      await eventually(async () => expect((await service.get('/readyz')).status).to.equal(200));
      expect(await service.end('SIGTERM')).to.equal(0);
    }),
  );

  faultCase('D13d', 'SIGTERM at any moment of a start', () =>
    withFolder(async (data) => {
      const expectedLines = newExpectedLines();
      for (let afterMs = 100; afterMs <= 1000; afterMs += LONG ? 100 : 300) {
        dropLines(data, expectedLines, 100);
        const { child, errors } = spawnService(data);
        const ended = once(child, 'exit');
        await delay(afterMs);
        child.kill('SIGTERM');
        const [code, signal] = await ended;
        // Before the program has a handler, the signal itself ends it.
        expect(code ?? signal, errors.join('\n')).to.be.oneOf([0, 'SIGTERM']);
      }
      // Once the store is open, which the socket tells, and before it can be asked.
      for (let round = 0; round < (LONG ? 5 : 2); round++) {
        const socket = join(data, 'store', 'control.sock');
        rmSync(socket, { force: true });
        const { child, errors } = spawnService(data);
        const ended = once(child, 'exit');
        await eventually(() => expect(existsSync(socket)).to.equal(true));
        child.kill('SIGTERM');
        expect((await ended)[0], errors.join('\n')).to.equal(0);
      }
      await endsWhole(data, expectedLines);
    }),
  );
});

describe('memory that ends', () => {
  faultCase(
    'D14a',
    'no memory can be had in bulk ingest, and the process ends: no line lost or doubled',
    () =>
      withFolder(async (data) => {
        const expectedLines = newExpectedLines();
        for (let i = 0; i < 60; i++) dropLines(data, expectedLines, 2000);
        const { child, log, errors } = spawnService(data, {
          inside: ['prlimit', '--data=400000000'],
          env: { TAILPOND_MEMORY: '400MB' },
        });
        const closed = once(child, 'close');
        const words = () => `${errors.join('\n')}\n${JSON.stringify(log)}`;
        try {
          // The engine says so, and the service goes on; or V8 is the one that gets none, and ends it.
          await eventually(
            () => expect(words()).to.match(/failed to allocate|bad allocation|out of memory/i),
            30_000,
          );
        } finally {
          child.kill('SIGKILL');
          await closed;
        }
        expect(child.signalCode).to.be.oneOf(['SIGKILL', 'SIGABRT']);
        await endsWhole(data, expectedLines);
      }),
  );

  faultCase('D14b', 'the heap is used up under load: V8 aborts, no line lost or doubled', () =>
    underLoad(async (service) => {
      const closed = once(service.child, 'close');
      expect(await service.end('SIGUSR2')).to.equal('SIGABRT');
      await closed;
      expect(service.errors.join('\n')).to.match(/heap out of memory/);
    }, injected('heap')),
  );
});

/** Ends a service that stores what is written meanwhile, and looks at what is there then. */
function underLoad(end: (service: Service) => Promise<void>, options: SpawnOptions = {}) {
  return withFolder(async (data) => {
    const expectedLines = newExpectedLines();
    const writer = startWriter(data, expectedLines);
    try {
      await withService(
        data,
        async (service) => {
          // Queries of the start are over by then, beside which a fault would be the end by SIGKILL.
          await eventually(async () =>
            expect((await ledger(service))[0]?.rows).to.be.greaterThan(1500),
          );
          await end(service);
        },
        options,
      );
    } finally {
      await writer.stop();
    }
    await endsWhole(data, expectedLines);
  });
}
