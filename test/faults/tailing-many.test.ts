import { appendFileSync, readdirSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { eventually, type Service } from '../support/helpers.ts';
import { faultCase } from './case.ts';
import { holds, ledger, PASSAGES, settles, through, withSetup } from './setup.ts';

const FILES = 2000;
const HOT = 200;
const HANDLES = 256;

describe('more files than may be open', () => {
  for (const [i, passage] of PASSAGES.entries()) {
    faultCase(
      `T31${'abc'[i]}`,
      `${FILES} files, ${HOT} of them hot, and ${HANDLES} handles: all are read, and the service answers, ${passage}`,
      () =>
        withSetup(async (setup) => {
          const names = Array.from({ length: FILES }, (_, n) => `d${n % 7}/f${n}.log`);
          const grow = (from: number) => {
            for (const name of names.slice(from, from + HOT))
              appendFileSync(setup.at(name), setup.lines(2));
          };
          for (const name of names) writeFileSync(setup.at(name), setup.lines(1));
          await through(
            setup,
            passage,
            async (service) => {
              await settles(service, setup);
              for (let round = 0; round < 5; round++) {
                grow(0);
                await holds(service, setup);
              }
              await isSound(service);
            },
            () => grow(FILES - HOT),
            async (service) => {
              await settles(service, setup);
              for (let round = 0; round < 3; round++) {
                grow(round * HOT);
                await holds(service, setup);
              }
              await settles(service, setup);
              await isSound(service);
            },
            { inside: ['prlimit', `--nofile=${HANDLES}:${HANDLES}`] },
          );
        }),
    );
  }
});

/** Every file is followed, none was refused, and there is room for more handles. */
async function isSound(service: Service): Promise<void> {
  // Rows can be read a moment before their bytes are no longer pending.
  await eventually(async () =>
    expect(await ledger(service)).to.deep.include({
      files: FILES,
      refused: [],
      pending_bytes: 0,
    }),
  );
  expect(readdirSync(`/proc/${service.child.pid}/fd`).length).to.be.below(HANDLES);
  expect(service.log.filter(({ level }) => Number(level) >= 40)).to.deep.equal([]);
}
