import { expect } from 'chai';
import { seeded } from '../../../support/random.ts';
import { LOG, ROTATED, SECOND, Simulation, type Step } from './history.ts';

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
    'move away',
    'restart',
  ] as const
).flatMap((what) => [LOG, ROTATED].map((name) => ({ do: what, name })));
const MOST_FAULTS = 20;
const SEED = Number(process.env.TAILPOND_TEST_SEED ?? Math.floor(Math.random() * 1e9));

/** The steps of a log that two programs copy. */
const OF_COPIES: readonly Step[] = [
  { do: 'copy', name: LOG },
  { do: 'second copy', name: LOG },
  { do: 'append', name: LOG },
  { do: 'truncate', name: LOG },
  { do: 'delete', name: LOG },
  { do: 'restart', name: LOG },
  { do: 'gzip', name: ROTATED },
  { do: 'gzip', name: SECOND },
  { do: 'delete', name: ROTATED },
  { do: 'delete', name: SECOND },
];
/** Each begins with a log that is read, which has grown since. */
const BEFORE_COPIES: readonly Step[] = [
  { do: 'create', name: LOG },
  { do: 'append', name: LOG },
];

/** Every history of so many of these steps, without steps that have nothing to do. */
async function* histories(
  length: number,
  among: readonly Step[],
  before: readonly Step[] = [],
): AsyncGenerator<Step[]> {
  if (length === 0) return yield [...before];
  const simulation = new Simulation(true);
  for (const each of before) await simulation.take(each);
  for (const step of among) {
    const again = step.do === 'restart' && (before.at(-1) ?? step).do === 'restart';
    if (!again && simulation.applies(step)) yield* histories(length - 1, among, [...before, step]);
  }
}

/** Every history in which a log is copied once under each name, with so many steps behind those that each begins with. */
async function* historiesOfCopies(length: number): AsyncGenerator<Step[]> {
  for await (const steps of histories(length, OF_COPIES, BEFORE_COPIES)) {
    const copies = steps.filter((step) => step.do === 'copy' || step.do === 'second copy');
    if (copies.length === 2 && copies[0]?.do !== copies[1]?.do) yield steps;
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
export async function tell(steps: readonly Step[], after: readonly After[], births: boolean) {
  const simulation = new Simulation(births);
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

/**
 * Tells all histories of so many steps, each in all ways of the first `kinds` kinds, or about one of `of` of them. Each run draws others,
 * unless `TAILPOND_TEST_SEED` names its seed. A fault names the seed and its whole history. Returns how many were told.
 */
export function tellAll(
  length: number,
  kinds: 1 | 4 | 6,
  births: boolean,
  { of = 1 } = {},
): Promise<number> {
  const draw = seeded(SEED);
  return tellEach(histories(length, STEPS), births, function* (steps) {
    for (const after of ways(steps.length, kinds)) if (draw() * of < 1) yield after;
  });
}

/**
 * Tells the histories of copies of so many steps, each in all ways of the first `kinds` kinds, or in one way of them where a
 * `seed` draws it; or about one of `of` of them, as `tellAll` does. Returns how many were told.
 */
export function tellCopies(
  length: number,
  kinds: 4 | 6,
  births: boolean,
  { seed, of = 1 }: { seed?: number; of?: number } = {},
): Promise<number> {
  const next = seed === undefined ? null : seeded(seed);
  const way = () => AFTER[Math.floor((next?.() ?? 0) * kinds)] ?? 'seen';
  const draw = seeded(SEED);
  return tellEach(historiesOfCopies(length), births, function* () {
    const all = next ? [Array.from({ length: length - 1 }, way)] : ways(length, kinds);
    for (const after of all) if (draw() * of < 1) yield ['unseen', 'seen', ...after];
  });
}

async function tellEach(
  all: AsyncIterable<Step[]>,
  births: boolean,
  waysOf: (steps: readonly Step[]) => Iterable<readonly After[]>,
): Promise<number> {
  const faults: string[] = [];
  let count = 0;
  for await (const steps of all) {
    // Without births a file that took the place of another is not told from one that was moved there ("Which file is it", docs/files.md).
    if (!births && steps.some((step) => step.do === 'replace')) continue;
    for (const after of waysOf(steps)) {
      count++;
      const fault = await tell(steps, after, births);
      if (fault && faults.length < MOST_FAULTS) faults.push(fault);
    }
  }
  expect(faults.join('\n'), `with TAILPOND_TEST_SEED=${SEED}`).to.equal('');
  return count;
}
