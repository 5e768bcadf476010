import { expect } from 'chai';
import { TOKEN } from '../support/helpers.ts';
import { opened } from '../support/opened.ts';
import { faultCase, LONG } from './case.ts';
import { type Attack, type Dialect, GROUPS } from './sql/attacks.ts';
import { type Answer, type Harness, shared, type Way, withTwins } from './sql/harness.ts';
import { hostileNames, hostileTexts } from './sql/names.ts';
import { type Translator, tellsInsides, withTranslator } from './sql/translator.ts';

const WAYS: readonly Way[] = ['get', 'json', 'form'];
const DIALECTS: readonly Dialect[] = ['bigquery', 'duckdb'];
const LEXERS = 'S05b';
const HOSTILE = 'names and texts that look like SQL, in every place where one can be written';

interface Targets {
  readonly translated: Translator;
  readonly twins: readonly [Harness, Harness];
}

interface Struck {
  readonly got: string;
  readonly fault: string | null;
}

describe("callers' SQL: attacks", () => {
  const twins = shared<readonly [Harness, Harness]>(withTwins);
  const translator = opened<Translator>(withTranslator);
  const targets = () => ({ translated: translator(), twins: twins() });

  for (const [id, { title, attacks, says }] of Object.entries(GROUPS))
    faultCase(id, `${attacks.length} attacks: ${title}`, () =>
      strikeAll(targets(), attacks, says, (n, d) => [wayOf(n + d)]),
    );

  faultCase(
    'S05e',
    'attacks that are not refused come to the same in all other ways to send them',
    async () => {
      for (const [id, { attacks, says }] of Object.entries(GROUPS)) {
        // The way of a text can change its letters, which are the matter of one group.
        const isTaken = (n: number) => LONG || id === LEXERS || n % 8 === 0;
        await strikeAll(targets(), attacks, says, (n, d) =>
          isTaken(n) ? WAYS.filter((way) => way !== wayOf(n + d)) : [],
        );
      }
    },
  );

  faultCase('S05h', 'a refusal over HTTP is a problem that says the same, however it is sent', () =>
    refusedOverHttp(targets()),
  );

  faultCase('S05c', `${HOSTILE}: one of 89`, () =>
    strikeHostile(targets(), [...hostileNames(), ...hostileTexts()], 89),
  );

  faultCase('S05f', `${HOSTILE}: one name of 29`, () =>
    strikeHostile(targets(), [...hostileNames()], 29),
  );

  faultCase('S05i', `${HOSTILE}: one text of 57`, () =>
    strikeHostile(targets(), [...hostileTexts()], 57),
  );

  faultCase(
    'S05g',
    `${HOSTILE}: all`,
    () => strikeHostile(targets(), [...hostileNames(), ...hostileTexts()], 1),
    { timeoutMs: 1_800_000, longOnly: 'takes half an hour' },
  );
});

function wayOf(n: number): Way {
  return WAYS[n % WAYS.length] as Way;
}

/**
 * Gives each attack to `translate` in both dialects. The twins are asked those that it does not refuse, in the ways that `waysOf` gives for
 * the numbers of attack and dialect; where these are none, the attack is left out.
 */
async function strikeAll(
  targets: Targets,
  attacks: readonly Attack[],
  says: RegExp,
  waysOf: (n: number, d: number) => readonly Way[],
): Promise<void> {
  const faults: string[] = [];
  const strike = striker(targets);
  for (const [n, attack] of attacks.entries())
    for (const [d, dialect] of DIALECTS.entries()) {
      const ways = waysOf(n, d);
      if (ways.length === 0) continue;
      const found = await targets.translated(attack.sql, dialect);
      const isHarmless = attack.answered.includes(dialect);
      const tell = (fault: string) =>
        faults.push(`${attack.name} (${dialect}): ${fault}: ${attack.sql}`);
      if (found.refused !== null) {
        if (isHarmless || found.unclear) tell(found.unclear ?? `refused: ${found.refused}`);
        else if (!says.test(found.refused)) tell(`refused for another reason: ${found.refused}`);
        continue;
      }
      const expected = isHarmless ? '200 ' : '400 SQL_INVALID';
      for (const way of ways) {
        const { got, fault } = await strike(attack.sql, dialect, way, found.key);
        if (fault) tell(`${way}: ${fault}`);
        else if (got !== expected) tell(`${way}: ${got} instead of ${expected}`);
      }
    }
  expect(faults.join('\n')).to.equal('');
}

/** Takes one statement of `part`, which has no factor in common with the number of places: so each place is taken. */
async function strikeHostile(
  targets: Targets,
  statements: readonly string[],
  part: number,
): Promise<void> {
  const faults: string[] = [];
  const tally = new Map<string, number>();
  const strike = striker(targets);
  for (const sql of statements.filter((_, n) => n % part === 0))
    for (const dialect of DIALECTS) {
      const found = await targets.translated(sql, dialect);
      const { got, fault } =
        found.refused === null
          ? await strike(sql, dialect, 'json', found.key)
          : { got: 'refused', fault: found.unclear };
      tally.set(got, (tally.get(got) ?? 0) + 1);
      if (fault) faults.push(`${sql} (${dialect}): ${fault}`);
      else if (!['refused', '200 ', '400 SQL_INVALID'].includes(got))
        faults.push(`${sql} (${dialect}): ${got}`);
    }
  console.log(`      ${JSON.stringify([...tally])}`);
  expect(faults.join('\n')).to.equal('');
}

/** Sends one refused attack of each group in all ways to both twins. */
async function refusedOverHttp({ translated, twins }: Targets): Promise<void> {
  for (const [id, { attacks }] of Object.entries(GROUPS)) {
    const { sql, refused } = await firstRefused(translated, attacks);
    for (const way of WAYS)
      for (const harness of twins) {
        const answer = await harness.ask({ sql, way, token: tokenFor(way, harness) });
        const what = `${id} (${way}): ${sql}`;
        expect(answer.status, what).to.equal(400);
        expect(answer.all, what).to.match(/^content-type,application\/problem\+json/m);
        const { code, detail, errors, error } = JSON.parse(answer.all.split('\n').at(-1) ?? '');
        expect(code, what).to.equal('SQL_INVALID');
        expect(errors, what).to.deep.equal([{ parameter: 'sql', detail: `${refused}.` }]);
        expect([detail, error.message], what).to.deep.equal([`${refused}.`, `${refused}.`]);
        expect(harness.leaks(answer), what).to.deep.equal([]);
      }
  }
}

async function firstRefused(translated: Translator, attacks: readonly Attack[]) {
  for (const { sql } of attacks) {
    const { refused } = await translated(sql, 'bigquery');
    if (refused !== null) return { sql, refused };
  }
  throw new Error('none of a group is refused');
}

/** Returns what asks the twins, once for all statements of which the engine is asked the same. */
function striker({ twins }: Targets) {
  const known = new Map<string, Promise<Struck>>();
  return (sql: string, dialect: Dialect, way: Way, key: string): Promise<Struck> => {
    const same = `${way} ${key}`;
    const struck = known.get(same) ?? strikeTwins(twins, sql, dialect, way);
    known.set(same, struck);
    return struck;
  };
}

/** Asks both twins; gives what came, and what is wrong with it, or null. */
async function strikeTwins(
  twins: readonly [Harness, Harness],
  sql: string,
  dialect: Dialect,
  way: Way,
): Promise<Struck> {
  const answers = await Promise.all(
    twins.map((harness) => harness.ask({ sql, dialect, way, token: tokenFor(way, harness) })),
  );
  const [first, second] = answers.map(({ text }) => text.slice(0, 500));
  const [got = '', other] = answers.map(({ status, code }) => `${status} ${code}`);
  const leaks = twins.flatMap((harness, i) => harness.leaks(answers[i] as Answer));
  let fault: string | null = null;
  if (leaks.length > 0) fault = `tells ${leaks}: ${first} ${second}`;
  else if (answers[0] && answers[1] && !alike(answers[0], answers[1]))
    fault = `differs with what is hidden: ${got} ${other}\n${first}\n${second}`;
  else if (got !== '200 ' && tellsInsides(first ?? '', sql))
    fault = `says what only the engine says: ${first}`;
  return { got, fault };
}

/** One way is used by tokens that are pinned to a project. */
function tokenFor(way: Way, { pinned }: Harness): string {
  return way === 'get' ? pinned : TOKEN;
}

/** Rows that nobody sorted may come in any order. */
function alike(one: Answer, other: Answer): boolean {
  const sorted = ({ rows }: Answer) => rows.map((row) => JSON.stringify(row)).sort();
  if (one.status !== 200 || other.status !== 200) return one.text === other.text;
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}
