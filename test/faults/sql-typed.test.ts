import { expect } from 'chai';
import fc from 'fast-check';
import { faultCase, LONG } from './case.ts';
import { withHarness } from './sql/harness.ts';
import { TYPED } from './sql/typed.ts';

const FEW = 300;
const RUNS = Number(process.env.TAILPOND_TEST_RUNS ?? (LONG ? 20_000 : 1000));
const SEED = Number(process.env.TAILPOND_TEST_SEED ?? (LONG ? Date.now() % 2 ** 31 : 79));
const PATH = process.env.TAILPOND_TEST_PATH;
/** What the checker lets through, and the engine does not. */
const UNFIT = /The statement cannot be run/;

describe("callers' SQL: statements whose parts fit each other", () => {
  faultCase('S18a', `${FEW} of them: whatever is not refused is run`, () => ask(FEW, 78), {
    timeoutMs: 300_000,
  });

  faultCase('S18b', `${RUNS} of them: whatever is not refused is run`, () => ask(RUNS, SEED), {
    timeoutMs: 60_000 + RUNS * 200,
  });
});

function ask(runs: number, seed: number): Promise<void> {
  const tally = new Map<string, number>();
  return withHarness(0, {}, async (harness) => {
    console.log(`      TAILPOND_TEST_SEED=${seed}`);
    await fc.assert(
      fc.asyncProperty(TYPED, async (sql) => {
        const answer = await harness.ask({ sql, way: 'json' });
        const got = `${answer.status} ${answer.code}`;
        tally.set(got, (tally.get(got) ?? 0) + 1);
        expect(['200 ', '400 SQL_INVALID', '400 QUERY_TOO_LARGE'], answer.text).to.include(got);
        expect(answer.text, sql).not.to.match(UNFIT);
      }),
      { seed, numRuns: runs, ...(PATH ? { path: PATH } : {}) },
    );
    console.log(`      ${JSON.stringify([...tally])}`);
    // A refusal by the checker shows nothing of the engine.
    expect(tally.get('200 ') ?? 0).to.be.above(runs / 2);
  });
}
