import { expect } from 'chai';
import fc from 'fast-check';
import { opened } from '../support/opened.ts';
import { faultCase, LONG } from './case.ts';
import { type Harness, shared, withHarness } from './sql/harness.ts';
import { type Translator, withTranslator } from './sql/translator.ts';
import { TYPED } from './sql/typed.ts';

const FEW = 120;
const RUNS = Number(process.env.TAILPOND_TEST_RUNS ?? (LONG ? 5000 : 40));
const SEED = Number(process.env.TAILPOND_TEST_SEED ?? (LONG ? Date.now() % 2 ** 31 : 79));
const PATH = process.env.TAILPOND_TEST_PATH;
/** The checker let it through, and the engine does not. */
const UNFIT = /The statement cannot be run/;

describe("callers' SQL: statements whose parts fit each other", () => {
  const harness = shared<readonly [Harness]>((action) =>
    withHarness(0, {}, (only) => action([only])),
  );
  const translator = opened<Translator>(withTranslator);
  const ask = (runs: number, seed: number) => askAll(harness()[0], translator(), runs, seed);

  faultCase('S18a', `${FEW} of them: whatever is not refused is run`, () => ask(FEW, 78));

  faultCase('S18b', `${RUNS} others: whatever is not refused is run`, () => ask(RUNS, SEED), {
    timeoutMs: 300_000 + RUNS * 200,
  });
});

async function askAll(
  harness: Harness,
  translated: Translator,
  runs: number,
  seed: number,
): Promise<void> {
  const tally = new Map<string, number>();
  const count = (got: string) => tally.set(got, (tally.get(got) ?? 0) + 1);
  console.log(`      TAILPOND_TEST_SEED=${seed}`);
  await fc.assert(
    fc.asyncProperty(TYPED, async (sql) => {
      const { refused } = await translated(sql, 'bigquery');
      if (refused !== null) {
        count('refused');
        return;
      }
      const answer = await harness.ask({ sql, way: 'json' });
      const got = `${answer.status} ${answer.code}`;
      count(got);
      expect(['200 ', '400 SQL_INVALID', '400 QUERY_TOO_LARGE'], answer.text).to.include(got);
      expect(answer.text, sql).not.to.match(UNFIT);
    }),
    { seed, numRuns: runs, ...(PATH ? { path: PATH } : {}) },
  );
  console.log(`      ${JSON.stringify([...tally])}`);
  // A refusal by the checker shows nothing of the engine.
  expect(tally.get('200 ') ?? 0).to.be.above(runs / 2);
}
