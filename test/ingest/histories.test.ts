import { expect } from 'chai';
import { withFolder } from '../helpers.ts';
import { SLOW } from '../slow.ts';
import { LOG } from './simulation/history.ts';
import { tell, tellAll } from './simulation/tell.ts';

describe('every history of a log and its rotation, with inodes that are used again at once', () => {
  it('of up to three steps, seen, unseen, met or held: every line once', async () => {
    for (const births of [true, false])
      for (const length of [1, 2, 3]) await tellAll(length, 4, births);
  }).timeout(120_000);

  it('of a copy whose original is rewritten before it was read: every line once', () =>
    withFolder(async (staging) => {
      const steps = (['create', 'copy', 'truncate', 'append', 'append'] as const).map((what) => ({
        do: what,
        name: LOG,
      }));
      expect(await tell(steps, ['unseen', 'met', 'unseen', 'unseen'], true, staging)).to.equal(
        null,
      );
    }));

  for (const births of [true, false])
    it(`of four steps, seen, unseen, met or held, where inodes have ${births ? 'a' : 'no'} birth: every line once ${SLOW}`, async () => {
      expect(await tellAll(4, 4, births)).to.be.above(40_000);
    }).timeout(600_000);
});
