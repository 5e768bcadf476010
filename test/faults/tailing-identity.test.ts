import {
  appendFileSync,
  copyFileSync,
  linkSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { expect } from 'chai';
import { allSources } from '../../ingest/index.ts';
import { INSTALL } from '../e2e/shippers/shippers.ts';
import { faultCase, notHere } from './case.ts';
import { fakeTime } from './fake-time.ts';
import { ledger, PASSAGES, run, settles, through, withSetup } from './setup.ts';

describe('files that are like each other', () => {
  for (const [i, passage] of PASSAGES.entries()) {
    faultCase(`T13${'abc'[i]}`, `that begin with the same 4 KiB are two, ${passage}`, () =>
      withSetup(async (setup) => {
        const header = `header ${'x'.repeat(4200)}`;
        const [a, b] = [setup.at('a.log'), setup.at('b.log')];
        await through(
          setup,
          passage,
          async (service) => {
            for (const path of [a, b]) {
              setup.expectedLines.bad(header);
              writeFileSync(path, `${header}\n`);
            }
            await settles(service, setup);
          },
          () => {
            appendFileSync(a, setup.lines(3));
            appendFileSync(b, setup.lines(7));
          },
          async (service) => {
            await settles(service, setup);
            appendFileSync(b, setup.lines(3));
            appendFileSync(a, setup.lines(7));
            await settles(service, setup);
          },
        );
      }),
    );

    faultCase(
      `T14${'abc'[i]}`,
      `a copy under another name is a file of its own, under a rotated name none, ${passage}`,
      () =>
        withSetup(async (setup) => {
          const [original, other] = [setup.at('a.log'), setup.at('b.log')];
          const lines = Array.from({ length: 20 }, () => setup.expectedLines.line());
          await through(
            setup,
            passage,
            async (service) => {
              writeFileSync(original, lines.join(''));
              await settles(service, setup);
            },
            () => {
              copyFileSync(original, other);
              for (const line of lines) setup.expectedLines.copied(line);
              copyFileSync(original, setup.at('a.log.1'));
            },
            async (service) => {
              await settles(service, setup);
              // Each goes on by itself.
              appendFileSync(original, setup.lines(2));
              appendFileSync(other, setup.lines(3));
              await settles(service, setup);
            },
          );
          await run(setup.data, (service) => settles(service, setup));
        }),
    );

    faultCase(
      `T15${'abc'[i]}`,
      `hard and symbolic links in the folders of all sources: read once, as the source it was first, ${passage}`,
      () =>
        withSetup(async (setup) => {
          // A folder's place in a listing is not a matter of its name: one of eight comes before any ninth.
          const source = 'realtime_logs';
          const path = setup.at('app.log', source);
          await through(
            setup,
            passage,
            async (service) => {
              writeFileSync(path, setup.lines(5, source));
              await settles(service, setup, [source]);
            },
            () => {
              for (const other of allSources().filter((name) => name !== source)) {
                linkSync(path, setup.at('hard.log', other));
                symlinkSync(path, setup.at('soft.log', other));
              }
              appendFileSync(path, setup.lines(5, source));
            },
            async (service) => {
              await settles(service, setup, [source]);
              appendFileSync(setup.at('hard.log'), setup.lines(5, source));
              await settles(service, setup, [source]);
              expect((await ledger(service, source)).refused).to.deep.equal([]);
            },
          );
          appendFileSync(path, setup.lines(5, source));
          await run(setup.data, (service) => settles(service, setup, [source]));
        }),
    );
  }
});

describe('time that is not what it should be', () => {
  faultCase('T33a', 'mtimes in the future and long ago, and back again: every line once', () =>
    withSetup(async (setup) => {
      const days = [1, -1, 400, -20_000, 0];
      const files = days.map((_, n) => setup.at(`app-${n}.log`));
      const age = (shift: number) => {
        for (const [n, path] of files.entries()) {
          const at = new Date(Date.now() + (days[(n + shift) % days.length] ?? 0) * 864e5);
          utimesSync(path, at, at);
        }
      };
      for (let life = 0; life < 3; life++) {
        for (const path of files) appendFileSync(path, setup.lines(4));
        age(life);
        await run(setup.data, async (service) => {
          await settles(service, setup);
          for (const path of files) appendFileSync(path, setup.lines(4));
          age(life + 1);
          await settles(service, setup);
        });
      }
    }),
  );

  const library = fakeTime();
  const title = 'the clock a day ahead, a day behind, right: every line once, and none is removed';
  if (library === null) notHere('T33b', title, `no libfaketime; ${INSTALL}`);
  else
    faultCase('T33b', title, () =>
      withSetup(async (setup) => {
        const path = setup.at('app.log');
        for (const clock of ['+0d', '+1d', '-1d', '+1d', '+0d']) {
          appendFileSync(path, setup.lines(5));
          // The clocks that waits go by, and the times of files, stay as they are.
          const env = {
            LD_PRELOAD: library,
            FAKETIME: clock,
            FAKETIME_DONT_FAKE_MONOTONIC: '1',
            NO_FAKE_STAT: '1',
          };
          await run(
            setup.data,
            async (service) => {
              appendFileSync(path, setup.lines(5));
              await settles(service, setup);
              const offDays = (Date.parse(String(service.log[0]?.time)) - Date.now()) / 864e5;
              expect(offDays).to.be.closeTo(Number.parseInt(clock, 10), 0.1);
              expect(await ledger(service)).to.include({ removed: 0, removed_rejected: 0 });
            },
            { env },
          );
        }
      }),
    );
});
