import { expect } from 'chai';
import { LONG } from '../../faults/case.ts';
import { SLOW } from '../../support/slow.ts';
import { tellAll } from './simulation/tell.ts';

// Beside histories.test.ts, since the tests of one file wait for each other.
/** One of so many is told in a run that is not the long one. */
const SAMPLE = LONG ? 1 : 100;

describe('every history of a log and its rotation, long', () => {
  it(`of six steps, each seen: every line once ${SLOW}`, async () => {
    expect(await tellAll(6, 1, true, { of: SAMPLE })).to.be.above(35_000 / SAMPLE);
  }).timeout(2_400_000);
});
