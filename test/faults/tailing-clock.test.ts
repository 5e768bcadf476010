import { appendFileSync } from 'node:fs';
import { expect } from 'chai';
import { INSTALL } from '../e2e/shippers/shippers.ts';
import { faultCase, notHere } from './case.ts';
import { fakeTime } from './fake-time.ts';
import { holds, ledger, run, withSetup } from './setup.ts';

describe('a clock that is wrong', () => {
  const library = fakeTime();
  const title = 'a day ahead, a day behind, then right: every line once, and none is removed';
  if (library === null) notHere('T33', title, `no libfaketime; ${INSTALL}`);
  else
    faultCase('T33', title, () =>
      withSetup(async (setup) => {
        const path = setup.at('app.log');
        for (const clock of ['+1d', '-1d', '+0d']) {
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
              await holds(service, setup);
              appendFileSync(path, setup.lines(5));
              await holds(service, setup);
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
