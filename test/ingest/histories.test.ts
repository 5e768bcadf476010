import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { withFolder } from '../helpers.ts';
import { SLOW } from '../slow.ts';
import { LOG, ROTATED, Simulation, type Step } from './simulation/history.ts';

const STEPS: readonly Step[] = (
  ['append', 'half', 'rename', 'gzip', 'copy', 'truncate', 'delete', 'create', 'restart'] as const
).flatMap((what) => [LOG, ROTATED].map((name) => ({ do: what, name })));
/** Histories that are told side by side, while one waits for its staging file. */
const SIDE_BY_SIDE = 8;
const MOST_FAULTS = 20;

/** Every history of so many steps: of a log, its rotation and what packs them, without steps that have nothing to do. */
async function* histories(length: number, before: readonly Step[] = []): AsyncGenerator<Step[]> {
  if (before.length === length) return yield [...before];
  for (const step of STEPS) {
    const simulation = new Simulation('', true);
    for (const each of before) await simulation.take(each);
    const again = step.do === 'restart' && (before.at(-1) ?? step).do === 'restart';
    if (!again && simulation.applies(step)) yield* histories(length, [...before, step]);
  }
}

/**
 * Tells a history, with a look after its last step and after those that `looks` has a bit for; then with a restart, and a rest in
 * which what is deleted is let go. Gives what is wrong.
 */
async function tell(steps: readonly Step[], looks: number, births: boolean, staging: string) {
  const simulation = new Simulation(staging, births);
  const told: string[] = [];
  const look = async (after: string) => {
    const fault = await simulation.look();
    return fault ? `${told.join(', ')}: ${fault}${after}` : null;
  };
  for (const [i, step] of steps.entries()) {
    await simulation.take(step);
    const looked = i === steps.length - 1 || ((looks >> i) & 1) === 1;
    told.push(`${step.do} ${step.name}${looked ? '' : ' (unseen)'}`);
    const fault = looked ? await look('') : null;
    if (fault) return fault;
  }
  await simulation.take({ do: 'restart', name: LOG });
  const fault = await look(' after a restart');
  simulation.disk.pass(100_000);
  return fault ?? (await look(' after a rest'));
}

/** Tells all histories of so many steps; `patterns`: with and without a look between any two steps. Gives how many there were. */
async function tellAll(length: number, patterns: boolean, births: boolean): Promise<number> {
  const faults: string[] = [];
  let count = 0;
  await withFolder(async (folder) => {
    const all = histories(length);
    const always = 2 ** (length - 1) - 1;
    const tellOnes = async (_: unknown, n: number) => {
      const staging = join(folder, String(n));
      mkdirSync(staging);
      for await (const steps of all)
        for (let looks = patterns ? 0 : always; looks <= always; looks++) {
          count++;
          const fault = await tell(steps, looks, births, staging);
          if (fault && faults.length < MOST_FAULTS) faults.push(fault);
        }
    };
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, tellOnes));
  });
  expect(faults.join('\n')).to.equal('');
  return count;
}

describe('every history of a log and its rotation, with inodes that are used again at once', () => {
  it('of up to three steps, seen or not, where inodes have no birth: every line once', async () => {
    for (const length of [1, 2, 3]) await tellAll(length, true, false);
  }).timeout(120_000);

  it('of four steps, seen or not: every line once', async () => {
    expect(await tellAll(4, true, true)).to.be.above(5000);
  }).timeout(300_000);

  it(`of four steps, seen or not, where inodes have no birth: every line once ${SLOW}`, async () => {
    await tellAll(4, true, false);
  }).timeout(300_000);

  it(`of six steps, each seen: every line once ${SLOW}`, async () => {
    expect(await tellAll(6, false, true)).to.be.above(50_000);
  }).timeout(900_000);
});
