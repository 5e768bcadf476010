import { expect } from 'chai';
import fc from 'fast-check';
import { TOKEN } from '../support/helpers.ts';
import { opened } from '../support/opened.ts';
import { faultCase, LONG } from './case.ts';
import { ACCEPTED } from './sql/accepted.ts';
import type { Dialect } from './sql/attacks.ts';
import { type Answer, type Harness, shared, type Way, withTwins } from './sql/harness.ts';
import { queries } from './sql/mutate.ts';
import { type Translator, withTranslator } from './sql/translator.ts';

const FEW = 300;
const RUNS = Number(process.env.TAILPOND_TEST_RUNS ?? (LONG ? 3000 : 100));
/** As in the random histories: the short form is the same each time, the long form is new. */
const SEED = Number(process.env.TAILPOND_TEST_SEED ?? (LONG ? Date.now() % 2 ** 31 : 78));
const PATH = process.env.TAILPOND_TEST_PATH;
const ALLOWED = [
  '200 ',
  '400 SQL_INVALID',
  '400 QUERY_TOO_LARGE',
  '400 RESULT_TOO_LARGE',
  '504 QUERY_TIMEOUT',
];

/** The service answers this where time or memory was too little at that moment. */
const ENDED = ['400 QUERY_TOO_LARGE', '504 QUERY_TIMEOUT'];

const PROMISE = 'answered with nothing hidden, or refused';

type Twins = readonly [Harness, Harness];

describe("callers' SQL: random changes to queries", () => {
  const env = { TAILPOND_QUERY_TIMEOUT: '10s', TAILPOND_LOG_LEVEL: 'info' };
  const twins = shared<Twins>((action) => withTwins(action, { env }));
  const translator = opened<Translator>(withTranslator);

  faultCase('S01g', 'the queries that are changed are answered', async () => {
    for (const sql of ACCEPTED) {
      const answer = await twins()[0].ask({ sql, way: 'json' });
      expect(answer.status, `${sql}: ${answer.text.slice(0, 500)}`).to.equal(200);
    }
  });

  faultCase('S01e', `${FEW} accepted queries, changed at random: ${PROMISE}`, () =>
    fuzz(twins(), translator(), FEW, 77),
  );

  faultCase(
    'S01f',
    `${RUNS} accepted queries, changed at random: ${PROMISE}`,
    () => fuzz(twins(), translator(), RUNS, SEED),
    { timeoutMs: 300_000 + RUNS * 1000 },
  );
});

async function fuzz(
  twins: Twins,
  translated: Translator,
  runs: number,
  seed: number,
): Promise<void> {
  const tally = new Map<string, number>();
  const count = (got: string) => tally.set(got, (tally.get(got) ?? 0) + 1);
  console.log(`      TAILPOND_TEST_SEED=${seed}`);
  await fc.assert(
    fc.asyncProperty(
      queries,
      fc.constantFrom<Dialect>('bigquery', 'duckdb'),
      fc.constantFrom<Way>('get', 'json', 'form'),
      async (sql, dialect, way) => {
        const found = await translated(sql, dialect);
        if (found.refused === null) return judge(twins, sql, dialect, way, count);
        count('refused');
        expect(found.unclear, sql).to.equal(null);
      },
    ),
    { seed, numRuns: runs, ...(PATH ? { path: PATH } : {}) },
  );
  console.log(`      ${JSON.stringify([...tally])}`);
  // A fuzzer of which all is refused finds nothing behind the parser.
  expect(tally.get('200 ') ?? 0).to.be.above(runs / 25);
}

async function judge(
  twins: Twins,
  sql: string,
  dialect: Dialect,
  way: Way,
  count: (got: string) => void,
): Promise<void> {
  const ask = (harness: Harness) =>
    harness.ask({ sql, dialect, way, token: way === 'get' ? harness.pinned : TOKEN });
  const answers = await Promise.all(twins.map(ask));
  for (const [i, answer] of answers.entries()) {
    const got = `${answer.status} ${answer.code}`;
    count(got);
    expect(ALLOWED, answer.text.slice(0, 500)).to.include(got);
    expect(twins[i]?.leaks(answer), answer.text.slice(0, 500)).to.deep.equal([]);
  }
  if (answers[0]?.text === answers[1]?.text) return;
  // Some answers are others each time, with nothing hidden in them: the time, or which row comes first.
  const again: string[] = [];
  for (const [i, harness] of twins.entries()) {
    const all = [answers[i] as Answer];
    for (let n = 0; n < 4; n++) all.push(await ask(harness));
    // How far a query comes before it is ended depends on what else the machine does, unless it never comes to an answer.
    const whole = all.filter(({ status, code }) => !ENDED.includes(`${status} ${code}`));
    const seen = new Set((whole.length > 0 ? whole : all).map(({ text }) => text));
    if (seen.size > 1) return;
    again.push(...seen);
  }
  expect(again[1]?.slice(0, 1000), `what is hidden makes a difference: ${sql}`).to.equal(
    again[0]?.slice(0, 1000),
  );
}
