import { expect } from 'chai';
import { TOKEN } from '../support/helpers.ts';
import { faultCase } from './case.ts';
import { type Attack, type Dialect, GROUPS } from './sql/attacks.ts';
import { type Answer, type Harness, shared, type Way, withTwins } from './sql/harness.ts';
import { hostile } from './sql/names.ts';

const WAYS: readonly Way[] = ['get', 'json', 'form'];
/** A busy machine takes ten times as long as a quiet one. */
const CASE_MS = 300_000;
const DIALECTS: readonly Dialect[] = ['bigquery', 'duckdb'];
/** What only the engine says, or only its own tables are called. */
const INSIDES =
  /\b(?:Parser|Binder|Catalog|Conversion|Invalid Input|Out of Range|IO|INTERNAL|Permission|Not implemented|Serialization) Error|\bDid you mean|\bCandidate|\bLINE \d+:|duckdb|json_serialize|\.ts:\d|node_modules/i;

describe("callers' SQL: attacks", () => {
  const twins = shared<readonly [Harness, Harness]>(withTwins);

  for (const [id, { title, attacks }] of Object.entries(GROUPS))
    faultCase(
      id,
      `${attacks.length} attacks: ${title}`,
      () => strikeAll(twins(), attacks, (n) => [WAYS[n % WAYS.length] as Way]),
      { timeoutMs: CASE_MS },
    );

  faultCase(
    'S05e',
    'all of these attacks in all other ways to send them',
    async () => {
      for (const { attacks } of Object.values(GROUPS))
        await strikeAll(twins(), attacks, (n) => WAYS.filter((_, i) => i !== n % WAYS.length));
    },
    { timeoutMs: 4 * CASE_MS },
  );

  faultCase(
    'S05c',
    'names and texts that look like SQL, in every place where one can be written: one of 90',
    () => strikeHostile(twins(), (n) => n % 90 === 0),
    { timeoutMs: CASE_MS },
  );

  faultCase(
    'S05f',
    'names and texts that look like SQL, in every place where one can be written: one of nine',
    () => strikeHostile(twins(), (n) => n % 9 === 0),
    { timeoutMs: 2 * CASE_MS },
  );

  faultCase(
    'S05g',
    'names and texts that look like SQL, in every place where one can be written: all',
    () => strikeHostile(twins(), () => true),
    { timeoutMs: 6 * CASE_MS, longOnly: 'takes half an hour' },
  );
});

/** Asks each attack in both dialects, in the ways that `waysOf` gives for its number. */
async function strikeAll(
  twins: readonly [Harness, Harness],
  attacks: readonly Attack[],
  waysOf: (n: number) => readonly Way[],
): Promise<void> {
  const faults: string[] = [];
  for (const [n, attack] of attacks.entries())
    for (const [d, dialect] of DIALECTS.entries())
      for (const way of waysOf(n + d)) {
        const { got, fault } = await strike(twins, attack.sql, dialect, way);
        const expected = attack.answered.includes(dialect) ? '200 ' : '400 SQL_INVALID';
        const wrong = got === expected ? null : `${got} instead of ${expected}`;
        if (fault ?? wrong)
          faults.push(`${attack.name} (${dialect}, ${way}): ${fault ?? wrong}: ${attack.sql}`);
      }
  expect(faults.join('\n')).to.equal('');
}

async function strikeHostile(
  twins: readonly [Harness, Harness],
  isAsked: (n: number) => boolean,
): Promise<void> {
  const faults: string[] = [];
  const tally = new Map<string, number>();
  for (const sql of [...hostile()].filter((_, n) => isAsked(n)))
    for (const dialect of DIALECTS) {
      const { fault, got } = await strike(twins, sql, dialect, 'json');
      tally.set(got, (tally.get(got) ?? 0) + 1);
      if (fault) faults.push(`${sql} (${dialect}): ${fault}`);
      else if (!['200 ', '400 SQL_INVALID'].includes(got))
        faults.push(`${sql} (${dialect}): ${got}`);
    }
  console.log(`      ${JSON.stringify([...tally])}`);
  expect(faults.join('\n')).to.equal('');
}

/** Asks both twins; gives what came, and what is wrong with it, or null. */
async function strike(
  harnesses: readonly [Harness, Harness],
  sql: string,
  dialect: Dialect,
  way: Way,
): Promise<{ got: string; fault: string | null }> {
  const token = (harness: Harness) => (way === 'get' ? harness.pinned : TOKEN);
  const answers = await Promise.all(
    harnesses.map((harness) => harness.ask({ sql, dialect, way, token: token(harness) })),
  );
  const [first, second] = answers.map(({ text }) => text.slice(0, 500));
  const [got = '', other] = answers.map(({ status, code }) => `${status} ${code}`);
  const leaks = harnesses.flatMap((harness, i) => harness.leaks(answers[i] as Answer));
  let fault: string | null = null;
  if (leaks.length > 0) fault = `tells ${leaks}: ${first} ${second}`;
  else if (answers[0] && answers[1] && !alike(answers[0], answers[1]))
    fault = `differs with what is hidden: ${got} ${other}\n${first}\n${second}`;
  else if (got !== '200 ' && INSIDES.test(without(first ?? '', sql)))
    fault = `says what only the engine says: ${first}`;
  return { got: `${got}`, fault };
}

/** Rows that nobody sorted may come in any order. */
function alike(one: Answer, other: Answer): boolean {
  const sorted = ({ rows }: Answer) => rows.map((row) => JSON.stringify(row)).sort();
  if (one.status !== 200 || other.status !== 200) return one.text === other.text;
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

/** A refusal may name what the caller wrote. */
function without(text: string, sql: string): string {
  const words = sql.match(/[A-Za-z_]\w{3,}/g) ?? [];
  return words.reduce((rest, word) => rest.replaceAll(new RegExp(word, 'gi'), ''), text);
}
