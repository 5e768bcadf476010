import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { withFolder } from '../../../support/helpers.ts';
import { LOG, ROTATED, Simulation, type Step } from './history.ts';

const STEPS: readonly Step[] = (
  [
    'append',
    'half',
    'rename',
    'gzip',
    'copy',
    'truncate',
    'delete',
    'create',
    'replace',
    'restart',
  ] as const
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
 * What follows on a step: a look, in which all is taken; nothing; a look that ends before anything is taken; an open of new files; or
 * a listing, in which new files are opened too, and which is seen as it is at its beginning or at its end.
 */
const AFTER = ['seen', 'unseen', 'met', 'held', 'listing', 'late listing'] as const;
type After = (typeof AFTER)[number];

/** Every way in which the steps but the last can be followed, of the first `kinds` kinds. */
function* ways(steps: number, kinds: number): Generator<After[]> {
  for (let n = 0; n < kinds ** (steps - 1); n++)
    yield Array.from(
      { length: steps - 1 },
      (_, i) => AFTER[Math.floor(n / kinds ** i) % kinds] ?? 'seen',
    );
}

/**
 * Tells a history, with a look after its last step; then with a restart, and a rest in which what is deleted is let go. Gives what is
 * wrong.
 */
export async function tell(
  steps: readonly Step[],
  after: readonly After[],
  births: boolean,
  staging: string,
) {
  const simulation = new Simulation(staging, births);
  const told: string[] = [];
  const look = async (then: string) => {
    const fault = await simulation.look();
    return fault ? `${told.join(', ')}: ${fault}${then}` : null;
  };
  for (const [i, step] of steps.entries()) {
    await simulation.take(step);
    const follows = after[i] ?? 'seen';
    told.push(`${step.do} ${step.name} (${follows})`);
    if (follows === 'met') await simulation.meet();
    if (follows === 'held') await simulation.hold();
    if (follows.endsWith('listing')) await simulation.list(follows === 'late listing');
    const fault = follows === 'seen' ? await look('') : null;
    if (fault) return fault;
  }
  await simulation.take({ do: 'restart', name: LOG });
  const fault = await look(' after a restart');
  simulation.disk.pass(100_000);
  return fault ?? (await look(' after a rest'));
}

/** Tells all histories of so many steps, each in all ways of the first `kinds` kinds. Gives how many there were. */
export async function tellAll(length: number, kinds: 1 | 4 | 6, births: boolean): Promise<number> {
  const faults: string[] = [];
  let count = 0;
  await withFolder(async (folder) => {
    const all = histories(length);
    const tellOnes = async (_: unknown, n: number) => {
      const staging = join(folder, String(n));
      mkdirSync(staging);
      for await (const steps of all) {
        // Without births a file that took the place of another is not told from one that was moved there ("Which file is it", docs/lines.md).
        if (!births && steps.some((step) => step.do === 'replace')) continue;
        for (const after of ways(length, kinds)) {
          count++;
          const fault = await tell(steps, after, births, staging);
          if (fault && faults.length < MOST_FAULTS) faults.push(fault);
        }
      }
    };
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, tellOnes));
  });
  expect(faults.join('\n')).to.equal('');
  return count;
}
