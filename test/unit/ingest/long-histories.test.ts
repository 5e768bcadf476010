import { expect } from 'chai';
import { SLOW } from '../../support/slow.ts';
import { tellAll } from './simulation/tell.ts';

// Beside histories.test.ts, since the tests of one file wait for each other.
describe('every history of a log and its rotation, long', () => {
  it(`of six steps, each seen: every line once ${SLOW}`, async () => {
    expect(await tellAll(6, 1, true)).to.be.above(50_000);
  }).timeout(2_400_000);
});
