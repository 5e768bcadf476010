import { expect } from 'chai';
import fc from 'fast-check';
import { withFolder } from '../support/helpers.ts';
import { faultCase, LONG, notHere } from './case.ts';
import { LOGS } from './model/files.ts';
import { run, type Tally } from './model/history.ts';
import { type History, histories, program } from './model/operations.ts';
import { REGRESSIONS } from './model/regressions.ts';
import { whyNoMount } from './mounts.ts';

const HISTORIES = LONG ? 99 : 3;
/** At a time, each with a service and a folder of its own. */
const SIDE_BY_SIDE = 3;
/** How long a history that failed is made shorter. */
const SHRINK_MS = 90_000;
/** Many times what it takes: a slow machine has more to do with starts than with histories. */
const PER_HISTORY_MS = 30_000;

/**
 * TAILPOND_TEST_SEED repeats a run; with TAILPOND_TEST_PATH, as a failure prints both, one history of it. The short form has
 * the same histories each time, so that what it finds is of the commit it runs on; the long form has new ones.
 */
const SEED = Number(process.env.TAILPOND_TEST_SEED ?? (LONG ? Date.now() % 2 ** 31 : 77));
const PATH = process.env.TAILPOND_TEST_PATH;

const tally: Tally = {
  histories: 0,
  operations: 0,
  starts: 0,
  kills: 0,
  lines: 0,
  'full disks': 0,
  met: {},
};
/** Why no history has a full disk; null if they have. */
const noFullDisk = whyNoMount('tmpfs');
const perform = (history: History) => withFolder((data) => run(history, data, tally));

describe('random histories of files and of the service', () => {
  for (const [title, history] of Object.entries(REGRESSIONS))
    faultCase('T35a', title, () => perform(history));

  if (noFullDisk) notHere('T35b', 'the disk of the store is full now and then', noFullDisk);
  faultCase(
    'T35b',
    'every line is there once that was not destroyed',
    async () => {
      console.log(`      TAILPOND_TEST_SEED=${SEED}`);
      const lanes = Array.from({ length: PATH ? 1 : SIDE_BY_SIDE }, (_, i) => check(SEED + i));
      const failures = (await Promise.all(lanes)).filter((failure) => failure !== null);
      const { met, ...counts } = tally;
      console.log(`      ${list(counts)}`);
      if (!noFullDisk) console.log(`      lives that met a full disk, by place: ${list(met)}`);
      if (failures.length > 0) throw new Error(failures.join('\n\n'));
      if (LONG && !PATH) expect(tally.kills).to.be.above(40);
      // Else the operation would show nothing.
      if (LONG && !noFullDisk && !PATH) expect(met).not.to.deep.equal({});
    },
    { timeoutMs: (HISTORIES / SIDE_BY_SIDE) * PER_HISTORY_MS + SHRINK_MS + 60_000 },
  );
});

function list(counts: Record<string, number>): string {
  return Object.entries(counts)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ');
}

/** Runs a lane's share of the histories one after the other; gives what failed, as short as it could be made, or null. */
async function check(seed: number): Promise<string | null> {
  let shrinkUntil = Number.POSITIVE_INFINITY;
  const property = fc.asyncProperty(
    histories(LOGS.length, noFullDisk === null),
    async (history) => {
      // Past the time for it, every shorter history counts as one that passes: the shrinking ends.
      if (performance.now() > shrinkUntil) return;
      try {
        await perform(history);
        // One history is repeated, not those beside it.
        if (PATH) shrinkUntil = 0;
      } catch (error) {
        if (shrinkUntil === Number.POSITIVE_INFINITY) {
          console.log(
            `      of seed ${seed} this failed, and is made shorter: ${error}\n${program(history)}`,
          );
          shrinkUntil = performance.now() + SHRINK_MS;
        }
        throw error;
      }
    },
  );
  const result = await fc.check(property, {
    seed,
    numRuns: Math.ceil(HISTORIES / SIDE_BY_SIDE),
    ...(PATH ? { path: PATH } : {}),
  });
  if (!result.failed) return null;
  const history = result.counterexample?.[0] ?? [];
  return [
    `TAILPOND_TEST_SEED=${seed} TAILPOND_TEST_PATH=${result.counterexamplePath}`,
    program(history),
    String((result.errorInstance as Error | null)?.stack ?? result.errorInstance),
  ].join('\n');
}
