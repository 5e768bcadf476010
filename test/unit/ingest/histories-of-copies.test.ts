import { expect } from 'chai';
import { LONG } from '../../faults/case.ts';
import { SLOW } from '../../support/slow.ts';
import { LOG, ROTATED, SECOND } from './simulation/history.ts';
import { tell, tellCopies } from './simulation/tell.ts';

const SEED = 77;
/** One of so many histories is told in a run that is not the long one. */
const SAMPLE = LONG ? 1 : 4;

// Beside histories.test.ts, since the tests of one file wait for each other.
describe('histories of a log that is read, and copied under two rotated names', () => {
  it('of three steps, each told in one way that a seed draws: every line once', async () => {
    for (const births of [true, false])
      expect(await tellCopies(3, 6, births, { seed: SEED })).to.be.above(25);
  });

  it('of a log that nobody has read, truncated or deleted then: every line once', async () => {
    for (const end of ['truncate', 'delete'] as const)
      for (const births of [true, false]) {
        const steps = (['append', 'second copy', 'copy', end, 'append'] as const).map((what) => ({
          do: what,
          name: LOG,
        }));
        const after = steps.slice(1).map(() => 'unseen' as const);
        expect(await tell(steps, after, births)).to.equal(null);
      }
  });

  for (const [shorter, longer] of [
    ['copy', 'second copy'],
    ['second copy', 'copy'],
  ] as const)
    it(`with a line between the ${shorter} and the ${longer}, found at once: every line once`, async () => {
      const steps = (
        ['create', 'append', shorter, 'append', longer, 'truncate', 'append'] as const
      ).map((what) => ({ do: what, name: LOG }));
      const after = ['unseen', 'seen', 'unseen', 'unseen', 'unseen', 'unseen'] as const;
      for (const births of [true, false]) expect(await tell(steps, after, births)).to.equal(null);
    });

  it('of which one is packed and the other is deleted, with a restart between them: every line once', async () => {
    for (const [packed, deleted] of [
      [ROTATED, SECOND],
      [SECOND, ROTATED],
    ] as const) {
      const steps = [
        { do: 'create', name: LOG },
        { do: 'second copy', name: LOG },
        { do: 'restart', name: LOG },
        { do: 'copy', name: LOG },
        { do: 'truncate', name: LOG },
        { do: 'append', name: LOG },
        { do: 'gzip', name: packed },
        { do: 'restart', name: LOG },
        { do: 'delete', name: deleted },
      ] as const;
      for (const after of ['seen', 'unseen'] as const)
        expect(
          await tell(
            steps,
            steps.slice(1).map(() => after),
            true,
          ),
        ).to.equal(null);
    }
  });

  it(`of three steps, seen, unseen, met, held or while a listing runs: every line once ${SLOW}`, async () => {
    for (const births of [true, false])
      expect(await tellCopies(3, 6, births, { of: SAMPLE })).to.be.above(600 / SAMPLE);
  });

  it(`of four and five steps, each seen, unseen, met or held as a seed draws: every line once ${SLOW}`, async () => {
    expect(await tellCopies(4, 4, false, { seed: SEED, of: SAMPLE })).to.be.above(100 / SAMPLE);
    expect(await tellCopies(5, 4, true, { seed: SEED, of: SAMPLE })).to.be.above(1_200 / SAMPLE);
  });

  if (LONG)
    for (const births of [true, false])
      it(`of four steps, seen, unseen, met or held, where inodes have ${births ? 'a' : 'no'} birth: every line once ${SLOW}`, async () => {
        expect(await tellCopies(4, 4, births)).to.be.above(15_000);
      }).timeout(7_200_000);
});
